"use strict";
// The page: what is chosen, what is open, and what the sliders say.
const FACTORS = [1, 1.25, 1.5, 2, 3, 4, 8, 16, Infinity];
const BOUNDS = [0.02, 0.08, 0.2, 0.4, 0.7];
const TOO_SHORT = "too short to tell";

function seconds(value) {
  if (!Number.isFinite(value)) return "–";
  const rounded = Math.abs(Number(value.toPrecision(3)));
  const [factor, unit] = [[1, "s"], [1e-3, "ms"], [1e-6, "µs"], [1e-9, "ns"]].find(([f]) => rounded >= f) ?? [1e-9, "ns"];
  return `${significant(value / factor)} ${unit}`;
}
function significant(value) {
  if (value === 0) return "0";
  return value.toFixed(Math.max(0, 2 - Math.floor(Math.log10(Math.abs(Number(value.toPrecision(3)))))));
}
const share = (value) => `${(100 * value).toFixed(1)} %`;
const times = (value) => (!Number.isFinite(value) ? "∞" : value >= 100 ? `${value.toPrecision(3)}×` : `${value.toFixed(2)}×`);

class App {
  constructor(data) {
    const model = readModel(data);
    this.data = data;
    this.state = { model, opened: openedByDefault(model, 60), showAll: false, byKernel: false, leftToRight: false, chosen: null };
    this.factors = new Map();
    this.leads = new Map();
    this.kernels = new Map();
    data.events.forEach((event, i) => { if (event.w) for (const node of event.m) if (!this.kernels.has(node)) this.kernels.set(node, i); });
    data.events.forEach((event, i) => {
      if (event.w && event.m.length) this.leads.set(event.m[0], [...(this.leads.get(event.m[0]) ?? []), i]);
    });
    this.simulate();
    this.before = this.result;
    this.canvas = new Canvas(document.querySelector("#graph"), this);
    this.canvas.plan();
    this.canvas.fit();
    this.listen();
    this.sliders();
    this.show();
  }

  // -- what boxes say ---------------------------------------------------------------------
  eventsOf(box) { return box.members.flatMap((node) => this.leads.get(node) ?? []); }
  time(box, durations) { return this.eventsOf(box).reduce((sum, i) => sum + durations[i], 0); }

  lines(box) {
    if (box.kind === 1 || box.kind === 2) return [box.label];
    const label = box.kind === 3 ? box.label.split("/").slice(-2).join("/") : box.label;
    if (!this.eventsOf(box).length) return box.kind === 3 ? [label, `${box.members.length} nodes`] : [label];
    const before = this.time(box, this.before.durations), after = this.time(box, this.result.durations);
    if (before === 0 && after === 0) return [label, TOO_SHORT];
    return [label, before === after ? `${seconds(before)} · ${share(before / this.before.executed.wall)}` : `${seconds(before)} → ${seconds(after)}`];
  }

  look(box) {
    if (box.kind === 1 || box.kind === 2) return "";
    const step = this.step(box);
    return box.members.some((node) => this.pathNodes.has(node)) ? `h${step} critical` : `h${step}`;
  }

  step(box) {
    const part = this.most ? this.time(box, this.result.durations) / this.most : 0;
    return BOUNDS.filter((bound) => part > bound).length;
  }

  details(box) {
    const { nodes } = this.state.model;
    const head = box.members.length === 1 ? nodes[box.members[0]].details
      : `${box.label}\n${box.members.length} nodes\n${box.members.slice(0, 8).map((i) => nodes[i].name).join("\n")}${box.members.length > 8 ? "\n…" : ""}`;
    return this.eventsOf(box).length ? `${head}\n${seconds(this.time(box, this.before.durations))}` : head;
  }

  criticalEdges(view) {
    if (this.known?.view === view && this.known.path === this.path) return this.known.edges;
    const found = new Set(), many = view.boxes.length, users = new Map();
    for (const [a, b] of view.edges) { if (!users.has(a)) users.set(a, []); users.get(a).push(b); }
    const free = new Set(view.boxes.flatMap((box, i) => (this.eventsOf(box).length ? [] : [i])));
    const path = [...new Set(this.path.map((node) => view.boxOf[node]).filter((box) => box >= 0))];
    for (let n = 1; n < path.length; n++) {
      const way = wayBetween(path[n - 1], path[n], users, free);
      for (let i = 1; i < way.length; i++) found.add(way[i - 1] * many + way[i]);
    }
    this.known = { view, path: this.path, edges: found };
    return found;
  }

  // -- simulate ---------------------------------------------------------------------------
  simulate() {
    this.result = whatIf(this.data, this.eventFactors());
    this.path = this.result.path.flatMap((i) => this.data.events[i].m);
    this.pathNodes = new Set(this.path);
  }

  eventFactors() {
    const factors = new Map();
    for (const [key, factor] of this.factors) {
      for (const i of this.eventsFor(key)) factors.set(i, (factors.get(i) ?? 1) * factor);
    }
    return factors;
  }

  eventsFor(key) {
    const [kind, ...rest] = key.split(" "), name = rest.join(" "), { model } = this.state;
    if (kind === "kernel") return this.data.events[name].m.flatMap((node) => this.leads.get(node) ?? []);
    if (kind === "op") return this.data.events.flatMap((event, i) => (event.w && event.o === name ? [i] : []));
    const members = kind === "module" ? model.scopes.get(name)?.nodes ?? [] : [this.nodeIndex(name)];
    return members.flatMap((node) => this.leads.get(node) ?? []);
  }

  nodeIndex(name) { return this.data.names.indexOf(name); }

  setFactor(key, factor) {
    if (factor === 1) this.factors.delete(key); else this.factors.set(key, factor);
    this.simulate();
    this.measure();
    this.canvas.redraw();
    this.show();
  }

  // -- act --------------------------------------------------------------------------------
  replan() { this.canvas.plan(); this.measure(); this.canvas.redraw(); }
  measure() {
    this.most = this.canvas.folded.boxes.reduce((most, box) => Math.max(most, this.time(box, this.result.durations)), 0);
  }
  toggle(box) { if (box?.kind === 3 && !box.kernel) this.open(box.label); }
  open(path) {
    const anchor = this.canvas.byKey.get(`module ${path}`), [first] = this.state.model.scopes.get(path).nodes;
    this.keep(anchor, () => this.state.opened.add(path), (view) => view.boxOf[first]);
  }
  close(path) {
    const first = this.canvas.folded.boxOf[this.state.model.scopes.get(path).nodes[0]];
    for (const other of [...this.state.opened]) if (other === path || other.startsWith(`${path}/`)) this.state.opened.delete(other);
    this.keep(first, () => {}, () => this.canvas.byKey.get(`module ${path}`));
    this.choose(`module ${path}`);
  }
  // Change what is shown while one box stays where the eye is.
  keep(index, change, again) {
    const { x, y, k } = this.canvas.view, was = this.canvas.laid.places[index];
    change();
    this.replan();
    const now = this.canvas.laid.places[again(this.canvas.folded)];
    if (was && now) this.canvas.view = { x: x + (was.x + was.w / 2 - now.x - now.w / 2) * k, y: y + (was.y - now.y) * k, k };
    this.canvas.redraw();
  }

  choose(key, show = false) {
    this.state.chosen = key;
    if (show && key) this.reveal(key);
    this.canvas.redraw();
    if (key) this.tab("selection");
    this.show();
  }
  reveal(key) {
    const [kind, ...rest] = key.split(" "), name = rest.join(" ");
    if (kind === "op") return this.find(name);
    const node = this.state.model.nodes[this.nodeIndex(name)];
    let path = "";
    for (const part of node?.scope ? node.scope.split("/") : []) { path = path ? `${path}/${part}` : part; this.state.opened.add(path); }
    if (node?.hidden) this.state.showAll = document.querySelector("#all").checked = true;
    this.replan();
    const at = this.canvas.byKey.get(key) ?? (node ? this.canvas.folded.boxOf[node.index] : undefined);
    if (at === undefined) return;
    this.state.chosen = this.canvas.folded.boxes[at].key;
    this.canvas.centre(at);
  }

  find(text) {
    const wanted = text.toLowerCase(), box = document.querySelector("#search");
    box.value = text;
    this.matches = wanted ? this.state.model.nodes.filter((n) => n.name.toLowerCase().includes(wanted) || n.op.toLowerCase() === wanted).map((n) => `node ${n.name}`) : [];
    this.match = -1;
    document.querySelector("#found").textContent = wanted ? `${this.matches.length} found` : "";
    if (this.matches.length) this.next(1);
  }
  next(step) {
    if (!this.matches?.length) return;
    this.match = (this.match + step + this.matches.length) % this.matches.length;
    document.querySelector("#found").textContent = `${this.match + 1} of ${this.matches.length}`;
    this.choose(this.matches[this.match], true);
  }

  tab(name) {
    for (const tab of document.querySelectorAll("[role=tab]")) {
      const on = tab.dataset.tab === name;
      tab.setAttribute("aria-selected", on);
      document.querySelector(`#${tab.dataset.tab}`).hidden = !on;
    }
  }

  // -- show -------------------------------------------------------------------------------
  show() {
    const { result, before } = this, active = this.factors.size > 0;
    document.body.classList.toggle("changed", active);
    if (this.data.events.length) {
      const line = (a, b) => (active ? `${seconds(a)} → ${seconds(b)} (${times(a / b)})` : seconds(a));
      document.querySelector("#executed").textContent = line(before.executed.wall, result.executed.wall);
      document.querySelector("#parallel").textContent = line(before.parallel.wall, result.parallel.wall);
    }
    for (const row of document.querySelectorAll("[data-key].row")) row.classList.toggle("chosen", Boolean(row.dataset.key) && row.dataset.key === this.state.chosen);
    this.selection();
  }

  selection() {
    const target = document.querySelector("#chosen"), index = this.canvas.byKey.get(this.state.chosen);
    const box = this.canvas.folded.boxes[index];
    document.querySelector("#nothing").hidden = Boolean(box);
    target.replaceChildren();
    if (!box) return;
    const put = (tag, text, className = "") => { const e = document.createElement(tag); e.textContent = text; e.className = className; target.append(e); return e; };
    const node = this.state.model.nodes[box.members[0]];
    put("h2", box.kind === 3 ? box.label : node.op || node.name);
    if (box.kind !== 3) put("code", node.name);
    const actions = document.createElement("p");
    actions.className = "actions";
    const action = (text, act) => { const b = document.createElement("button"); b.textContent = text; b.addEventListener("click", act); actions.append(b); };
    if (box.kind === 3 && !box.kernel) action("Open", () => this.open(box.label));
    const parent = box.kernel ? "" : box.kind === 3 ? box.label.split("/").slice(0, -1).join("/") : node.scope;
    if (parent) action(`Close ${parent.split("/").pop()}`, () => this.close(parent));
    target.append(actions);
    const events = this.eventsOf(box);
    if (events.length) {
      const before = this.time(box, this.before.durations), wall = this.before.executed.wall;
      const ceiling = wall / whatIf(this.data, new Map(events.map((i) => [i, Infinity]))).executed.wall;
      put("p", `${seconds(before)}, ${share(before / wall)} of the time. Without it, an inference would be ${times(ceiling)} as fast at most.`, "big");
      target.append(this.slider(this.state.chosen, "what if it were faster"));
    } else if (this.data.events.length && !box.kind) put("p", this.followed(node) || "No time was recorded for it.", "quiet");
    put("pre", this.details(box));
  }

  followed(node) {
    const event = this.data.events.find((one) => one.w && one.m.indexOf(node.index) > 0);
    return event && `Its time is in ${event.n}, shown on ${this.data.names[event.m[0]]}.`;
  }

  slider(key, label) {
    const row = document.createElement("label"), input = document.createElement("input"), value = document.createElement("output");
    const name = document.createElement("span");
    row.className = "slider";
    name.textContent = label;
    Object.assign(input, { type: "range", min: 0, max: FACTORS.length - 1, step: 1, value: FACTORS.indexOf(this.factors.get(key) ?? 1) });
    input.setAttribute("aria-label", `${label}: times faster`);
    const said = () => { value.textContent = FACTORS[input.value] === Infinity ? "free" : `${FACTORS[input.value]}×`; };
    input.addEventListener("input", () => { said(); this.setFactorQuietly(key, FACTORS[input.value]); });
    said();
    input.dataset.key = key;
    row.append(name, input, value);
    return row;
  }

  // While a slider moves it must not be replaced under the hand that moves it.
  setFactorQuietly(key, factor) {
    const selection = this.selection;
    this.selection = () => {};
    this.setFactor(key, factor);
    this.selection = selection;
  }

  sliders() {
    const target = document.querySelector("#sliders");
    target?.replaceChildren(...this.data.sliders.map((op) => this.slider(`op ${op}`, op)));
  }

  listen() {
    const on = (selector, type, act) => document.querySelector(selector)?.addEventListener(type, act);
    on("#search", "input", (event) => { clearTimeout(this.typing); this.typing = setTimeout(() => { const { value } = event.target; this.find(value); event.target.focus(); }, 200); });
    on("#search", "keydown", (event) => { if (event.key === "Enter") { event.preventDefault(); this.next(event.shiftKey ? -1 : 1); event.target.focus(); } });
    on("#fit", "click", () => this.canvas.whole());
    on("#start", "click", () => this.canvas.fit());
    on("#kernels", "change", (event) => { this.state.byKernel = event.target.checked; this.replan(); this.canvas.fit(); });
    on("#turn", "click", () => { this.state.leftToRight = !this.state.leftToRight; this.replan(); this.canvas.fit(); });
    on("#all", "change", (event) => { this.state.showAll = event.target.checked; this.replan(); this.canvas.fit(); });
    on("#open", "click", () => { for (const path of this.state.model.scopes.keys()) this.state.opened.add(path); this.replan(); this.canvas.fit(); });
    on("#close", "click", () => { this.state.opened = openedByDefault(this.state.model, 60); this.replan(); this.canvas.fit(); });
    on("#reset", "click", () => { this.factors.clear(); this.simulate(); this.measure(); this.canvas.redraw(); this.sliders(); this.show(); });
    on("#closeall", "click", () => { this.state.opened.clear(); this.replan(); this.canvas.fit(); });
    on("#theme", "click", () => { const root = document.documentElement, dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches; root.dataset.theme = dark ? "light" : "dark"; });
    for (const tab of document.querySelectorAll("[role=tab]")) tab.addEventListener("click", () => this.tab(tab.dataset.tab));
    for (const row of document.querySelectorAll("[data-key].row")) if (row.dataset.key) row.addEventListener("click", () => { const kept = document.querySelector("[role=tab][aria-selected=true]").dataset.tab; this.choose(row.dataset.key, true); this.tab(kept); });
    this.measure();
    this.replan();
  }
}

function wayBetween(start, end, users, free) {
  const came = new Map([[start, start]]), waiting = [start];
  for (let at = 0; at < waiting.length && !came.has(end); at++) {
    for (const user of users.get(waiting[at]) ?? []) {
      if (!came.has(user) && (user === end || free.has(user))) { came.set(user, waiting[at]); waiting.push(user); }
    }
  }
  if (!came.has(end)) return [];
  const way = [end];
  while (way[way.length - 1] !== start) way.push(came.get(way[way.length - 1]));
  return way.reverse();
}

const app = new App(JSON.parse(document.querySelector("#data").textContent));
window.burnish = { app, layout, simulate, whatIf, folded };
