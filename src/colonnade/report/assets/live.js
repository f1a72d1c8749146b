// The explorer: clicks become a situation, the server answers, every margin follows.
const live = { situation: { observed: {}, likely: {}, done: {} }, past: [], mode: "observed", target: 0, asked: null, waiting: false, sliders: new Set(), parts: {} };

function buildLive() {
  const mode = (value, text, title) => h("button", { type: "button", "aria-pressed": String(live.mode === value), "data-mode": value, title,
    onclick: () => { live.mode = value; for (const each of document.querySelectorAll("[data-mode]")) each.setAttribute("aria-pressed", String(each.dataset.mode === value)); } }, text);
  const parts = live.parts;
  parts.chips = h("ul", { class: "chips", "aria-label": "Observed, likely and done" });
  parts.moved = h("div", {});
  parts.error = h("p", { class: "error", role: "alert", hidden: true });
  parts.undo = h("button", { type: "button", disabled: true, onclick: undo }, "Undo");
  parts.reset = h("button", { type: "button", disabled: true, onclick: () => change(() => ({ observed: {}, likely: {}, done: {} })) }, "Reset");
  parts.time = h("span", { class: "small quiet" });
  parts.code = h("div", {});
  return section("live", "Observations",
    h("div", { class: "tools" }, h("span", {}, "A click on a state"), mode("observed", "observes it", "What is seen changes what is believed about causes and effects"),
      mode("done", "brings it about (do)", "An action changes effects only; its own causes stay as they are"), h("span", { class: "grow" }), parts.time, parts.undo, parts.reset),
    parts.chips, parts.error, parts.moved, parts.code,
    h("p", { class: "note" }, content.live.draws ? `Intervals (${level}) from ${content.live.draws} draws of all tables. ` : "No intervals: the tables have no posterior, or are too large to be drawn. ",
      `The explorer runs on this machine only. It ends with Ctrl-C where it was started, and by itself after ${plural(content.live.minutes, "minute")} without a question.`));
}

function beginLive(first) {
  margins.cards.forEach(({ card, states }, k) => {
    states.forEach((row, code) => row.addEventListener("click", () => toggle(k, code)));
    card.append(h("div", { class: "row-tools" }, h("button", { type: "button", "data-likely": k, "aria-expanded": "false", onclick: () => openSliders(k) }, "Likelihood")));
  });
  live.target = first;
  ask();
}

const copied = (situation) => JSON.parse(JSON.stringify(situation));
function change(changed) {
  live.past.push(copied(live.situation));
  live.situation = changed(copied(live.situation));
  ask();
}
function undo() {
  if (!live.past.length) return;
  live.situation = live.past.pop();
  ask();
}
function without(situation, k) {
  for (const part of ["observed", "likely", "done"]) delete situation[part][k];
  return situation;
}
function toggle(k, code) {
  change((situation) => {
    const same = situation[live.mode][k] === code;
    without(situation, k);
    if (!same) situation[live.mode][k] = code;
    return situation;
  });
}
function chooseLive(k) {
  live.target = k;
  margins.cards[k]?.card.scrollIntoView({ block: "nearest" });
  margins.cards.forEach(({ card }, other) => card.classList.toggle("target", other === k));
  ask();
}

// Sliders say how likely what was found is under each state.
function openSliders(k) {
  const { card } = margins.cards[k], open = card.querySelector(".sliders"), button = card.querySelector("[data-likely]");
  button.setAttribute("aria-expanded", String(!open));
  if (open) { open.remove(); return; }
  const now = live.situation.likely[k] ?? variables[k].states.map(() => 1);
  const box = h("div", { class: "sliders" }, h("p", { class: "small quiet" }, "How likely is what was found, if the state is"));
  const inputs = now.slice(0, margins.cards[k].states.length).map((value, code) => {
    const shown = h("output", { class: "value" }, value.toFixed(2));
    const input = h("input", { type: "range", min: "0", max: "1", step: "0.01", value, "aria-label": `Likelihood of ${name(k)} = ${stateName(k, code)}` });
    // Many small moves are one step to be undone.
    let before = null;
    input.addEventListener("input", () => {
      before ??= copied(live.situation);
      shown.textContent = (+input.value).toFixed(2);
      const values = variables[k].states.map((_, i) => (inputs[i] ? +inputs[i].value : 1));
      without(live.situation, k);
      if (values.some((each) => each > 0) && values.some((each) => each !== values[0])) live.situation.likely[k] = values;
      ask();
    });
    input.addEventListener("change", () => { if (before) live.past.push(before); before = null; showBar(); });
    box.append(h("label", { class: "state" }, bdi(stateName(k, code)), input, shown));
    return input;
  });
  card.append(box);
}

async function ask() {
  live.asked = { ...live.situation, target: live.target };
  showBar();
  if (live.waiting) return; // what was asked last is sent when the answer before it is here
  live.waiting = true;
  while (live.asked) {
    const message = JSON.stringify(live.asked);
    live.asked = null;
    const began = performance.now();
    try {
      const response = await fetch("ask", { method: "POST", headers: { "Content-Type": "application/json" }, body: message });
      const answer = await response.json();
      if (response.ok) showAnswer(answer, performance.now() - began);
      else complain(answer.error);
    } catch {
      complain("The explorer has ended. Start it again, and open its new address.");
    }
  }
  live.waiting = false;
}
function complain(text) {
  live.parts.error.textContent = text;
  live.parts.error.hidden = false;
}

function showAnswer(answer, time) {
  live.parts.error.hidden = true;
  live.answer = answer;
  const some = Object.values(live.situation).some((part) => Object.keys(part).length);
  answer.means.forEach((mean, k) => showMargin(k, mean, answer.lower ? [answer.lower[k], answer.upper[k]] : null, some ? variables[k].margin : null));
  const moved = new Set(answer.moved.filter((each) => each.distance >= 0.05).map((each) => each.variable));
  graph.nodes.forEach((node, k) => node.classList.toggle("moved", moved.has(k)));
  const arrow = (each) => h("li", {}, h("span", {}, variableLink(each.variable), " ", bdi(stateName(each.variable, each.state)),
    ` ${probability(each.before)} → `, h("strong", {}, probability(each.now))));
  live.parts.moved.replaceChildren(...(answer.moved.length ? chipList("moved", ["What moved most"], answer.moved.map(arrow)) : some ? [h("p", { class: "note" }, "Nothing else moved.")] : []),
    ...reasonList(answer.reasons), ...nextList(answer.next));
  live.parts.time.textContent = `${some && answer.log_probability < -1e-9 ? `probability ${Math.exp(answer.log_probability).toPrecision(3)}, ` : ""}${time.toFixed(0)} ms`;
  live.parts.code.replaceChildren(...codeBoxes(answer));
  document.documentElement.dataset.answered = JSON.stringify({ ...live.situation, target: live.target });
}

// A few words, and what they are about in a row of chips.
function chipList(kind, words, chips) {
  return [h("div", { class: "line" }, h("span", { class: "small quiet", id: `${kind}-title` }, words, ":"), h("ul", { class: `chips ${kind}`, "aria-labelledby": `${kind}-title` }, chips))];
}

// What each finding adds to the variable that was chosen.
function reasonList(found) {
  if (!found) return [];
  const reason = (each) => h("li", {}, h("span", {}, variableLink(each.variable), ` ${each.adds < 0 ? "−" : "+"}${Math.abs(each.adds).toFixed(3)}`));
  return chipList("reasons", ["What each adds to the others for ", bdi(name(found.target)), " = ", bdi(stateName(found.target, found.state)), ` (now ${probability(found.now)})`], found.adds.map(reason));
}

// What to ask next: the variables that are expected to tell most about the one that was chosen.
function nextList(found) {
  if (!found?.length) return [];
  const question = (each) => h("li", { title: `expected to settle ${share(each.settled)} of what is open: ${each.information.toFixed(4)} nats` }, h("span", {}, variableLink(each.variable), ` ${share(each.settled)}`));
  return chipList("next", ["What to ask next about ", bdi(name(live.target)), ", by the share of what is open that it settles"], found.map(question));
}

function codeBoxes(answer) {
  const box = (kind, text) => h("div", { class: "tools" }, h("code", { class: "code", id: `as-${kind}` }, text),
    h("button", { type: "button", "data-copy": kind, onclick: () => copy(text, kind) }, kind === "python" ? "Copy as Python" : "Copy as a command"));
  const found = [["python", answer.python], ["command", answer.command]].filter(([, text]) => text).map(([kind, text]) => box(kind, text));
  const known = live.target in live.situation.observed || live.target in live.situation.done;
  const words = known ? [bdi(name(live.target)), " is known; choose another variable to copy a question about it."] : ["The same question about ", bdi(name(live.target)), found.length ? ":" : " cannot be written in one line."];
  const missing = !known && answer.python && !answer.command ? [h("p", { class: "note" }, "There is no command for likelihoods of states whose names have commas, bars or colons.")] : [];
  return [h("details", { open: live.parts.code.querySelector("details")?.open ?? false }, h("summary", {}, "Copy this question"), h("p", { class: "small" }, words), found, missing)];
}
async function copy(text, kind) {
  try {
    await navigator.clipboard.writeText(text);
    say("Copied");
  } catch {
    getSelection().selectAllChildren(document.getElementById(`as-${kind}`)); // to be copied by hand
    say("Selected");
  }
}

function showBar() {
  const { observed, likely, done } = live.situation, { chips } = live.parts;
  const chip = (k, text) => h("li", {}, h("span", {}, bdi(name(k)), text), h("button", { type: "button", "aria-label": `Take back ${name(k)}`, onclick: () => change((situation) => without(situation, k)) }, "×"));
  chips.replaceChildren(
    ...Object.entries(observed).map(([k, code]) => chip(+k, [" = ", bdi(stateName(+k, code))])),
    ...Object.entries(likely).map(([k]) => chip(+k, " likely")),
    ...Object.entries(done).map(([k, code]) => chip(+k, [" := ", bdi(stateName(+k, code))])));
  if (!chips.children.length) chips.append(h("li", { class: "quiet" }, h("span", {}, "Nothing yet: click a state below. ")));
  live.parts.undo.disabled = !live.past.length;
  live.parts.reset.disabled = !Object.values(live.situation).some((part) => Object.keys(part).length);
  margins.cards.forEach(({ card, states }, k) => {
    card.classList.toggle("seen", k in observed);
    card.classList.toggle("done", k in done);
    card.classList.toggle("likely", k in likely);
    card.querySelector(".tag").textContent = k in observed ? "observed" : k in done ? "done" : k in likely ? "likelihood" : "";
    states.forEach((row, code) => row.setAttribute("aria-pressed", String((observed[k] ?? done[k]) === code)));
    graph.nodes[k].classList.toggle("seen", k in observed);
    graph.nodes[k].classList.toggle("done", k in done);
  });
}
