"use strict";
// What is drawn: nodes folded into the modules that are closed, in the order of the flow.
function readModel(data) {
  const nodes = data.names.map((name, i) => ({
    name, op: data.ops[i], kind: data.kinds[i], hidden: data.hidden[i] === 1,
    scope: data.scopes[data.scope[i]], details: data.details[i], index: i,
  }));
  const edges = [];
  for (let i = 0; i < data.edges.length; i += 2) edges.push([data.edges[i], data.edges[i + 1]]);
  const scopes = new Map();
  for (const node of nodes) {
    const parts = node.scope ? node.scope.split("/") : [];
    for (let depth = 1; depth <= parts.length; depth++) {
      const path = parts.slice(0, depth).join("/");
      if (!scopes.has(path)) scopes.set(path, { path, depth, nodes: [] });
      scopes.get(path).nodes.push(node.index);
    }
  }
  return { nodes, edges, scopes, data };
}

function ownerOf(model, node, opened) {
  if (!node.scope) return null;
  let path = "";
  for (const part of node.scope.split("/")) {
    path = path ? `${path}/${part}` : part;
    if (!opened.has(path)) return path;
  }
  return null;
}

// As deep as `most` boxes allow; a single box says nothing, so the first ones open anyway.
function openedByDefault(model, most) {
  const opened = new Set(), count = (open) => new Set(model.nodes.filter((node) => !node.hidden && !node.kind)
    .map((node) => ownerOf(model, node, open) ?? `\n${node.index}`)).size;
  const deepest = [...model.scopes.values()].reduce((most, scope) => Math.max(most, scope.depth), 0);
  for (let depth = 1; depth <= deepest; depth++) {
    const next = new Set(opened);
    for (const scope of model.scopes.values()) if (scope.depth === depth) next.add(scope.path);
    if (count(next) > most && count(opened) > 8) break;
    next.forEach((path) => opened.add(path));
  }
  return opened;
}

// `kernels`, where given, says by node which kernel does it, or does it first.
function folded(model, opened, showAll, kernels) {
  const boxes = [], boxOf = new Array(model.nodes.length).fill(-1), groups = new Map();
  for (const node of model.nodes) {
    if (node.hidden && !showAll) continue;
    const owner = kernels ? kernels.get(node.index) ?? null : ownerOf(model, node, opened);
    if (owner === null) {
      boxOf[node.index] = boxes.length;
      boxes.push({ key: `node ${node.name}`, label: node.kind ? node.name : node.op, kind: node.kind, members: [node.index] });
    } else if (groups.has(owner)) {
      boxOf[node.index] = groups.get(owner);
      boxes[groups.get(owner)].members.push(node.index);
    } else {
      boxOf[node.index] = boxes.length;
      groups.set(owner, boxes.length);
      boxes.push(kernels
        ? { key: `kernel ${owner}`, label: model.data.events[owner].c, kind: 3, kernel: true, members: [node.index] }
        : { key: `module ${owner}`, label: owner, kind: 3, members: [node.index] });
    }
  }
  const seen = new Set(), links = [];
  for (const [a, b] of model.edges) {
    const from = boxOf[a], to = boxOf[b];
    if (from < 0 || to < 0 || from === to || seen.has(from * boxes.length + to)) continue;
    seen.add(from * boxes.length + to);
    links.push([from, to]);
  }
  return ordered(boxes, links, boxOf);
}

function ordered(boxes, links, boxOf) {
  const targets = boxes.map(() => []), waiting = boxes.map(() => 0), place = new Map();
  for (const [a, b] of links) { targets[a].push(b); waiting[b] += 1; }
  const ready = heap();
  waiting.forEach((missing, i) => { if (!missing) ready.push(i); });
  for (let earliest = 0; earliest < boxes.length; earliest++) {
    if (!ready.size() && !place.has(earliest)) ready.push(earliest);
    while (ready.size()) {
      const index = ready.pop();
      if (place.has(index)) continue;
      place.set(index, place.size);
      for (const target of targets[index]) if (--waiting[target] === 0) ready.push(target);
    }
  }
  const sorted = new Array(boxes.length);
  for (const [index, at] of place) sorted[at] = boxes[index];
  const edges = links.map(([a, b]) => [place.get(a), place.get(b)]).sort((p, q) => p[0] - q[0] || p[1] - q[1]);
  return { boxes: sorted, edges, boxOf: boxOf.map((box) => (box < 0 ? -1 : place.get(box))) };
}

function heap() {
  const items = [];
  const swap = (i, j) => { [items[i], items[j]] = [items[j], items[i]]; };
  return {
    size: () => items.length,
    push(value) {
      let i = items.push(value) - 1;
      while (i && items[i] < items[(i - 1) >> 1]) { swap(i, (i - 1) >> 1); i = (i - 1) >> 1; }
    },
    pop() {
      const top = items[0], last = items.pop();
      if (items.length) {
        items[0] = last;
        for (let i = 0, child; (child = 2 * i + 1) < items.length; i = child) {
          if (child + 1 < items.length && items[child + 1] < items[child]) child += 1;
          if (items[i] <= items[child]) break;
          swap(i, child);
        }
      }
      return top;
    },
  };
}
