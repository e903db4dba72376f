"""What a target must answer for models to be compiled for it: the protocol of back ends.

A back end is a folder here (`codegen/cpu`) and what runs its kernels (`runtime/cpu`), and one line
in `burnish.core.backends.BACKENDS` that names both. Everything else, from the tile-graph to plan,
folder, loader and tuner, knows only this. How kernels are loaded and run is the other half of it:
`burnish.runtime.runner.Runner`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Literal, Protocol, cast

from burnish.core.arrays import Array
from burnish.core.backends import device_name
from burnish.core.errors import MissingCapabilityError
from burnish.runtime.runner import half
from burnish.tile.candidates import Ranking, Space, candidates
from burnish.tile.channels_last import layouts
from burnish.tile.cost import Cost, estimate
from burnish.tile.graph import TensorType, TileGraph
from burnish.tile.group import Group
from burnish.tile.machine import Machine
from burnish.tile.partition import Fusion, Partition, partition
from burnish.tile.predict import Predictions, Predictor
from burnish.tile.schedule import Schedule
from burnish.tile.sending import sending_cost, sends
from burnish.tile.workload import workload

Looks = Literal["never", "runner", "kernel"]
"""Who looks at computed numbers that kernels take as they come: a runner, in memory, or kernels of
their own, which tell it what they found. Runners look at what is fed in either case."""
Layouts = Mapping[str, tuple[int, ...]]
"""The order of a tensor's dimensions in memory, outermost first, where it is not its own."""


def argument_roles(arguments: Sequence[str], outputs: Collection[str]) -> dict[str, str]:
    """Return what code calls the tensors that it is given: in0, in1, …, out0; by tensor.

    So groups that differ in the names of their tensors only have equal code.
    """
    places = {"in": count(), "out": count()}
    kinds = {name: "out" if name in outputs else "in" for name in arguments}
    return {name: f"{kind}{next(places[kind])}" for name, kind in kinds.items()}


UNNAMED = "kernel_without_a_name"
"""What a kernel is called until its code is known, after which it is named."""


@dataclass(frozen=True, slots=True)
class EmittedKernel:
    """The code of a group, or of one of several kernels that compute it, and how it is called."""

    source: str
    """In the back end's language (LLVM IR, Triton); calls itself `UNNAMED`."""
    arguments: tuple[str, ...]
    """Tensors in the order in which it takes them."""
    outputs: tuple[str, ...]
    """Those of them that it writes."""
    launch: Mapping[str, int]
    """How it is started, in the fields of a record that the back end's runner checks and reads."""
    nodes: tuple[str, ...]
    """The ONNX nodes whose work it does."""
    packed: Mapping[str, Array] = field(default_factory=dict)
    """Constants that it wants laid out anew, by the names they have among the arguments."""
    indices: Mapping[str, int] = field(default_factory=dict)
    """Arguments that hold indices, and how many there are of what they point to."""
    scratch: Mapping[str, TensorType] = field(default_factory=dict)
    """Arguments that only kernels of the same group see: the first that takes one writes it."""
    tile: tuple[int, ...] = ()
    """What one of its programs computes of its last output."""
    share: float = 1.0
    """Of the group's predicted time and traffic that is this kernel's."""
    loops: tuple[str, ...] = ()
    """How each nest is walked, in words: for people only."""
    requires: tuple[str, ...] = ()
    """What it needs of a device besides what all kernels of the back end need."""

    def named(self, name: str) -> str:
        """Return the source of the kernel under a name."""
        return self.source.replace(UNNAMED, name)


@dataclass(frozen=True, slots=True)
class BuiltCode:
    """What a folder stores of all its kernels."""

    files: Mapping[str, bytes]
    """By path in the folder: each kernel under `kernels/`, and what is loaded of them."""
    table: Mapping[str, Any]
    """What the runner must know to load them, in the fields of a record of its own."""


class Backend(Protocol):
    """One back end, opened for a device that is here or described.

    The methods with a body answer by the tile-graph's own cost model for `machine`; a back end that
    has better ones inherits and replaces them.
    """

    target: str
    """As plans write it: `cpu: avx512`, `cuda: sm_90`."""
    requires: tuple[str, ...]
    """What a device must have to run its kernels; `Runner.lacks` compares."""
    device: str
    """The name of the device that it was opened for."""
    features: tuple[str, ...]
    """What tells that device from others of its name: flags, a driver's version."""
    machine: Machine
    """That device's rates and limits, as schedules are priced by them."""
    compiler: str
    """What turns its sources into code, with the version: part of the tuner's keys."""
    trials: str
    """`module:class` of the `burnish.codegen.tune.messages.Trials` that its measuring process
    serves: there kernels are proved and timed. Empty: nothing is timed, plans are as predicted."""
    suffix: str
    """Of files with its sources: `.ll`, `.py`."""
    comment: str
    """What begins a comment in them: `;`, `#`."""
    multiplies_bytes: bool = False
    """Whether products of 8-bit integers are faster than those of the numbers they stand for."""
    repeats: bool = False
    """Whether its runner repeats steps along a sequence."""
    looks: Looks = "never"
    """Who looks at numbers that its kernels take as they come, places for instance."""
    sends: bool = False
    """Whether its kernels send updates to computed places: `burnish.tile.sent`."""
    counts: bool = False
    """Whether comparing all pairs of a long row is cheaper than to hand it to a library, and so
    are kernels for each step of a sequence."""

    def adapted(self, graph: TileGraph) -> TileGraph:
        """Return a simplified graph as its kernels want it: other nests that compute the same."""
        return graph

    def plain_sums(self) -> Backend:
        """Return the same back end, which computes every sum as the model has it."""
        return self

    def multiplying(self, mode: str) -> Backend:
        """Return the same back end, which multiplies f32 in a mode of `core.precisions.MODES`."""
        raise MissingCapabilityError(
            f"kernels for {self.target} multiply f32 as it is, not in {mode}",
            hint="leave -p away, or compile for a card: --target sm_90",
        )

    def refusal(self, group: Group, graph: TileGraph) -> str | None:
        """Return why a group can have no kernel, and is left to ONNX Runtime; None: it can."""
        return None

    def layouts(self, graph: TileGraph) -> Layouts:
        """Return how tensors of a simplified graph are to lie in memory."""
        return layouts(graph, self.machine.lanes("f32"))

    def predictor(self, graph: TileGraph) -> Predictor:
        """Return what tells the seconds of groups of a simplified graph."""
        return Predictions(graph, self.machine)

    def partition(self, graph: TileGraph, fusion: Fusion) -> Partition:
        """Return which nests of a simplified graph share a kernel."""
        return partition(graph, self.machine, fusion, predictor=self.predictor(graph))

    def candidates(self, group: Group, graph: TileGraph, space: Space) -> Ranking:
        """Return schedules of a group, the most promising first."""
        return candidates(group, graph, self.machine, space)

    def price(self, group: Group, graph: TileGraph, schedule: Schedule) -> Cost:
        """Return what a schedule of a group should cost."""
        if sends(group):
            return sending_cost(group, graph, schedule, self.machine)
        work = workload(group, graph, self.layouts(graph), self.machine.unit)
        return estimate(work, schedule, self.machine)

    def emit(
        self, group: Group, schedule: Schedule, graph: TileGraph, *, layouts: Layouts
    ) -> tuple[EmittedKernel, ...]:
        """Return the kernels of a group in the order in which they run, mostly one.

        Groups that differ in names only have equal code.
        """

    def unfit(self, sources: Mapping[str, str]) -> Mapping[str, str]:
        """Return which kernels, given by name, cannot be built or are not worth timing, and why."""
        return {}

    def unbuildable(self, sources: Mapping[str, str]) -> Mapping[str, str]:
        """Return which kernels, given by name, cannot be built at all, and why."""
        return {}

    def build(self, sources: Mapping[str, str]) -> BuiltCode:
        """Return what a folder stores of kernels, given by name."""

    def listing(self, source: str) -> tuple[str, str]:
        """Return what a kernel becomes, for people to read: a file's suffix and its text."""


def open_backend(target: str, threads: int) -> Backend:
    """Return the back end of a target for the device here, with so many threads of the host.

    A target without a device (`cpu`) means whatever is best here.
    """
    return cast("Backend", half(target, "compiler")(device_name(target), threads))
