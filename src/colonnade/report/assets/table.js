// The panel of one variable: its table, configuration by configuration.
const AT_ONCE = 8;
const panel = { card: null, view: "figures", shown: AT_ONCE, variable: null };

function buildPanel() {
  panel.card = h("section", { id: "variable", class: "card", "aria-labelledby": "variable-title", tabindex: "-1" });
  return panel.card;
}

function showPanel(k) {
  if (panel.variable !== k) panel.shown = AT_ONCE;
  panel.variable = k;
  const { table, parents, children } = variables[k];
  const list = (indices) => indices.map((p, i) => [h("span", { class: "pair-of" }, variableLink(p), i + 1 < indices.length ? "," : ""), i + 1 < indices.length ? " " : ""]);
  const switcher = (view, text) => h("button", { type: "button", "aria-pressed": String(panel.view === view),
    onclick: () => { panel.view = view; showPanel(k); panel.card.querySelector(`[data-view="${view}"]`).focus(); }, "data-view": view }, text);
  panel.card.replaceChildren(
    h("div", { class: "tools" }, h("h2", { id: "variable-title" }, bdi(name(k))), h("span", { class: "grow" }),
      switcher("figures", "Figures"), switcher("numbers", "Numbers")),
    h("p", { class: "small" }, parents.length ? ["Given ", list(parents), ". "] : "No parents. ",
      children.length ? ["Parent of ", list(children), "."] : ""),
    h("p", { class: "small quiet" }, facts(table, parents.length)),
    ...leftOutStates(k),
    panel.view === "figures" ? legend(table) : null ?? "",
    ...(panel.view === "figures" ? figuresOf(k) : [numbersOf(k)]),
    ...poolOf(k), ...changesOf(k));
}

function facts(table, parents) {
  const known = table.n === null ? "A table that was given, without counts. " : `${tallied(table.n, "row")}, prior ${table.prior}. `;
  if (!parents) return known;
  const seen = table.n === null ? `${table.configurations} configurations` : `${count(table.seen)} of ${table.configurations} configurations were seen`;
  return `${known}${seen}${table.n === null ? "." : "; those with most rows come first."}`;
}
function leftOutStates(k) {
  const rest = variables[k].states.length - variables[k].table.states.length;
  return rest ? [h("p", { class: "note" }, `${plural(rest, "state")} with fewest rows ${rest === 1 ? "is" : "are"} not shown.`)] : [];
}

function borrowed(row) {
  if (row.borrowed === undefined || row.borrowed === null) return null;
  const bar = h("i");
  bar.style.width = `${100 * row.borrowed}%`;
  return h("span", { class: "borrowed" }, h("span", { class: "meter-box", "aria-hidden": "true" }, bar), `${share(row.borrowed)} borrowed`);
}

function configuration(k, row, title) {
  const rows = row.n === undefined || row.n === null ? null : h("span", { class: "small quiet" }, plural(row.n, "row"));
  return h("article", { class: "configuration" },
    h("header", {}, h("span", { class: "given" }, title ?? given(k, row.given)), rows, borrowed(row)),
    dots(k, row, { file: `table-${k + 1}-${row.given.join("-") || "all"}`, label: row.given.length ? givenText(k, row.given) : name(k) }),
    ladder(k, row));
}

// Where a row under tiers has its probabilities from.
function ladder(k, row) {
  if (!row.ladder || row.ladder.length < 2) return null;
  const states = variables[k].table.states.slice(0, 6);
  const tier = (parents) => (parents.length === 0 ? "all rows" : parents.map((p) => [name(variables[k].parents[p]), stateName(variables[k].parents[p], row.given[p])].join(" = ")).join(", "));
  const base = (each) => (typeof each === "string" ? each : each.length ? each.map((p) => name(variables[k].parents[p])).join(", ") : "all rows");
  const last = row.ladder[row.ladder.length - 1];
  const leans = last.bases.length ? h("p", { class: "small" }, "What it borrows comes from: ",
    last.bases.map(([each, weight], i) => [i ? ", " : "", typeof each === "string" ? `the ${each.replace("meeting", "meeting of these").replace("between the last two", "one between the last two")}` : ["the rows by ", bdi(base(each))], ` (${share(weight)})`]), ".") : null;
  const steps = row.ladder.map((step) => ({ cells: [bdi(tier(step.parents)), count(step.n), ...states.map((_, i) => probability(step.estimate[i]))] }));
  return h("details", {}, h("summary", {}, "Where it comes from"), leans,
    grid(["Rows with", "#rows", ...states.map((code) => `#${stateName(k, code)}`)], steps, { label: "Estimates from coarse to fine" }),
    states.length < variables[k].table.states.length ? h("p", { class: "note" }, "The first states only.") : null);
}

function figuresOf(k) {
  const { table, parents } = variables[k];
  const parts = table.rows.slice(0, panel.shown).map((row) => configuration(k, row, parents.length ? null : "All rows"));
  const rest = table.rows.length - panel.shown;
  if (rest > 0) {
    parts.push(h("p", {}, h("button", { type: "button", onclick: () => { panel.shown += 3 * AT_ONCE; showPanel(k); } }, `Show ${Math.min(rest, 3 * AT_ONCE)} more of ${rest}`)));
  }
  if (table.left_out) parts.push(h("p", { class: "note" }, `${plural(table.left_out, "more configuration")} with fewer rows ${table.left_out === 1 ? "is" : "are"} not on this page.`));
  return [...parts, ...unseenOf(k)];
}

function unseenOf(k) {
  const unseen = variables[k].table.unseen;
  if (!unseen) return [];
  const title = unseen.one ? "The configuration that was never seen" : `All ${unseen.number} configurations that were never seen`;
  if (unseen.kind === "none") return [h("article", { class: "configuration" }, h("header", {}, h("span", { class: "given" }, title)), h("p", { class: "note" }, "They have no probabilities: maximum likelihood leaves them undefined."))];
  if (unseen.kind === "shared") return unseen.rows.map((row) => configuration(k, { ...row, given: [] }, title));
  const example = unseen.rows[unseen.pick ?? 0];
  if (!example) return [];
  const choice = h("select", { "aria-label": "Configuration that was never seen", onchange: (event) => { unseen.pick = +event.target.value; showPanel(k); } },
    unseen.rows.map((row, i) => h("option", { value: i, selected: i === (unseen.pick ?? 0) }, clipped(givenText(k, row.given), 60))));
  return [h("article", { class: "configuration" }, h("header", {}, h("span", { class: "given" }, title)),
    h("p", { class: "note" }, "Each has an estimate of its own, from the coarser tables that share its parts. These are to be expected first:"),
    h("p", {}, choice)), configuration(k, example)];
}

function numbersOf(k) {
  const { table, parents } = variables[k];
  const rows = [];
  const add = (row, title) => {
    const own = [row.n === undefined || row.n === null ? "" : ` (${plural(row.n, "row")})`, row.borrowed === undefined || row.borrowed === null ? "" : `, ${share(row.borrowed)} borrowed`];
    rows.push({ title: h("span", {}, title, h("span", { class: "quiet" }, ...own)) });
    table.states.forEach((code, i) => rows.push({ cells: [bdi(stateName(k, code)), row.counts ? count(row.counts[i]) : "–", row.ml ? probability(row.ml[i]) : "–",
      row.bdeu ? probability(row.bdeu[i]) : "–", probability(row.ours[i]),
      row.interval ? `${probability(row.interval[0][i])} – ${probability(row.interval[1][i])}` : "–"] }));
  };
  table.rows.forEach((row) => add(row, parents.length ? given(k, row.given) : "All rows"));
  const unseen = table.unseen;
  if (unseen?.kind === "shared") unseen.rows.forEach((row) => add({ ...row, ml: null }, `${unseen.number} never seen`));
  if (unseen?.kind === "own") unseen.rows.forEach((row) => add({ ...row, ml: null }, ["never seen: ", given(k, row.given)]));
  const note = table.left_out ? `${plural(table.left_out, "more configuration")} not on this page.` : "";
  return h("div", {}, grid(["State", "#count", "#frequency", "#BDeu(1)", "#this table", `#${level} interval`], rows,
    { class: "numbers", label: `Table of ${name(k)}` }), h("p", { class: "note" }, note));
}

function poolOf(k) {
  const { pool } = variables[k].table;
  if (!pool || !variables[k].parents.length) return [];
  const words = { tiers: "All rows together", pool: "What rows lean on: the pool", fixed: "What rows lean on: fixed by the prior" }[pool.kind];
  const interval = pool.strength_interval ? ` (${level} interval ${number.format(pool.strength_interval[0])} to ${number.format(pool.strength_interval[1])})` : "";
  const what = pool.kind === "tiers" ? "the coarser tables that a row leans on count" : "the pool counts";
  return [h("h3", {}, words),
    h("p", { class: "small quiet" }, `In each row ${what} as much as ${number.format(pool.strength)} observed rows${interval}.`),
    dots(k, { ours: pool.mean, interval: pool.kind === "fixed" ? null : pool.interval }, { file: `pool-${k + 1}`, label: words })];
}

function changesOf(k) {
  const { changed } = variables[k].table;
  if (!changed.length || !variables[k].parents.length) return [];
  return [h("h3", {}, "Where pooling changed the answer most"), changesTable(changed.slice(0, 5).map((change) => ({ variable: k, ...change })), false)];
}
function changesTable(changes, named) {
  return grid([...(named ? ["Variable"] : []), "Given", "State", "#rows", "#frequency", "#this table"],
    changes.map((change) => ({ cells: [...(named ? [variableLink(change.variable)] : []),
      h("span", {}, given(change.variable, change.given)), bdi(stateName(change.variable, change.state)), count(change.n), probability(change.ml), probability(change.ours)] })),
    { label: "Where pooling changed the answer most", class: "cards" });
}
