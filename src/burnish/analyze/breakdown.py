"""Where the time of an inference goes: by operator and by node, and what no node accounts for."""

from __future__ import annotations

import enum
import itertools
import math
import statistics
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
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
class BreakdownRow:
    """Time of one inference that went to one thing."""

    label: str
    kind: RowKind
    count: float
    """How many spans per inference; a fraction where inferences differ."""
    seconds_s: float
    low_s: float
    high_s: float
    """Between these the time lies, as far as the inferences tell; one inference tells nothing."""
    op_type: str | None = None
    nodes: tuple[str, ...] = ()
    """The model's nodes, where the row is theirs."""

    @property
    def spread(self) -> float:
        """Return how far the time may be off, as a part of it."""
        return (self.high_s - self.low_s) / (2 * self.seconds_s) if self.seconds_s else 0.0


@dataclass(frozen=True, slots=True)
class Breakdown:
    """The time of one typical inference in parts, the largest first.

    Every node's time is its median over the inferences: an interruption by another process hits
    another node each time, and so counts nowhere. The last two rows are always there:
    `unattributed` (spans that say no operator or node) and `between nodes` (time during which no
    node ran).
    """

    rows: tuple[BreakdownRow, ...]
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

    def share(self, row: BreakdownRow) -> float:
        """Return a row's part of the wall time."""
        return row.seconds_s / self.wall_s if self.wall_s else 0.0

    def cumulative(self, row: BreakdownRow) -> float:
        """Return the part of the wall time in this row and all before it."""
        upto = self.rows[: self.rows.index(row) + 1]
        return sum(self.share(each) for each in upto)

    def ceiling(self, row: BreakdownRow) -> float:
        """Return how many times faster an inference gets if this row costs nothing."""
        rest = self.wall_s - row.seconds_s
        # 1e-9 of the wall time: what is left then is rounding, not work
        return self.wall_s / rest if rest > 1e-9 * self.wall_s else math.inf

    def top(self, number: int) -> tuple[BreakdownRow, ...]:
        """Return the first `number` rows and the two that are always there."""
        fixed = tuple(row for row in self.rows if row.kind in ALWAYS_THERE)
        return self.rows[: len(self.rows) - len(fixed)][:number] + fixed


def by_operator(trace: Trace | CountedTrace) -> Breakdown:
    """Return the time per operator type."""
    return _breakdown(trace, RowKind.OPERATOR, lambda span: span.op_type)


def by_node(trace: Trace | CountedTrace) -> Breakdown:
    """Return the time per node, under the names of the graph that the engine really ran."""
    return _breakdown(trace, RowKind.NODE, lambda span: span.node)


def by_origin(trace: Trace | CountedTrace) -> Breakdown:
    """Return the time per node of the model itself; nodes that ran as one are one row."""
    return _breakdown(trace, RowKind.NODE, lambda span: label_of(span.nodes) or None)


def by_layer(trace: Trace | CountedTrace, graph: GraphRecord) -> Breakdown:
    """Return the time per layer: the innermost module that all nodes of a span are in."""
    scopes = {node.name: node.scope for node in graph.nodes}

    def layer(span: Span) -> str | None:
        around = [scopes[name] for name in span.nodes if name in scopes]
        return "/".join(_common(around)) or OUTSIDE if around else None

    return _breakdown(trace, RowKind.LAYER, layer)


def by_module(of: CountedTrace, trace: Trace) -> Breakdown:
    """Return the time per module of the program that made a trace, by the path of their names."""
    paths: dict[int, str] = {}

    def path(at: int | None) -> str:
        if at is None:
            return ""
        if at not in paths:
            outer, own = path(trace.spans[at].parent), trace.spans[at]
            paths[at] = "/".join(
                filter(None, [outer, own.name if own.category == "module" else ""])
            )
        return paths[at]

    return _breakdown(
        of,
        RowKind.LAYER,
        lambda span: path(span.cause if span.cause is not None else span.parent) or None,
    )


def by_kernel(trace: Trace | CountedTrace) -> Breakdown:
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


@dataclass(frozen=True, slots=True)
class CountedTrace:
    """What all breakdowns of one trace begin with."""

    things: tuple[_Thing, ...]
    walls_s: tuple[float, ...]
    gaps_s: tuple[float, ...]
    overlaps_s: tuple[float, ...]
    clock: str


@dataclass(frozen=True, slots=True)
class _Thing:
    """The finest part that there is: spans of the same thing in all inferences."""

    first: Span
    count: int
    by_run: Mapping[int, float]
    """How long it took in each inference in which it ran."""


def counted(trace: Trace) -> CountedTrace:
    """Return what ran in the inferences of a trace, and for how long."""
    walls = {span.run: span.duration_s for span in trace.spans if span.category == "run"}
    if not walls:
        raise ModelError(
            "the trace holds no complete inference, so there is nothing to break down",
            hint="record one with burnish profile MODEL --runs 10",
        )
    found = timed(trace)
    by_run: dict[int, list[tuple[Span, float]]] = defaultdict(list)
    for span, own_s in found.own:
        by_run[span.run].append((span, own_s))
    gaps, overlaps = [], []
    for run, wall_s in walls.items():
        busy_s = busy_seconds([span for span, _ in by_run[run]])
        gaps.append(max(0.0, wall_s - busy_s))
        overlaps.append(max(0.0, sum(own_s for _, own_s in by_run[run]) - busy_s))
    return CountedTrace(
        _things(found.own), tuple(walls.values()), tuple(gaps), tuple(overlaps), found.clock
    )


def _things(own: Sequence[tuple[Span, float]]) -> tuple[_Thing, ...]:
    first: dict[tuple[str | None, ...], Span] = {}
    counts: dict[tuple[str | None, ...], int] = defaultdict(int)
    seconds: dict[tuple[str | None, ...], dict[int, float]] = defaultdict(
        lambda: defaultdict(float)
    )
    for span, own_s in own:
        key = (span.category, span.name, span.node, span.op_type, *span.nodes)
        first.setdefault(key, span)
        counts[key] += 1
        seconds[key][span.run] += own_s
    return tuple(_Thing(first[key], counts[key], seconds[key]) for key in first)


def _breakdown(
    of: Trace | CountedTrace, kind: RowKind, label: Callable[[Span], str | None]
) -> Breakdown:
    found = of if isinstance(of, CountedTrace) else counted(of)
    gap_s = statistics.median(found.gaps_s)
    between = BreakdownRow(
        RowKind.BETWEEN.value, RowKind.BETWEEN, 0, gap_s, *median_interval(found.gaps_s)
    )
    return Breakdown(
        rows=(*_rows(found.things, kind, label, runs=len(found.walls_s)), between),
        overlap_s=statistics.median(found.overlaps_s),
        measured_wall_s=statistics.median(found.walls_s),
        runs=len(found.walls_s),
        clock=found.clock,
    )


def _rows(
    things: Sequence[_Thing], kind: RowKind, label: Callable[[Span], str | None], *, runs: int
) -> tuple[BreakdownRow, ...]:
    by_label: dict[str | None, list[_Thing]] = defaultdict(list)
    for thing in things:
        by_label[label(thing.first)].append(thing)
    nobody = _row(RowKind.UNATTRIBUTED.value, RowKind.UNATTRIBUTED, by_label.pop(None, []), runs)
    named = [_row(key or "", kind, members, runs) for key, members in by_label.items()]
    named.sort(key=lambda row: (-row.seconds_s, row.label))
    return (*named, nobody)


def _row(label: str, kind: RowKind, members: Sequence[_Thing], runs: int) -> BreakdownRow:
    """Return the time of some things: the sum of their medians, and the interval of their sums."""
    took_s = [_median_of_runs(thing.by_run, runs) for thing in members]
    sums: dict[int, float] = defaultdict(float)
    for thing in members:
        for run, seconds_s in thing.by_run.items():
            sums[run] += seconds_s
    low_s, high_s = median_interval([*sums.values(), *[0.0] * (runs - len(sums))])
    longest = max(zip(took_s, members, strict=True), key=lambda pair: pair[0], default=None)
    whole_s = sum(took_s)
    return BreakdownRow(
        label=label,
        kind=kind,
        count=sum(thing.count for thing in members) / runs,
        seconds_s=whole_s,
        low_s=min(low_s, whole_s),
        high_s=max(high_s, whole_s),
        op_type=longest[1].first.op_type if longest and kind in _NAMED else None,
        nodes=members[0].first.nodes if members and kind is RowKind.NODE else (),
    )


_NAMED = (RowKind.OPERATOR, RowKind.NODE, RowKind.LAYER, RowKind.KERNEL)


def _median_of_runs(by_run: Mapping[int, float], runs: int) -> float:
    """Return the median over all inferences; one in which the thing did not run took none."""
    return statistics.median([*by_run.values(), *[0.0] * (runs - len(by_run))])


def median_interval(samples: Sequence[float]) -> tuple[float, float]:
    """Return two of the samples between which the median of all possible ones lies, 19 of 20 times.

    Each sample is above or below that median with equal chance, whatever their distribution; so
    how many lie below it is known. Fewer than six samples tell no more than their extremes.
    """
    ordered = sorted(samples)
    if not ordered:
        return 0.0, 0.0
    number = len(ordered)
    # 0.98: half of 1.96, the standard deviation of how many lie below being half a root of all
    outside = max(0, math.floor(number / 2 - 0.98 * math.sqrt(number)))
    return ordered[outside], ordered[number - 1 - outside]
