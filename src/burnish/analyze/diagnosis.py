"""What holds an inference back, in one sentence and three numbers, and what to do about it."""

from __future__ import annotations

import bisect
import statistics
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from burnish.analyze.advise import Advice, AdviceFacts, advise
from burnish.analyze.event_graph import Event
from burnish.analyze.kernel_names import ARITHMETIC, OTHER, family, short
from burnish.analyze.launching import is_launching
from burnish.analyze.roofline import Bound, roof
from burnish.analyze.selector import operator_of
from burnish.analyze.simulate import SimulatedTimeline, simulate
from burnish.analyze.transform import Setting
from burnish.core import units
from burnish.trace.events import DEVICE

Holds = Literal[
    "launching", "host", "waiting", "copies", "communication", "memory", "compute", "unknown"
]  # fmt: skip
"""What an inference would be faster without, or with more of."""

_IDLE = 0.4
"""From this part on, what a device does is not what the user waits for."""
_MOSTLY = 0.3
_FEW = 10
_ADVICE = 3


@dataclass(frozen=True, slots=True)
class KernelTime:
    """All of one kernel in one inference."""

    name: str
    """In short, as people read it."""
    family: str
    count: int
    seconds_s: float


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What one inference is about."""

    holds: Holds
    sentence: str
    wall_s: float
    busy_s: float
    """During which work was done: of the device's, where there is one."""
    copy_s: float
    """During which a device did nothing but copy."""
    idle: Idle | None
    """Why a device did nothing; None: all ran on the host."""
    launches: Launches | None
    kernels: tuple[KernelTime, ...]
    """The longest, or the longest operators of the host."""
    families: Mapping[str, float]
    """Seconds by kind of work."""
    advice: tuple[Advice, ...]
    """What to do, the best predicted gain first."""

    def share(self, seconds_s: float) -> float:
        """Return a part of what the user waits for."""
        return seconds_s / self.wall_s if self.wall_s else 0.0

    @property
    def is_unseen(self) -> bool:
        """Return whether work is so short that nothing of it is left beside recording it."""
        return self.idle is None and not self.busy_s and bool(self.kernels)

    @property
    def is_idle(self) -> bool:
        """Return whether a device does nothing for so long that its work is not what counts."""
        return self.idle is not None and self.share(self.idle.total_s) > _IDLE


def launches_only(setting: Setting, facts: AdviceFacts) -> Diagnosis:
    """Return what can be said where a device worked, and only the host's part was recorded."""
    found = diagnosis(setting, facts)
    told = (
        "the nodes ran on a device whose work was not recorded: these are the host's times for"
        " launching them, which say nothing about what limits it; record it with nsys profile"
    )
    return replace(found, holds="unknown", sentence=told, advice=())


def diagnosis(setting: Setting, facts: AdviceFacts) -> Diagnosis:
    """Return what holds one inference back; it says so from its events, not from guesses."""
    timeline = simulate(setting.graph)
    on_device = any(event.kind in DEVICE for event in setting.graph.events)
    kernels = _kernels(setting, on_device=on_device)
    families = _families(kernels)
    reasons = idle(timeline) if on_device else None
    copy_s = _copy_seconds(timeline) if on_device else 0.0
    busy_s = timeline.wall_s - reasons.total_s if reasons is not None else timeline.busy_s
    advice = advise(setting, facts)[:_ADVICE]
    found = Diagnosis(
        holds="unknown",
        sentence="",
        wall_s=timeline.wall_s,
        busy_s=busy_s,
        copy_s=copy_s,
        idle=reasons,
        launches=launches(timeline) if on_device else None,
        kernels=kernels,
        families=families,
        advice=advice,
    )
    found = replace(found, holds=_holds(found, setting))
    return replace(found, sentence=_sentence(found), kernels=kernels[:_FEW])


def _kernels(setting: Setting, *, on_device: bool) -> tuple[KernelTime, ...]:
    """Return the work by kernel, on a host by operator, the longest first."""
    seconds: dict[tuple[str, str], float] = defaultdict(float)
    counts: dict[tuple[str, str], int] = defaultdict(int)
    for place in setting.graph.work:
        event = setting.graph.events[place]
        operator = operator_of(event, setting.nodes) or event.op_type or event.name
        name = short(event.name) if on_device else operator
        key = (name, _family(event, operator))
        seconds[key] += event.duration_s
        counts[key] += 1
    rows = [KernelTime(*key, counts[key], took_s) for key, took_s in seconds.items()]
    return tuple(sorted(rows, key=lambda row: (-row.seconds_s, row.name)))


def _family(event: Event, operator: str) -> str:
    """Return the kind of an event's work; a node's name says where it is, not what it does."""
    if event.kind == "copy":
        return "copy"
    own = family(event.name) if event.kind in DEVICE else OTHER
    return own if own != OTHER else family(operator)


def _families(kernels: tuple[KernelTime, ...]) -> dict[str, float]:
    found: dict[str, float] = defaultdict(float)
    for kernel in kernels:
        found[kernel.family] += kernel.seconds_s
    return dict(sorted(found.items(), key=lambda pair: -pair[1]))


def _copy_seconds(timeline: SimulatedTimeline) -> float:
    """Return for how long copies went on and nothing else did."""
    changes = []
    for event, start, end in zip(
        timeline.graph.events, timeline.starts_s, timeline.ends_s, strict=True
    ):
        if event.kind in DEVICE:
            changes += [(start, 1, event.kind), (end, -1, event.kind)]
    going, now, alone = dict.fromkeys(DEVICE, 0), 0.0, 0.0
    for when, step, kind in sorted(changes):
        if going["copy"] and not going["kernel"]:
            alone += when - now
        going[kind] += step
        now = when
    return alone


def _holds(found: Diagnosis, setting: Setting) -> Holds:
    if found.is_idle and found.idle is not None:
        waits = found.idle.sync_s > found.idle.host_s + found.idle.launch_s
        if waits:
            return "waiting"
        if found.launches is None or found.launches.median_call_s is None:
            return "unknown"
        return "launching" if is_launching(setting.graph) else "host"
    if found.share(found.copy_s) > _MOSTLY:
        return "copies"
    if found.share(found.families.get("communication", 0.0)) > _MOSTLY:
        return "communication"
    if found.idle is None and found.share(found.busy_s) < 1 - _IDLE:
        return "launching"
    return _limit(found, setting)


def _limit(found: Diagnosis, setting: Setting) -> Holds:
    """Return whether arithmetic or memory limits most of the work: its counts, else its names."""
    by_bound: dict[Bound, float] = defaultdict(float)
    for place in setting.graph.work:
        event = setting.graph.events[place]
        work = setting.work(event)
        if work is not None and setting.device is not None:
            by_bound[roof(work, event.duration_s, setting.device).bound] += event.duration_s
    known_s = sum(by_bound.values())
    if known_s > setting.graph.work_s / 2:
        return "compute" if by_bound[Bound.COMPUTE] >= known_s / 2 else "memory"
    arithmetic_s = sum(s for kind, s in found.families.items() if kind in ARITHMETIC)
    named_s = sum(s for kind, s in found.families.items() if kind != OTHER)
    if named_s < sum(found.families.values()) / 2 or not named_s:
        return "unknown"
    return "compute" if arithmetic_s >= named_s / 2 else "memory"


_WORDS: Mapping[Holds, str] = {
    "launching": "launch-bound", "host": "the host does other work than launching",
    "waiting": "waiting for the host and the device to meet",
    "copies": "bound by copies", "communication": "bound by communication",
    "memory": "memory-bound", "compute": "compute-bound", "unknown": "what limits it is not known",
}  # fmt: skip


def _sentence(found: Diagnosis) -> str:
    parts = [f"{_state(found)}: {_WORDS[found.holds]}", _mostly(found)]
    first = next((one for one in found.advice if one.gain is not None), None)
    if first is not None and first.gain is not None:
        most = "at most " if first.confidence == "bound" else ""
        parts.append(f"{first.what}: {most}{units.ratio(first.gain)}")
    return "; ".join(part for part in parts if part)


def _state(found: Diagnosis) -> str:
    if found.is_unseen:
        return "no node takes longer than recording it does"
    if found.idle is None:
        return f"at work for {units.share(found.share(found.busy_s))} of the time"
    idle_share = found.share(found.idle.total_s)
    if found.is_idle:
        return f"the GPU is idle {units.share(idle_share)}"
    return f"the GPU is busy {units.share(1 - idle_share)}"


def _longest(found: Diagnosis) -> tuple[str, float, int]:
    """Return the kind of work that takes most; what is of no kind is each kernel by itself."""
    kinds: dict[str, tuple[float, int]] = {}
    for kernel in found.kernels:
        name = kernel.family if kernel.family != OTHER else kernel.name
        seconds_s, count = kinds.get(name, (0.0, 0))
        kinds[name] = (seconds_s + kernel.seconds_s, count + kernel.count)
    what = max(kinds, key=lambda name: kinds[name][0])
    return what, *kinds[what]


def _mostly(found: Diagnosis) -> str:
    """Return what the time goes to: many small kernels, or the kind of work that takes most."""
    how = found.launches
    if found.holds == "launching" and how is not None and how.median_call_s is not None:
        number, each = units.count(how.number, "kernel"), units.seconds(how.median_work_s)
        return f"{number} of {each}, and {units.seconds(how.median_call_s)} to launch one"
    if found.is_idle and how is not None and how.median_call_s is None:
        return "no launch was recorded, so nothing tells why it waits"
    total_s = sum(found.families.values())
    if not total_s:
        return ""
    what, seconds_s, count = _longest(found)
    told = f"{what} takes {units.share(seconds_s / total_s)} of the work"
    return f"{told}, in {units.count(count, 'kernel')}" if found.launches is not None else told


@dataclass(frozen=True, slots=True)
class Idle:
    """Time of one inference in which no device did anything, by reason."""

    host_s: float
    """The host was doing something else than launching what came next."""
    launch_s: float
    """What came next was launched and had not begun."""
    sync_s: float
    """The host was waiting for a device that was done."""

    @property
    def total_s(self) -> float:
        """Return all of it."""
        return self.host_s + self.launch_s + self.sync_s


@dataclass(frozen=True, slots=True)
class Launches:
    """How work gets to a device."""

    number: int
    median_call_s: float | None
    """Of the host's calls; None: none was recorded."""
    median_delay_s: float | None
    """From the end of a call to the start of its work, where the stream was free; None: nowhere."""
    median_queue_s: float | None
    """The same where the stream was busy: how far the host is ahead; None: it never is."""
    median_work_s: float
    """Of kernels and copies."""


def idle(timeline: SimulatedTimeline) -> Idle:
    """Return why no device was at work, every instant of it in exactly one part."""
    events, starts, ends = timeline.graph.events, timeline.starts_s, timeline.ends_s
    waits = sorted((starts[i], ends[i]) for i, event in enumerate(events) if event.kind == "sync")
    host_s = launch_s = sync_s = 0.0
    for begin, end, place in _pauses(timeline):
        launch = events[place].launch if place is not None else None
        given = max(begin, min(end, ends[launch])) if launch is not None else end
        launch_s += end - given
        waited = _overlap(waits, begin, given)
        sync_s += waited
        host_s += given - begin - waited
    return Idle(host_s, launch_s, sync_s)


def _pauses(timeline: SimulatedTimeline) -> Iterator[tuple[float, float, int | None]]:
    """Yield when devices did nothing, and the event that ended it; None: the inference was over."""
    events = timeline.graph.events
    work = [place for place, event in enumerate(events) if event.kind in DEVICE]
    until = 0.0
    for place in sorted(work, key=lambda place: timeline.starts_s[place]):
        if timeline.starts_s[place] > until:
            yield until, timeline.starts_s[place], place
        until = max(until, timeline.ends_s[place])
    if timeline.wall_s > until:
        yield until, timeline.wall_s, None


def _overlap(spans: Sequence[tuple[float, float]], begin: float, end: float) -> float:
    """Return how much of a time some spans cover, which are in order and apart."""
    first = max(0, bisect.bisect_right(spans, (begin, float("inf"))) - 1)
    covered, until = 0.0, begin
    for start, stop in spans[first:]:
        if start >= end:
            break
        covered += max(0.0, min(stop, end) - max(start, until))
        until = max(until, min(stop, end))
    return min(covered, end - begin)


def launches(timeline: SimulatedTimeline) -> Launches:
    """Return how long calls take, and how long what they launch waits."""
    events, starts, ends = timeline.graph.events, timeline.starts_s, timeline.ends_s
    delays, queued = list[float](), list[float]()
    for place, event in enumerate(events):
        if event.kind not in DEVICE or event.launch is None:
            continue
        given = ends[event.launch]
        before = [ends[i] for i in event.after if events[i].kind in DEVICE]
        waited_s = max(0.0, starts[place] - given)
        (queued if before and max(before) > given else delays).append(waited_s)
    calls = [event.duration_s for event in events if event.kind == "launch"]
    work = [event.duration_s for event in events if event.kind in DEVICE]
    return Launches(
        len(work), _median(calls), _median(delays), _median(queued), _median(work) or 0.0
    )


def _median(values: Sequence[float]) -> float | None:
    return statistics.median(values) if values else None
