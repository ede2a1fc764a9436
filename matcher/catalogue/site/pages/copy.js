// Gives each command a button that copies it.
for (const pre of document.querySelectorAll("pre.copy")) {
  const button = document.createElement("button"), text = pre.textContent;
  button.textContent = "Copy";
  button.onclick = async () => {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  };
  pre.append(button);
}
