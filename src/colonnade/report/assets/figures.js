// Figures are SVG elements, and each can be saved as a file of its own.
const KEPT = ["fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-linecap", "opacity", "font-size", "font-family", "font-weight", "text-anchor"];

function figure(svg, file, label) {
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", label);
  return h("figure", {}, svg,
    h("button", { type: "button", class: "save", "aria-label": `Save as SVG: ${label}`, onclick: () => save(svg, file) }, "SVG"));
}

function save(svg, file) {
  // Colours come from the style of the page, which a file of its own does not have.
  const copy = svg.cloneNode(true);
  const originals = [svg, ...svg.querySelectorAll("*")], copies = [copy, ...copy.querySelectorAll("*")];
  originals.forEach((element, k) => {
    const style = getComputedStyle(element);
    for (const property of KEPT) copies[k].setAttribute(property, style.getPropertyValue(property));
    for (const extra of ["class", "tabindex", "style"]) copies[k].removeAttribute(extra);
  });
  const [x, y, width, height] = (svg.dataset.whole ?? svg.getAttribute("viewBox")).split(" ").map(Number);
  copy.setAttribute("viewBox", [x, y, width, height].join(" "));
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("width", width);
  copy.setAttribute("height", height);
  copy.prepend(s("rect", { x, y, width, height, fill: getComputedStyle(document.documentElement).getPropertyValue("--paper").trim() }));
  const url = URL.createObjectURL(new Blob([new XMLSerializer().serializeToString(copy)], { type: "image/svg+xml" }));
  h("a", { href: url, download: `${file}.svg` }).click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
  say(`Saved ${file}.svg`);
}

const clipped = (text, length) => ([...text].length > length ? [...text].slice(0, length - 1).join("") + "…" : text);

// One line of dots per state: ours with its interval, BDeu with its own, and the relative frequency.
function dots(k, row, extra = {}) {
  const states = variables[k].table.states, narrow = innerWidth < 600, left = narrow ? 104 : 128, wide = narrow ? 176 : 244, step = row.bdeu ? 30 : 22, top = 6;
  const height = top + step * states.length + 22;
  const x = (value) => left + wide * value;
  const svg = s("svg", { viewBox: `0 0 ${left + wide + 68} ${height}` });
  for (const tick of [0, 0.25, 0.5, 0.75, 1]) {
    svg.append(s("line", { class: "axis", x1: x(tick), x2: x(tick), y1: top, y2: height - 20 }),
      s("text", { class: "tick mid", x: x(tick), y: height - 6 }, String(tick)));
  }
  states.forEach((code, i) => {
    const middle = top + step * (i + 0.5), text = stateName(k, code);
    const label = s("text", { class: "label end", x: left - 10, y: middle + 4 }, clipped(text, narrow ? 12 : 16));
    label.append(s("title", {}, text));
    const line = s("g", {}, label);
    const ours = row.bdeu ? middle - 7 : middle;
    if (row.interval) {
      line.append(s("line", { class: "ours", x1: x(row.interval[0][i]), x2: x(row.interval[1][i]), y1: ours, y2: ours }));
    }
    if (row.ours[i] !== null) line.append(s("circle", { class: "ours", cx: x(row.ours[i]), cy: ours, r: 4.5 }));
    if (row.bdeu) {
      const [low, high] = row.bdeu_interval, at = x(row.bdeu[i]);
      line.append(s("line", { class: "bdeu", x1: x(low[i]), x2: x(high[i]), y1: middle + 1, y2: middle + 1 }),
        s("path", { class: "bdeu", d: `M${at},${middle - 3.5}l4.5,4.5l-4.5,4.5l-4.5,-4.5z` }));
      if (row.ml) line.append(s("circle", { class: "ml", cx: x(row.ml[i]), cy: middle + 9, r: 3.4 }));
    }
    line.append(s("text", { class: "label", x: left + wide + 12, y: middle + 4 }, probability(row.ours[i])));
    line.append(s("title", {}, `${text}: ours ${probability(row.ours[i])}` +
      (row.interval ? ` (${probability(row.interval[0][i])} to ${probability(row.interval[1][i])})` : "") +
      (row.bdeu ? `, BDeu ${probability(row.bdeu[i])}` : "") + (row.ml ? `, relative frequency ${probability(row.ml[i])}` : "")));
    svg.append(line);
  });
  const spoken = states.slice(0, 8).map((code, i) => `${stateName(k, code)} ${probability(row.ours[i])}`).join(", ");
  return figure(svg, extra.file ?? `table-${k + 1}`, `${extra.label ?? "Distribution"}: ${spoken}`);
}

function legend(table) {
  const mark = (...shapes) => s("svg", { viewBox: "0 0 26 12", "aria-hidden": "true" }, ...shapes);
  const items = [h("span", {}, mark(s("line", { class: "ours", x1: 2, x2: 24, y1: 6, y2: 6 }), s("circle", { class: "ours", cx: 13, cy: 6, r: 4.5 })),
    table.level === null ? "this table" : `this table, ${level} interval`)];
  if (table.n !== null) {
    items.push(h("span", {}, mark(s("line", { class: "bdeu", x1: 2, x2: 24, y1: 6, y2: 6 }), s("path", { class: "bdeu", d: "M13,1.5l4.5,4.5l-4.5,4.5l-4.5,-4.5z" })), `BDeu(1), ${level} interval`),
      h("span", {}, mark(s("circle", { class: "ml", cx: 13, cy: 6, r: 3.6 })), "relative frequency (maximum likelihood)"));
  }
  return h("div", { class: "legend" }, items);
}

// A square plot of two shares, with a frame and the diagonal.
function square(across, up) {
  const svg = s("svg", { viewBox: "0 0 340 320" });
  const x = (value) => 48 + 270 * value, y = (value) => 280 - 270 * value;
  for (const tick of [0, 0.25, 0.5, 0.75, 1]) {
    svg.append(s("line", { class: "axis", x1: x(tick), x2: x(tick), y1: y(0), y2: y(1) }),
      s("line", { class: "axis", x1: x(0), x2: x(1), y1: y(tick), y2: y(tick) }),
      s("text", { class: "tick mid", x: x(tick), y: 296 }, String(tick)),
      s("text", { class: "tick end", x: 42, y: y(tick) + 4 }, String(tick)));
  }
  svg.append(s("line", { class: "axis strong dash", x1: x(0), y1: y(0), x2: x(1), y2: y(1) }),
    s("text", { class: "tick mid", x: x(0.5), y: 314 }, across),
    s("text", { class: "tick mid", transform: `translate(12 ${y(0.5)}) rotate(-90)` }, up));
  return { svg, x, y };
}
