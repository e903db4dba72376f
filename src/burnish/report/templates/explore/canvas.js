"use strict";
// The drawing: only what is in sight becomes an element; far away, boxes are one path per colour.
const OVERVIEW = 0.32, LETTER = 6.7, LINE = 15, LONGEST = 30;
const NAMESPACE = "http://www.w3.org/2000/svg";

function make(tag, attributes, ...children) {
  const element = document.createElementNS(NAMESPACE, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

function shortened(text, limit) {
  if (text.length <= limit) return text;
  const head = (limit - 1) >> 1;
  return `${text.slice(0, head)}…${text.slice(text.length - (limit - 1 - head))}`;
}

// Each frame's name goes to the first of its corners where it lies over no other name.
function labelled(frames) {
  let taken = [];
  for (const frame of [...frames].sort((a, b) => a.y - b.y)) {
    taken = taken.filter((label) => label.y > frame.y - 40);
    const { x, y, w, h } = frame, long = 6.2 * (frame.path.split("/").pop().length + 2);
    const corners = [[x + 6, y - 4], [x + w - 6 - long, y - 4], [x + 6, y + h + 11], [x + w - 6 - long, y + h + 11], [x + w + 6, y + 10]];
    const free = corners.find(([cx, cy]) => !taken.some((t) => Math.abs(t.y - cy) < 11 && t.x < cx + long && t.x + t.long > cx)) ?? corners[0];
    frame.label = { x: free[0], y: free[1], long };
    taken.push(frame.label);
  }
  return frames;
}

class Canvas {
  constructor(svg, app) {
    this.svg = svg;
    this.app = app;
    this.scene = svg.querySelector("g");
    this.strip = document.querySelector("#strip");
    this.view = { x: 0, y: 0, k: 1 };
    this.listen();
  }

  // -- plan -------------------------------------------------------------------------------
  plan() {
    const { model, opened, showAll, leftToRight } = this.app.state;
    const view = folded(model, opened, showAll, this.app.state.byKernel ? this.app.kernels : null);
    for (const box of view.boxes) {
      const lines = this.app.lines(box), longest = Math.max(...lines.map((line) => Math.min(line.length, LONGEST)));
      // Room for the longest time, before and after a change: sliders need no new plan then.
      box.size = [Math.max(lines.length > 1 ? 132 : 76, longest * LETTER + 24), lines.length * LINE + 10];
    }
    const plan = layout(view.boxes.map((box) => box.size), view.edges, leftToRight);
    this.folded = view;
    this.laid = plan;
    this.paths = plan.routes.map((points) => pathOf(points, leftToRight));
    this.bounds = plan.routes.map((points) => {
      const xs = points.map((p) => p[0]), ys = points.map((p) => p[1]);
      return [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)];
    });
    this.frames = this.containers();
    this.byKey = new Map(view.boxes.map((box, i) => [box.key, i]));
    this.drawn = null;
  }

  // Frames around open modules, where no box of another module stands in between.
  containers() {
    if (this.app.state.byKernel) return [];
    const { model, opened } = this.app.state, { boxes } = this.folded, { places } = this.laid;
    const inside = new Map();
    boxes.forEach((box, i) => {
      const node = model.nodes[box.members[0]];
      const scope = box.kind === 3 ? box.label.split("/").slice(0, -1).join("/") : node.scope;
      let path = "";
      for (const part of scope ? scope.split("/") : []) {
        path = path ? `${path}/${part}` : part;
        if (!inside.has(path)) inside.set(path, new Set());
        inside.get(path).add(i);
      }
    });
    const frames = [], tallest = places.reduce((most, p) => Math.max(most, p.h), 0);
    const byTop = places.map((_, i) => i).sort((a, b) => places[a].y - places[b].y);
    const foreign = (members, left, top, right, bottom) => {
      let low = 0, high = byTop.length;
      while (low < high) { const mid = (low + high) >> 1; if (places[byTop[mid]].y < top - tallest) low = mid + 1; else high = mid; }
      for (; low < byTop.length && places[byTop[low]].y < bottom; low++) {
        const p = places[byTop[low]];
        if (!members.has(byTop[low]) && p.x < right && p.x + p.w > left && p.y + p.h > top) return true;
      }
      return false;
    };
    for (const [path, members] of inside) {
      if (!opened.has(path) || members.size < 2 || members.size === boxes.length) continue;
      const depth = path.split("/").length, pad = Math.max(3, 10 - 1.6 * depth);
      let left = Infinity, top = Infinity, right = -Infinity, bottom = -Infinity;
      for (const i of members) {
        const p = places[i];
        left = Math.min(left, p.x); top = Math.min(top, p.y);
        right = Math.max(right, p.x + p.w); bottom = Math.max(bottom, p.y + p.h);
      }
      if (!foreign(members, left, top, right, bottom)) frames.push({ path, x: left - pad, y: top - pad, w: right - left + 2 * pad, h: bottom - top + 2 * pad });
    }
    return labelled(frames);
  }

  // -- draw -------------------------------------------------------------------------------
  redraw() { this.drawn = null; this.fillStrip(); this.draw(); }

  draw() {
    const { x, y, k } = this.view;
    this.scene.setAttribute("transform", `translate(${x} ${y}) scale(${k})`);
    const { width, height } = this.svg.getBoundingClientRect();
    this.mark(width, height);
    const sight = [-x / k, -y / k, (width - x) / k, (height - y) / k];
    const overview = k < OVERVIEW && this.folded.boxes.length > 300;
    const d = this.drawn;
    if (d && d.overview === overview && d.rect[0] <= sight[0] && d.rect[1] <= sight[1] && d.rect[2] >= sight[2] && d.rect[3] >= sight[3]) return;
    const mx = (sight[2] - sight[0]) * 0.5, my = (sight[3] - sight[1]) * 0.5;
    const rect = [sight[0] - mx, sight[1] - my, sight[2] + mx, sight[3] + my];
    this.scene.replaceChildren(...(overview ? this.overview() : this.detailed(rect)));
    this.drawn = { overview, rect: overview ? [-Infinity, -Infinity, Infinity, Infinity] : rect };
  }

  overview() {
    const colours = new Map();
    this.folded.boxes.forEach((box, i) => {
      const { x, y, w, h } = this.laid.places[i], look = this.app.look(box);
      colours.set(look, `${colours.get(look) ?? ""}M${x.toFixed(0)} ${y.toFixed(0)}h${w.toFixed(0)}v${h}h-${w.toFixed(0)}z`);
    });
    const boxes = [...colours].map(([look, d]) => make("path", { d, class: `far ${look}` }));
    return [make("path", { d: this.paths.join(""), class: "edge" }), ...boxes];
  }

  detailed([left, top, right, bottom]) {
    const parts = this.frames.filter((f) => f.x < right && f.x + f.w > left && f.y < bottom && f.y + f.h > top).map((f) => this.frame(f));
    const critical = this.app.criticalEdges(this.folded), over = [];
    this.bounds.forEach(([x0, y0, x1, y1], n) => {
      if (x0 > right || x1 < left || y0 > bottom || y1 < top) return;
      const [a, b] = this.folded.edges[n], on = critical.has(a * this.folded.boxes.length + b);
      (on ? over : parts).push(make("path", { d: this.paths[n], class: on ? "edge critical" : "edge", "marker-end": `url(#tip-${on ? "critical" : "plain"})` }));
    });
    parts.push(...over);
    this.laid.places.forEach((p, i) => {
      if (p.x < right && p.x + p.w > left && p.y < bottom && p.y + p.h > top) parts.push(this.box(i));
    });
    return parts;
  }

  frame({ path, x, y, w, h, label: at }) {
    const group = make("g", { class: "frame", "data-module": path }, make("rect", { x, y, width: w, height: h, rx: 8 }));
    const label = make("text", { x: at.x, y: at.y });
    label.textContent = `− ${path.split("/").pop()}`;
    const title = make("title", {});
    title.textContent = `${path}: click to close`;
    group.append(label, title);
    return group;
  }

  box(i) {
    const box = this.folded.boxes[i], { x, y, w, h } = this.laid.places[i];
    const kind = ["node", "input", "output", "group"][box.kind];
    const chosen = this.app.state.chosen === box.key ? " chosen" : "";
    const group = make("g", { class: `box ${kind} ${this.app.look(box)}${chosen}`, "data-box": i });
    group.append(make("rect", { x, y, width: w, height: h, rx: box.kind === 1 || box.kind === 2 ? h / 2 : 5 }));
    const lines = this.app.lines(box).map((line) => shortened(line, LONGEST));
    const first = y + (h - lines.length * LINE) / 2 + 11;
    lines.forEach((line, n) => {
      const text = make("text", { x: x + w / 2, y: first + LINE * n, class: n ? "small" : "name" });
      text.textContent = line;
      group.append(text);
    });
    const title = make("title", {});
    title.textContent = this.app.details(box);
    group.append(title);
    return group;
  }

  // -- strip ------------------------------------------------------------------------------
  // The whole flow beside the drawing: how hot each part of it is, and which part is in sight.
  get along() { return this.app.state.leftToRight ? ["x", "w", "width"] : ["y", "h", "height"]; }

  fillStrip() {
    const bins = 240, [at, long, size] = this.along, heat = new Array(bins).fill(-1);
    this.folded.boxes.forEach((box, i) => {
      const place = this.laid.places[i], bin = Math.min(bins - 1, Math.floor(((place[at] + place[long] / 2) / this.laid[size]) * bins));
      heat[bin] = Math.max(heat[bin], this.app.step(box));
    });
    const rects = heat.flatMap((step, n) => (step < 0 ? [] : [make("rect", { x: 0, y: n, width: 10, height: 1.05, class: `h${step}` })]));
    this.seen = make("rect", { x: 0.5, width: 9, class: "seen" });
    this.strip.setAttribute("viewBox", `0 0 10 ${bins}`);
    this.strip.replaceChildren(...rects, this.seen);
  }

  mark(width, height) {
    const [at, , size] = this.along, { k } = this.view, room = at === "x" ? width : height;
    const from = Math.max(0, -this.view[at] / k / this.laid[size]), to = Math.min(1, (room - this.view[at]) / k / this.laid[size]);
    this.seen?.setAttribute("y", 240 * Math.min(from, 0.995));
    this.seen?.setAttribute("height", Math.max(1.2, 240 * (to - from)));
  }

  goTo(part) {
    const { width, height } = this.svg.getBoundingClientRect(), [at, , size] = this.along;
    this.view = { ...this.view, [at]: (at === "x" ? width : height) / 2 - part * this.laid[size] * this.view.k };
    this.draw();
  }

  // -- move -------------------------------------------------------------------------------
  fit() {
    const { width, height } = this.svg.getBoundingClientRect();
    const [w, h] = [this.laid.width, this.laid.height];
    const whole = Math.min((width - 60) / w, (height - 60) / h);
    // A long graph starts at its beginning, in a size that can be read.
    const along = this.app.state.leftToRight, room = along ? height : width, across = along ? h : w;
    const k = Math.min(1.25, Math.max(whole, 0.72, Math.min(0.75, (room - 60) / across)));
    // Where not all of its breadth has room, it starts where the longest chain does.
    const first = across * k > room - 20 ? this.laid.places[this.folded.boxOf[this.app.path[0]]] : undefined;
    const kept = (at, size) => Math.min(14, Math.max(room - across * k - 14, room / 2 - (at + size / 2) * k));
    const x = along ? (w * k > width - 60 ? 30 : (width - w * k) / 2) : first ? kept(first.x, first.w) : (width - w * k) / 2;
    const y = !along ? (h * k > height - 60 ? 34 : (height - h * k) / 2) : first ? kept(first.y, first.h) : (height - h * k) / 2;
    this.view = { x, y, k };
    this.redraw();
  }

  whole() {
    const { width, height } = this.svg.getBoundingClientRect();
    // A graph that is thousands of boxes long would be a hair: it stays as wide as can be seen.
    const least = 40 / Math.min(this.laid.width, this.laid.height);
    const k = Math.max(least, Math.min(1.25, (width - 40) / this.laid.width, (height - 40) / this.laid.height));
    this.view = { x: (width - this.laid.width * k) / 2, y: (height - this.laid.height * k) / 2, k };
    this.redraw();
  }

  centre(i) {
    const { width, height } = this.svg.getBoundingClientRect(), p = this.laid.places[i];
    const k = Math.max(this.view.k, 0.8);
    this.view = { x: width / 2 - (p.x + p.w / 2) * k, y: height / 2 - (p.y + p.h / 2) * k, k };
    this.redraw();
  }

  zoom(factor, cx, cy) {
    const k = Math.min(4, Math.max(0.005, this.view.k * factor)), part = k / this.view.k;
    this.view = { x: cx - (cx - this.view.x) * part, y: cy - (cy - this.view.y) * part, k };
    this.draw();
  }

  listen() {
    const at = (event) => { const r = this.svg.getBoundingClientRect(); return [event.clientX - r.left, event.clientY - r.top]; };
    this.svg.addEventListener("wheel", (event) => {
      event.preventDefault();
      if (event.ctrlKey || event.metaKey || !event.shiftKey) this.zoom(Math.exp(-event.deltaY * 0.0016), ...at(event));
      else this.pan(-event.deltaY, 0);
    }, { passive: false });
    let held = null;
    this.svg.addEventListener("pointerdown", (event) => { held = { x: event.clientX, y: event.clientY, moved: false }; });
    this.svg.addEventListener("pointermove", (event) => {
      if (!held || !event.buttons) return;
      const [dx, dy] = [event.clientX - held.x, event.clientY - held.y];
      if (!held.moved && Math.hypot(dx, dy) < 4) return;
      held = { x: event.clientX, y: event.clientY, moved: true };
      this.svg.setPointerCapture(event.pointerId);
      this.pan(dx, dy);
    });
    this.svg.addEventListener("click", (event) => {
      if (held?.moved) return;
      const frame = event.target.closest(".frame"), box = event.target.closest(".box");
      if (box) this.app.choose(this.folded.boxes[box.dataset.box].key);
      else if (frame && event.target.tagName === "text") this.app.close(frame.dataset.module);
      else this.app.choose(null);
    });
    this.svg.addEventListener("dblclick", (event) => {
      const box = event.target.closest(".box");
      if (box) this.app.toggle(this.folded.boxes[box.dataset.box]);
    });
    this.svg.addEventListener("keydown", (event) => {
      const steps = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] };
      const { width, height } = this.svg.getBoundingClientRect();
      if (steps[event.key]) this.pan(...steps[event.key]);
      else if (event.key === "+" || event.key === "=") this.zoom(1.25, width / 2, height / 2);
      else if (event.key === "-") this.zoom(0.8, width / 2, height / 2);
      else if (event.key === "Enter" && this.app.state.chosen) this.app.toggle(this.folded.boxes[this.byKey.get(this.app.state.chosen)]);
      else return;
      event.preventDefault();
    });
    const jump = (event) => {
      if (event.type === "pointermove" && !event.buttons) return;
      const { top, height } = this.strip.getBoundingClientRect();
      this.goTo(Math.min(1, Math.max(0, (event.clientY - top) / height)));
    };
    this.strip.addEventListener("pointerdown", jump);
    this.strip.addEventListener("pointermove", jump);
    addEventListener("resize", () => this.redraw());
  }

  pan(dx, dy) {
    this.view = { ...this.view, x: this.view.x + dx, y: this.view.y + dy };
    cancelAnimationFrame(this.frameRequest);
    this.frameRequest = requestAnimationFrame(() => this.draw());
  }
}
