"""What a change does to an event graph."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from burnish.analyze import parallel
from burnish.analyze.event_graph import Event, EventGraph, changed
from burnish.analyze.roofline import precision_factor, roof
from burnish.analyze.scenario import Action, Scenario
from burnish.analyze.selector import Scene, nodes_of, select
from burnish.analyze.simulate import simulate
from burnish.analyze.work import Work, combined, fused, work_under
from burnish.core.errors import UsageError
from burnish.hw.spec import HardwareSpec
from burnish.store.graph import GraphNode, GraphRecord
from burnish.trace.events import DEVICE


@dataclass(frozen=True, slots=True)
class Setting:
    """All that is known of what a scenario changes."""

    scene: Scene
    device: HardwareSpec | None = None
    batches: Mapping[int, GraphRecord] = field(default_factory=dict)
    """The same graph at other batch sizes."""
    type_factors: Mapping[tuple[str, str], float] = field(default_factory=dict)
    """How many times faster an event is in another type, by name and type, where measured."""
    nodes: Mapping[str, GraphNode] = field(init=False)
    """The model's nodes by name."""

    @property
    def graph(self) -> EventGraph:
        """Return the events as they are."""
        return self.scene.graph

    def __post_init__(self) -> None:
        object.__setattr__(self, "nodes", nodes_of(self.scene.record))

    def work(self, event: Event, *, batch: int | None = None) -> Work | None:
        """Return what an event computes and moves as one; None: one of its nodes is not known."""
        record = self.scene.record if batch is None else self.batches[batch]
        nodes = [self.nodes[name] for name in event.nodes if name in self.nodes]
        if record is None or not nodes or len(nodes) != len(event.nodes):
            return None
        return work_under(event.op_type, nodes, record)


@dataclass(frozen=True, slots=True)
class Changed:
    """The events after a scenario, and which of them it changed."""

    graph: EventGraph
    places: tuple[int, ...]
    notes: tuple[str, ...] = ()


def apply(scenario: Scenario, setting: Setting) -> Changed:
    """Return the events after all changes; all are selected among the events as they were.

    Where two changes are about the same event, the later one counts.
    """
    graph, touched, notes = setting.graph, dict[int, None](), list[str]()
    for action in scenario.actions:
        places = _places(action, setting)
        change = _CHANGES[action.do]
        result = change(graph, _Request(action, places, setting))
        graph, notes = result.graph, [*notes, *result.notes]
        touched.update(dict.fromkeys(result.places))
    return Changed(graph, tuple(sorted(touched)), tuple(dict.fromkeys(notes)))


def _places(action: Action, setting: Setting) -> tuple[int, ...]:
    found = (place for one in action.select for place in select(one, setting.scene))
    return tuple(sorted(dict.fromkeys(found)))


@dataclass(frozen=True, slots=True)
class _Request:
    action: Action
    places: tuple[int, ...]
    setting: Setting

    @property
    def number(self) -> float:
        assert isinstance(self.action.by, float)
        return self.action.by

    def before(self, place: int) -> Event:
        """Return an event as it was before any change."""
        return self.setting.graph.events[place]

    def need_device(self) -> HardwareSpec:
        if self.setting.device is None:
            raise UsageError(
                f"{self.action.do} needs the limits of the device, which are not known",
                hint="measure them: burnish doctor --probe -o device.toml; then --hw device.toml",
            )
        return self.setting.device

    def need_record(self) -> GraphRecord:
        if self.setting.scene.record is None:
            raise UsageError(
                f"{self.action.do} needs the model's graph, and a trace has none",
                hint="give the model too: --model MODEL",
            )
        return self.setting.scene.record


def _timed(
    graph: EventGraph, request: _Request, new_s: Callable[[int], float | None], *, lacking: str
) -> Changed:
    """Return the graph with other times; events for which there is none stay, and are counted."""
    times = {place: new_s(place) for place in request.places}
    changes = {
        place: replace(graph.events[place], duration_s=seconds)
        for place, seconds in times.items()
        if seconds is not None
    }
    unknown = len(times) - len(changes)
    notes = (f"{request.action}: {unknown} of {len(times)} left as they are: {lacking}",)
    return Changed(changed(graph, changes), tuple(changes), notes if unknown else ())


def _scale(graph: EventGraph, request: _Request) -> Changed:
    factor = request.number
    return _timed(graph, request, lambda p: request.before(p).duration_s / factor, lacking="")


def _set(graph: EventGraph, request: _Request) -> Changed:
    return _timed(graph, request, lambda _: request.number, lacking="")


def _remove(graph: EventGraph, request: _Request) -> Changed:
    """Take events away with the gap before them and the launch that is only for them."""
    gone = set(request.places)
    children: dict[int, set[int]] = {}
    for place, event in enumerate(graph.events):
        if event.launch is not None:
            children.setdefault(event.launch, set()).add(place)
    gone |= {launch for launch, theirs in children.items() if theirs <= gone}
    changes = {place: replace(graph.events[place], duration_s=0.0, gap_s=0.0) for place in gone}
    return Changed(changed(graph, changes), request.places)


def _fuse(graph: EventGraph, request: _Request) -> Changed:
    """Do the selected events as one, at the place of the last.

    It takes as long as the slowest of them, or as all of them less the bytes that they no longer
    hand to each other, whichever is longer.
    """
    members = [graph.events[place] for place in request.places]
    if len(members) < 2:
        raise UsageError(
            f"{request.action} selects one event, and one alone cannot be fused",
            hint="select all that should become one: --fuse 'first,second'",
        )
    whole_s = sum(event.duration_s for event in members)
    kept = _kept_traffic(members, request.setting)
    length_s = max(*(event.duration_s for event in members), whole_s * (kept or 0.0))
    rest = _remove(graph, replace(request, places=request.places[:-1])).graph
    last = request.places[-1]
    nodes = tuple(name for event in members for name in event.nodes)
    one = replace(rest.events[last], duration_s=length_s, nodes=nodes)
    lacking = f"{request.action}: bytes are not known, so the slowest member is taken"
    return Changed(
        changed(rest, {last: one}), request.places, () if kept is not None else (lacking,)
    )


def _kept_traffic(members: Sequence[Event], setting: Setting) -> float | None:
    """Return the part of the bytes that still moves when events become one."""
    record = setting.scene.record
    apart = combined(setting.work(event) for event in members)
    if record is None or apart is None or not apart.bytes_moved:
        return None
    nodes = [setting.nodes[name] for event in members for name in event.nodes]
    together = fused(nodes, record)
    return together.bytes_moved / apart.bytes_moved if together is not None else None


def _precision(graph: EventGraph, request: _Request) -> Changed:
    """Compute in another type: as was measured for the very shape, else by the device's rates."""
    setting, dtype = request.setting, str(request.action.by)
    measured = [(request.before(p).name, dtype) in setting.type_factors for p in request.places]
    device = setting.device if all(measured) else request.need_device()
    if not all(measured):
        request.need_record()

    def new_s(place: int) -> float | None:
        event = request.before(place)
        factor = setting.type_factors.get((event.name, dtype))
        work = setting.work(event)
        if factor is None and work is not None and device is not None:
            factor = precision_factor(work, dtype, device)
        return event.duration_s / factor if factor else None

    name = device.name if device is not None else ""
    return _timed(graph, request, new_s, lacking=f"{name} tells no rate of {dtype} for them")


def _roofline(graph: EventGraph, request: _Request) -> Changed:
    device, _ = request.need_device(), request.need_record()

    def new_s(place: int) -> float | None:
        event = request.before(place)
        work = request.setting.work(event)
        return roof(work, event.duration_s, device).at(request.number) if work else None

    return _timed(graph, request, new_s, lacking="their work is not known")


def _batch(graph: EventGraph, request: _Request) -> Changed:
    """Let each event take longer as its work grows; what it takes to start it does not grow."""
    request.need_record()
    size = int(request.number)
    if size not in request.setting.batches:
        raise UsageError(
            f"the model has no batch dimension that could be {size}",
            hint="name the dimension in the model `batch`, or export it with a dynamic one",
        )

    def new_s(place: int) -> float | None:
        event = request.before(place)
        one, many = request.setting.work(event), request.setting.work(event, batch=size)
        if one is None or many is None:
            return None
        return event.duration_s * _growth(one, many, request.setting.device)

    everything = replace(request, places=graph.work)
    return _timed(graph, everything, new_s, lacking="their work is not known")


def _growth(one: Work, many: Work, device: HardwareSpec | None) -> float:
    if device is not None:
        before, after = roof(one, 1.0, device).limit_s, roof(many, 1.0, device).limit_s
        return after / before if before else 1.0
    flops = many.flops / one.flops if one.flops else 1.0
    moved = many.bytes_moved / one.bytes_moved if one.bytes_moved else 1.0
    return max(flops, moved)


def _overlap(graph: EventGraph, request: _Request) -> Changed:
    return Changed(parallel.overlapped(graph, request.need_record()), graph.work)


def _cuda_graph(graph: EventGraph, request: _Request) -> Changed:
    """Start everything with one call: kernels wait for data and streams, not for the host."""
    if not any(event.kind in DEVICE for event in graph.events):
        raise UsageError(
            "cuda-graph needs a device that is launched on, and all of this ran on the host",
            hint="profile on a GPU: burnish profile MODEL --engine onnxruntime-cuda",
        )
    first = next((p for p, event in enumerate(graph.events) if event.kind == "launch"), -1)
    waits = [p for p, event in enumerate(graph.events) if event.kind == "sync"]
    between_s = _between_kernels(graph)
    changes = {
        place: _unlaunched(event, graph, between_s) for place, event in enumerate(graph.events)
    }
    # the host still launches once, without what it did before that, and still waits for the end
    changes |= {place: replace(graph.events[place], gap_s=0.0) for place in (first,) if place >= 0}
    changes |= {place: graph.events[place] for place in waits[-1:]}
    return Changed(changed(graph, changes), graph.work)


def _unlaunched(event: Event, graph: EventGraph, between_s: float) -> Event:
    if event.kind not in DEVICE:
        return replace(event, duration_s=0.0, gap_s=0.0)
    follows = any(graph.events[place].kind in DEVICE for place in event.after)
    return replace(event, gap_s=between_s if follows else 0.0)


_BETWEEN_KERNELS_S = 1e-6
"""What passes between two kernels of a graph, where the timeline has none that were waiting."""
_REACHED_S = 10e-6
"""By then a launch has reached the device: one that came later before the end of what ran was
still on its way, and a part of the pause is the launch's."""
_ENOUGH = 10


def _between_kernels(graph: EventGraph) -> float:
    """Return what passes between kernels of which the second was waiting when the first ended.

    That is the device's own part, which a CUDA graph does not save.
    """
    ends = simulate(graph).ends_s
    gaps = [
        event.gap_s
        for event in graph.events
        if event.kind in DEVICE
        and event.launch is not None
        and any(
            graph.events[place].kind in DEVICE and ends[place] > ends[event.launch] + _REACHED_S
            for place in event.after
        )
    ]
    return statistics.median(gaps) if len(gaps) >= _ENOUGH else _BETWEEN_KERNELS_S


_CHANGES: Mapping[str, Callable[[EventGraph, _Request], Changed]] = {
    "scale": _scale, "set": _set, "remove": _remove, "fuse": _fuse, "precision": _precision,
    "roofline": _roofline, "batch": _batch, "overlap": _overlap, "cuda-graph": _cuda_graph,
}  # fmt: skip


def roofline_s(event: Event, setting: Setting) -> float | None:
    """Return an event's time at the limit of the device; None: it is not known."""
    work = setting.work(event)
    if work is None or setting.device is None:
        return None
    limit_s = roof(work, event.duration_s, setting.device).at(1.0)
    return limit_s if math.isfinite(limit_s) else None
