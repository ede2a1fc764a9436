// Finds failures by words of a log: each word counts the more, the fewer failures have it, so that names and numbers of one run do no harm.
(() => {
  const most = 40;
  const wordsOf = (text) => [...new Set(text.toLowerCase().match(/[\p{L}_][\p{L}\p{N}_]+/gu) || [])];
  for (const k of known) {
    k.title = new Set(wordsOf(k.t + " " + k.n + " " + k.n.replaceAll("-", " ")));
    k.words = new Set(wordsOf(k.w.join(" ")));
  }
  const has = (k, word, last) => {
    if (k.title.has(word) || k.words.has(word)) return true;
    if (!last || word.length < 3) return false;
    for (const w of k.title) if (w.startsWith(word)) return true;
    return false;
  };
  const search = (text) => {
    const words = wordsOf(text), scores = new Map();
    words.forEach((word, i) => {
      const hits = known.filter((k) => has(k, word, i === words.length - 1));
      const weight = Math.log(1 + known.length / Math.max(hits.length, 1));
      for (const k of hits) scores.set(k, (scores.get(k) || 0) + weight * (k.title.has(word) ? 1.5 : 1));
    });
    const best = Math.max(0, ...scores.values());
    return [...scores].filter(([, s]) => s >= best / 3).sort((a, b) => b[1] - a[1]).slice(0, most).map(([k]) => k);
  };
  const query = document.getElementById("query"), found = document.getElementById("found"), all = document.getElementById("all");
  const show = () => {
    const text = query.value.trim();
    all.hidden = text !== "";
    const results = text === "" ? [] : search(text).map((k) => {
      const item = document.createElement("li"), link = document.createElement("a"), name = document.createElement("small");
      link.href = k.p;
      link.textContent = k.t;
      name.textContent = " " + k.n;
      item.append(link, name);
      return item;
    });
    if (text !== "" && results.length === 0) {
      results.push(document.createElement("li"));
      results[0].textContent = "Nothing known has these words.";
    }
    found.replaceChildren(...results);
  };
  query.addEventListener("input", show);
  document.addEventListener("keydown", (e) => {
    if (e.key === "/" && document.activeElement !== query) {
      e.preventDefault();
      query.focus();
    }
    if (e.key === "Enter" && document.activeElement === query) found.querySelector("a")?.click();
  });
  show();
})();
