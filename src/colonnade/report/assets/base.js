// Elements, numbers and words. Names and states only ever become text nodes or attributes.
const content = JSON.parse(document.getElementById("content").textContent);
const variables = content.variables;

function h(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}
function s(tag, attributes = {}, ...children) {
  return filled(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}
function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(3).filter((child) => child !== null && child !== undefined));
  return element;
}
// A name in a text of its own direction.
const bdi = (text) => h("bdi", {}, String(text));
const name = (k) => variables[k].name;
const stateName = (k, code) => variables[k].states[code] ?? `state ${code + 1}`;
const number = new Intl.NumberFormat("en", { maximumFractionDigits: 2 });
const count = (value) => (value === null ? "–" : number.format(value));
const probability = (value) => (value === null || value === undefined ? "–" : value.toFixed(3));
// A sign of percent never stands at the beginning of a line.
const share = (value) => {
  if (value === null || value === undefined) return "–";
  const percent = 100 * value;
  if (percent > 0 && percent < 1) return "<\u00a01\u00a0%";
  if (percent > 99 && percent < 100) return ">\u00a099\u00a0%";
  return `${percent.toFixed(0)}\u00a0%`;
};
const tallied = (words, what) => `${words} ${what}${words === "1" ? "" : "s"}`;
const plural = (value, what) => `${count(value)} ${what}${value === 1 ? "" : "s"}`;
const level = `${+(100 * content.level).toFixed(6)}\u00a0%`;

function variableLink(k) {
  return h("button", { type: "button", class: "link", onclick: () => choose(k, true) }, bdi(name(k)));
}
function given(k, codes) {
  const parents = variables[k].parents;
  if (!parents.length) return ["no parents"];
  return codes.map((code, i) => [h("span", { class: "pair-of" }, bdi(name(parents[i])), h("span", { class: "is" }, " = "),
    bdi(stateName(parents[i], code)), i + 1 < codes.length ? "," : ""), " "]).flat();
}
const givenText = (k, codes) =>
  codes.map((code, i) => `${name(variables[k].parents[i])} = ${stateName(variables[k].parents[i], code)}`).join(", ");

function say(text) { document.getElementById("said").textContent = text; }

function section(id, title, ...children) {
  const heading = `${id}-title`;
  return h("section", { id, class: "card", "aria-labelledby": heading }, h("h2", { id: heading }, title), ...children);
}
function grid(head, rows, options = {}) {
  // Columns whose head begins with # hold numbers.
  const numeric = head.map((text) => text.startsWith("#"));
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": options.label ?? options.caption ?? "Table" },
    h("table", { class: options.class },
      options.caption ? h("caption", {}, options.caption) : null,
      h("thead", {}, h("tr", {}, head.map((text, k) => h("th", { scope: "col", class: numeric[k] ? "n" : null }, text.replace("#", ""))))),
      h("tbody", {}, rows.map((row) => row.title ? h("tr", {}, h("th", { scope: "rowgroup", class: "title", colspan: head.length }, row.title)) : h("tr", { class: row.best ? "best" : null },
        row.cells.map((cell, k) => h("td", { class: numeric[k] ? "n" : k === 0 ? "first" : null, "data-head": k ? head[k].replace("#", "") : null }, cell)))))));
}
