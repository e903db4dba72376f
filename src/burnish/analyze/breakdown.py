"""Where the time of an inference goes: by operator and by node, and what no node accounts for."""

from __future__ import annotations

import enum
import itertools
import math
import statistics
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from burnish.core.errors import ModelError
from burnish.store.graph import GraphRecord
from burnish.trace.events import Span, Trace
from burnish.trace.own_time import busy_seconds
from burnish.trace.timed import timed

OUTSIDE = "outside of layers"
"""The layer of nodes that lie in no module, or in several that share none."""


class RowKind(enum.Enum):
    """What the time of a row went to."""

    OPERATOR = "operator"
    NODE = "node"
    LAYER = "layer"
    KERNEL = "kernel"
    UNATTRIBUTED = "unattributed"
    BETWEEN = "between nodes"


ALWAYS_THERE = (RowKind.UNATTRIBUTED, RowKind.BETWEEN)


@dataclass(frozen=True, slots=True)
class Row:
    """Time of one inference that went to one thing."""

    label: str
    kind: RowKind
    count: float
    """How many spans per inference; a fraction where inferences differ."""
    seconds_s: float
    op_type: str | None = None
    nodes: tuple[str, ...] = ()
    """The model's nodes, where the row is theirs."""


@dataclass(frozen=True, slots=True)
class Breakdown:
    """The time of one typical inference in parts, the largest first.

    Every node's time is its median over the inferences: an interruption by another process hits
    another node each time, and so counts nowhere. The last two rows are always there:
    `unattributed` (spans that say no operator or node) and `between nodes` (time during which no
    node ran).
    """

    rows: tuple[Row, ...]
    overlap_s: float
    """By how much the rows exceed the time that they took together, side by side."""
    measured_wall_s: float
    """The median of whole inferences as recorded, interruptions included."""
    runs: int
    clock: str
    """What was timed: `host`, or `device` where the trace has kernels."""

    @property
    def wall_s(self) -> float:
        """Return the length of the typical inference: the sum of its parts, less overlap."""
        return max(0.0, sum(row.seconds_s for row in self.rows) - self.overlap_s)

    @property
    def total_s(self) -> float:
        """Return the time of all spans; more than `busy_s` where they overlap."""
        return sum(row.seconds_s for row in self.rows if row.kind is not RowKind.BETWEEN)

    @property
    def unattributed_s(self) -> float:
        """Return the time of spans that say no operator or node."""
        return sum(row.seconds_s for row in self.rows if row.kind is RowKind.UNATTRIBUTED)

    def share(self, row: Row) -> float:
        """Return a row's part of the wall time."""
        return row.seconds_s / self.wall_s if self.wall_s else 0.0

    def cumulative(self, row: Row) -> float:
        """Return the part of the wall time in this row and all before it."""
        upto = self.rows[: self.rows.index(row) + 1]
        return sum(self.share(each) for each in upto)

    def ceiling(self, row: Row) -> float:
        """Return how many times faster an inference gets if this row costs nothing."""
        rest = self.wall_s - row.seconds_s
        # 1e-9 of the wall time: what is left then is rounding, not work
        return self.wall_s / rest if rest > 1e-9 * self.wall_s else math.inf

    def top(self, number: int) -> tuple[Row, ...]:
        """Return the first `number` rows and the two that are always there."""
        fixed = tuple(row for row in self.rows if row.kind in ALWAYS_THERE)
        return self.rows[: len(self.rows) - len(fixed)][:number] + fixed


def by_operator(trace: Trace) -> Breakdown:
    """Return the time per operator type."""
    return _breakdown(trace, RowKind.OPERATOR, lambda span: span.op_type)


def by_node(trace: Trace) -> Breakdown:
    """Return the time per node, under the names of the graph that the engine really ran."""
    return _breakdown(trace, RowKind.NODE, lambda span: span.node)


def by_origin(trace: Trace) -> Breakdown:
    """Return the time per node of the model itself; nodes that ran as one are one row."""
    return _breakdown(trace, RowKind.NODE, lambda span: label_of(span.nodes) or None)


def by_layer(trace: Trace, graph: GraphRecord) -> Breakdown:
    """Return the time per layer: the innermost module that all nodes of a span are in."""
    scopes = {node.name: node.scope for node in graph.nodes}

    def layer(span: Span) -> str | None:
        around = [scopes[name] for name in span.nodes if name in scopes]
        return "/".join(_common(around)) or OUTSIDE if around else None

    return _breakdown(trace, RowKind.LAYER, layer)


def by_kernel(trace: Trace) -> Breakdown:
    """Return the time per kernel, by its name, or per engine's operator where there are none."""
    return _breakdown(trace, RowKind.KERNEL, lambda span: span.name)


def without_gaps(breakdown: Breakdown) -> Breakdown:
    """Return a breakdown of the time in which something ran; what is between is left out."""
    rows = tuple(row for row in breakdown.rows if row.kind is not RowKind.BETWEEN)
    return replace(breakdown, rows=rows)


def label_of(nodes: Sequence[str]) -> str:
    """Return how nodes that ran as one are called: `/layer.0/{MatMul, Add}`."""
    if len(nodes) < 2:
        return "".join(nodes)
    around = "/".join(_common([name.split("/")[:-1] for name in nodes]))
    inside = [name.removeprefix(f"{around}/") if around else name for name in nodes]
    return f"{around}/{{{', '.join(inside)}}}" if around else " + ".join(inside)


def _common(paths: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """Return what all paths begin with."""
    steps = zip(*paths, strict=False)
    return tuple(step[0] for step in itertools.takewhile(lambda s: len(set(s)) == 1, steps))


def _breakdown(trace: Trace, kind: RowKind, label: Callable[[Span], str | None]) -> Breakdown:
    walls = {span.run: span.duration_s for span in trace.spans if span.category == "run"}
    if not walls:
        raise ModelError(
            "the trace holds no complete inference, so there is nothing to break down",
            hint="record one with burnish profile MODEL --runs 10",
        )
    counted = timed(trace)
    own, spans = counted.own, [span for span, _ in counted.own]
    gaps, overlaps = [], []
    for run, wall_s in walls.items():
        busy_s = busy_seconds([span for span in spans if span.run == run])
        gaps.append(max(0.0, wall_s - busy_s))
        overlaps.append(max(0.0, sum(s for span, s in own if span.run == run) - busy_s))
    between = Row(RowKind.BETWEEN.value, RowKind.BETWEEN, 0, statistics.median(gaps))
    return Breakdown(
        rows=(*_rows(own, kind, label, runs=len(walls)), between),
        overlap_s=statistics.median(overlaps),
        measured_wall_s=statistics.median(walls.values()),
        runs=len(walls),
        clock=counted.clock,
    )


def _rows(
    own: Sequence[tuple[Span, float]],
    kind: RowKind,
    label: Callable[[Span], str | None],
    *,
    runs: int,
) -> tuple[Row, ...]:
    seconds: dict[str | None, float] = defaultdict(float)
    counts: dict[str | None, int] = defaultdict(int)
    op_types: dict[str | None, tuple[float, str | None]] = {}
    nodes: dict[str | None, tuple[str, ...]] = {}
    for parts in _by_thing(own).values():
        first = parts[0][0]
        key = label(first)
        took_s = _median_of_runs(parts, runs)
        seconds[key] += took_s
        counts[key] += len(parts)
        if key not in op_types or op_types[key][0] < took_s:
            op_types[key] = (took_s, first.op_type)
        nodes.setdefault(key, first.nodes if kind is RowKind.NODE else ())
    named = [
        Row(key, kind, counts[key] / runs, seconds[key], op_types[key][1], nodes[key])
        for key in seconds
        if key is not None
    ]
    named.sort(key=lambda row: (-row.seconds_s, row.label))
    nobody = RowKind.UNATTRIBUTED
    return (*named, Row(nobody.value, nobody, counts[None] / runs, seconds[None]))


def _by_thing(
    own: Sequence[tuple[Span, float]],
) -> dict[tuple[str | None, ...], list[tuple[Span, float]]]:
    """Return spans of the same thing in all inferences together: the finest parts there are."""
    things: dict[tuple[str | None, ...], list[tuple[Span, float]]] = defaultdict(list)
    for span, seconds in own:
        key = (span.category, span.name, span.node, span.op_type, *span.nodes)
        things[key].append((span, seconds))
    return things


def _median_of_runs(parts: Sequence[tuple[Span, float]], runs: int) -> float:
    """Return the median over all inferences; one in which the thing did not run took none."""
    by_run: dict[int, float] = defaultdict(float)
    for span, seconds in parts:
        by_run[span.run] += seconds
    return statistics.median([*by_run.values(), *[0.0] * (runs - len(by_run))])
