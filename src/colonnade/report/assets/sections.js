// Everything else on the page: what is in it, margins, data, comparison, predictions, what was left out.
function buildOverview() {
  const priors = [...new Set(variables.map((variable) => variable.table.prior))];
  const rows = content.data ? count(content.data.rows) : "–";
  const fact = (term, value) => h("div", {}, h("dt", {}, term), h("dd", {}, value));
  const forest = content.forest;
  return h("section", { id: "overview", class: "card", "aria-label": "Overview" }, h("dl", { class: "facts" },
    forest ? [fact("networks", count(forest.number)), fact("columns", count(variables.length - 1)), fact("classes", count(variables[forest.target].states.length)), fact("rows", rows)]
      : [fact("variables", count(variables.length)), fact("arcs", count(content.graph.arcs.length)), fact("rows", rows)],
    forest ? null : fact(priors.length === 1 ? "prior" : "priors", priors.slice(0, 3).join("; ") + (priors.length > 3 ? " …" : "")),
    content.group === null ? null : fact("groups", h("span", {}, bdi(name(content.group)), `: ${variables[content.group].states.length}`))),
    content.completed ? h("p", { class: "note" }, `${plural(content.completed, "row")} with gaps completed by EM: what is counted in the tables is expected, and need not be whole.`) : null,
    content.origin && !forest ? h("p", { class: "note" }, `The graph was ${content.origin.words}.`) : null,
    forest || variables.length < 2 || content.graph.arcs.length ? null : h("p", { class: "note" }, `No arcs: in this graph no variable says anything about another. ${noArcs(content.origin)}`));
}

// Why a search may have found nothing, and what to try.
function noArcs(origin) {
  if (!origin || origin.rows === null) return "";
  const needed = origin.score ? ` enough for ${origin.score}` : " enough";
  return `No dependence was clear${needed} in ${plural(origin.rows, "row")}: with few rows, or numbers cut into many intervals, weak ones do not show. `
    + (origin.score && !origin.score.includes("hierarchical") ? "More rows, fewer intervals, or a score that finds weaker ones, such as the log evidence of the hierarchical prior, may show some."
      : "More rows or fewer intervals may show some.");
}

function buildChanged() {
  if (!content.changed.length) return null;
  return section("changed", "Where pooling changed the answer most",
    h("p", { class: "note" }, "Rows of tables whose estimate is farthest from the relative frequencies of their own few observations: there, the other rows of the table had most to say."),
    changesTable(content.changed, true));
}

// The distribution of every variable; in the explorer its states are buttons.
const margins = { cards: [], section: null };
function buildMargins() {
  if (variables.every((variable) => variable.margin === null)) return null;
  variables.forEach((variable, k) => {
    if (variable.margin === null) return;
    const states = variable.margin.map((value, code) => {
      const row = h(content.live ? "button" : "div", { class: "state", type: content.live ? "button" : null, "aria-pressed": content.live ? "false" : null },
        bdi(stateName(k, code)), h("span", { class: "bar" }, h("i"), h("b"), h("u")), h("span", { class: "value" }));
      row.title = stateName(k, code);
      return row;
    });
    const rest = variable.states.length - states.length;
    const card = h("article", { class: "margin", "aria-label": variable.name },
      h("h3", {}, h("button", { type: "button", class: "link", onclick: () => choose(k, true) }, bdi(variable.name)), h("span", { class: "tag" })), states,
      rest ? h("p", { class: "note" }, `${plural(rest, "more state")}`) : null);
    margins.cards[k] = { card, states };
    showMargin(k, variable.margin, null, null);
  });
  margins.section = section("margins", content.live ? "What is to be expected" : "Every variable by itself",
    h("div", { class: "margins" }, margins.cards.map(({ card }) => card)));
  return margins.section;
}
function showMargin(k, means, interval, before) {
  margins.cards[k].states.forEach((row, code) => {
    const [bar, ends, old] = row.querySelector(".bar").children, value = means[code];
    bar.style.width = `${100 * value}%`;
    ends.hidden = !interval;
    if (interval) {
      ends.style.left = `${100 * interval[0][code]}%`;
      ends.style.width = `max(2px, ${100 * (interval[1][code] - interval[0][code])}%)`;
    }
    old.hidden = !before || Math.abs(before[code] - value) < 0.005;
    if (!old.hidden) old.style.left = `calc(${100 * before[code]}% - 1px)`;
    const words = probability(value);
    row.querySelector(".value").textContent = words;
    const range = interval ? `, ${level} interval ${probability(interval[0][code])} to ${probability(interval[1][code])}` : "";
    row.setAttribute("aria-label", `${name(k)} = ${stateName(k, code)}: ${words}${range}`);
    row.title = `${stateName(k, code)}: ${words}${range}`;
  });
}

// What the data hold, and what became of each column: the beginning of every page.
function buildData() {
  const data = content.data;
  if (!data) return null;
  const full = data.source === "data";
  const unused = data.columns.filter((column) => column.variable === null);
  const noted = data.columns.filter((column) => column.remarks?.length || Object.keys(column.unknown ?? {}).length);
  const gaps = data.columns.filter((column) => column.missing).length;
  const missing = data.columns.reduce((sum, column) => sum + (column.missing ?? 0), 0);
  const used = unused.length ? `${count(data.columns.length - unused.length)} of them in the ${content.forest ? "forest" : "network"}` : `all in the ${content.forest ? "forest" : "network"}`;
  const sum = full ? `${plural(data.rows, "row")}, ${plural(data.columns.length, "column")}, ${used}. ` +
    (missing ? `${plural(missing, "value")} missing, in ${plural(gaps, "column")}; ${plural(data.complete, "row")} complete in what is used.` : "No value is missing.")
    : "From the counts of the model; the data themselves were not given.";
  const few = (columns, words) => columns.slice(0, 12).map((column) => h("li", {}, bdi(column.name), ": ", words(column)));
  const more = (columns) => (columns.length > 12 ? [h("li", {}, `${plural(columns.length - 12, "more column")}, in the table below`)] : []);
  return section("data", "Data", h("p", { class: "note" }, sum),
    unused.length ? [h("p", { class: "note" }, "Left out:"), h("ul", { class: "note" }, few(unused, (column) => column.reason), more(unused))] : null,
    noted.length ? [h("p", { class: "note" }, "Worth a look:"), h("ul", { class: "note" }, few(noted, (column) => looks(column).join("; ")), more(noted))] : null,
    h("details", {}, h("summary", {}, `All ${plural(data.columns.length, full ? "column" : "variable")}`),
      grid(["Column", ...(full ? ["Type"] : []), "#states", "Shares", "Most common", "#rows", ...(full ? ["Missing"] : []), "Remarks"],
        data.columns.map((column) => ({ cells: column.variable === null ? unusedCells(column) : usedCells(column, full) })), { label: "Columns of the data", class: "cards" })),
    data.left_out ? h("p", { class: "note" }, `${plural(data.left_out, "more column")} not on this page.`) : null);
}
function looks(column) {
  const unknown = Object.entries(column.unknown ?? {}).map(([value, times]) => `${value} (${times})`).join(", ");
  return [...(column.remarks ?? []), ...(unknown ? [`no states of the network, taken as missing: ${unknown}${column.more_unknown ? ` and ${column.more_unknown} more` : ""}`] : [])];
}
function gapsOf(column) {
  const codes = Object.keys(column.codes ?? {});
  return `${count(column.missing)}${codes.length ? ` (${codes.join(", ")})` : ""}`;
}
function usedCells(column, full) {
  const k = column.variable, top = column.shares.indexOf(Math.max(...column.shares));
  const spark = h("span", { class: "spark", "aria-hidden": "true" }, column.shares.map((value) => {
    const bar = h("i");
    bar.style.height = `${Math.max(100 * value, 3)}%`;
    return bar;
  }));
  const remarks = [
    column.cuts ? `${full && column.different ? `${plural(column.different, "different value")}, ` : ""}${column.cuts.length ? `cut at ${column.cuts.map((point) => String(Number(point.toPrecision(15)))).join(", ")}` : "not cut"}` : "",
    column.unseen_states ? `${plural(column.unseen_states, "state")} without a row` : "", ...looks(column)];
  return [variableLink(k), ...(full ? [column.type ?? "states"] : []), count(variables[k].states.length), spark, h("span", {}, bdi(stateName(k, top)), ` ${share(column.shares[top])}`),
    count(column.rows), ...(full ? [gapsOf(column)] : []), h("span", { class: "small quiet" }, remarks.filter(Boolean).join("; "))];
}
function unusedCells(column) {
  return [bdi(column.name), column.type, h("span"), h("span"), h("span"), count(column.rows), gapsOf(column), h("span", { class: "small quiet" }, `left out: ${column.reason}`)];
}

function buildComparison() {
  const comparison = content.comparison;
  if (!comparison) return null;
  const fixed = (value, digits) => (value === null ? "–" : value.toFixed(digits));
  const aimed = comparison.target !== null, gaps = content.data?.complete != null && content.data.complete < content.data.rows;
  return section("comparison", "Comparison",
    h("p", { class: "note" }, `Mean log probability of a row that was held out, in ${comparison.folds}-fold cross-validation: larger is better. The log evidence is that of ${gaps ? `the ${plural(content.data.complete, "row")} without a gap` : "all rows"}.`,
      aimed ? [" Accuracy, area under the ROC curve and log loss are those of predicting ", bdi(comparison.target), "; the smallest log loss comes first."] : ""),
    grid(["Graph", "Prior", "#arcs", "#held-out", "#s.e.", "#log evidence", ...(aimed ? ["#accuracy", "#AUC", "#log loss"] : [])], comparison.rows.map((row, i) => ({ best: i === 0,
      cells: [bdi(row.structure), row.prior, count(row.arcs), fixed(row.held_out, 4), fixed(row.error, 4), fixed(row.evidence, 2),
        ...(aimed ? row.prediction.map((value) => fixed(value, 4)) : [])] })), { label: "Graphs and priors" }),
    comparison.rows.some((row) => row.held_out !== null) ? comparisonFigure(comparison.rows) : null);
}
function comparisonFigure(rows) {
  const known = rows.filter((row) => row.held_out !== null), narrow = innerWidth < 600;
  const ends = known.flatMap((row) => [row.held_out - 2 * (row.error ?? 0), row.held_out + 2 * (row.error ?? 0)]);
  const left = narrow ? 140 : 205, wide = narrow ? 170 : 300, right = left + wide;
  const low = Math.min(...ends), high = Math.max(...ends), x = (value) => left + 5 + (wide - 10) * (high > low ? (value - low) / (high - low) : 0.5);
  const svg = s("svg", { viewBox: `0 0 ${right + 50} ${26 * known.length + 48}` });
  known.forEach((row, i) => {
    const y = 18 + 26 * i;
    svg.append(s("text", { class: "label end", x: left - 9, y: y + 4 }, clipped(`${row.structure}, ${row.prior}`, narrow ? 22 : 30)),
      s("line", { class: "ours", x1: x(row.held_out - 2 * (row.error ?? 0)), x2: x(row.held_out + 2 * (row.error ?? 0)), y1: y, y2: y }),
      s("circle", { class: "ours", cx: x(row.held_out), cy: y, r: 5 }));
  });
  const bottom = 26 * known.length + 22;
  svg.append(s("line", { class: "axis strong", x1: left, x2: right, y1: bottom - 14, y2: bottom - 14 }),
    s("text", { class: "tick", x: left, y: bottom + 4 }, low.toFixed(3)), s("text", { class: "tick end", x: right, y: bottom + 4 }, high.toFixed(3)),
    s("text", { class: "tick mid", x: left + wide / 2, y: bottom + 18 }, "log probability of a held-out row"));
  return figure(svg, "comparison", "Mean log probability of held-out rows, plus and minus two standard errors");
}

function buildClassifier() {
  const found = content.classifier;
  if (!found) return null;
  const k = found.target, words = found.classes.map((code) => stateName(k, code));
  const fact = (term, value) => h("div", {}, h("dt", {}, term), h("dd", {}, value));
  return section("classifier", "Predictions", h("p", { class: "note" }, "Of ", bdi(name(k)), ` from the other variables, for ${plural(found.rows, "row")} that were held out in ${found.folds}-fold cross-validation: ${found.relearned ? "everything is learned again without each fold" : "the tables are estimated again without each fold; the graph and the cut points are kept"}.`),
    h("dl", { class: "facts" }, fact("accuracy ± 2 s.e.", `${(100 * found.accuracy).toFixed(1)} % ± ${(200 * found.accuracy_error).toFixed(1)}`), fact("most common state", `${(100 * found.majority).toFixed(1)} %`),
      fact("log loss", found.log_loss.toFixed(3)), fact("Brier score", found.brier.toFixed(3))),
    h("p", { class: "note" }, "The Brier score is the squared error of the probability of ", words.length === 2 ? [bdi(words[1]), ", mean of all rows"] : "each class, summed over the classes; mean of all rows", "."),
    h("div", { class: "figures" }, rocFigure(found, words), calibrationFigure(found, words), confusionTable(found, words)),
    found.left_out ? h("p", { class: "note" }, `${plural(found.left_out, "rarer state")} left out of curves and confusion.`) : null);
}
function rocFigure(found, words) {
  const { svg, x, y } = square("false positive rate", "true positive rate");
  // The curves of two classes are one another's mirror image.
  const shown = words.length === 2 ? [1] : words.map((_, i) => i).slice(0, 6);
  shown.forEach((i, place) => {
    const points = found.roc[i].points;
    if (points.length) svg.append(s("path", { class: `curve c${place}`, d: `M${points.map(([a, b]) => `${x(a).toFixed(1)},${y(b).toFixed(1)}`).join("L")}` }));
  });
  return h("div", {}, h("h3", {}, "ROC"), figure(svg, "roc", `ROC curves; area ${shown.map((i) => `${words[i]} ${probability(found.roc[i].area)}`).join(", ")}`),
    h("ul", { class: "chips" }, shown.map((i, place) => h("li", { class: `c${place}` }, h("span", {}, h("span", { class: "swatch", "aria-hidden": "true" }), bdi(words[i]), `: area ${probability(found.roc[i].area)} `)))));
}
function calibrationFigure(found, words) {
  const { svg, x, y } = square("predicted probability", "share that came true");
  for (const bin of found.calibration) {
    svg.append(s("line", { class: "ours", x1: x(bin.predicted), x2: x(bin.predicted), y1: y(bin.lower), y2: y(bin.upper) }),
      s("circle", { class: "ours", cx: x(bin.predicted), cy: y(bin.came_true), r: 4.5 }, s("title", {}, `${plural(bin.n, "prediction")} near ${probability(bin.predicted)}: ${probability(bin.came_true)} came true`)));
  }
  return h("div", {}, h("h3", {}, "Calibration"), figure(svg, "calibration", "Predicted probability against the share that came true"),
    h("p", { class: "note" }, words.length === 2 ? ["Of ", bdi(words[1])] : "All classes together", ", with 95 % intervals; on the dashed line predictions mean what they say."));
}
function confusionTable(found, words) {
  const cell = (value, row) => {
    const box = h("td", {}, count(value)), sum = row.reduce((a, b) => a + b, 0);
    box.style.setProperty("--share", sum ? (0.55 * value / sum).toFixed(3) : "0");
    return box;
  };
  return h("div", {}, h("h3", {}, "Confusion"), h("p", { class: "note", id: "confusion-note" }, "Rows: the state in the data. Columns: the most probable state."),
    h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Confusion" }, h("table", { class: "confusion", "aria-describedby": "confusion-note" },
    h("thead", {}, h("tr", {}, h("td", {}), words.map((word) => h("th", { scope: "col" }, bdi(word))))),
    h("tbody", {}, found.confusion.map((row, i) => h("tr", {}, h("th", { scope: "row" }, bdi(words[i])), row.map((value) => cell(value, row))))))));
}

function buildReading() {
  const { left_out: left } = content, notes = [];
  if (left.configurations) notes.push(`${plural(left.configurations, "configuration")} with few rows, of all tables together, so that the file stays small; the model has them all.`);
  if (left.states) notes.push(`${plural(left.states, "state")} with few rows, in tables with very many.`);
  if (left.margins) notes.push(`The distribution of ${plural(left.margins, "variable")} with nothing observed: exact inference would need too much memory, or some configurations have no probabilities.`);
  return section("reading", "How to read this page",
    h("p", { class: "note" }, "A table has one distribution for each configuration of the parents. Configurations with few rows borrow from the others: “borrowed” is the weight of what they lean on, the rest is that of their own rows. Relative frequencies use nothing else, and BDeu(1) adds one made-up row spread evenly over the table."),
    notes.length ? h("p", { class: "note" }, "Left out of this page:") : null, notes.length ? h("ul", { class: "note" }, notes.map((note) => h("li", {}, note))) : null);
}
