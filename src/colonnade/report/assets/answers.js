// What a model says about one variable: what moves it, and what a forest predicts it from.
const threes = ([value, low, high]) => `${probability(value)}${low === null ? "" : ` (${probability(low)} to ${probability(high)})`}`;

function buildMoves() {
  const found = content.moves;
  if (!found) return null;
  const k = found.target, title = ["What moves ", bdi(name(k))];
  if (found.rows === null) return section("moves", title, h("p", { class: "note" }, "Not shown: exact inference would need too much memory, or some configurations have no probabilities."));
  if (!found.rows.length) return section("moves", title, h("p", { class: "note" }, "Nothing: no other variable tells anything about it."));
  const side = (row, code) => [bdi(name(row.variable)), " = ", bdi(stateName(row.variable, code))];
  const cells = (row) => [variableLink(row.variable), share(row.information / found.open), h("span", {}, bdi(name(k)), " = ", bdi(stateName(k, row.state))),
    h("span", {}, bdi(stateName(row.variable, row.from)), ": ", threes(row.seen.from)), h("span", {}, bdi(stateName(row.variable, row.to)), ": ", threes(row.seen.to)),
    threes(row.seen.difference), row.set ? threes(row.set.difference) : "–"];
  return section("moves", title,
    h("p", { class: "note" }, "The variables that tell most about ", bdi(name(k)), ", each by the two of its states between which ", bdi(name(k)), " differs most: as they are seen, and as they are set if the variable leads to ", bdi(name(k)),
      ". What is set assumes that the graph is causal and complete, which no data can tell."),
    movesFigure(found),
    h("details", {}, h("summary", {}, "Numbers"), grid(["Variable", "#tells", "Of", "If seen as", "If seen as", "#difference seen", "#difference set"], found.rows.map((row) => ({ cells: cells(row) })), { label: `What moves ${name(k)}`, class: "cards" }),
      h("p", { class: "note" }, `“Tells” is the share of what is open (${found.open.toFixed(3)} nats) that knowing the variable is expected to settle. ${found.draws ? `Intervals (${level}) from ${found.draws} draws of all tables. ` : "No intervals: the tables have no posterior, or exact inference is too large to be repeated for many draws. "}States rarer than ${share(found.least)} are not compared.`)),
    found.left_out ? h("p", { class: "note" }, `${plural(found.left_out, "more variable")} that tell less.`) : null);
}
function movesFigure(found) {
  const k = found.target, narrow = innerWidth < 600, left = narrow ? 132 : 250, wide = narrow ? 170 : 300, step = 34, rows = found.rows;
  const ends = rows.flatMap((row) => [...row.seen.difference, ...(row.set?.difference ?? [])]).filter((value) => value !== null);
  const least = Math.min(0, ...ends), most = Math.max(0.05, ...ends);
  const tick = [0.01, 0.02, 0.05, 0.1, 0.2, 0.25].find((size) => (most - least) / size <= 6) ?? 0.5;
  const low = tick * Math.floor(least / tick + 1e-9), high = tick * Math.ceil(most / tick - 1e-9);
  const x = (value) => left + wide * (value - low) / (high - low), bottom = step * rows.length + 8;
  const svg = s("svg", { viewBox: `0 0 ${left + wide + 24} ${bottom + (narrow ? 54 : 40)}` });
  for (let value = low; value < high + tick / 2; value += tick) {
    svg.append(s("line", { class: "axis", x1: x(value), x2: x(value), y1: 4, y2: bottom }), s("text", { class: "tick mid", x: x(value), y: bottom + 15 }, String(+value.toFixed(2))));
  }
  svg.append(s("line", { class: "axis strong", x1: x(0), x2: x(0), y1: 4, y2: bottom }), ...axisWords(found, narrow).map((words, i) => s("text", { class: "tick end what", x: left + wide - 28, y: bottom + 33 + 14 * i }, words)));
  rows.forEach((row, i) => {
    const y = 8 + step * (i + 0.5), mark = (kind, own, at) => [
      own[1] === null ? null : s("line", { class: kind, x1: x(own[1]), x2: x(own[2]), y1: at, y2: at }),
      kind === "ours" ? s("circle", { class: kind, cx: x(own[0]), cy: at, r: 4.5 }) : s("path", { class: kind, d: `M${x(own[0])},${at - 4.5}l4.5,4.5l-4.5,4.5l-4.5,-4.5z` })].filter(Boolean);
    const text = `${name(row.variable)}: ${stateName(row.variable, row.from)} → ${stateName(row.variable, row.to)}`;
    svg.append(s("g", {}, s("text", { class: "label end", x: left - 10, y: y + 4 }, clipped(text, narrow ? 18 : 36)),
      ...mark("ours", row.seen.difference, row.set ? y - 6 : y), ...(row.set ? mark("bdeu", row.set.difference, y + 6) : []),
      s("title", {}, `${text}: ${stateName(k, row.state)} ${threes(row.seen.difference)} if seen${row.set ? `, ${threes(row.set.difference)} if set` : ""}`)));
  });
  const key = (kind, words) => h("span", {}, s("svg", { viewBox: "0 0 26 12", "aria-hidden": "true" }, s("line", { class: kind, x1: 2, x2: 24, y1: 6, y2: 6 }),
    kind === "ours" ? s("circle", { class: kind, cx: 13, cy: 6, r: 4.5 }) : s("path", { class: kind, d: "M13,1.5l4.5,4.5l-4.5,4.5l-4.5,-4.5z" })), words);
  return h("div", { class: "wide" }, h("div", { class: "legend" }, key("ours", "as it is seen"), rows.some((row) => row.set) ? key("bdeu", "as it is set") : null), figure(svg, "moves", `Differences: ${rows.slice(0, 8).map((row) => `${name(row.variable)} ${probability(row.seen.difference[0])}`).join(", ")}`));
}
// All rows are about one state of the target if it has two. Names are clipped one by one, so that no state falls off the end.
function axisWords(found, narrow) {
  const k = found.target, words = "difference in the probability of", own = clipped(name(k), 26);
  const what = variables[k].states.length === 2 ? `${own} = ${clipped(stateName(k, found.rows[0].state), 20)}` : `a state of ${own}`;
  return narrow ? [words, what] : [`${words} ${what}`];
}

function buildForest() {
  const found = content.forest;
  if (!found) return null;
  const k = found.target, shown = found.shown + 1;
  const rows = found.members.map((member, i) => ({ best: i === found.shown, cells: [i === found.shown ? `${i + 1}, shown below` : String(i + 1), probability(member.weight), count(member.arcs), count(member.cells)] }));
  return section("forest", "Forest",
    h("p", { class: "note" }, `${plural(found.number, "network")} predict `, bdi(name(k)), " together, each with other cut points and another graph; the better it predicts rows that are left out, the more it weighs. ",
      `Below are the graph and the tables of network ${shown}, as an example of what they are made of; cut points and states of numbers are its own.`),
    h("h3", {}, "What each column says about ", bdi(name(k))), importanceFigure(found),
    found.importances.length > 20 ? h("details", {}, h("summary", {}, `All ${plural(found.importances.length, "column")}`), grid(["Column", "#share"], found.importances.map(([v, value]) => ({ cells: [variableLink(v), probability(value)] })), { label: "Columns and their shares", class: "numbers" })) : null,
    found.left_out ? h("p", { class: "note" }, `${plural(found.left_out, "more column")} not on this page.`) : null,
    h("details", { class: "narrow" }, h("summary", {}, `Weights of the ${plural(found.number, "network")}`),
      grid(["Network", "#weight", "#arcs", "#probabilities"], rows, { label: "Networks of the forest", class: "numbers" }),
      found.number > found.members.length ? h("p", { class: "note" }, `${plural(found.number - found.members.length, "more network")} not on this page.`) : null,
      h("p", { class: "note" }, "Another one is shown with ", h("code", {}, "colonnade report MODEL --member 2 -o REPORT.html"), ".")));
}
function importanceFigure(found) {
  const few = found.importances.slice(0, 20), narrow = innerWidth < 600, left = narrow ? 120 : 190, wide = narrow ? 180 : 300, step = 22;
  const most = Math.max(...few.map(([, value]) => value), 1e-9);
  const svg = s("svg", { viewBox: `0 0 ${left + wide + 58} ${step * few.length + 8}` });
  few.forEach(([v, value], i) => {
    const y = 4 + step * i;
    svg.append(s("g", {}, s("text", { class: "label end", x: left - 10, y: y + 15 }, clipped(name(v), narrow ? 16 : 26)),
      s("rect", { class: "importance", x: left, y: y + 3, width: Math.max(1, wide * value / most), height: step - 7, rx: 2 }),
      s("text", { class: "label", x: left + Math.max(1, wide * value / most) + 7, y: y + 15 }, probability(value)), s("title", {}, `${name(v)}: ${probability(value)}`)));
  });
  return figure(svg, "importances", `Share of each column: ${few.slice(0, 8).map(([v, value]) => `${name(v)} ${probability(value)}`).join(", ")}`);
}
