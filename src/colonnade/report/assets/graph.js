// The graph: nodes in layers, to be moved, zoomed, searched and walked through by keys.
const graph = { box: null, nodes: [], arcs: [] };

function buildGraph() {
  const { size, nodes, arcs } = content.graph;
  const svg = s("svg", { "aria-label": `Graph of ${plural(nodes.length, "variable")} and ${plural(arcs.length, "arc")}`, role: "group" });
  svg.dataset.whole = `0 0 ${size[0]} ${size[1]}`;
  for (const [from, to, path] of arcs) {
    const line = s("path", { class: "arc", d: path });
    const last = path.match(/(-?\d+),(-?\d+)$/);
    const tip = s("path", { class: "tip", d: `M${last[1]},${+last[2] + 6}l-4,-8h8z` });
    graph.arcs.push({ from, to, line, tip });
    svg.append(line, tip);
  }
  nodes.forEach(([x, y, wide, label], k) => {
    const table = variables[k].table;
    const words = `${name(k)}: ${plural(variables[k].states.length, "state")}, ${plural(variables[k].parents.length, "parent")}`;
    const node = s("g", { class: "node", role: "button", tabindex: k ? "-1" : "0", "aria-label": words },
      s("title", {}, words + (table.n === null ? "" : `, ${tallied(table.n, "row")}`)),
      s("rect", { x: x - wide / 2, y: y - 13, width: wide, height: 26, rx: 8 }),
      s("text", { x, y: y + 4.5 }, label));
    node.addEventListener("keydown", (event) => walk(event, k));
    graph.nodes.push(node);
    svg.append(node);
  });
  graph.svg = svg;
  moveable(svg, size);
  const tool = (text, label, action) => h("button", { type: "button", "aria-label": label, title: label, onclick: action }, text);
  graph.card = h("section", { id: "graph", class: "card graph", "aria-labelledby": "graph-title" },
    h("div", { class: "tools" }, h("h2", { id: "graph-title" }, "Graph"), h("span", { class: "grow" }),
      tool("+", "Zoom in", () => zoom(0.75)), tool("−", "Zoom out", () => zoom(1 / 0.75)),
      tool("Whole", "Show the whole graph", fit), tool("SVG", "Save the graph as SVG", () => save(svg, "graph"))),
    svg,
    h("p", { class: "note" }, "Drag to move; Ctrl and the wheel, or two fingers, to zoom. Arrow keys go from node to node."));
  // As high as the graph needs, within what fits on a screen.
  svg.style.height = `min(${Math.max(260, Math.round(1.35 * size[1] + 30))}px, var(--graph-height))`;
  return graph.card;
}

function fit() {
  const [width, height] = content.graph.size;
  // A small graph is not blown up beyond what is pleasant to read.
  const shown = graph.svg.getBoundingClientRect();
  const scale = Math.min(1.35, shown.width / width || 1, shown.height / height || 1);
  const w = Math.max(width, shown.width / scale), tall = Math.max(height, shown.height / scale);
  graph.box = { x: (width - w) / 2, y: (height - tall) / 2, w, h: tall };
  showBox();
}
function showBox() { graph.svg.setAttribute("viewBox", [graph.box.x, graph.box.y, graph.box.w, graph.box.h].map((v) => v.toFixed(1)).join(" ")); }
function zoom(factor, at) {
  const box = graph.box, limit = Math.max(...content.graph.size) * 4;
  if (box.w * factor < 60 || box.w * factor > limit) return;
  const point = at ?? { x: box.x + box.w / 2, y: box.y + box.h / 2 };
  graph.box = { x: point.x - (point.x - box.x) * factor, y: point.y - (point.y - box.y) * factor, w: box.w * factor, h: box.h * factor };
  showBox();
}
// Bring a node into the middle, near enough to be read.
function centre(k) {
  const [x, y] = content.graph.nodes[k], shown = graph.svg.getBoundingClientRect();
  const scale = Math.min(shown.width / graph.box.w, shown.height / graph.box.h) || 1;
  const inside = x > graph.box.x && x < graph.box.x + graph.box.w && y > graph.box.y && y < graph.box.y + graph.box.h;
  if (inside && scale > 0.55) return;
  const target = Math.max(scale, 0.85);
  const w = shown.width / target, height = shown.height / target;
  // Not beyond the edge of the graph, where there is nothing to see.
  const within = (start, length, whole) => (length > whole ? (whole - length) / 2 : Math.min(Math.max(start, -20), whole - length + 20));
  const [wide, tall] = content.graph.size;
  graph.box = { x: within(x - w / 2, w, wide), y: within(y - height / 2, height, tall), w, h: height };
  showBox();
}

function moveable(svg, size) {
  const fingers = new Map();
  let moved = 0, spread = 0;
  const place = (event) => new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
  svg.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    zoom(Math.exp(Math.min(Math.max(event.deltaY, -60), 60) / 200), place(event));
  }, { passive: false });
  svg.addEventListener("pointerdown", (event) => {
    fingers.set(event.pointerId, event);
    moved = fingers.size > 1 ? 99 : 0;
    spread = 0;
  });
  svg.addEventListener("pointermove", (event) => {
    const before = fingers.get(event.pointerId);
    if (!before) return;
    moved += Math.abs(event.clientX - before.clientX) + Math.abs(event.clientY - before.clientY);
    if (moved > 4 && !svg.classList.contains("held")) {
      svg.classList.add("held");
      svg.setPointerCapture(event.pointerId);
    }
    const scale = 1 / svg.getScreenCTM().a;
    fingers.set(event.pointerId, event);
    if (fingers.size === 1) {
      graph.box.x -= (event.clientX - before.clientX) * scale;
      graph.box.y -= (event.clientY - before.clientY) * scale;
      showBox();
    } else {
      const [one, two] = [...fingers.values()];
      const now = Math.hypot(one.clientX - two.clientX, one.clientY - two.clientY);
      if (spread) zoom(spread / now, place({ clientX: (one.clientX + two.clientX) / 2, clientY: (one.clientY + two.clientY) / 2 }));
      spread = now;
    }
  });
  const release = (event) => {
    fingers.delete(event.pointerId);
    spread = 0;
    if (!fingers.size) svg.classList.remove("held");
  };
  for (const kind of ["pointerup", "pointercancel", "pointerleave"]) svg.addEventListener(kind, release);
  svg.addEventListener("click", (event) => {
    const node = event.target.closest(".node");
    if (node && moved <= 4) choose(graph.nodes.indexOf(node));
  });
}

function walk(event, k) {
  if (event.key === "Enter" || event.key === " ") { event.preventDefault(); choose(k); return; }
  if (event.key === "+") { zoom(0.75); return; }
  if (event.key === "-") { zoom(1 / 0.75); return; }
  if (event.key === "0") { fit(); return; }
  const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
  if (!way) return;
  event.preventDefault();
  const [x, y] = content.graph.nodes[k];
  let best = -1, least = Infinity;
  content.graph.nodes.forEach(([x2, y2], other) => {
    const ahead = (x2 - x) * way[0] + (y2 - y) * way[1], aside = Math.abs((x2 - x) * way[1] + (y2 - y) * way[0]);
    if (other !== k && ahead > 1 && ahead + 2 * aside < least) { least = ahead + 2 * aside; best = other; }
  });
  if (best >= 0) focusNode(best);
}
function focusNode(k) {
  for (const node of graph.nodes) node.setAttribute("tabindex", "-1");
  graph.nodes[k].setAttribute("tabindex", "0");
  centre(k);
  graph.nodes[k].focus({ preventScroll: true });
}
function markGraph(k) {
  graph.card.classList.add("picked");
  graph.nodes.forEach((node, other) => {
    node.classList.toggle("chosen", other === k);
    node.classList.toggle("parent", variables[k].parents.includes(other));
    node.classList.toggle("child", variables[k].children.includes(other));
    node.setAttribute("aria-pressed", String(other === k));
    node.setAttribute("tabindex", other === k ? "0" : "-1");
  });
  for (const { from, to, line, tip } of graph.arcs) {
    line.classList.toggle("near", from === k || to === k);
    tip.classList.toggle("near", from === k || to === k);
  }
  centre(k);
}
