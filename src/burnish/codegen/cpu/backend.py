"""The CPU as a back end: LLVM IR, one function per kernel, linked into one block of code."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from burnish.codegen.backend import UNNAMED, Backend, BuiltCode, EmittedKernel, Layouts, Looks
from burnish.codegen.cpu import driver, image
from burnish.codegen.cpu.compile import MachineCode, assembly, load, object_code
from burnish.codegen.cpu.intrinsics import needed
from burnish.codegen.cpu.kernel import generate
from burnish.codegen.cpu.relocations import NotLinkableError
from burnish.codegen.cpu.target import InstructionSet, by_name, detect, system_flag
from burnish.codegen.cpu.winograd import in_blocks
from burnish.codegen.cpu.words import BYTES, HALVES
from burnish.core import records, settings
from burnish.core.errors import MissingCapabilityError
from burnish.hw import detect as hardware
from burnish.hw.caches import as_told, caches
from burnish.hw.choose import this_cpu
from burnish.hw.spec import HardwareSpec, for_cores
from burnish.hw.spec import load as load_device
from burnish.runtime.cpu.driver import LoopDriver
from burnish.runtime.cpu.runner import CpuCode, CpuLaunch
from burnish.runtime.folder import IMAGE
from burnish.store.compiled import KERNELS
from burnish.tile.candidates import Space
from burnish.tile.channels_last import image_orders
from burnish.tile.connect import NoGroupError, grouped, singles, wiring
from burnish.tile.graph import TileGraph
from burnish.tile.group import Group
from burnish.tile.machine import Machine, machine
from burnish.tile.predict import Predictions
from burnish.tile.schedule import Schedule
from burnish.tile.spacing import spaced

logger = logging.getLogger(__name__)

LEAST_GAIN = 0.1
"""Of a convolution's predicted time that another way to compute it must save: its neighbours may
lose something, as less of it shares a kernel with them."""

_GLANCE = Space(top=2, visits=12)
"""How far to look for tiles of a convolution to know about how long it takes."""


def open_cpu(name: str, threads: int) -> CpuBackend:
    """Return the back end for an instruction set of this CPU (empty: the best) and its threads.

    One of another family is planned for by the catalog, as cards are that are not here.
    """
    target = by_name(name) if name else detect()
    if target.is_foreign:
        return _described(target, threads)
    found = this_cpu(settings.read().cache)
    if found is None:
        raise MissingCapabilityError(
            "the limits of this CPU are not known, and schedules are chosen by them",
            hint="measure them: burnish doctor --probe",
        )
    # a probed description does not say how long vectors are
    told = _with_short_numbers(as_told(for_cores(found, threads), caches()), target)
    here = machine(told, vector_bytes=4 * target.lanes)
    cpu = hardware.cpu()
    return CpuBackend(target, here, cpu.model, tuple(sorted(cpu.flags)))


def _described(target: InstructionSet, threads: int) -> CpuBackend:
    """Return the back end for a processor that is not here: nothing of it is timed."""
    told = _with_short_numbers(for_cores(load_device(target.described), threads), target)
    here = machine(told, vector_bytes=4 * target.lanes)
    device = f"another processor, priced as {target.described}"
    return CpuBackend(target, here, device, trials="")


@dataclass(frozen=True)
class CpuBackend(Backend):
    """Kernels for one instruction set."""

    instructions: InstructionSet
    machine: Machine
    device: str = ""
    features: tuple[str, ...] = ()
    trials: str = "burnish.codegen.cpu.trials.served:CpuTrials"
    suffix: str = ".ll"
    comment: str = ";"
    multiplies_bytes: bool = True
    repeats: bool = True
    looks: Looks = "runner"
    sends: bool = True
    blocks: bool = True
    """Whether convolutions may be computed by Winograd's method."""
    target: str = field(init=False)
    requires: tuple[str, ...] = field(init=False)
    compiler: str = field(init=False)

    def __post_init__(self) -> None:
        import llvmlite

        found = self.instructions
        object.__setattr__(self, "target", found.text)
        object.__setattr__(self, "requires", (found.family, *_flags(found.required)))
        object.__setattr__(self, "compiler", f"llvmlite {llvmlite.__version__}")

    def adapted(self, graph: TileGraph) -> TileGraph:
        """Return the graph with convolutions by Winograd's method where that should be faster.

        What only kernels see lies with room between planes that would share sets of a cache.
        """
        changed = in_blocks(graph, self._fastest) if self.blocks else graph
        return spaced(changed, self.layouts(changed), self.machine.unit)

    def plain_sums(self) -> CpuBackend:
        """Return the same back end without Winograd's method."""
        return replace(self, blocks=False)

    def _fastest(self, ways: Sequence[TileGraph]) -> int:
        """Return the way that is predicted to take least: the first, unless another gains."""
        seconds = [min(map(partial(self._seconds, way), image_orders(way))) for way in ways]
        best = min(range(len(ways)), key=lambda place: seconds[place])
        return best if seconds[best] <= (1 - LEAST_GAIN) * seconds[0] else 0

    def _seconds(self, graph: TileGraph, orders: Layouts) -> float:
        """Return what all nests take as one kernel or as one each, whichever should be faster."""
        predicted = Predictions(graph, self.machine, space=_GLANCE, orders=orders)
        apart = sum(map(predicted, singles(graph)))
        try:
            return min(apart, predicted(grouped(wiring(graph), range(len(graph.ops)))))
        except NoGroupError:
            return apart

    def emit(
        self, group: Group, schedule: Schedule, graph: TileGraph, *, layouts: Layouts
    ) -> tuple[EmittedKernel]:
        """Return the code of a group as LLVM IR."""
        target = replace(self.instructions, unit=self.machine.unit)
        kernel = generate(group, schedule, graph, target, name=UNNAMED, layouts=layouts)
        emitted = EmittedKernel(
            source=kernel.ir_text,
            arguments=kernel.arguments,
            outputs=group.outputs,
            launch=CpuLaunch(kernel.tiles, kernel.scratch_bytes).fields,
            nodes=kernel.nodes,
            packed=kernel.packed,
            indices=kernel.indices,
            tile=schedule.tile,
            loops=kernel.loops,
            requires=_flags(needed(kernel.ir_text)),
        )
        return (emitted,)

    def build(self, sources: Mapping[str, str]) -> BuiltCode:
        """Return each kernel as LLVM IR and as object code, and all of them linked."""
        objects = {name: object_code(source, self.instructions) for name, source in sources.items()}
        files = {f"{KERNELS}/{name}.ll": source.encode() for name, source in sources.items()}
        files |= {f"{KERNELS}/{name}.o": content for name, content in objects.items()}
        loop = object_code(driver.ir_text(self.instructions.family), self.instructions)
        try:
            linked = image.link([*objects.values(), loop])
        except NotLinkableError as reason:
            logger.info("the kernels are not linked: %s", reason)
            return BuiltCode(files, records.encode(CpuCode()))
        return BuiltCode({**files, IMAGE: linked.code}, records.encode(CpuCode(linked.table)))

    def listing(self, source: str) -> tuple[str, str]:
        """Return a kernel's assembly."""
        return ".s", assembly(source, self.instructions)


def _with_short_numbers(hw: HardwareSpec, target: InstructionSet) -> HardwareSpec:
    """Return a description that tells how fast products of short numbers are, where that differs.

    One instruction adds the products of a word where another multiplies and adds one of f32; with
    ARM's for signed bytes it takes a second one. What targets without them do instead comes to the
    rate of f32.
    """
    rates = hw.peak_flops_per_s
    if "f32" not in rates:
        return hw
    fours = {"dot4_vnni": BYTES, "dot4_usdot": BYTES, "dot4_sdot": BYTES // 2}
    short = {"i8": fours.get(target.dot, 1)}
    short["bf16"] = HALVES if target.dot_bf16 == "dot2_bf16" else 1
    faster = {kind: terms * rates["f32"] for kind, terms in short.items() if terms > 1}
    return replace(hw, peak_flops_per_s={**faster, **rates})


def _flags(features: Sequence[str]) -> tuple[str, ...]:
    return tuple(map(system_flag, features))


def load_objects(
    paths: Mapping[str, Path], name: str
) -> tuple[dict[str, int], LoopDriver, Sequence[MachineCode]]:
    """Return where kernels are that were not linked, what runs them, and what owns the code."""
    target = by_name(name)
    code = {kernel: load(path.read_bytes(), target) for kernel, path in paths.items()}
    addresses = {kernel: loaded.address(kernel) for kernel, loaded in code.items()}
    return addresses, driver.driver(target), tuple(code.values())
