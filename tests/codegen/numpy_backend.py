"""A whole back end in one file: kernels are tile-graphs as text, and NumPy runs them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from burnish.codegen.backend import UNNAMED, Backend, BuiltCode, EmittedKernel, Layouts
from burnish.core.arrays import Array
from burnish.hw.spec import for_cores, load
from burnish.runtime.executable import Executable, HostExecutable, Program
from burnish.runtime.kernel_table import KernelTable
from burnish.runtime.plan import KernelStep, Plan
from burnish.store.compiled import KERNELS
from burnish.tile.graph import TileGraph
from burnish.tile.group import Group
from burnish.tile.machine import Machine, machine
from burnish.tile.parse import parse
from burnish.tile.reference import evaluate
from burnish.tile.schedule import Schedule


@dataclass(frozen=True)
class NumpyBackend(Backend):
    """Prices as a CPU's, kernels as text."""

    machine: Machine
    target: str = "numpy: any"
    requires: tuple[str, ...] = ()
    device: str = "NumPy"
    features: tuple[str, ...] = ()
    compiler: str = "none"
    trials: str = ""
    suffix: str = ".txt"
    comment: str = "#"

    def layouts(self, graph: TileGraph) -> Layouts:
        """Return that all tensors lie as ONNX says."""
        return {}

    def emit(
        self, group: Group, schedule: Schedule, graph: TileGraph, *, layouts: Layouts
    ) -> tuple[EmittedKernel]:
        """Return one kernel: the group as text."""
        tensors = {name: graph.tensors[name] for name in (*group.inputs, *group.written)}
        text = str(TileGraph(tensors, group.inputs, group.outputs, group.ops))
        arguments = (*group.inputs, *group.outputs)
        kernel = EmittedKernel(f"# {UNNAMED}\n{text}", arguments, group.outputs, {}, group.nodes)
        return (kernel,)

    def build(self, sources: Mapping[str, str]) -> BuiltCode:
        """Return the files of the folder: each text as it is."""
        files = {f"{KERNELS}/{name}.txt": source.encode() for name, source in sources.items()}
        return BuiltCode(files, {})

    def listing(self, source: str) -> tuple[str, str]:
        """Return what `--dump` writes beside a kernel."""
        return ".listing", source


def open_numpy(_name: str, threads: int) -> NumpyBackend:
    """Return the back end; there is one device."""
    return NumpyBackend(machine(for_cores(load("x86-avx2"), threads)))


class NumpyRunner:
    """Runs kernels that are text."""

    def lacks(self, requires: Collection[str]) -> tuple[str, ...]:
        """Return what a folder needs and is not here."""
        return tuple(requires)

    def launch_findings(self, target: str, launch: Mapping[str, int]) -> Iterator[str]:
        """Yield what is wrong with how a kernel is to be launched."""
        if launch:
            yield "NumPy is told nothing"

    def load(self, folder: Path, table: KernelTable) -> NumpyCode:
        """Return all kernels of a folder."""
        return NumpyCode({name: _graph(folder / KERNELS / f"{name}.txt") for name in table.calls})


def _graph(path: Path) -> TileGraph:
    lines = path.read_text().splitlines()
    return parse("\n".join(line for line in lines if not line.startswith("#")), {})


@dataclass(frozen=True)
class NumpyCode:
    """Kernels, parsed; as there are no threads, also what a plan calls."""

    graphs: Mapping[str, TileGraph]
    plan: Plan | None = None

    def open(self, program: Program) -> Executable:
        """Return a plan that can be run."""
        return HostExecutable(program, NumpyCode(self.graphs, program.plan))

    def call(self) -> NumpyCall:
        """Return one inference, with memory of its own."""
        assert self.plan is not None
        return NumpyCall(self.plan, self.graphs)

    def close(self) -> None:
        """Give back nothing: there is nothing."""


class NumpyCall:
    """Tensors by name, and the steps that read and write them."""

    def __init__(self, plan: Plan, graphs: Mapping[str, TileGraph]) -> None:
        self._plan = plan
        self._graphs = graphs
        self._arrays: dict[str, Array] = {}

    def point(self, name: str, array: Array) -> None:
        """Say where a tensor lies."""
        self._arrays[name] = array

    def run(self, first: int, count: int) -> None:
        """Run so many steps of the plan."""
        for step in self._plan.steps[first : first + count]:
            assert isinstance(step, KernelStep)
            graph = self._graphs[step.kernel]
            own = (*graph.inputs, *graph.outputs)
            given = {a: self._arrays[b] for a, b in zip(own, step.arguments, strict=True)}
            inputs = {name: np.asarray(given[name]) for name in graph.inputs}
            for name, array in evaluate(graph, inputs).items():
                given[name][...] = array


RUNNER = NumpyRunner()
