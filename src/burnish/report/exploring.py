"""What the interactive page knows: the graph and the events as compact JSON, and its charts."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from burnish.analyze.computed import computed
from burnish.analyze.parallel import if_parallel
from burnish.analyze.selector import operator_of
from burnish.analyze.simulate import simulate
from burnish.analyze.whatif import sweep
from burnish.report.charts import ranked, roofline, timeline, tornado
from burnish.report.charts.room import ASIDE, Room
from burnish.report.graph import heat
from burnish.report.graph.describe import Describer
from burnish.report.graph.groups import Box, arithmetic_on_sizes
from burnish.report.graph.picture import Picture, PictureTiming
from burnish.report.graph.timed import shown_first
from burnish.store.graph import GraphRecord

_INPUT, _OUTPUT = 1, 2
_ROWS = 24
_SLIDERS = 10
_NOBODY, _BETWEEN = "unattributed", "between events"
CHANGES = ("1.5×", "2×", "at its roofline", "free")


def script_json(data: Any) -> str:  # noqa: ANN401  (any JSON value)
    """Return JSON that cannot end the script element that it stands in, nor begin another."""
    written = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return written.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def data(picture: Picture) -> dict[str, Any]:
    """Return the graph and the events; everything refers to nodes and events by number."""
    drawn = _graph(picture.graph)
    number = {name: index for index, name in enumerate(drawn["names"])}
    events = _events(picture.timing, picture.graph, number)
    return {"label": picture.label, **drawn, **events}


def _graph(graph: GraphRecord) -> dict[str, Any]:
    hidden = arithmetic_on_sizes(graph)
    describer = Describer(graph, None)
    inputs = [spec.name for spec in graph.inputs]
    outputs = [spec.name for spec in graph.outputs]
    nodes = graph.nodes
    scopes = {scope: n for n, scope in enumerate(dict.fromkeys(["", *(n.layer for n in nodes)]))}
    makers = {name: at for at, name in enumerate(inputs)}
    edges: dict[tuple[int, int], None] = {}
    for at, node in enumerate(nodes, len(inputs)):
        edges.update({(makers[name], at): None for name in node.inputs if name in makers})
        makers.update({name: at for name in node.outputs if name})
    first = len(inputs) + len(nodes)
    edges.update({(makers[n], at): None for at, n in enumerate(outputs, first) if n in makers})
    said = [describer.details(Box(n.name, "", "node", (n.name,))) for n in nodes]
    ends = [str(spec) for spec in (*graph.inputs, *graph.outputs)]
    return {
        "names": [*inputs, *(node.name for node in nodes), *outputs],
        "ops": [*[""] * len(inputs), *(node.op_type for node in nodes), *[""] * len(outputs)],
        "kinds": [*[_INPUT] * len(inputs), *[0] * len(nodes), *[_OUTPUT] * len(outputs)],
        "hidden": [
            *[0] * len(inputs),
            *(int(n.name in hidden) for n in nodes),
            *[0] * len(outputs),
        ],
        "scopes": list(scopes),
        "scope": [*[0] * len(inputs), *(scopes[node.layer] for node in nodes), *[0] * len(outputs)],
        "details": [*ends[: len(inputs)], *said, *ends[len(inputs) :]],
        "edges": [end for edge in edges for end in edge],
    }


def _events(
    timing: PictureTiming | None, graph: GraphRecord, number: Mapping[str, int]
) -> dict[str, Any]:
    if timing is None:
        return {"events": [], "parallel": {"places": [], "after": []}, "sliders": []}
    work = timing.events.work
    working = frozenset(work)
    operators = _operators(timing)
    order = shown_first(graph)
    events = [
        {
            "n": event.name,
            "c": computed(event, timing.setting) if event.nodes else event.name,
            "d": event.duration_s,
            "g": event.gap_s,
            "a": list(event.after),
            "o": operators[place],
            "m": [
                number[name]
                for name in sorted(event.nodes, key=lambda n: order.get(n, -1))
                if name in number
            ],
            "w": int(place in working),
        }
        for place, event in enumerate(timing.events.events)
    ]
    together = if_parallel(timing.events, graph)
    seconds = _by_operator(timing)
    return {
        "events": events,
        "parallel": {"places": list(work), "after": [list(e.after) for e in together.events]},
        "sliders": [op for op in sorted(seconds, key=lambda op: -seconds[op]) if op][:_SLIDERS],
    }


def _operators(timing: PictureTiming) -> list[str]:
    return [operator_of(e, timing.setting.nodes) or "" for e in timing.events.events]


def _by_operator(timing: PictureTiming) -> dict[str, float]:
    seconds: dict[str, float] = defaultdict(float)
    operators = _operators(timing)
    for place in timing.events.work:
        seconds[operators[place]] += timing.events.events[place].duration_s
    return seconds


def charts(timing: PictureTiming, graph: GraphRecord, room: Room = ASIDE) -> dict[str, str]:
    """Return the charts of the page, by name; a chart that cannot be drawn is an empty text."""
    return {
        "operators": ranked.chart(_operator_rows(timing), room, title="Time by operator"),
        "nodes": ranked.chart(_node_rows(timing, graph), room, title="Slowest nodes"),
        "roofline": _roofline(timing, room),
        "timeline": timeline.chart(_stretches(timing), room),
        "tornado": tornado.chart(_swings(timing), CHANGES, room),
    }


def _row(
    label: str, seconds_s: float, wall_s: float, *, key: str = "", detail: str = ""
) -> ranked.Ranked:
    share = seconds_s / wall_s if wall_s else 0.0
    ceiling = 1 / (1 - share) if share < 1 - 1e-9 else float("inf")
    return ranked.Ranked(label, seconds_s, share, ceiling, key, detail, quiet=not key)


def _operator_rows(timing: PictureTiming) -> list[ranked.Ranked]:
    wall_s = simulate(timing.events).wall_s
    seconds = _by_operator(timing)
    nobody_s = seconds.pop("", 0.0)
    names = sorted(seconds, key=lambda op: (-seconds[op], op))
    rows = [_row(op, seconds[op], wall_s, key=f"op {op}") for op in names]
    rest_s = sum(row.seconds_s for row in rows[_ROWS:])
    fixed = [_row(_NOBODY, nobody_s, wall_s)]
    if rest_s:
        fixed.insert(0, _row(f"{len(rows) - _ROWS} others", rest_s, wall_s))
    idle_s = max(0.0, wall_s - timing.events.work_s)
    return [*rows[:_ROWS], *fixed, _row(_BETWEEN, idle_s, wall_s)]


def _node_rows(timing: PictureTiming, graph: GraphRecord) -> list[ranked.Ranked]:
    wall_s, first = simulate(timing.events).wall_s, shown_first(graph)
    works = [timing.events.events[place] for place in timing.events.work]
    works.sort(key=lambda event: (-event.duration_s, event.name))
    rows = []
    for event in works[:_ROWS]:
        nodes = sorted((name for name in event.nodes if name in first), key=first.__getitem__)
        more = f" +{len(nodes) - 1}" if nodes[1:] else ""
        label, key = (f"{nodes[0]}{more}", f"node {nodes[0]}") if nodes else (event.name, "")
        rows.append(_row(label, event.duration_s, wall_s, key=key, detail=event.name))
    return rows


def _stretches(timing: PictureTiming) -> list[timeline.Stretch]:
    events = timing.events
    starts = simulate(events).starts_s
    longest = max((events.events[place].duration_s for place in events.work), default=0.0)
    return [
        timeline.Stretch(
            computed(event, timing.setting), event.resource, start_s, event.duration_s,
            f"h{heat.step(event.duration_s, longest)}",
            f"node {event.nodes[0]}" if event.nodes else "",
        )
        for event, start_s in zip(events.events, starts, strict=True)
        if event.kind != "end" and event.duration_s > 0
    ]  # fmt: skip


def _roofline(timing: PictureTiming, room: Room) -> str:
    device = timing.setting.device
    if device is None:
        return ""
    marks: list[roofline.Mark] = []
    types: dict[str, float] = defaultdict(float)
    for place in timing.events.work:
        event = timing.events.events[place]
        work = timing.setting.work(event)
        if work is not None:
            types[work.dtype] += event.duration_s
            marks.append(
                roofline.Mark(
                    computed(event, timing.setting), work.flops, work.bytes_moved, event.duration_s,
                    f"node {event.nodes[0]}",
                )
            )  # fmt: skip
    rated = [dtype for dtype in types if dtype in device.peak_flops_per_s]
    if not rated:
        return ""
    dtype = max(rated, key=lambda name: types[name])
    roof = roofline.DeviceRoof(
        f"{device.name}, {dtype}",
        device.peak_flops_per_s[dtype],
        {level.name: level.bandwidth_bytes_per_s for level in device.memory},
    )
    return roofline.chart(marks, roof, room)


def _swings(timing: PictureTiming) -> Sequence[tornado.Swing]:
    return [
        tornado.Swing(
            row.op_type,
            tuple(
                None if gain is None else 1 - 1 / gain
                for gain in (
                    row.gain_at_1_5, row.gain_at_2, row.gain_at_roofline, row.gain_at_infinity,
                )
            ),
            f"op {row.op_type}",
        )
        for row in sweep(timing.setting)[:_SLIDERS]
    ]  # fmt: skip
