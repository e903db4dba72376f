"""Choices by measuring: which nests share a kernel, its tiles, and what ONNX Runtime runs.

It begins with the groups that the cost model predicts. Each is timed as one kernel, as two, and in
ONNX Runtime; where two are faster, each of them is looked at in the same way. Then what was chosen,
and what came close, is searched further, first what takes long and longer than was predicted, until
the time is up. Equal groups are timed once, and what was found for them before is used again.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import onnx_ir as ir

from burnish.codegen.regions import cut
from burnish.codegen.schedule import Choice, Predicted
from burnish.codegen.tune.budget import TuningTime
from burnish.codegen.tune.decide import Decision, decide
from burnish.codegen.tune.measure import OrtCandidate, TrialTask
from burnish.codegen.tune.search import KnownGroup, Tuner
from burnish.codegen.tune.trial import Tuned
from burnish.core.progress import SILENT, Progress
from burnish.core.tensors import BITS
from burnish.core.units import seconds as seconds_text
from burnish.store import external_data
from burnish.tile.connect import NoGroupError, grouped, wiring
from burnish.tile.graph import TileGraph
from burnish.tile.group import Group
from burnish.tile.lower import named, operator, tensor_type
from burnish.tile.measures import traffic_bytes
from burnish.tile.partition import Fusion
from burnish.tile.vectors import is_sum_of_products

LOOK = 3
"""Schedules that are tried of every group before any is searched further."""
GROWTH = 3
"""Each further search tries this many times as many."""
CUTS = 4
"""Places at which cutting a group in two is priced: those where the least is handed over."""
FURTHER = 0.8
"""The share of the time that may be spent on searching further: some is kept for groups that only
come up when ONNX Runtime has taken its nodes out."""


@dataclass(frozen=True, slots=True)
class TuneOptions:
    """How far to look."""

    fusion: Fusion = "full"
    top: int = 20
    """Schedules to try of each group."""


@dataclass(slots=True)
class Measured:
    """Chooses for the graphs of one static model."""

    tuner: Tuner
    options: TuneOptions
    budget: TuningTime
    model: ir.Model | None = None
    """Without it ONNX Runtime does not compete."""
    progress: Progress = SILENT
    predicted: Predicted | None = None
    """What the cost model says, and knows already; None: it begins anew."""

    def __post_init__(self) -> None:
        self.predicted = self.predicted or Predicted(self.tuner.backend, self.options.fusion)

    def partition(self, graph: TileGraph) -> tuple[Group, ...]:
        """Return the groups that the cost model predicts: where the search begins."""
        assert self.predicted is not None
        return self.predicted.partition(graph)

    def schedule(self, groups: Sequence[Group], graph: TileGraph) -> tuple[Choice, ...]:
        """Return what is fastest for each group, or for each half of it."""
        return _Search(self, groups, graph).choices()


class _Search:
    """The search for one graph."""

    def __init__(self, settings: Measured, groups: Sequence[Group], graph: TileGraph) -> None:
        self._settings = settings
        self._graph = graph
        self._wires = wiring(graph)
        backend = settings.tuner.backend
        self._backend = backend
        self._predict = backend.predictor(graph)
        self._layouts = backend.layouts(graph)
        self._roots = groups
        self._parts: dict[str, OrtCandidate | None] = {}
        self._cuts: dict[str, tuple[float, int] | None] = {}
        self._firsts: dict[str, TrialTask] = {}
        self._tasks: dict[tuple[str, ...], TrialTask] = {}
        self._start_s = backend.machine.hw.launch_overhead_s
        self._top = min(LOOK, settings.options.top)

    def choices(self) -> tuple[Choice, ...]:
        """Return what is chosen after all the looking that there is time for."""
        self._look()
        while self._top < self._settings.options.top:
            self._top = min(self._top * GROWTH, self._settings.options.top)
            if not self._search_further():
                self._told("tune further", 1, 1, ", and the time is up")
                break
        return tuple(choice for root in self._roots for choice in self._chosen(root))

    def _look(self) -> None:
        """Try a few schedules of every group, of its halves where need be, and ONNX Runtime."""
        tasks = [self._first(group) for group in self._roots]
        counts = Counter(task.signature for task in tasks)
        unique = {task.signature: task.group for task in tasks}
        order = sorted(unique, key=lambda key: -counts[key] * self._predicted(unique[key]))
        for number, key in enumerate(order, 1):
            decide(unique[key], self._looked_at, self._halves_of, self._start_s)
            self._told("tune", number, len(order))

    def _search_further(self) -> bool:
        """Try more schedules of what is chosen and of what came close, the most promising first.

        That is what takes long and was predicted to take less: there the cost model is wrong, and
        others of its candidates may be far better. Return whether there was time for all of it.
        """
        weights: dict[str, float] = {}
        groups: dict[str, Group] = {}
        for root in self._roots:
            for group in self._interesting(root):
                key = self._first(group).signature
                groups[key] = group
                weights[key] = weights.get(key, 0.0) + promise(self._known(group).tuned)
        order = sorted(weights, key=lambda key: -weights[key])
        stage = f"tune, {self._top} schedules"
        for number, key in enumerate(order, 1):
            if not self._settings.budget.allows(FURTHER):
                return False
            self._tune(groups[key])
            self._told(stage, number, len(order))
        return True

    def _told(self, stage: str, done: int, total: int, more: str = "") -> None:
        note = f"best so far {seconds_text(self._total())}{more}"
        self._settings.progress.step(stage, done, total, note)

    def _chosen(self, group: Group) -> Iterator[Choice]:
        decision = self._decided(group)
        match decision.way:
            case "two groups":
                for half in self._halves_of(group):
                    yield from self._chosen(half)
            case "onnxruntime":
                yield Choice(group, None, measured_s=decision.seconds, reason=decision.reason)
            case _:
                yield self._kernel(group)

    def _kernel(self, group: Group) -> Choice:
        best = self._known(group).tuned.best
        if best is None or best.schedule is None:
            # no time was left to look at it
            assert self._settings.predicted is not None
            return self._settings.predicted.choice(group, self._graph)
        cost = self._backend.price(group, self._graph, best.schedule)
        moved = traffic_bytes(cost, self._backend.machine)
        return Choice(group, best.schedule, cost.seconds, moved, measured_s=best.seconds)

    def _interesting(self, group: Group) -> Iterator[Group]:
        """Yield the groups whose kernels are chosen, or came close to being chosen."""
        decision = self._decided(group)
        yield from decision.rivals
        if decision.way == "two groups":
            for half in self._halves_of(group):
                yield from self._interesting(half)
        elif decision.way == "kernel":
            yield group

    def _decided(self, group: Group) -> Decision:
        return decide(group, self._known, self._halves_of, self._start_s)

    def _total(self) -> float:
        """Return the seconds of everything as chosen now; what was not measured, as predicted."""
        return sum(self._decided(root).seconds or self._predicted(root) for root in self._roots)

    def _looked_at(self, group: Group) -> KnownGroup:
        known = self._known(group)
        if known.tuned.searched or not self._settings.budget.allows():
            return known
        return self._tune(group)

    def _tune(self, group: Group) -> KnownGroup:
        """Try schedules of the first group of this kind: all others are like it."""
        first = self._first(group)
        return self._settings.tuner.tune(first, self._top, self._part(first))

    def _known(self, group: Group) -> KnownGroup:
        first = self._first(group)
        return self._settings.tuner.known(first, self._part(first))

    def _first(self, group: Group) -> TrialTask:
        """Return the first group with the signature of this one."""
        members = tuple(op.output for op in group.ops)
        if members not in self._tasks:
            task = TrialTask(group, self._graph, self._layouts)
            self._tasks[members] = self._firsts.setdefault(task.signature, task)
        return self._tasks[members]

    def _part(self, task: TrialTask) -> OrtCandidate | None:
        if task.signature not in self._parts:
            self._parts[task.signature] = self._candidate(task.group)
        return self._parts[task.signature]

    def _candidate(self, group: Group) -> OrtCandidate | None:
        if self._settings.model is None:
            return None
        try:
            return ort_candidate(group, self._graph, self._settings.model)
        except NoCandidateError:
            return None

    def _halves_of(self, group: Group) -> tuple[Group, ...]:
        """Return the two groups that a group is best cut into; none where it cannot be."""
        if self._settings.options.fusion != "full" or len(group.ops) < 2:
            return ()
        key = self._first(group).signature
        if key not in self._cuts:
            cuts = sorted(range(1, len(group.ops)), key=lambda cut: self._crossing(group, cut))
            priced = ((self._price(group, cut), cut) for cut in cuts[:CUTS])
            self._cuts[key] = min((each for each in priced if each[0] < math.inf), default=None)
        found = self._cuts[key]
        return self._halves(group, found[1]) if found else ()

    def _crossing(self, group: Group, cut: int) -> int:
        """Return the bytes that the first half would hand to the second."""
        written = {op.output for op in group.ops[:cut]}
        read = {name for op in group.ops[cut:] for name in op.inputs}
        kinds = [self._graph.tensors[name] for name in written & read]
        return sum(kind.size * BITS[kind.dtype] // 8 for kind in kinds)

    def _price(self, group: Group, cut: int) -> float:
        try:
            return sum(self._predict(half) for half in self._halves(group, cut))
        except NoGroupError:
            return math.inf

    def _halves(self, group: Group, cut: int) -> tuple[Group, Group]:
        places = [self._wires.writer[op.output] for op in group.ops]
        return grouped(self._wires, places[:cut]), grouped(self._wires, places[cut:])

    def _predicted(self, group: Group) -> float:
        """Return the seconds of a group as the plan that is not tuned has it."""
        assert self._settings.predicted is not None
        return self._settings.predicted.choice(group, self._graph).predicted_s or 0.0


def promise(tuned: Tuned) -> float:
    """Return the seconds of a group, times how much longer that is than was predicted."""
    best = tuned.best
    if best is None or best.seconds is None:
        return 0.0
    return best.seconds * (best.seconds / best.predicted_s if best.predicted_s else 1.0)


class NoCandidateError(Exception):
    """ONNX Runtime does not compete for a group; the text says why."""


def ort_candidate(group: Group, graph: TileGraph, model: ir.Model) -> OrtCandidate:
    """Return the part of a static model that does the work of a group.

    Only groups with sums of products have one: elsewhere a call of ONNX Runtime costs more than it
    can gain. What the part reads and writes must be in memory around the group as well.
    """
    if not any(is_sum_of_products(op) for op in group.ops):
        raise NoCandidateError("there is no matrix product or convolution in it")
    wanted = set(group.nodes)
    nodes = [node for node in model.graph if named(node) in wanted]
    part = cut(model, nodes, "part")
    inputs = tuple(value.name or "" for value in part.graph.inputs)
    if missing := set(inputs) - set(group.inputs):
        raise NoCandidateError(f"its nodes read {_listed(missing)}, which the group does not")
    if missing := set(group.outputs) - {value.name for value in part.graph.outputs}:
        raise NoCandidateError(f"its nodes do not give {_listed(missing)}")
    values = (*part.graph.inputs, *part.graph.outputs)
    shapes = {value.name or "": kind.shape for value in values if (kind := tensor_type(value))}
    return OrtCandidate(lambda: _content(part), inputs, group.outputs, _kind(nodes), shapes)


def _content(part: ir.Model) -> bytes:
    copy = part.clone()
    external_data.inline_the_rest(copy, kept="")
    return bytes(ir.to_proto(copy).SerializeToString())


def _kind(nodes: list[ir.Node]) -> str:
    """Return a text that tells apart what ONNX Runtime may run in different time."""
    words = [f"{operator(node)} {sorted(map(str, node.attributes.values()))}" for node in nodes]
    return hashlib.sha256("\n".join(words).encode()).hexdigest()[:16]


def _listed(names: set[str]) -> str:
    return ", ".join(repr(name) for name in sorted(names))
