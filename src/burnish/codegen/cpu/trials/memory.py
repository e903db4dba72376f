"""The tensors of one group in memory: guarded for proving, as in a plan for timing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np

from burnish.codegen.cpu.trials.guarded import GuardedBlock
from burnish.codegen.tune.messages import PlaceTensors, TensorMessage
from burnish.core.array_types import array_type
from burnish.core.arrays import Array, Arrays
from burnish.runtime.buffers import SLACK_BYTES, padded
from burnish.runtime.host_memory import Bytes, address_of, aligned_bytes
from burnish.runtime.plan import PlanTensor

COLD_BYTES = 4 << 20
"""Copies are as many as take this much memory together: more than a core's own cache holds."""
MOST_COPIES = 16


class GuardedMemory:
    """Every tensor in a block of its own, between pages that nobody may touch."""

    def __init__(
        self, inputs: Mapping[str, TensorMessage], outputs: Mapping[str, TensorMessage]
    ) -> None:
        self._blocks = {
            name: GuardedBlock(size_of(tensor)) for name, tensor in {**inputs, **outputs}.items()
        }

    def bytes(self, name: str) -> Bytes:
        """Return a tensor's memory."""
        return self._blocks[name].bytes

    def address(self, name: str) -> int:
        """Return where a tensor begins."""
        return address_of(self._blocks[name].bytes)

    def seal(self, names: Iterable[str]) -> None:
        """Let nobody write into these tensors any more."""
        for name in names:
            self._blocks[name].seal()

    def findings(self) -> list[str]:
        """Return what was written where no tensor is."""
        found = ((name, block.finding()) for name, block in self._blocks.items())
        return [f"{name}: {finding}" for name, finding in found if finding]


class PlannedMemory:
    """All tensors one behind the other, as a plan lays them out."""

    def __init__(self, tensors: Mapping[str, TensorMessage]) -> None:
        self._places: dict[str, tuple[int, int]] = {}
        end = 0
        for name, tensor in tensors.items():
            self._places[name] = (end, size_of(tensor))
            end += padded(size_of(tensor))
        self._memory = aligned_bytes(end)

    def bytes(self, name: str) -> Bytes:
        """Return a tensor's memory."""
        start, size = self._places[name]
        return self._memory[start : start + size]

    def address(self, name: str) -> int:
        """Return where a tensor begins."""
        return address_of(self._memory) + self._places[name][0]


class TimedMemory:
    """The tensors of a group as a plan's run meets them, as far as one kernel alone can.

    What a kernel reads was written by the step before, so it is where that left it: in the caches
    that hold it. Its constants, and the memory of its outputs, were last touched a run or many
    steps ago: of these there are several copies, used in turn.
    """

    def __init__(self, place: PlaceTensors) -> None:
        self._place = place
        self._own = {n: t for n, t in place.inputs.items() if n in place.constants}
        given = {n: t for n, t in place.inputs.items() if n not in place.constants}
        self._given = PlannedMemory(given)
        self._given_names = frozenset(given)
        self._copies: list[PlannedMemory] = []
        fill(self._given, place.case.inputs, given)

    def address(self, name: str, copy: int) -> int:
        """Return where a tensor begins, in one of its copies."""
        return self._memory(name, copy).address(name)

    def bytes(self, name: str, copy: int = 0) -> Bytes:
        """Return a tensor's memory, in one of its copies."""
        return self._memory(name, copy).bytes(name)

    def copies(self, arguments: Iterable[str], more_bytes: int) -> int:
        """Return how many copies are needed for a kernel with `more_bytes` of its own constants."""
        own = {**self._own, **self._place.outputs}
        size = more_bytes + sum(size_of(own[name]) for name in arguments if name in own)
        return min(max(-(-COLD_BYTES // max(size, 1)), 1), MOST_COPIES)

    def _memory(self, name: str, copy: int) -> PlannedMemory:
        if name in self._given_names:
            return self._given
        while len(self._copies) <= copy:
            made = PlannedMemory({**self._own, **self._place.outputs})
            fill(made, self._place.case.inputs, self._own)
            self._copies.append(made)
        return self._copies[copy]


def dense(tensor: TensorMessage) -> TensorMessage:
    """Return a tensor as others than kernels want it: densely, its dimensions in ONNX's order."""
    return replace(tensor, layout=None, strides=None)


def size_of(tensor: TensorMessage) -> int:
    """Return the bytes that a tensor takes."""
    return PlanTensor(tensor.dtype, tensor.shape, "arena", strides=tensor.strides).bytes or 0


def fill(
    memory: GuardedMemory | PlannedMemory, values: Arrays, kinds: Mapping[str, TensorMessage]
) -> None:
    """Write values into memory, each in its tensor's layout."""
    for name, tensor in kinds.items():
        as_array(memory.bytes(name), tensor)[...] = values[name]


def as_array(memory: Bytes, tensor: TensorMessage) -> Array:
    """Return a tensor's memory as an array with its dimensions in their own order."""
    flat = memory.view(array_type(tensor.dtype))
    if tensor.strides is not None:
        apart = [step * flat.itemsize for step in tensor.strides]
        return np.lib.stride_tricks.as_strided(flat, tensor.shape, apart)
    if tensor.layout is None:
        return flat.reshape(tensor.shape)
    ordered = flat.reshape([tensor.shape[axis] for axis in tensor.layout])
    return ordered.transpose(np.argsort(tensor.layout))


def copied(array: Array) -> Bytes:
    """Return a copy of an array's content as a plan would hold it."""
    content = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    memory = aligned_bytes(content.nbytes + SLACK_BYTES)[: content.nbytes]
    memory[:] = content
    return memory
