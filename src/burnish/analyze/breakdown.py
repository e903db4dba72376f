"""Where the time of an inference goes: by operator and by node, and what no node accounts for."""

from __future__ import annotations

import enum
import math
import statistics
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from burnish.core.errors import ModelError
from burnish.trace.events import Span, Trace
from burnish.trace.own_time import busy_seconds, own_seconds

_ON_DEVICE = ("kernel", "copy")


class RowKind(enum.Enum):
    """What the time of a row went to."""

    OPERATOR = "operator"
    NODE = "node"
    UNATTRIBUTED = "unattributed"
    BETWEEN = "between nodes"


_ALWAYS_THERE = (RowKind.UNATTRIBUTED, RowKind.BETWEEN)


@dataclass(frozen=True, slots=True)
class Row:
    """Time of one inference that went to one thing."""

    label: str
    kind: RowKind
    count: float
    """How many spans per inference; a fraction where inferences differ."""
    seconds_s: float
    op_type: str | None = None


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
        fixed = tuple(row for row in self.rows if row.kind in _ALWAYS_THERE)
        return self.rows[: len(self.rows) - len(fixed)][:number] + fixed


def by_operator(trace: Trace) -> Breakdown:
    """Return the time per operator type."""
    return _breakdown(trace, RowKind.OPERATOR, lambda span: span.op_type)


def by_node(trace: Trace) -> Breakdown:
    """Return the time per node, under the names of the graph that the engine really ran."""
    return _breakdown(trace, RowKind.NODE, lambda span: span.node)


def _breakdown(trace: Trace, kind: RowKind, label: Callable[[Span], str | None]) -> Breakdown:
    walls = {span.run: span.duration_s for span in trace.spans if span.category == "run"}
    if not walls:
        raise ModelError(
            "the trace holds no complete inference, so there is nothing to break down",
            hint="record one with burnish profile MODEL --runs 10",
        )
    clock, spans = _timed(trace)
    own = list(zip(spans, own_seconds(spans), strict=True))
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
        clock=clock,
    )


def _timed(trace: Trace) -> tuple[str, list[Span]]:
    """Return the clock and the spans to count: kernels and copies where there are any.

    A node that has kernels ran on a device, and its own span is only the launch.
    """
    inside = [span for span in trace.spans if span.run >= 0]
    kernels = [span for span in inside if span.category in _ON_DEVICE]
    launched = {span.node for span in kernels if span.node is not None}
    nodes = [s for s in inside if s.category == "node" and s.node not in launched]
    if not kernels:
        return "host", nodes
    return "device", kernels + [s for s in nodes if (s.provider or "").startswith("CPU")]


def _rows(
    own: Sequence[tuple[Span, float]],
    kind: RowKind,
    label: Callable[[Span], str | None],
    *,
    runs: int,
) -> tuple[Row, ...]:
    seconds: dict[str | None, float] = defaultdict(float)
    counts: dict[str | None, int] = defaultdict(int)
    op_types: dict[str | None, str | None] = {}
    for parts in _by_thing(own).values():
        first = parts[0][0]
        key = label(first)
        seconds[key] += _median_of_runs(parts, runs)
        counts[key] += len(parts)
        op_types.setdefault(key, first.op_type)
    named = [
        Row(key, kind, counts[key] / runs, seconds[key], op_types[key])
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
        things[span.category, span.name, span.node, span.op_type].append((span, seconds))
    return things


def _median_of_runs(parts: Sequence[tuple[Span, float]], runs: int) -> float:
    """Return the median over all inferences; one in which the thing did not run took none."""
    by_run: dict[int, float] = defaultdict(float)
    for span, seconds in parts:
        by_run[span.run] += seconds
    return statistics.median([*by_run.values(), *[0.0] * (runs - len(by_run))])
