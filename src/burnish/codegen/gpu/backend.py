"""NVIDIA cards as a back end: Triton texts, one or a few per group, built to cubins ahead of time.

No card is needed to build: prices come from the catalog's description of a card of the kind.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

import numpy as np

from burnish.codegen.backend import UNNAMED, Backend, BuiltCode, EmittedKernel, Layouts, Looks
from burnish.codegen.gpu.adapting import adapted
from burnish.codegen.gpu.bounds import breaches
from burnish.codegen.gpu.choose import Blocked, GpuPredicted, Searched, priced, scratch_types
from burnish.codegen.gpu.choose import candidates as settings_of
from burnish.codegen.gpu.code import built_code, fitted, unbuildable, unfit
from burnish.codegen.gpu.kernel import GpuTarget, Written, refusal, written
from burnish.codegen.gpu.layout import orders_of
from burnish.codegen.gpu.price import price
from burnish.codegen.gpu.spelling import IEEE
from burnish.core import records, settings
from burnish.core.arrays import Array
from burnish.core.errors import MissingCapabilityError, ModelError, UsageError
from burnish.core.nearest import suggestion
from burnish.core.tensors import BITS
from burnish.cuda.build import triton_version
from burnish.cuda.driver import Device
from burnish.cuda.kernel import ARCHITECTURES, BuiltCubin, capability_of, settings_line, source_of
from burnish.hw.choose import this_gpu
from burnish.hw.spec import HardwareSpec, load
from burnish.runtime.cuda.launch import CudaLaunch
from burnish.runtime.cuda.runner import open_driver
from burnish.tile.candidates import Candidate, Ranking, Space
from burnish.tile.connect import NoGroupError
from burnish.tile.cost import Cost
from burnish.tile.graph import TensorType, TileGraph
from burnish.tile.group import Group
from burnish.tile.machine import Machine, machine
from burnish.tile.partition import Fusion, Partition, SearchLimits, partition
from burnish.tile.predict import Predictor
from burnish.tile.schedule import Schedule
from burnish.tile.traffic import Traffic

DESCRIBED: Mapping[int, str] = MappingProxyType(
    {8: "nvidia-a100", 9: "nvidia-h200", 10: "nvidia-h200"}
)
"""Whose rates stand for cards of a major capability; nobody has described Blackwell yet."""

_CAPABLE: Mapping[str, str] = MappingProxyType(
    {"nvidia-a100": "sm_80", "nvidia-h100": "sm_90", "nvidia-h200": "sm_90", "nvidia-v100": "sm_80"}
)
"""The architecture whose kernels a card of the catalog has; for Volta, the oldest stands in."""

FIRST_EARLY = (9, 0)
"""The capability from which on kernels can be started while those ahead of them still run."""

_BLOCK = re.compile(r"blocks: (\d+) of \d+ rows x (\d+) of")
"""What one program computes, as the header of a text tells it."""
_FUNCTION = re.compile(r"^def (\w+)\(", re.MULTILINE)


def open_gpu(name: str, _threads: int) -> GpuBackend:
    """Return the back end for an architecture (`sm_90`); empty: for the card that is here.

    A card of the catalog (`nvidia-a100`) can be planned for, whatever kernels are built for.
    """
    if name in _CAPABLE:
        return GpuBackend(_CAPABLE[name], machine(load(name)))
    if name and name not in ARCHITECTURES:
        raise UsageError(
            f"kernels are not built for {name!r}", hint=suggestion(name, ARCHITECTURES)
        )
    if name:
        return GpuBackend(name, machine(_described(name)))
    card = _card()
    known = this_gpu(settings.read().cache, card.name) or _described(card.architecture)
    version = ".".join(map(str, card.driver))
    return GpuBackend(card.architecture, machine(known), card.name, (f"driver {version}",))


def _card() -> Device:
    try:
        return open_driver().device
    except MissingCapabilityError as error:
        raise MissingCapabilityError(
            f"--target cuda compiles for the card that is here: {error.problem}",
            hint=f"name the kind of card that it will run on: --target {ARCHITECTURES[1]}",
        ) from error


def _described(architecture: str) -> HardwareSpec:
    major, _ = capability_of(architecture)
    if major not in DESCRIBED:
        raise MissingCapabilityError(
            f"there is no description of cards of the kind {architecture}",
            hint="measure this one: burnish doctor --probe",
        )
    return load(DESCRIBED[major])


@dataclass
class GpuBackend(Backend):
    """Kernels for one architecture."""

    architecture: str
    machine: Machine
    device: str = ""
    features: tuple[str, ...] = ()
    trials: str = ""
    suffix: str = ".py"
    comment: str = "#"
    counts: bool = True
    looks: Looks = "kernel"
    own_functions: bool = True
    """Whether there is what only cards have: Triton's interpreter does not know it."""
    rounds_late: bool = True
    multiplies: str = IEEE
    """How f32 is multiplied: `ieee`, or in a mode that cards have (`tf32`)."""
    target: str = field(init=False)
    requires: tuple[str, ...] = field(init=False)
    compiler: str = field(init=False)
    _chosen: GpuPredicted | None = field(default=None, init=False)
    _graph: TileGraph | None = field(default=None, init=False)
    _elsewhere: Searched = field(default_factory=dict, init=False)
    """What was chosen for groups of all graphs."""
    _inside: set[str] = field(default_factory=set, init=False)
    """Kernels that are known to stay inside of their tensors."""

    def __post_init__(self) -> None:
        # from Hopper on Triton uses what only one kind of card has, and says so by an "a"
        only = "a" if capability_of(self.architecture) >= (9, 0) else ""
        self.target = f"cuda: {self.architecture}"
        self.requires = (f"{self.architecture}{only}",)
        self.compiler = f"triton {triton_version()}"
        self.device = self.device or f"no card, priced as {self.machine.hw.name}"

    def adapted(self, graph: TileGraph) -> TileGraph:
        """Return a graph with fewer and larger products and sums, whose rows end where runs do."""
        return adapted(graph)

    def multiplying(self, mode: str) -> GpuBackend:
        """Return the same back end, which rounds factors of f32 to what tensor cores take.

        What was timed in one mode says nothing of another, so the mode is among the features.
        """
        return replace(self, multiplies=mode, features=(*self.features, mode))

    def refusal(self, group: Group, graph: TileGraph) -> str | None:
        """Return what in a group has no Triton, or no block that fits."""
        if not all(graph.tensors[name].size for name in group.outputs):
            return "it has no element, and a card cannot start no program"
        if (reason := refusal(group, graph)) is not None:
            return f"Triton kernels have no {reason}"
        try:
            self._choosing(graph).best(group, graph)
        except NoGroupError as error:
            return str(error)
        return None

    def layouts(self, graph: TileGraph) -> Layouts:
        """Return images and weights of convolutions with channels innermost."""
        return self._choosing(graph).target.orders

    def predictor(self, graph: TileGraph) -> Predictor:
        """Return what counts the work of a group's kernels as they would be written."""
        chosen = self._choosing(graph)
        return lambda group: chosen.best(group, graph).seconds

    def partition(self, graph: TileGraph, fusion: Fusion) -> Partition:
        """Return which nests of a simplified graph share kernels."""
        limits: SearchLimits = self._choosing(graph).limits
        found = self.predictor(graph)
        return partition(graph, self.machine, fusion, predictor=found, limits=limits)

    def candidates(self, group: Group, graph: TileGraph, space: Space) -> Ranking:
        """Return blocks of a group, the cheapest first."""
        if space.top == 1:
            return self._best(group, graph)
        target = self._choosing(graph).target
        found: list[Candidate] = []
        reason = "its output has no element"
        for each in settings_of(group, target):
            schedule = Schedule(group.anchor.shape, settings=each)
            try:
                found.append(Candidate(schedule, self.price(group, graph, schedule)))
            except NoGroupError as error:
                reason = str(error)
        found.sort(key=lambda one: one.cost.seconds)
        return Ranking(tuple(found[: space.top]), "" if found else reason)

    def price(self, group: Group, graph: TileGraph, schedule: Schedule) -> Cost:
        """Return what a group's kernels should cost, all of them together."""
        target = self._choosing(graph).target
        return _cost(priced(group, schedule, graph, self.machine.hw, target), self.machine)

    def _best(self, group: Group, graph: TileGraph) -> Ranking:
        """Return the blocks that grouping nests has chosen already, or chooses now."""
        try:
            best = self._choosing(graph).best(group, graph)
        except NoGroupError as error:
            return Ranking((), str(error))
        return Ranking((Candidate(best.schedule, _cost(best, self.machine)),), "")

    def emit(
        self, group: Group, schedule: Schedule, graph: TileGraph, *, layouts: Layouts
    ) -> tuple[EmittedKernel, ...]:
        """Return the launches of a group; what one hands to the next is a tensor of the plan."""
        target = self._kernels_for(layouts)
        launches = written(group, schedule, graph, target)
        types = {**graph.tensors, **scratch_types(launches)}
        hw = self.machine.hw
        seconds = [price(each, types, hw, self.multiplies).seconds for each in launches]
        known: set[str] = set()
        found = []
        self._look(launches, graph)
        for each, took in zip(launches, seconds, strict=True):
            found.append(_emitted(each, group, graph, layouts, known, took / sum(seconds)))
            known |= set(each.launch.scratch)
        return tuple(found)

    def _look(self, launches: tuple[Written, ...], graph: TileGraph) -> None:
        """Refuse kernels that may access what is not theirs: a card would run them all the same."""
        elements = {name: kind.size for name, kind in graph.tensors.items()}
        for launch in (each.launch for each in launches if each.launch.name not in self._inside):
            for breach in breaches(launch, elements):
                raise ModelError(
                    f"a kernel would leave its tensors: {breach}",
                    hint="report it as a bug in burnish; --fusion none may do without that kernel",
                )
            self._inside.add(launch.name)

    def unfit(self, sources: Mapping[str, str]) -> Mapping[str, str]:
        """Return which kernels cannot be compiled, or keep too much of what they need in memory."""
        return dict(unfit(sources, self.architecture))

    def unbuildable(self, sources: Mapping[str, str]) -> Mapping[str, str]:
        """Return the kernels that do not compile, or need more shared memory than there is."""
        return dict(unbuildable(sources, self.architecture))

    def build(self, sources: Mapping[str, str]) -> BuiltCode:
        """Return each kernel as a Triton text and as a cubin."""
        return built_code(sources, self.architecture)

    def listing(self, source: str) -> tuple[str, str]:
        """Return what the compiler made of a kernel: registers, memory, threads."""
        name = _FUNCTION.findall(source)[-1]  # what it calls stands before it
        ((_, outcome),) = fitted([source_of(name, source)], self.architecture)
        found = outcome.kernel if isinstance(outcome, BuiltCubin) else outcome
        return ".json", json.dumps(records.encode(found), indent=1) + "\n"

    def _kernels_for(self, layouts: Layouts) -> GpuTarget:
        early = capability_of(self.architecture) >= FIRST_EARLY
        return GpuTarget(
            self.multiplies, self.own_functions, self.rounds_late, orders=layouts, early=early
        )

    def _choosing(self, graph: TileGraph) -> GpuPredicted:
        """Return what chooses for a graph; the one of the last graph is kept."""
        if self._chosen is None or self._graph is not graph:
            target = self._kernels_for(orders_of(graph))
            self._chosen = GpuPredicted(self.machine.hw, target, elsewhere=self._elsewhere)
            self._graph = graph
        return self._chosen


def _emitted(
    each: Written,
    group: Group,
    graph: TileGraph,
    layouts: Layouts,
    known: set[str],
    share: float,
) -> EmittedKernel:
    """Return a launch as plans take it; `known` are scratch tensors that are written already."""
    launch = each.launch
    arguments = (*launch.arguments, *launch.scratch)
    outputs = (*launch.outputs, *(name for name in launch.scratch if name not in known))
    zeroed = frozenset(arguments.index(name) for name in launch.zeroed)
    said, _, code = launch.source.partition("\n\n")
    settled = settings_line(launch.dtypes, launch.warps, launch.stages, launch.library)
    code = code.replace(f"def {launch.name}(", f"def {UNNAMED}(")
    pointers = dict(zip(arguments, launch.dtypes, strict=True))
    return EmittedKernel(
        source=f"{settled}\n\n{code}",
        arguments=arguments,
        outputs=outputs,
        launch=CudaLaunch(launch.grid, zeroed=zeroed).fields,
        nodes=group.nodes,
        packed=dict(_packed(launch.arguments, graph, layouts)),
        indices=group.indices_among(launch.arguments),
        scratch={n: _flat(pointers[n], size) for n, size in launch.scratch.items()},
        tile=tuple(int(size) for found in _BLOCK.findall(said) for size in found),
        share=share,
        loops=(
            *(line.removeprefix("# ") for line in said.splitlines() if "blocks:" in line),
            *(["cuBLASLt forms it where it is found"] if launch.library else []),
        ),
    )


def _packed(
    names: tuple[str, ...], graph: TileGraph, layouts: Layouts
) -> Iterator[tuple[str, Array]]:
    """Yield constants that lie in another order than their own."""
    for name in names:
        if name in graph.constants and name in layouts:
            array = np.asarray(graph.constants[name])
            yield name, np.ascontiguousarray(array.transpose(layouts[name]))


def _flat(dtype: str, size_bytes: int) -> TensorType:
    return TensorType(dtype, (-(-8 * size_bytes // BITS[dtype]),))


def _cost(found: Blocked, on: Machine) -> Cost:
    """Return the prices of launches as one cost; what moves is told between programs and L2."""
    near, far = on.levels[-2], on.levels[-1]
    prices, launches = found.prices, found.launches
    moved = sum(
        each.programs
        * (sum(each.tally.loaded_bytes.values()) + sum(each.tally.stored_bytes.values()))
        for each in launches
    )
    return Cost(
        seconds=found.seconds,
        compute_s=sum(max(each.product_s, each.lane_s) for each in prices),
        memory_s={
            near.name: moved / near.bandwidth_bytes_per_s,
            far.name: sum(each.memory_bytes for each in prices) / far.bandwidth_bytes_per_s,
        },
        launch_s=sum(each.launch_s for each in prices),
        waves=max((-(-each.programs // on.units) for each in launches), default=0),
        scratch_bytes=sum(sum(each.launch.scratch.values()) for each in launches),
        traffic=Traffic(sum(each.programs for each in launches), (), {}, 0.0),
    )
