"use strict";
const all = JSON.parse(document.getElementById("data").textContent);
const by = (id) => document.getElementById(id);
const SVG = "http://www.w3.org/2000/svg";
const LARGE = 1.1;

function made(tag, text, kind) {
  const node = document.createElement(tag);
  if (text !== undefined) node.textContent = text;
  if (kind) node.className = kind;
  return node;
}

function drawn(tag, parent, facts) {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(facts)) node.setAttribute(name, value);
  parent.append(node);
  return node;
}

function seconds(value) {
  const steps = [[1, "s"], [1e-3, "ms"], [1e-6, "µs"]];
  const [unit, name] = steps.find(([unit]) => value >= unit) || [1e-9, "ns"];
  return `${Number((value / unit).toPrecision(3))} ${name}`;
}

const last = (series) => series.points[series.points.length - 1];
const timed = (series) => series.points.filter((point) => point.s !== null);
const good = (series) => last(series).status === "ok" && last(series).s !== null;

function choices(id, values, every) {
  const list = by(id);
  if (every) list.append(new Option(every, ""));
  for (const [value, name] of values) list.append(new Option(name, value));
}

const known = (name) => [...new Set(all.series.map((one) => one[name]))].sort();
const plain = (values) => values.map((value) => [value, value === "" ? "fixed" : value]);

choices("machine", Object.entries(all.machines));
choices("precision", plain(known("precision")), "all");
choices("sizes", plain(known("sizes").filter((value) => value !== "")), "all");
choices("engine", plain(known("engine")));
if (known("engine").includes("burnish")) by("engine").value = "burnish";

function rows() {
  const wanted = by("model").value.toLowerCase();
  const found = new Map();
  for (const one of all.series) {
    if (one.machine !== by("machine").value) continue;
    if (wanted && !one.model.toLowerCase().includes(wanted)) continue;
    if (by("precision").value && one.precision !== by("precision").value) continue;
    if (by("sizes").value && one.sizes !== by("sizes").value) continue;
    const key = JSON.stringify([one.model, one.precision, one.threads, one.sizes]);
    if (!found.has(key)) found.set(key, { ...one, cells: new Map() });
    found.get(key).cells.set(one.engine, one);
  }
  for (const row of found.values()) judge(row);
  return [...found.values()].sort((a, b) => (b.gap || 0) - (a.gap || 0));
}

function judge(row) {
  const right = [...row.cells.values()].filter(good);
  right.sort((a, b) => last(a).s - last(b).s);
  row.best = right.length ? right[0] : null;
  const own = row.cells.get(by("engine").value);
  row.gap = null;
  if (own && good(own) && row.best) {
    row.gap = last(own).s / last(row.best).s;
    row.unsure = own !== row.best && last(own).low <= last(row.best).high;
  }
}

function spark(series, parent) {
  const points = timed(series).filter((point) => point.status === "ok");
  if (points.length < 2) return;
  const svg = drawn("svg", parent, { class: "spark", viewBox: "0 0 84 20", "aria-hidden": "true" });
  const values = points.map((point) => point.s);
  const low = Math.min(...values);
  const range = Math.max(Math.max(...values) - low, 0.1 * low); // noise is no mountain
  const x = (index) => 2 + (80 * index) / (points.length - 1);
  const y = (value) => 17 - (14 * (value - low)) / range;
  const line = values.map((value, index) => `${x(index)},${y(value)}`).join(" ");
  drawn("polyline", svg, { points: line });
  drawn("circle", svg, { cx: x(points.length - 1), cy: y(values[values.length - 1]), r: 2 });
}

function cell(row, series) {
  const place = made("td", undefined, "number");
  if (!series) {
    place.textContent = "–";
    return place;
  }
  const newest = last(series);
  const button = made("button");
  button.type = "button";
  button.addEventListener("click", () => trend(series));
  button.append(made("span", newest.s === null ? newest.status : seconds(newest.s), "time"));
  if (series === row.best) place.classList.add("best");
  if (newest.s === null) place.classList.add("failed");
  else if (newest.status !== "ok") {
    place.classList.add("wrong");
    button.append(made("small", newest.status));
  }
  spark(series, button);
  place.append(button);
  return place;
}

function gap(row) {
  if (row.gap === null) return made("td", "–", "number");
  const kind = row.unsure || row.gap === 1 ? "none" : row.gap >= LARGE ? "large" : "";
  const place = made("td", undefined, `number gap ${kind}`);
  place.append(made("span", row.gap === 1 ? "fastest" : `${row.unsure ? "about " : ""}${row.gap.toFixed(2)}×`));
  if (row.gap !== 1) place.append(made("small", row.best.engine));
  return place;
}

function draw() {
  const found = rows();
  const engines = known("engine").filter((name) => found.some((row) => row.cells.has(name)));
  const head = made("tr");
  head.append(made("th", "model"), made("th", "gap", "number"));
  for (const name of engines) head.append(made("th", name, "number"));
  by("matrix").tHead.replaceChildren(head);
  by("matrix").tBodies[0].replaceChildren(...found.map((row) => {
    const line = made("tr");
    const name = made("td", row.model);
    const threads = row.threads === null ? "" : `${row.threads} thread${row.threads === 1 ? "" : "s"}`;
    name.append(made("small", [row.sizes, row.precision, threads].filter(Boolean).join(" · ")));
    line.append(name, gap(row), ...engines.map((engine) => cell(row, row.cells.get(engine))));
    return line;
  }));
  by("shown").textContent = `${found.length} rows`;
}

function trend(series) {
  by("trend").hidden = false;
  by("title").textContent = `${series.model} on ${series.engine}${series.sizes ? `, ${series.sizes}` : ""}`;
  chart(timed(series));
  by("points").tBodies[0].replaceChildren(...[...series.points].reverse().map((point) => {
    const line = made("tr");
    const range = point.s === null ? "–" : `${seconds(point.low)} – ${seconds(point.high)}`;
    line.append(
      made("td", point.at), made("td", point.s === null ? "–" : seconds(point.s), "number"),
      made("td", range, "number"), made("td", point.status), made("td", point.environment));
    return line;
  }));
  by("trend").scrollIntoView({ block: "nearest" });
}

function chart(points) {
  const svg = by("chart");
  svg.replaceChildren();
  if (!points.length) return;
  const high = Math.max(...points.map((point) => Math.min(point.high, 3 * point.s))) * 1.05;
  const x = (index) => 70 + (630 * (index + 0.5)) / points.length;
  const y = (value) => 190 - (175 * Math.min(value, high)) / high;
  for (const share of [0, 0.5, 1]) {
    const level = y(high * share);
    drawn("line", svg, { class: "grid", x1: 70, x2: 700, y1: level, y2: level });
    drawn("text", svg, { x: 62, y: level + 4, "text-anchor": "end" }).textContent = share ? seconds(high * share) : "0";
  }
  points.forEach((point, index) => {
    if (index && point.environment !== points[index - 1].environment) {
      const between = (x(index) + x(index - 1)) / 2;
      drawn("line", svg, { class: "changed", x1: between, x2: between, y1: 10, y2: 190 });
    }
    drawn("line", svg, { class: "range", x1: x(index), x2: x(index), y1: y(point.low), y2: y(point.high) });
  });
  const right = points.flatMap((point, index) => (point.status === "ok" ? [`${x(index)},${y(point.s)}`] : []));
  drawn("polyline", svg, { points: right.join(" ") });
  points.forEach((point, index) => {
    const kind = point.status === "ok" ? "" : "wrong";
    drawn("circle", svg, { class: kind, cx: x(index), cy: y(point.s), r: 3.2 });
  });
  const ends = points.length > 1 ? [0, points.length - 1] : [0];
  for (const index of ends) {
    drawn("text", svg, { x: x(index), y: 210, "text-anchor": "middle" }).textContent = points[index].at.slice(0, 10);
  }
}

by("filters").addEventListener("input", draw);
by("filters").addEventListener("submit", (event) => event.preventDefault());
draw();
