// Putting the page together: sections, choosing a variable, search, colours.
function choose(k, jump = false) {
  markGraph(k);
  showPanel(k);
  history.replaceState(null, "", `#v${k + 1}`);
  say(`${name(k)} chosen`);
  if (content.live) { chooseLive(k); return; }
  if (jump || matchMedia("(max-width: 820px)").matches) panel.card.scrollIntoView({ block: "start" });
}

// In the explorer the margins stand beside the graph, and the table below both. Of a forest, one graph is an example.
const graphs = (beside, title) => [h("div", { class: content.live ? "pair live" : "pair", id: "network" }, buildGraph(), beside()), title];
const order = content.live
  ? [[buildLive(), "Observations"], graphs(buildMargins, "Graph and margins"), [buildPanel(), "Table"], [buildClassifier(), "Predictions"], [buildComparison(), "Comparison"], [buildData(), "Data"], [buildReading(), "How to read"]]
  : [[buildData(), "Data"], [buildForest(), "Forest"], ...(content.forest ? [[buildClassifier(), "Predictions"]] : []), graphs(buildPanel, "Graph and tables"), [buildChanged(), "Pooling"], [buildMoves(), "What moves it"],
    [buildMargins(), "Margins"], ...(content.forest ? [] : [[buildClassifier(), "Predictions"]]), [buildComparison(), "Comparison"], [buildReading(), "How to read"]];
const sections = order.filter(([part]) => part);
document.getElementById("main").replaceChildren(buildOverview(), ...sections.map(([part]) => part));
document.getElementById("nav").append(...sections.map(([part, text]) =>
  h("a", { href: `#${part.id}`, onclick: (event) => { event.preventDefault(); part.scrollIntoView(); } }, text)));

// ---------------------------------------------------------------- search
const box = document.getElementById("search"), list = document.getElementById("found");
let hits = [], at = 0;
function look() {
  const wanted = box.value.trim().toLocaleLowerCase();
  hits = [];
  if (wanted) {
    const scored = variables.map((variable, k) => [variable.name.toLocaleLowerCase().indexOf(wanted), k]).filter(([place]) => place >= 0);
    hits = scored.sort((a, b) => a[0] - b[0] || a[1] - b[1]).slice(0, 50).map(([, k]) => k);
  }
  at = 0;
  list.replaceChildren(...hits.map((k, i) => h("li", { role: "option", id: `hit${i}`, "aria-selected": String(i === 0), onpointerdown: (event) => { event.preventDefault(); take(k); } }, bdi(name(k)))),
    ...(wanted && !hits.length ? [h("li", { role: "option", "aria-disabled": "true" }, "No such variable")] : []));
  list.hidden = !wanted;
  box.setAttribute("aria-expanded", String(!list.hidden));
  box.setAttribute("aria-activedescendant", hits.length ? "hit0" : "");
}
function take(k) {
  list.hidden = true;
  box.setAttribute("aria-expanded", "false");
  box.value = "";
  choose(k, true);
}
box.addEventListener("input", look);
box.addEventListener("blur", () => { list.hidden = true; box.setAttribute("aria-expanded", "false"); });
box.addEventListener("keydown", (event) => {
  if (event.key === "Escape") { box.value = ""; look(); }
  if (event.key === "Enter" && hits.length) take(hits[at]);
  if ((event.key === "ArrowDown" || event.key === "ArrowUp") && hits.length) {
    event.preventDefault();
    at = (at + (event.key === "ArrowDown" ? 1 : hits.length - 1)) % hits.length;
    [...list.children].forEach((item, i) => item.setAttribute("aria-selected", String(i === at)));
    list.children[at].scrollIntoView({ block: "nearest" });
    box.setAttribute("aria-activedescendant", `hit${at}`);
  }
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.target.closest("input, select, textarea")) return;
  event.preventDefault();
  box.focus();
});

// ---------------------------------------------------------------- colours
const theme = document.getElementById("theme"), wish = matchMedia("(prefers-color-scheme: dark)");
let own = null;
try { own = localStorage.getItem("colonnade-colours"); } catch { /* a page opened from disk may have no storage */ }
function colour() {
  const dark = own ? own === "dark" : wish.matches;
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  theme.setAttribute("aria-pressed", String(dark));
}
theme.addEventListener("click", () => {
  own = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
  try { localStorage.setItem("colonnade-colours", own); } catch { /* as above */ }
  colour();
});
wish.addEventListener("change", colour);
colour();

// ----------------------------------------------------------------- begin
const wanted = /^#v(\d+)$/.exec(location.hash);
const widest = variables.reduce((best, variable, k) => (variable.table.rows.length > 1 && variable.parents.length > variables[best].parents.length ? k : best), 0);
// What the address names, or else what the page is about.
const first = wanted && +wanted[1] <= variables.length ? +wanted[1] - 1 : content.moves?.target ?? content.classifier?.target ?? widest;
fit();
const readable = graph.svg.getBoundingClientRect().width / graph.box.w > 0.35;
const whole = { ...graph.box };
if (variables.length) { markGraph(first); showPanel(first); }
if (readable) { graph.box = whole; showBox(); }
if (content.live) beginLive(first);
