"use strict";
// The same plan as burnish.report.graph.layout draws: a test compares the two.
const GAP_ACROSS = 18, GAP_ALONG = 30, LINE_ROOM = 10, SWEEPS = 6;

function layered(boxes, edges) {
  const down = edges.map(([a, b]) => (a < b ? [a, b] : [b, a]));
  const layer = tightened(boxes, down, longestPaths(boxes, down));
  const above = layer.map(() => []), below = layer.map(() => []);
  const chains = edges.map(() => []), reach = edges.map(() => 0), shared = edges.map(() => 0);
  const join = (upper, lower) => {
    while (above.length <= Math.max(upper, lower)) { above.push([]); below.push([]); }
    below[upper].push(lower);
    above[lower].push(upper);
  };
  const passing = Array.from({ length: boxes }, () => []);
  const order = edges.map((_, n) => n).sort((m, n) => layer[down[m][1]] - layer[down[n][1]] || m - n);
  for (const n of order) {
    const [source, target] = down[n];
    if (source === target) continue;
    const chain = passing[source], needed = layer[target] - layer[source] - 1;
    shared[n] = chain.length;
    while (chain.length < needed) {
      const standIn = layer.length;
      join(chain.length ? chain[chain.length - 1] : source, standIn);
      layer.push(layer[source] + chain.length + 1);
      chain.push(standIn);
    }
    chains[n] = chain;
    reach[n] = needed;
    join(needed ? chain[needed - 1] : source, target);
  }
  const rows = [];
  layer.forEach((row, vertex) => { while (rows.length <= row) rows.push([]); rows[row].push(vertex); });
  const found = { layer, rows, above, below, chains, reach, shared, boxes };
  orderRows(found);
  return found;
}

function longestPaths(boxes, edges) {
  const layer = new Array(boxes).fill(0);
  for (const [a, b] of [...edges].sort((p, q) => p[0] - q[0] || p[1] - q[1])) {
    if (a !== b) layer[b] = Math.max(layer[b], layer[a] + 1);
  }
  return layer;
}

function tightened(boxes, edges, layer) {
  const users = layer.map(() => new Set()), sources = layer.map(() => 0);
  for (const [a, b] of edges) {
    if (a === b || users[a].has(b)) continue;
    users[a].add(b);
    sources[b] += 1;
  }
  const result = [...layer];
  for (let box = boxes - 1; box >= 0; box--) {
    if (users[box].size && sources[box] <= users[box].size) {
      let first = Infinity;
      for (const user of users[box]) first = Math.min(first, result[user]);
      result[box] = first - 1;
    }
  }
  return result;
}

function orderRows({ rows, above, below, layer }) {
  const place = new Array(layer.length).fill(0);
  const number = (row) => row.forEach((v, i) => { place[v] = i - (row.length - 1) / 2; });
  rows.forEach(number);
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    const near = sweep % 2 === 0 ? above : below;
    for (const row of sweep % 2 === 0 ? rows : [...rows].reverse()) {
      if (row.length < 2) continue;
      const wanted = new Map(row.map((v) => [v, near[v].length
        ? near[v].reduce((sum, n) => sum + place[n], 0) / near[v].length : place[v]]));
      row.sort((a, b) => wanted.get(a) - wanted.get(b) || place[a] - place[b]);
      number(row);
    }
  }
}

function columns(found, widths) {
  const centres = new Array(found.layer.length).fill(0);
  for (const row of found.rows) {
    let x = -(row.reduce((sum, v) => sum + widths[v], 0) + GAP_ACROSS * (row.length - 1)) / 2;
    for (const v of row) { centres[v] = x + widths[v] / 2; x += widths[v] + GAP_ACROSS; }
  }
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    const near = sweep % 2 === 0 ? found.above : found.below;
    for (const row of sweep % 2 === 0 ? found.rows : [...found.rows].reverse()) {
      settle(row, near, found.boxes, widths, centres);
    }
  }
  straighten(found, widths, centres);
  let left = Infinity;
  centres.forEach((centre, v) => { left = Math.min(left, centre - widths[v] / 2); });
  return centres.map((centre) => centre - left);
}

function straighten(found, widths, centres) {
  const { boxes, above, below, rows } = found, beside = [];
  for (const row of rows) row.forEach((v, i) => { beside[v] = [row[i - 1], row[i + 1]]; });
  const follower = centres.map((_, v) => {
    if (v >= boxes) return below[v].find((other) => other >= boxes) ?? -1;
    const next = below[v].filter((other) => other < boxes);
    if (next.length !== 1) return -1;
    return above[next[0]].filter((other) => other < boxes).length === 1 ? next[0] : -1;
  });
  const followed = new Set(follower);
  const align = (run, [low, high]) => {
    if (!run.length) return;
    const middle = run.reduce((sum, v) => sum + centres[v], 0) / run.length;
    for (const v of run) centres[v] = Math.min(Math.max(middle, low), high);
  };
  for (let first = 0; first < centres.length; first++) {
    if (followed.has(first)) continue;
    let run = [], room = [-Infinity, Infinity];
    for (let v = first; v >= 0; v = follower[v]) {
      const [left, right] = beside[v], width = (other) => (widths[other] + widths[v]) / 2 + GAP_ACROSS;
      const own = [
        left === undefined ? -Infinity : Math.min(centres[left] + width(left), centres[v]),
        right === undefined ? Infinity : Math.max(centres[right] - width(right), centres[v]),
      ];
      let both = [Math.max(room[0], own[0]), Math.min(room[1], own[1])];
      if (both[0] > both[1]) { align(run, room); run = []; both = own; }
      run.push(v);
      room = both;
    }
    align(run, room);
  }
}

function settle(row, near, boxes, widths, centres) {
  const runs = [], offsets = [];
  let offset = 0, before = 0;
  for (const v of row) {
    const half = widths[v] / 2;
    if (offsets.length) offset += before + half + GAP_ACROSS;
    before = half;
    offsets.push(offset);
    let total = 0, weight = 0.02;
    const beside = v < boxes ? near[v].filter((other) => other < boxes) : [];
    for (const other of beside.length ? beside : near[v]) {
      const pull = [1, 0.3, 8][(v >= boxes) + (other >= boxes)];
      total += centres[other] * pull;
      weight += pull;
    }
    const [wanted, force] = near[v].length ? [total / weight, weight] : [centres[v], 0.5];
    runs.push([(wanted - offset) * force, force, 1]);
    while (runs.length > 1) {
      const last = runs[runs.length - 1], prior = runs[runs.length - 2];
      if (!(prior[0] * last[1] > last[0] * prior[1])) break;
      runs.pop();
      for (let part = 0; part < 3; part++) prior[part] += last[part];
    }
  }
  let at = 0;
  for (const [total, weight, many] of runs) {
    for (let i = 0; i < many; i++) { centres[row[at]] = total / weight + offsets[at]; at += 1; }
  }
}

function layout(sizes, edges, leftToRight) {
  if (leftToRight) return turned(layout(sizes.map(([w, h]) => [h, w]), edges, false));
  const found = layered(sizes.length, edges), { layer, rows } = found;
  const widths = layer.map((_, v) => (v < sizes.length ? sizes[v][0] : LINE_ROOM));
  const centres = columns(found, widths);
  const tops = [], bottoms = [];
  let y = 0;
  for (const row of rows) {
    const tall = row.reduce((most, v) => (v < sizes.length ? Math.max(most, sizes[v][1]) : most), 0);
    tops.push(y);
    bottoms.push(y + tall);
    y += tall + GAP_ALONG;
  }
  const places = sizes.map(([w, h], v) => ({ x: centres[v] - w / 2, y: tops[layer[v]], w, h }));
  const ends = arrivals(edges, found, centres, places);
  const routes = edges.map((edge, n) => route(edge, n, found, centres, places, tops, bottoms, ends[n]));
  const width = centres.reduce((most, c, v) => Math.max(most, c + widths[v] / 2), 0);
  return { places, routes, width, height: bottoms.length ? bottoms[bottoms.length - 1] : 0 };
}

function arrivals(edges, { reach, chains }, centres, places) {
  const arriving = new Map();
  edges.forEach((edge, n) => {
    const upper = Math.min(...edge), lower = Math.max(...edge);
    const before = reach[n] ? chains[n][reach[n] - 1] : upper;
    if (!arriving.has(lower)) arriving.set(lower, []);
    arriving.get(lower).push([centres[before], n]);
  });
  const result = new Array(edges.length).fill(0);
  for (const [box, lines] of arriving) {
    lines.sort((p, q) => p[0] - q[0] || p[1] - q[1]);
    const apart = Math.min(14, places[box].w / (lines.length + 1));
    const first = centres[box] - (apart * (lines.length - 1)) / 2;
    lines.forEach(([, n], i) => { result[n] = first + apart * i; });
  }
  return result;
}

function route(edge, n, { chains, reach, shared, layer }, centres, places, tops, bottoms, end) {
  const a = Math.min(...edge), b = Math.max(...edge), chain = chains[n];
  const drawn = Math.min(shared[n], reach[n]);
  const fork = chain[drawn - 1];
  const points = drawn ? [[centres[fork], bottoms[layer[fork]]]] : [[centres[a], places[a].y + places[a].h]];
  for (const v of chain.slice(drawn, reach[n])) {
    const last = points[points.length - 1];
    if (points.length > 1 && Math.abs(last[0] - centres[v]) < 1) last[1] = bottoms[layer[v]];
    else points.push([centres[v], tops[layer[v]]], [centres[v], bottoms[layer[v]]]);
  }
  points.push([end, places[b].y]);
  return edge[0] <= edge[1] ? points : points.reverse();
}

function turned(plan) {
  return {
    places: plan.places.map(({ x, y, w, h }) => ({ x: y, y: x, w: h, h: w })),
    routes: plan.routes.map((points) => points.map(([x, y]) => [y, x])),
    width: plan.height, height: plan.width,
  };
}

function pathOf(points, leftToRight) {
  const r = (value) => Math.round(value * 10) / 10;
  let [x, y] = points[0], curved = true, text = `M${r(x)} ${r(y)}`;
  for (const [toX, toY] of points.slice(1)) {
    const mx = (x + toX) / 2, my = (y + toY) / 2;
    if (!curved || (leftToRight ? y === toY : x === toX)) text += `L${r(toX)} ${r(toY)}`;
    else if (leftToRight) text += `C${r(mx)} ${r(y)} ${r(mx)} ${r(toY)} ${r(toX)} ${r(toY)}`;
    else text += `C${r(x)} ${r(my)} ${r(toX)} ${r(my)} ${r(toX)} ${r(toY)}`;
    [x, y, curved] = [toX, toY, !curved];
  }
  return text;
}
