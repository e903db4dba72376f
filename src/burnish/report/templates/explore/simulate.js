"use strict";
// The same arithmetic as burnish.analyze.simulate and critical_path: a test compares the two.
function simulate(durations, gaps, after) {
  const starts = [], ends = [];
  let wall = 0;
  for (let i = 0; i < durations.length; i++) {
    let ready = 0;
    for (const other of after[i]) ready = Math.max(ready, ends[other]);
    starts.push(ready + gaps[i]);
    ends.push(starts[i] + durations[i]);
    wall = Math.max(wall, ends[i]);
  }
  return { starts, ends, wall };
}

function criticalPath({ ends }, after) {
  if (!ends.length) return [];
  const later = (a, b) => (ends[b] > ends[a] ? b : a);
  const chain = [ends.map((_, i) => i).reduce(later)];
  for (let waits; (waits = after[chain[chain.length - 1]]).length;) chain.push(waits.reduce(later));
  return chain.reverse();
}

function whatIf(data, factors) {
  const events = data.events;
  const durations = events.map((event, i) => {
    const factor = factors.get(i) ?? 1;
    return factor === Infinity ? 0 : event.d / factor;
  });
  const executed = simulate(durations, events.map((event) => event.g), events.map((event) => event.a));
  const { places, after } = data.parallel;
  const parallel = simulate(places.map((i) => durations[i]), places.map(() => 0), after);
  const path = criticalPath(parallel, after).map((i) => places[i]);
  return { durations, executed, parallel, path };
}
