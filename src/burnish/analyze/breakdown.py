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

    The last two rows are always there: `unattributed` (spans that say no operator or node) and
    `between nodes` (the inference's wall time during which no node ran). Without overlap the
    seconds of all rows add up to `wall_s`.
    """

    rows: tuple[Row, ...]
    wall_s: float
    busy_s: float
    """How long at least one span was going on."""
    runs: int
    """Inferences recorded."""
    runs_used: int
    """Of these, the middle ones by wall time, whose mean this is."""
    clock: str
    """What was timed: `host`, or `device` where the trace has kernels."""

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
    used = _middle_half(sorted(walls, key=lambda run: walls[run]))
    clock, spans = _timed(trace)
    spans = [span for span in spans if span.run in used]
    wall_s = statistics.fmean(walls[run] for run in used)
    busy_s = sum(busy_seconds([s for s in spans if s.run == run]) for run in used) / len(used)
    rows = _rows(spans, kind, label, runs=len(used))
    between = Row(RowKind.BETWEEN.value, RowKind.BETWEEN, 0, max(0.0, wall_s - busy_s))
    return Breakdown(
        rows=(*rows, between),
        wall_s=wall_s,
        busy_s=busy_s,
        runs=len(walls),
        runs_used=len(used),
        clock=clock,
    )


def _middle_half(runs: Sequence[int]) -> frozenset[int]:
    """Return the middle of the runs: a mean over it ignores outliers, and its parts add up.

    Medians of the parts would not add up to the median of the whole.
    """
    drop = math.ceil(len(runs) / 4) if len(runs) >= 3 else 0
    return frozenset(runs[drop : len(runs) - drop])


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
    spans: Sequence[Span], kind: RowKind, label: Callable[[Span], str | None], *, runs: int
) -> tuple[Row, ...]:
    seconds: dict[str | None, float] = defaultdict(float)
    counts: dict[str | None, int] = defaultdict(int)
    op_types: dict[str | None, str | None] = {}
    for span, own in zip(spans, own_seconds(spans), strict=True):
        key = label(span)
        seconds[key] += own
        counts[key] += 1
        op_types.setdefault(key, span.op_type)
    named = [
        Row(key, kind, counts[key] / runs, seconds[key] / runs, op_types[key])
        for key in seconds
        if key is not None
    ]
    named.sort(key=lambda row: (-row.seconds_s, row.label))
    nobody = RowKind.UNATTRIBUTED
    return (*named, Row(nobody.value, nobody, counts[None] / runs, seconds[None] / runs))
