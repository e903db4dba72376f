"""What would happen if: the outcome of scenarios, and the gain of every operator in turn."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from burnish.analyze.amdahl import Ceiling, Correction, Denominators, ceiling
from burnish.analyze.certainty import believed
from burnish.analyze.critical_path import critical_path
from burnish.analyze.event_graph import EventGraph, changed
from burnish.analyze.parallel import if_parallel
from burnish.analyze.scenario import Scenario
from burnish.analyze.selector import operator_of
from burnish.analyze.simulate import SimulatedTimeline, simulate
from burnish.analyze.transform import Setting, apply, roofline_s
from burnish.bench.measure import Verdict

SCHEMA = 1
FACTORS = (1.5, 2.0)
"""By how much a sweep makes each operator faster, besides its roofline and infinitely."""
_STRUCTURAL = ("batch", "overlap", "cuda-graph")
_UNNAMED = "unattributed"


@dataclass(frozen=True, slots=True)
class Checked:
    """What making the change and measuring it gave."""

    action: str
    baseline_s: float
    measured_s: float
    verdict: str
    """Of a comparison in fresh processes; empty: there was none."""
    note: str = ""
    between: tuple[float, float] | None = None
    """In which ratios the true one lies 19 of 20 times; None: the verdict tells."""

    @property
    def ratio(self) -> float:
        """Return how many times faster it really became."""
        return self.baseline_s / self.measured_s if self.measured_s else math.inf


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a scenario would do to one inference."""

    scenario: str
    actions: tuple[str, ...]
    events: int
    """How many events it changes."""
    events_s: float
    """How long these take now."""
    wall_s: float
    """The whole, after."""
    baseline_s: float
    """The whole, before."""
    busy_s: float
    """The time during which anything is at work, after."""
    baseline_busy_s: float
    """The same, before."""
    ceiling: Ceiling | None
    """What these events could give at most; None: what is changed is how they wait."""
    notes: tuple[str, ...] = ()
    checked: Checked | None = None
    between_s: tuple[float, float] | None = None
    """In which the whole lies after nine of ten changes; None: such ones were never measured."""

    @property
    def gains(self) -> tuple[float, float] | None:
        """Return between which speed-ups the true one lies, after nine of ten changes."""
        if self.between_s is None:
            return None
        low, high = (self.baseline_s / s if s else math.inf for s in reversed(self.between_s))
        return low, high

    @property
    def is_as_believed(self) -> bool | None:
        """Return whether what was measured lies where it was to lie; None: nobody can tell."""
        if self.checked is None or self.error is None or self.gains is None:
            return None
        return self.gains[0] <= self.checked.ratio <= self.gains[1]

    @property
    def gain(self) -> float:
        """Return how many times faster the whole gets."""
        return self.baseline_s / self.wall_s if self.wall_s else math.inf

    @property
    def error(self) -> float | None:
        """Return by how much the prediction is off, as a part of what was measured.

        The prediction is scaled to the baseline of the measurement, so that a machine that is
        slower today is not counted as an error of the prediction. None: nothing was measured, or
        not enough to tell.
        """
        if self.checked is None or self.checked.verdict == Verdict.NOT_ENOUGH.value:
            return None
        predicted_s = self.checked.baseline_s / self.gain
        return predicted_s / self.checked.measured_s - 1


@dataclass(frozen=True, slots=True)
class SweepRow:
    """What one operator costs, and what the whole would gain from a faster one."""

    op_type: str
    events: int
    seconds_s: float
    gain_at_1_5: float
    gain_at_2: float
    gain_at_roofline: float | None
    """None: the work of one of its events, or the device, is not known."""
    gain_at_infinity: float
    ceiling: Ceiling


@dataclass(frozen=True, slots=True)
class Paths:
    """The longest chain as executed, and if only data had to be waited for."""

    as_executed_s: float
    if_parallel_s: float | None
    """None: without the model's graph it is not known what uses what."""


@dataclass(frozen=True, slots=True)
class WhatIfReport:
    """What was found out about changes that nobody has made yet."""

    label: str
    source: str
    """What was recorded, and how."""
    baseline_s: float
    """What all gains are against: what the user waits for."""
    denominators: Denominators
    correction: Correction | None
    paths: Paths
    attributed: float
    """The part of the work that belongs to nodes of the model."""
    device: str | None
    outcomes: tuple[Outcome, ...]
    sweep: tuple[SweepRow, ...]
    notes: tuple[str, ...] = ()


def outcome(scenario: Scenario, setting: Setting) -> Outcome:
    """Return what a scenario would do."""
    before = simulate(setting.graph)
    result = apply(scenario, setting)
    seconds_s = sum(setting.graph.events[place].duration_s for place in result.places)
    after = simulate(result.graph)
    return Outcome(
        scenario=scenario.name,
        actions=tuple(map(str, scenario.actions)),
        events=len(result.places),
        events_s=seconds_s,
        wall_s=after.wall_s,
        baseline_s=before.wall_s,
        busy_s=after.busy_s,
        baseline_busy_s=before.busy_s,
        ceiling=None
        if any(action.do in _STRUCTURAL for action in scenario.actions)
        else _ceiling(setting.graph, result.places, before),
        notes=result.notes,
        between_s=believed(after.wall_s, before.wall_s, {one.do for one in scenario.actions}),
    )


def _ceiling(graph: EventGraph, places: Iterable[int], before: SimulatedTimeline) -> Ceiling:
    """Return the most that events can give; on the host, the gap before each goes with it."""
    events = [graph.events[place] for place in places]
    work_s = sum(event.duration_s for event in events)
    gaps_s = sum(event.gap_s for event in events if event.kind == "node")
    of_wall = ceiling(work_s + gaps_s, wall_s=before.wall_s, busy_s=before.busy_s)
    of_busy = ceiling(work_s, wall_s=before.wall_s, busy_s=before.busy_s)
    return Ceiling(of_wall.against_wall, of_busy.against_busy)


def sweep(setting: Setting) -> tuple[SweepRow, ...]:
    """Return every operator with the gain from making it faster, the largest gain first."""
    groups: dict[str, list[int]] = defaultdict(list)
    for place in setting.graph.work:
        groups[operator_of(setting.graph.events[place], setting.nodes) or _UNNAMED].append(place)
    before = simulate(setting.graph)
    rows = [_row(setting, op_type, places, before) for op_type, places in groups.items()]
    # gains that differ by rounding only are equal
    return tuple(
        sorted(rows, key=lambda r: (-round(r.gain_at_infinity, 6), -r.seconds_s, r.op_type))
    )


def _row(
    setting: Setting, op_type: str, places: Sequence[int], before: SimulatedTimeline
) -> SweepRow:
    events = setting.graph.events
    seconds_s = sum(events[place].duration_s for place in places)

    def gain(times: Sequence[float]) -> float:
        changes = {p: replace(events[p], duration_s=t) for p, t in zip(places, times, strict=True)}
        after_s = simulate(changed(setting.graph, changes)).wall_s
        return before.wall_s / after_s if after_s else math.inf

    limits = [roofline_s(events[place], setting) for place in places]
    known = [limit for limit in limits if limit is not None]
    slower, faster = ([events[p].duration_s / factor for p in places] for factor in FACTORS)
    return SweepRow(
        op_type=op_type,
        events=len(places),
        seconds_s=seconds_s,
        gain_at_1_5=gain(slower),
        gain_at_2=gain(faster),
        gain_at_roofline=gain(known) if len(known) == len(limits) else None,
        gain_at_infinity=gain([0.0] * len(places)),
        ceiling=_ceiling(setting.graph, places, before),
    )


def paths(setting: Setting) -> Paths:
    """Return how long the longest chain is, as executed and if only data were waited for."""
    record = setting.scene.record
    parallel_s = (
        critical_path(if_parallel(setting.graph, record)).length_s if record is not None else None
    )
    return Paths(critical_path(setting.graph).length_s, parallel_s)


def attributed(graph: EventGraph, setting: Setting) -> float:
    """Return the part of the work whose nodes are known; of the model's where it is known."""
    nodes = setting.nodes
    known_s = sum(
        graph.events[place].duration_s
        for place in graph.work
        if any(not nodes or name in nodes for name in graph.events[place].nodes)
    )
    return known_s / graph.work_s if graph.work_s else 1.0
