"""What to do next to a model, the largest expected gain first."""

from __future__ import annotations

import math
import shlex
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from burnish.analyze.event_graph import Event
from burnish.analyze.launching import is_launched_singly, is_launching
from burnish.analyze.roofline import Bound, roof
from burnish.analyze.scenario import Action, Scenario
from burnish.analyze.selector import Selector, operator_of
from burnish.analyze.simulate import simulate
from burnish.analyze.transform import Setting
from burnish.analyze.whatif import Outcome, outcome, sweep
from burnish.core import units
from burnish.core.precisions import precision_named
from burnish.hw.spec import HardwareSpec
from burnish.trace.events import DEVICE

SCHEMA = 1
Confidence = Literal["simulated", "bound", "unknown"]
"""`simulated`: the change itself was; `bound`: it cannot give more; `unknown`: measure it."""

WORTH_IT = 1.01
"""Gains below this drown in the noise of a measurement."""
_FEW = 3
_LAUNCH_BOUND = 0.3
"""From this part of the wall on, starting work is what an inference is about."""


@dataclass(frozen=True, slots=True)
class Advice:
    """One thing to do."""

    what: str
    gain: float | None
    """How many times faster the whole gets; None: only a measurement can tell."""
    confidence: Confidence
    evidence: str
    command: str


@dataclass(frozen=True, slots=True)
class RefusedFusion:
    """A place where a fusion was refused."""

    rule: str
    node: str
    reason: str
    remedy: str


@dataclass(frozen=True, slots=True)
class ModelChange:
    """Another model that could be made of this one, and what that is predicted to do."""

    what: str
    outcome: Outcome
    evidence: str
    command: str
    """What makes it."""


@dataclass(frozen=True, slots=True)
class AdviceFacts:
    """What is known of a model besides its timeline."""

    model: str
    """As one types it in a command."""
    engine: str
    fusions: tuple[tuple[str, Outcome], ...] = ()
    """Rules that fire in the graph as it is executed, and what that would do."""
    refusals: tuple[RefusedFusion, ...] = ()
    changes: tuple[ModelChange, ...] = ()
    """In fewer bits, or with fewer weights."""
    other_engines: tuple[str, ...] = ()
    extra: str = ""
    """Options that make a command about the same inference: `--shape batch=8`."""
    is_trace: bool = False
    """Whether `model` is a file with a timeline, of which no more can be run."""


@dataclass(frozen=True, slots=True)
class AdviseReport:
    """What to do next, and how much there is to be had at all."""

    label: str
    engine: str
    baseline_s: float
    limit_s: float | None
    """The time of one inference with all work at the device's limit, and nothing between."""
    device: str | None
    advice: tuple[Advice, ...]
    notes: tuple[str, ...] = field(default=())

    @property
    def reached(self) -> float | None:
        """Return the part of the limit that is reached; None: it is not known."""
        return None if self.limit_s is None else self.limit_s / self.baseline_s


def advise(setting: Setting, facts: AdviceFacts) -> tuple[Advice, ...]:
    """Return what to do: what was simulated, the largest gain first; what to measure; bounds.

    A bound says what a change cannot exceed, not what it gives, so an engine that can be measured
    comes before all bounds.
    """
    found = [
        *_fusions(facts),
        *advised(facts.changes),
        *_refusals(setting, facts),
        *_precision(setting, facts),
        *_launching(setting, facts),
        *_memory_bound(setting, facts),
        *_far_from_limit(setting, facts),
    ]
    worth = [one for one in found if one.gain is not None and one.gain >= WORTH_IT]
    worth.sort(key=lambda one: -(one.gain or 0.0))
    likely = [one for one in worth if one.confidence == "simulated"]
    bounds = [one for one in worth if one.confidence == "bound"]
    rest = [] if worth else [_nothing_left(setting, facts)]
    return (*likely, *rest, *_engines(facts), *bounds)


def unmeasured(device: HardwareSpec | None) -> tuple[str, ...]:
    """Return a note where limits are a data sheet's."""
    if device is None or device.is_measured:
        return ()
    told = f"the limits of {device.name} are a data sheet's, which this machine may not reach;"
    return (f"{told} measure them: burnish doctor --probe {device.kind}",)


def limit_seconds(setting: Setting) -> float | None:
    """Return all work at the limit of the device; None: some of it has no known limit."""
    if setting.device is None:
        return None
    limits = []
    for place in setting.graph.work:
        event = setting.graph.events[place]
        work = setting.work(event)
        # what is not known is counted as it is: the limit may be lower, never higher
        limits.append(
            event.duration_s if work is None else roof(work, event.duration_s, setting.device).at(1)
        )
    return sum(limits)


def _fusions(facts: AdviceFacts) -> Iterator[Advice]:
    for rule, result in facts.fusions:
        yield Advice(
            what=f"fuse with {rule}: {units.count(len(result.actions), 'place')}",
            gain=result.gain,
            confidence="simulated",
            evidence=f"the engine runs these apart, {units.seconds(result.events_s)} in all",
            command=f"burnish optimize {shlex.quote(facts.model)} --only {rule} -o optimized.onnx",
        )


def advised(changes: Sequence[ModelChange]) -> tuple[Advice, ...]:
    """Return the changes of a model that are worth it, the largest predicted gain first."""
    found = (
        Advice(one.what, one.outcome.gain, "simulated", one.evidence, one.command)
        for one in changes
        if one.outcome.gain >= WORTH_IT
    )
    return tuple(sorted(found, key=lambda one: -(one.gain or 0.0)))


def _refusals(setting: Setting, facts: AdviceFacts) -> Iterator[Advice]:
    """Yield refused fusions; the node where one was looked for bounds what it could give."""
    for one in facts.refusals:
        places = [
            place
            for place in setting.graph.work
            if one.node in (*setting.graph.events[place].nodes, setting.graph.events[place].name)
        ]
        if places:
            result = outcome(_about("remove", [setting.graph.events[places[0]].name]), setting)
            yield Advice(
                what=f"let {one.rule} fuse {one.node}: {one.remedy}",
                gain=result.gain,
                confidence="bound",
                evidence=f"refused: {one.reason}",
                command=f"burnish optimize {shlex.quote(facts.model)} --only {one.rule} --dump out",
            )


def _precision(setting: Setting, facts: AdviceFacts) -> Iterator[Advice]:
    record, device = setting.scene.record, setting.device
    if record is None or device is None:
        return
    weighted = {node.name for node in record.nodes if set(node.inputs) & record.constants}
    # where products were timed in int8, peak rates have nothing to add
    for dtype in ("f16", "bf16") if facts.changes else ("f16", "bf16", "i8"):
        places = [
            place
            for place in setting.graph.work
            if set(setting.graph.events[place].nodes) & weighted
            and _gets_faster(setting.graph.events[place], setting, dtype)
        ]
        if not places:
            continue
        operators = _operators(setting, places)
        chosen = tuple(Selector("name", setting.graph.events[place].name) for place in places)
        result = outcome(Scenario(dtype, (Action("precision", chosen, dtype),)), setting)
        shown = precision_named(dtype)
        asked = " ".join(f"--cast {shlex.quote(f'op:{name}={shown}')}" for name in operators)
        yield Advice(
            what=f"compute {', '.join(operators)} in {shown}",
            gain=result.gain,
            confidence="simulated",
            evidence=f"{units.seconds(result.events_s)} are bound by arithmetic, and {device.name}"
            f" computes {shown} faster; check what it does to the results",
            command=_precise(facts, device, shown, asked),
        )


def _precise(facts: AdviceFacts, device: HardwareSpec, shown: str, asked: str) -> str:
    if facts.is_trace or device.kind == "cpu":
        return _whatif(facts, f"{asked} --measure" if shown == "int8" else asked)
    given = shlex.quote(facts.model)
    return f"burnish optimize {given} -p {shown} --target cuda -o {shown}.onnx"


def _gets_faster(event: Event, setting: Setting, dtype: str) -> bool:
    work, device = setting.work(event), setting.device
    if work is None or device is None or not work.flops:
        return False
    rates = device.peak_flops_per_s
    is_bound = roof(work, event.duration_s, device).bound is Bound.COMPUTE
    return is_bound and {dtype, work.dtype} <= rates.keys() and rates[dtype] > rates[work.dtype]


def _launching(setting: Setting, facts: AdviceFacts) -> Iterator[Advice]:
    graph = setting.graph
    wall_s = simulate(graph).wall_s
    if any(event.kind in DEVICE for event in graph.events):
        if not is_launching(graph):
            yield from _other_work(setting, facts)
            return
        if not is_launched_singly(graph):
            return
        result = outcome(Scenario("graph", (Action("cuda-graph"),)), setting)
        likely = " – ".join(map(units.ratio, result.gains or ()))
        idle = units.share(1 - min(1.0, graph.work_s / wall_s) if wall_s else 0.0)
        yield Advice(
            what="launch everything at once with a CUDA graph",
            gain=result.gain,
            confidence="simulated",
            evidence=f"the device is idle for {idle} of {units.seconds(wall_s)}; likely {likely}",
            command=_graphed(facts),
        )
        return
    gaps_s = sum(graph.events[place].gap_s for place in graph.work)
    if wall_s and gaps_s / wall_s > _LAUNCH_BOUND:
        yield Advice(
            what="have fewer nodes, or more work for each: fuse, or use a larger batch",
            gain=wall_s / (wall_s - gaps_s) if wall_s > gaps_s else math.inf,
            confidence="bound",
            evidence=f"{units.share(gaps_s / wall_s)} of the time passes between"
            f" {units.count(len(graph.work), 'node')}",
            command=_whatif(facts, "--sweep")
            if facts.is_trace
            else f"burnish optimize {shlex.quote(facts.model)} -o optimized.onnx",
        )


def _other_work(setting: Setting, facts: AdviceFacts) -> Iterator[Advice]:
    timeline = simulate(setting.graph)
    idle_s = timeline.wall_s - timeline.busy_s
    given = shlex.quote(facts.model)
    if idle_s > _LAUNCH_BOUND * timeline.wall_s:
        yield Advice(
            what="look at what the host does between launches",
            gain=timeline.wall_s / timeline.busy_s if timeline.busy_s else math.inf,
            confidence="bound",
            evidence=f"the device is idle for {units.seconds(idle_s)}, far longer than launching"
            " takes",
            command=f"burnish profile {given} --trace-out timeline.json {facts.extra}".strip(),
        )


def _graphed(facts: AdviceFacts) -> str:
    if facts.is_trace:
        return _whatif(facts, "--cuda-graph")
    asked = f"--engine onnxruntime-cuda --cuda-graph {facts.extra}".strip()
    return f"burnish bench {shlex.quote(facts.model)} {asked}"


def _memory_bound(setting: Setting, facts: AdviceFacts) -> Iterator[Advice]:
    """Yield chains of nodes that wait for memory and could hand each other their results."""
    # kernels are named by their code: chains of the same ones are fused by the same command
    alike: dict[tuple[str, ...], list[tuple[Event, ...]]] = defaultdict(list)
    for chain in memory_chains(setting):
        alike[tuple(event.name for event in chain)].append(chain)
    together = {names: sum(e.duration_s for c in own for e in c) for names, own in alike.items()}
    for names in sorted(alike, key=lambda names: -together[names])[:_FEW]:
        chain = alike[names][0]
        result = outcome(_about("fuse", names), setting)
        written = ",".join(f"name:{name}" for name in names)
        yield Advice(
            what=f"fuse {'>'.join(str(operator_of(e, setting.nodes)) for e in chain)}",
            gain=result.gain,
            confidence="simulated",
            evidence=f"each waits for memory; together {units.seconds(result.events_s)}",
            command=_whatif(facts, f"--fuse {shlex.quote(written)}"),
        )


def memory_chains(setting: Setting) -> tuple[tuple[Event, ...], ...]:
    """Return runs of neighbours that are bound by memory, each reading what the last one wrote."""
    found: list[list[Event]] = []
    for place in setting.graph.work:
        event = setting.graph.events[place]
        if not _waits_for_memory(event, setting):
            continue
        if found and _feeds(found[-1][-1], event, setting):
            found[-1].append(event)
        else:
            found.append([event])
    return tuple(tuple(chain) for chain in found if len(chain) > 1)


def _waits_for_memory(event: Event, setting: Setting) -> bool:
    work = setting.work(event)
    if work is None or setting.device is None or not work.bytes_moved:
        return False
    return roof(work, event.duration_s, setting.device).bound is Bound.MEMORY


def _feeds(first: Event, second: Event, setting: Setting) -> bool:
    written = {out for name in first.nodes for out in setting.nodes[name].outputs}
    return any(written & set(setting.nodes[name].inputs) for name in second.nodes)


def _far_from_limit(setting: Setting, facts: AdviceFacts) -> Iterator[Advice]:
    """Yield operators that this very machine could do faster; a data sheet cannot tell."""
    if setting.device is None or not setting.device.is_measured:
        return
    rows = [row for row in sweep(setting) if row.gain_at_roofline is not None]
    for row in sorted(rows, key=lambda row: -(row.gain_at_roofline or 0.0))[:_FEW]:
        device = setting.device.name
        yield Advice(
            what=f"a faster kernel for {row.op_type}: another engine, layout or size",
            gain=row.gain_at_roofline,
            confidence="bound",
            evidence=f"{units.seconds(row.seconds_s)} in {units.count(row.events, 'event')}, far"
            f" from the limits of {device}",
            command=_whatif(facts, f"--roofline {shlex.quote(f'op:{row.op_type}=80%')}"),
        )


def _nothing_left(setting: Setting, facts: AdviceFacts) -> Advice:
    limit_s, wall_s = limit_seconds(setting), simulate(setting.graph).wall_s
    evidence = (
        f"within {units.share(1 - limit_s / wall_s)} of the limit of this device"
        if limit_s is not None and wall_s > 0
        else "no change that can be simulated gives 1 % or more"
    )
    return Advice(
        what="nothing left that is worth it",
        gain=None,
        confidence="unknown",
        evidence=evidence,
        command=_whatif(facts, "--sweep"),
    )


def _engines(facts: AdviceFacts) -> Iterator[Advice]:
    if facts.other_engines:
        engines = ",".join((facts.engine, *facts.other_engines))
        yield Advice(
            what=f"try {', '.join(facts.other_engines)}",
            gain=None,
            confidence="unknown",
            evidence="they work here and can run this model; only measuring tells",
            command=f"burnish bench {shlex.quote(facts.model)} --engine {engines}"
            f" {facts.extra}".rstrip(),
        )


def _about(do: str, names: Sequence[str]) -> Scenario:
    return Scenario(do, (Action(do, tuple(Selector("name", name) for name in names)),))


def _operators(setting: Setting, places: Sequence[int]) -> list[str]:
    found = (operator_of(setting.graph.events[place], setting.nodes) for place in places)
    return list(dict.fromkeys(name for name in found if name))


def _whatif(facts: AdviceFacts, asked: str) -> str:
    return " ".join(f"burnish whatif {shlex.quote(facts.model)} {asked} {facts.extra}".split())
