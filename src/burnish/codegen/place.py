"""Setting a plan out: steps in order, kernels by name, and a place for every tensor."""

from __future__ import annotations

import dataclasses
import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import onnx_ir as ir

from burnish.codegen.backend import Backend, EmittedKernel, Layouts
from burnish.codegen.headers import header
from burnish.codegen.regions import Region, cut
from burnish.codegen.schedule import Choice
from burnish.core.arrays import Array, Arrays
from burnish.core.tensors import BITS
from burnish.runtime.buffers import Uses, arena
from burnish.runtime.plan import (
    Condition,
    Home,
    KernelStep,
    OrtStep,
    Plan,
    PlanTensor,
    Repeat,
    Step,
    Strip,
    TensorLook,
)
from burnish.runtime.step_uses import uses
from burnish.store.element_types import SHORT_NAMES
from burnish.tile.graph import TensorType, TileGraph, constant_type
from burnish.tile.group import Group
from burnish.tile.lower import constant, named, operator, tensor_type
from burnish.tile.recurrence import TimeStrip


@dataclass(frozen=True, slots=True)
class PreparedModel:
    """A model with fixed sizes, rewritten, and which of the given nodes its nodes stand for."""

    model: ir.Model
    origins: Mapping[str, tuple[str, ...]]
    sizes: Mapping[str, int] = field(default_factory=dict)
    bound: ir.Model | None = None
    """As it was before it was rewritten."""


@dataclass(frozen=True, slots=True)
class CompiledRegion:
    """Nodes of a model that run at one go, and what became of them on the way to kernels."""

    region: Region
    lowered: TileGraph | None = None
    """None: an ONNX Runtime part."""
    simple: TileGraph | None = None
    groups: tuple[Group, ...] = ()
    choices: tuple[Choice, ...] = ()
    kernels: tuple[tuple[EmittedKernel, ...], ...] = ()
    """Those of each choice."""
    layouts: Layouts = field(default_factory=dict)
    repeated: Repeated | None = None
    """That its kernels run many times; None: once."""
    when: Condition | None = None
    """Where they run at all; None: always."""
    looks: tuple[TensorLook, ...] | None = None
    """What is looked at of its tensors, under the names that they have in it or, of what it sees
    strips of, outside; None: nothing can be, and it tells which of its tensors hold indices."""
    own: frozenset[str] = frozenset()
    """Those of its outputs that are given out for a look only."""


@dataclass(frozen=True, slots=True)
class Repeated:
    """How the kernels of a region are repeated, and what their tensors are outside of it."""

    loop: int
    chain: int
    times: int
    strips: Mapping[str, TimeStrip]
    tensors: Mapping[str, TensorType]
    """What kernels write strips of."""
    constants: Arrays
    """What they read strips of, and no kernel makes."""


@dataclass(frozen=True, slots=True)
class BuiltPlan:
    """A plan for one choice of sizes; where its constants lie is settled when it is written."""

    plan: Plan
    kernels: Mapping[str, str] = field(default_factory=dict)
    """The source of each kernel, by name."""
    constants: Arrays = field(default_factory=dict)
    parts: Mapping[str, ir.Model] = field(default_factory=dict)
    """The ONNX Runtime parts, by the file names in the plan's steps."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Comments above the sources: what the first step that runs a kernel computes with it."""
    regions: tuple[CompiledRegion, ...] = ()
    """What its steps were made from."""
    prepared: PreparedModel | None = None

    @property
    def graphs(self) -> tuple[TileGraph, ...]:
        """Return what the kernels compute, as it was lowered: a graph for each stretch of them."""
        return tuple(each.lowered for each in self.regions if each.lowered is not None)

    @property
    def times(self) -> tuple[int, ...]:
        """Return how often each of these graphs is computed."""
        found = (each for each in self.regions if each.lowered is not None)
        return tuple(each.repeated.times if each.repeated else 1 for each in found)


def canonical_name(kernel: EmittedKernel, operators: Sequence[str]) -> str:
    """Return a name that tells what a kernel does; equal code has an equal name."""
    said = "_".join(dict.fromkeys(re.sub(r"\W", "_", each).lower() for each in operators))
    code = hashlib.sha256(kernel.source.encode()).hexdigest()[:12]
    return f"{said[:40].rstrip('_') or 'kernel'}_{code}"


class Draft:
    """A plan in the making."""

    def __init__(self, prepared: PreparedModel, backend: Backend) -> None:
        self._prepared = prepared
        self._model = model = prepared.model
        self._backend = backend
        self._operators = {named(node): operator(node) for node in model.graph}
        self._steps: list[Step] = []
        self._types: dict[str, TensorType | None] = {}
        self._orders: dict[str, tuple[int, ...]] = {}
        self._kernels: dict[str, str] = {}
        self._headers: dict[str, str] = {}
        self._requires: dict[str, None] = {}
        self._constants: dict[str, Array] = {}
        self._parts: dict[str, ir.Model] = {}
        self._regions: list[CompiledRegion] = []

    def add_part(self, region: Region, reasons: Mapping[str, str]) -> None:
        """Add a step that ONNX Runtime runs."""
        file = f"part_{len(self._parts)}.onnx"
        part = cut(self._model, region.nodes, file.removesuffix(".onnx"))
        values = (*part.graph.inputs, *part.graph.outputs)
        self._types |= {value.name or "": _fixed_type(value) for value in values}
        names = tuple(map(named, region.nodes))
        self._parts[file] = part
        self._steps.append(
            OrtStep(
                file,
                tuple(value.name or "" for value in part.graph.inputs),
                tuple(value.name or "" for value in part.graph.outputs),
                names,
                {name: reasons[name] for name in names},
            )
        )

    def add_kernels(self, region: CompiledRegion, prefix: str) -> None:
        """Add a step for each kernel of a region, whose own tensors get a prefix."""
        assert region.simple is not None
        self._regions.append(region)
        outside = {*region.simple.inputs, *region.simple.outputs} - region.own
        begin = len(self._steps)
        if region.repeated is not None:
            self._add_outside(region.repeated)
        every = zip(region.choices, region.kernels, strict=True)
        for choice, kernel in ((choice, kernel) for choice, found in every for kernel in found):
            names = {n: n if n in outside else prefix + n for n in kernel.arguments}
            if region.repeated is not None:
                names |= strip_names(kernel.arguments, region.repeated.strips)
            self._add_tensors(region, kernel, names)
            name = canonical_name(kernel, [self._operators[node] for node in kernel.nodes])
            self._headers.setdefault(name, header(choice, kernel, region.simple, self._backend))
            self._kernels[name] = kernel.named(name)
            self._requires |= dict.fromkeys(kernel.requires)
            self._add_step(name, choice, kernel, names, region)
        self._add_looks(region, prefix, begin)

    def placed(self) -> BuiltPlan:
        """Return the plan, with places for all tensors."""
        graph = self._model.graph
        inputs = tuple(value.name or "" for value in graph.inputs)
        outputs = tuple(dict.fromkeys(value.name or "" for value in graph.outputs))
        self._add_given(inputs, outputs)
        tensors = self._tensors(inputs, outputs)
        placed, arena_bytes = with_places(tensors, self._steps)
        plan = Plan(
            target=self._backend.target,
            requires=(*self._backend.requires, *self._requires) if self._kernels else (),
            tensors=placed,
            inputs=inputs,
            outputs=outputs,
            steps=tuple(self._steps),
            arena_bytes=arena_bytes,
            sizes=dict(self._prepared.sizes),
            operators=self._operators,
            origins=self._prepared.origins,
        )
        constants = {name: self._constants[name] for name in placed if name in self._constants}
        regions = tuple(self._regions)
        return BuiltPlan(
            plan, self._kernels, constants, self._parts, self._headers, regions, self._prepared
        )

    def _add_tensors(
        self, region: CompiledRegion, kernel: EmittedKernel, names: Mapping[str, str]
    ) -> None:
        """Add what a kernel takes; constants as it wants them."""
        assert region.simple is not None
        constants = {**region.simple.constants, **kernel.packed}
        strips = region.repeated.strips if region.repeated is not None else {}
        for own, known in names.items():
            if own in strips:
                continue
            if own in constants:
                self._constants[known] = constants[own]
                self._types[known] = constant_type(constants[own])
            elif own in kernel.scratch:
                self._types[known] = kernel.scratch[own]
            else:
                self._types[known] = region.simple.tensors[own]
                if own in region.layouts:
                    self._orders[known] = region.layouts[own]

    def _add_step(
        self,
        name: str,
        choice: Choice,
        kernel: EmittedKernel,
        names: Mapping[str, str],
        region: CompiledRegion,
    ) -> None:
        assert choice.schedule is not None
        repeat = _repeat(region, kernel)
        times = repeat.times if repeat else 1
        share = kernel.share * times
        indices = {names[own]: size for own, size in kernel.indices.items()}
        self._steps.append(
            KernelStep(
                kernel=name,
                arguments=tuple(names[own] for own in kernel.arguments),
                outputs=tuple(dict.fromkeys(names[own] for own in kernel.outputs)),
                launch=kernel.launch,
                nodes=kernel.nodes,
                tile=kernel.tile,
                run=choice.schedule.run,
                predicted_s=_part(choice.predicted_s, share),
                predicted_bytes=_part(choice.predicted_bytes, share),
                measured_s=_part(choice.measured_s, share),
                indices=indices if region.looks is None else {},
                repeat=repeat,
                when=region.when,
            )
        )

    def _add_looks(self, region: CompiledRegion, prefix: str, begin: int) -> None:
        """Let each of a region's steps look at what it writes, and the first at all else."""
        written = {
            name: number
            for number, step in enumerate(self._steps[begin:], begin)
            for name in step.outputs
        }
        for look in region.looks or ():
            own = look.tensor in region.own
            found = dataclasses.replace(look, tensor=prefix + look.tensor) if own else look
            number = written.get(found.tensor, begin)
            step = self._steps[number]
            assert isinstance(step, KernelStep)
            self._steps[number] = dataclasses.replace(step, looks=(*step.looks, found))

    def _add_outside(self, repeated: Repeated) -> None:
        """Add the tensors that repeated kernels see strips of."""
        self._types |= repeated.tensors
        for name, array in repeated.constants.items():
            self._constants[name] = array
            self._types[name] = constant_type(array)

    def _add_given(self, inputs: Sequence[str], outputs: Sequence[str]) -> None:
        """Add the types of inputs, and outputs that nothing computes: constants of the model."""
        values = {v.name or "": v for v in (*self._model.graph.inputs, *self._model.graph.outputs)}
        written = {name for step in self._steps for name in step.outputs}
        for name in (*inputs, *outputs):
            self._types.setdefault(name, _fixed_type(values[name]))
            array = constant(values[name])
            if name in outputs and name not in written and array is not None:
                self._constants[name] = array

    def _tensors(self, inputs: Sequence[str], outputs: Sequence[str]) -> dict[str, PlanTensor]:
        """Return all tensors of the plan, each with the kind of memory that it lies in."""
        names = (name for step in self._steps for name in (*step.inputs, *step.outputs))
        homes: dict[str, Home] = dict.fromkeys([*inputs, *names, *outputs], "arena")
        homes |= dict.fromkeys(outputs, "output")
        homes |= {name: "constant" for name in self._constants if name in homes}
        homes |= dict.fromkeys(inputs, "input")
        return {
            name: PlanTensor(
                kind.dtype, kind.shape, home, layout=self._orders.get(name), strides=kind.strides
            )
            if (kind := self._types[name]) is not None
            else PlanTensor(_dtype(self._model, name), None, "value")
            for name, home in homes.items()
        }


def with_places(
    tensors: Mapping[str, PlanTensor], steps: Sequence[Step]
) -> tuple[dict[str, PlanTensor], int]:
    """Return tensors with their places in the memory that steps share, and how much that is."""
    shared = {n: t.bytes or 0 for n, t in tensors.items() if t.home == "arena"}
    found = arena([_uses(each, shared) for each in uses(steps)], shared)
    placed = {
        name: dataclasses.replace(tensor, offset=found.offsets.get(name, 0))
        for name, tensor in tensors.items()
    }
    return placed, found.bytes


def strip_names(arguments: Sequence[str], strips: Mapping[str, TimeStrip]) -> dict[str, str]:
    """Return the tensors outside that arguments are strips of."""
    return {own: strips[own].tensor for own in arguments if own in strips}


def _repeat(region: CompiledRegion, kernel: EmittedKernel) -> Repeat | None:
    """Return how a kernel of a region is repeated."""
    found, graph = region.repeated, region.simple
    if found is None or graph is None:
        return None
    strips = [_strip(found.strips.get(own), graph.tensors.get(own)) for own in kernel.arguments]
    return Repeat(found.loop, found.chain, found.times, tuple(strips))


def _strip(strip: TimeStrip | None, kind: TensorType | None) -> Strip | None:
    """Return where a strip lies, in bytes."""
    if strip is None or kind is None:
        return None
    size = BITS[kind.dtype] // 8
    start, step, first = (n * size for n in (strip.start, strip.step, strip.initial_start))
    return Strip(kind.shape, start, step, strip.initial, first)


def _part(total: float | None, share: float) -> float | None:
    return None if total is None else share * total


def _uses(each: Uses, shared: Mapping[str, int]) -> Uses:
    return Uses(
        tuple(name for name in each.reads if name in shared),
        tuple(name for name in each.writes if name in shared),
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


def _values(graph: ir.Graph) -> Iterator[ir.Value]:
    yield from graph.inputs
    for node in graph:
        yield from node.outputs
