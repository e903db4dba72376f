"""From a model to a plan: what ONNX Runtime keeps, what becomes kernels, where tensors lie."""

from __future__ import annotations

import dataclasses
import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import onnx_ir as ir

from burnish.codegen import ort_part
from burnish.codegen.backend import Backend, EmittedKernel
from burnish.codegen.built import Built
from burnish.codegen.choice import Choice, Choose
from burnish.codegen.regions import Region, regions
from burnish.core.arrays import Array
from burnish.core.tensors import BITS
from burnish.runtime.buffers import Uses, arena
from burnish.runtime.plan import Home, KernelStep, OrtStep, Plan, PlanTensor, Step
from burnish.store.element_types import SHORT_NAMES
from burnish.tile.graph import TensorType, TileGraph, constant_type
from burnish.tile.lower import constant, cover, lower, named, operator, tensor_type
from burnish.tile.simplify import Fusion, simplify

WHOLE = "the whole model is left to ONNX Runtime"


@dataclass(frozen=True, slots=True)
class BuildOptions:
    """How a static model becomes a plan."""

    backend: Backend
    choose: Choose
    fusion: Fusion = "element-wise"
    """What simplifying may join before groups are formed."""
    to_ort: Mapping[str, str] = field(default_factory=dict)
    """Nodes that ONNX Runtime is to run, with the reason."""


def build(model: ir.Model, options: BuildOptions, sizes: Mapping[str, int] | None = None) -> Built:
    """Return a plan for a static model, of which nothing is changed."""
    reasons = {**cover(model.graph).left, **options.to_ort}
    obstacle = _border_obstacle(model.graph, reasons)
    if obstacle:
        return whole(model, options.backend, f"{WHOLE}: {obstacle}", sizes)
    while True:
        work = _Work(model, options, reasons)
        moved = work.lower_all()
        if not moved:
            return work.built(sizes or {})
        reasons = {**reasons, **moved}


def whole(
    model: ir.Model, backend: Backend, reason: str, sizes: Mapping[str, int] | None = None
) -> Built:
    """Return a plan in which ONNX Runtime runs everything."""
    reasons = {named(node): reason for node in model.graph}
    work = _Work(model, BuildOptions(backend, lambda _graph: ()), reasons)
    work.lower_all()
    return work.built(sizes or {})


def canonical_name(kernel: EmittedKernel, operators: Sequence[str]) -> str:
    """Return a name that tells what a kernel does; equal code has an equal name."""
    said = "_".join(dict.fromkeys(re.sub(r"\W", "_", each).lower() for each in operators))
    code = hashlib.sha256(kernel.source.encode()).hexdigest()[:12]
    return f"{said[:40].rstrip('_') or 'kernel'}_{code}"


class _Work:
    """A plan in the making."""

    def __init__(self, model: ir.Model, options: BuildOptions, reasons: Mapping[str, str]) -> None:
        self._model = model
        self._options = options
        self._reasons = reasons
        self._operators = {named(node): operator(node) for node in model.graph}
        self._steps: list[Step] = []
        self._types: dict[str, TensorType | None] = {}
        self._orders: dict[str, tuple[int, ...]] = {}
        self._kernels: dict[str, str] = {}
        self._constants: dict[str, Array] = {}
        self._libraries: dict[str, ir.Model] = {}
        self._graphs: list[TileGraph] = []

    def lower_all(self) -> dict[str, str]:
        """Add the steps of all regions; return the nodes that are better with ONNX Runtime."""
        moved: dict[str, str] = {}
        for number, region in enumerate(regions(self._model.graph, self._reasons)):
            if region.is_ort:
                self._add_library(region)
            else:
                moved |= self._add_kernels(region, f"r{number}.")
        return moved

    def built(self, sizes: Mapping[str, int]) -> Built:
        """Return the plan, with places for all tensors."""
        graph = self._model.graph
        inputs = tuple(value.name or "" for value in graph.inputs)
        outputs = tuple(dict.fromkeys(value.name or "" for value in graph.outputs))
        self._add_given(inputs, outputs)
        homes = self._homes(inputs, outputs)
        tensors = {
            name: PlanTensor(kind.dtype, kind.shape, homes[name], layout=self._orders.get(name))
            if (kind := self._types[name]) is not None
            else PlanTensor(_dtype(self._model, name), None, "value")
            for name in self._used(inputs, outputs)
        }
        shared = {n: t.bytes or 0 for n, t in tensors.items() if t.home == "arena"}
        found = arena([_uses(step, shared) for step in self._steps], shared)
        placed = {
            name: dataclasses.replace(tensor, offset=found.offsets.get(name, 0))
            for name, tensor in tensors.items()
        }
        plan = Plan(
            target=self._options.backend.target,
            requires=self._options.backend.requires if self._kernels else (),
            tensors=placed,
            inputs=inputs,
            outputs=outputs,
            steps=tuple(self._steps),
            arena_bytes=found.bytes,
            sizes=dict(sizes),
            operators=self._operators,
        )
        constants = {name: self._constants[name] for name in placed if name in self._constants}
        return Built(plan, self._kernels, constants, self._libraries, tuple(self._graphs))

    def _add_library(self, region: Region) -> None:
        file = f"part_{len(self._libraries)}.onnx"
        part = ort_part.cut(self._model, region.nodes, file.removesuffix(".onnx"))
        values = (*part.graph.inputs, *part.graph.outputs)
        self._types |= {value.name or "": _fixed_type(value) for value in values}
        names = tuple(map(named, region.nodes))
        self._libraries[file] = part
        self._steps.append(
            OrtStep(
                file,
                tuple(value.name or "" for value in part.graph.inputs),
                tuple(value.name or "" for value in part.graph.outputs),
                names,
                {name: self._reasons[name] for name in names},
            )
        )

    def _add_kernels(self, region: Region, prefix: str) -> dict[str, str]:
        lowered = lower(region.nodes).graph
        self._graphs.append(lowered)
        graph = simplify(lowered, fusion=self._options.fusion)
        moved: dict[str, str] = {}
        for choice in self._options.choose(graph):
            if choice.schedule is None:
                moved |= dict.fromkeys(choice.group.nodes, choice.reason)
            else:
                self._add_kernel(choice, graph, prefix)
        return moved

    def _add_kernel(self, choice: Choice, graph: TileGraph, prefix: str) -> None:
        assert choice.schedule is not None
        backend = self._options.backend
        orders = backend.layouts(graph)
        kernel = backend.emit(choice.group, choice.schedule, graph, layouts=orders, name="kernel")
        name = canonical_name(kernel, [self._operators[node] for node in kernel.nodes])
        self._kernels[name] = kernel.source.replace(f'"{kernel.name}"', f'"{name}"')
        outside = {*graph.inputs, *graph.outputs}
        names = {n: n if n in outside else prefix + n for n in kernel.arguments}
        for own, known in names.items():
            if own in kernel.packed or own in graph.constants:
                array = kernel.packed[own] if own in kernel.packed else graph.constants[own]
                self._constants[known] = array
                self._types[known] = constant_type(array)
            else:
                self._types[known] = graph.tensors[own]
                if own in orders:
                    self._orders[known] = orders[own]
        self._steps.append(
            KernelStep(
                kernel=name,
                arguments=tuple(names[own] for own in kernel.arguments),
                outputs=tuple(names[own] for own in choice.group.outputs),
                launch=kernel.launch,
                nodes=kernel.nodes,
                tile=choice.schedule.tile,
                run=choice.schedule.run,
                predicted_s=choice.predicted_s,
                predicted_bytes=choice.predicted_bytes,
                measured_s=choice.measured_s,
                indices={names[own]: size for own, size in kernel.indices.items()},
            )
        )

    def _add_given(self, inputs: Sequence[str], outputs: Sequence[str]) -> None:
        """Add the types of inputs, and outputs that nothing computes: constants of the model."""
        values = {v.name or "": v for v in (*self._model.graph.inputs, *self._model.graph.outputs)}
        written = {name for step in self._steps for name in step.outputs}
        for name in (*inputs, *outputs):
            self._types.setdefault(name, _fixed_type(values[name]))
            array = constant(values[name])
            if name in outputs and name not in written and array is not None:
                self._constants[name] = array

    def _used(self, inputs: Sequence[str], outputs: Sequence[str]) -> dict[str, None]:
        names = (name for step in self._steps for name in (*step.inputs, *step.outputs))
        return dict.fromkeys([*inputs, *names, *outputs])

    def _homes(self, inputs: Sequence[str], outputs: Sequence[str]) -> dict[str, Home]:
        homes: dict[str, Home] = dict.fromkeys(self._used(inputs, outputs), "arena")
        homes |= dict.fromkeys(outputs, "output")
        homes |= {name: "constant" for name in self._constants if name in homes}
        homes |= dict.fromkeys(inputs, "input")
        return homes


def _uses(step: Step, shared: Mapping[str, int]) -> Uses:
    return Uses(
        tuple(name for name in step.inputs if name in shared),
        tuple(name for name in step.outputs if name in shared),
    )


def _fixed_type(value: ir.Value) -> TensorType | None:
    """Return the type of a tensor that has a place of its own; None: of what has no fixed size."""
    found = tensor_type(value)
    return found if found is not None and found.dtype in BITS else None


def _dtype(model: ir.Model, name: str) -> str:
    for value in _values(model.graph):
        if value.name == name and value.dtype is not None:
            return SHORT_NAMES.get(value.dtype, "other")
    return "other"


def _border_obstacle(graph: ir.Graph, reasons: Mapping[str, str]) -> str | None:
    """Return why a graph cannot be cut: what the ONNX Runtime parts would hand over cannot be."""
    parts = [region.nodes for region in regions(graph, reasons) if region.is_ort]
    for value in (value for nodes in parts for value in ort_part.border(nodes)):
        if value.dtype is None or not isinstance(value.type, ir.TensorType):
            return f"{value.name!r} is no tensor of a known type"
        if BITS.get(SHORT_NAMES.get(value.dtype, ""), 8) < 8:
            return f"{value.name!r} has elements of less than a byte"
    return None


def _values(graph: ir.Graph) -> Iterator[ir.Value]:
    yield from graph.inputs
    for node in graph:
        yield from node.outputs
