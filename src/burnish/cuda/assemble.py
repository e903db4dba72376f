"""From kernels in order to what a card runs: memory for what lies between them, and their files."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from burnish.core.arrays import Array, Arrays
from burnish.core.placing import Lifetime, first_fit
from burnish.core.tensors import BITS, TensorSpec
from burnish.cuda.kernel import BuiltCubin, CubinKernel, TritonSource
from burnish.cuda.memory import aligned
from burnish.cuda.plan import Buffer, Copy, CubinStep, DevicePlan
from burnish.cuda.table import DeviceTable, FittedKernel


@dataclass(frozen=True, slots=True)
class CubinCall:
    """A kernel and what it is started on."""

    source: TritonSource
    arguments: tuple[str, ...]
    """Tensors, in the order of the kernel's pointers; then `scratch`, in its own order."""
    outputs: tuple[str, ...]
    grid: tuple[int, int, int]
    scratch: Mapping[str, int] = field(default_factory=dict)
    """Short-lived buffers by name, in bytes."""
    zeroed: tuple[str, ...] = ()
    """Those of scratch and outputs that must be zero before the kernel starts."""
    nodes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class BoundWork:
    """What is to be done for one choice of sizes; every tensor has whole sizes."""

    calls: tuple[CubinCall, ...]
    tensors: Mapping[str, TensorSpec]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    constants: Arrays = field(default_factory=dict)
    sizes: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Assembled:
    """All that a card needs to do the work."""

    table: DeviceTable
    code: Mapping[str, bytes]
    """By the names of the kernels in the table."""
    constants: NDArray[np.uint8]


def sources(works: Sequence[BoundWork]) -> tuple[TritonSource, ...]:
    """Return the kernels that works need, each once."""
    return tuple(dict.fromkeys(call.source for work in works for call in work.calls))


def assemble(works: Sequence[BoundWork], built: Mapping[TritonSource, BuiltCubin]) -> Assembled:
    """Return what does all these works, one plan for each."""
    names = _names(works)
    constants = _Constants()
    plans = tuple(_plan(work, names, constants) for work in works)
    kernels: dict[str, FittedKernel] = {}
    for work, plan in zip(works, plans, strict=True):
        for call in work.calls:
            name, found = names[call.source], _fitted(call, plan, built)
            # sizes are constants in a kernel: steps that share it give it equal buffers
            if kernels.setdefault(name, found) != found:
                raise ValueError(f"{name}: two steps give it buffers of different sizes")
    architecture = _architecture([each.kernel for each in kernels.values()])
    table = DeviceTable(architecture, kernels, plans, constants.size)
    code = {names[source]: built[source].code for source in names}
    return Assembled(table, code, constants.block())


def _fitted(
    call: CubinCall, plan: DevicePlan, built: Mapping[TritonSource, BuiltCubin]
) -> FittedKernel:
    needs = tuple(plan.buffers[_scoped(call, each)].bytes for each in _pointers(call))
    found = built[call.source]
    return FittedKernel(hashlib.sha256(found.code).hexdigest(), found.kernel, needs)


def _names(works: Sequence[BoundWork]) -> dict[TritonSource, str]:
    """Return a name for each kernel: its own, with a number where others have the same."""
    names: dict[TritonSource, str] = {}
    for source in sources(works):
        taken = sum(other.name == source.name for other in names)
        names[source] = f"{source.name}.{taken}" if taken else source.name
    return names


def _plan(work: BoundWork, names: Mapping[TritonSource, str], constants: _Constants) -> DevicePlan:
    copies = _copies(work)
    buffers = {name: _buffer(work, name, constants) for name in work.tensors}
    for call in work.calls:
        for name, size in call.scratch.items():
            dtype = dict(zip(_pointers(call), call.source.pointers, strict=True))[name]
            count = -(-8 * size // BITS[dtype])
            buffers[_scoped(call, name)] = Buffer(dtype, (count,), "arena")
    for copy in copies:
        spec = work.tensors[copy.source]
        buffers[copy.target] = Buffer(spec.dtype, _shape(spec), "output")
    steps = tuple(_step(call, names[call.source]) for call in work.calls)
    buffers, arena_bytes = _placed(buffers, steps)
    outputs = tuple(_given_out(work, name) for name in work.outputs)
    every: tuple[CubinStep | Copy, ...] = (*steps, *copies)
    return DevicePlan(
        buffers, work.inputs, outputs, every, arena_bytes, work.sizes, results=work.outputs
    )


def _buffer(work: BoundWork, name: str, constants: _Constants) -> Buffer:
    spec = work.tensors[name]
    if name in work.constants:
        return Buffer(spec.dtype, _shape(spec), "constant", constants.place(work.constants[name]))
    if name in work.inputs:
        return Buffer(spec.dtype, _shape(spec), "input")
    return Buffer(spec.dtype, _shape(spec), "output" if name in work.outputs else "arena")


def _step(call: CubinCall, kernel: str) -> CubinStep:
    return CubinStep(
        kernel=kernel,
        arguments=tuple(_scoped(call, name) for name in _pointers(call)),
        outputs=(*call.outputs, *(_scoped(call, name) for name in call.scratch)),
        grid=call.grid,
        zeroed=tuple(_scoped(call, name) for name in call.zeroed),
        nodes=call.nodes,
    )


def _pointers(call: CubinCall) -> tuple[str, ...]:
    return (*call.arguments, *call.scratch)


def _scoped(call: CubinCall, name: str) -> str:
    """Return the name of a buffer in the plan: scratch is its own call's only."""
    return f"{name} of {call.outputs[0]}" if name in call.scratch else name


def _copies(work: BoundWork) -> tuple[Copy, ...]:
    """Return how tensors are given out that no kernel writes for the caller alone."""
    loose = [n for n in work.outputs if n in work.inputs or n in work.constants]
    return tuple(Copy(name, _given_out(work, name)) for name in loose)


def _given_out(work: BoundWork, name: str) -> str:
    return f"{name} given out" if name in work.inputs or name in work.constants else name


def _placed(
    buffers: dict[str, Buffer], steps: Sequence[CubinStep]
) -> tuple[dict[str, Buffer], int]:
    """Return buffers with places in one arena, where dead ones make room for later ones."""
    lives: dict[str, Lifetime] = {}
    for number, step in enumerate(steps):
        for name in step.arguments:
            if buffers[name].home == "arena":
                first = lives[name].first if name in lives else number
                lives[name] = Lifetime(first, number)
    sizes = {name: aligned(buffers[name].bytes) for name in lives}
    order = sorted(lives, key=lambda each: (-sizes[each], lives[each].first, each))
    places = first_fit(lives, sizes, order)
    moved = {
        name: Buffer(each.dtype, each.shape, each.home, places.offsets.get(name, each.offset))
        for name, each in buffers.items()
        if each.home != "arena" or name in lives
    }
    return moved, places.bytes


def _shape(spec: TensorSpec) -> tuple[int, ...]:
    shape = tuple(size for size in spec.shape if isinstance(size, int))
    if len(shape) != len(spec.shape):
        raise ValueError(f"{spec} has sizes that are not known")
    return shape


def _architecture(kernels: Sequence[CubinKernel]) -> str:
    found = sorted({kernel.architecture for kernel in kernels})
    if len(found) != 1:
        raise ValueError(f"kernels are for {', '.join(found) or 'no card'}")
    return found[0]


class _Constants:
    """Constants one after the other, equal ones once."""

    def __init__(self) -> None:
        self.size = 0
        self._offsets: dict[str, int] = {}
        self._arrays: list[Array] = []

    def place(self, array: Array) -> int:
        """Return where an array will lie."""
        dense = np.ascontiguousarray(array)
        key = hashlib.sha256(dense.reshape(-1).view(np.uint8).data).hexdigest()
        if key not in self._offsets:
            self._offsets[key] = self.size
            self._arrays.append(dense)
            self.size += aligned(dense.nbytes)
        return self._offsets[key]

    def block(self) -> NDArray[np.uint8]:
        """Return all of them as one piece of memory."""
        found = np.zeros(self.size, np.uint8)
        begin = 0
        for array in self._arrays:
            found[begin : begin + array.nbytes] = array.reshape(-1).view(np.uint8)
            begin += aligned(array.nbytes)
        return found
