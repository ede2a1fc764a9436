const by = (id) => document.getElementById(id);
let dropped = null; // a file, instead of the text
let latest = 0; // the last question about backends: an answer to an older one comes too late

function log() { return dropped || by("log").value; }

// show puts the answer to a request into a place. It is a page of the same server, in which nothing of a log is markup.
async function show(place, address, isCurrent = () => true) {
  place.setAttribute("aria-busy", "true");
  const headers = { Accept: "text/html" };
  if (by("token")) headers.Authorization = "Bearer " + by("token").value;
  let answer = null;
  try {
    const response = await fetch(address, { method: "POST", body: log(), headers });
    const text = await response.text();
    if (!isCurrent()) return null;
    if (!response.ok) throw new Error(text);
    const page = new DOMParser().parseFromString(text, "text/html");
    place.replaceChildren(...page.querySelector("main").childNodes);
    answer = response;
  } catch (problem) {
    const p = document.createElement("p");
    p.className = "problem";
    p.textContent = problem.message;
    place.replaceChildren(p);
  }
  place.removeAttribute("aria-busy");
  return answer;
}

by("ask").addEventListener("submit", async (event) => {
  event.preventDefault();
  const response = await show(by("answer"), "/v1/diagnose?keep=" + by("keep").checked);
  const kept = response && /<(\/reports\/[0-9a-f]+)>/.exec(response.headers.get("Link") || "");
  if (kept) {
    const link = document.createElement("a");
    link.href = kept[1];
    link.textContent = "Link to this answer, kept for 30 days";
    by("answer").prepend(link);
  }
  if (response) offer(by("answer"));
});

by("file").addEventListener("change", () => take(by("file").files[0]));
by("log").addEventListener("input", () => { dropped = null; by("taken").textContent = ""; });
for (const kind of ["dragover", "dragleave", "drop"]) {
  document.addEventListener(kind, (event) => {
    event.preventDefault();
    by("log").classList.toggle("over", kind === "dragover");
    if (kind === "drop" && event.dataTransfer.files.length) take(event.dataTransfer.files[0]);
  });
}

function take(file) {
  dropped = file || null;
  by("taken").textContent = file ? file.name + " is read when you ask." : "";
}

// What-if: a row for each fact. Only what was written or changed is sent, for the log tells the rest.
const names = () => new Set([...by("facts-" + by("library").value).options].map((o) => o.value));

function row(name, value) {
  const line = document.createElement("div");
  line.className = "row";
  const key = document.createElement("input"), field = document.createElement("input");
  key.value = name;
  key.setAttribute("list", "facts-" + by("library").value);
  key.setAttribute("aria-label", "fact");
  field.value = field.defaultValue = value;
  field.setAttribute("aria-label", name ? "value of " + name : "value");
  line.append(key, field);
  by("rows").append(line);
}

const offered = 12; // rows at most; who wants others adds them

function offer(answer) {
  const have = new Set([...by("rows").querySelectorAll(".row input:first-child")].map((i) => i.value)), all = names();
  for (const code of answer.querySelectorAll("[data-fact]")) {
    const name = code.dataset.fact;
    if (!all.has(name) || have.has(name) || have.size > offered) continue;
    have.add(name);
    row(name, code.dataset.value || "");
  }
}

async function whatIf() {
  const question = ++latest, facts = new URLSearchParams();
  for (const line of by("rows").children) {
    const [key, field] = line.children;
    if (key.value && field.value && (field.value !== field.defaultValue || !key.defaultValue && !field.defaultValue)) facts.append("fact", key.value + "=" + field.value);
  }
  if (await show(by("choice"), "/v1/backends/" + by("library").value + "?" + facts, () => question === latest)) offer(by("choice"));
}

by("whatif").addEventListener("submit", (event) => { event.preventDefault(); whatIf(); });
by("rows").addEventListener("change", (event) => { if (event.target.matches(".row input:last-child")) whatIf(); });
by("library").addEventListener("change", () => { by("rows").replaceChildren(); row("", ""); whatIf(); });
by("more").addEventListener("click", () => row("", ""));
row("", "");
