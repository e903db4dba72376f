"""Memory for what runs hand out: blocks that nobody holds any more are handed out again."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from burnish.core.array_types import array_type
from burnish.core.arrays import Array
from burnish.runtime.buffers import SLACK_BYTES
from burnish.runtime.host_memory import Bytes, aligned_bytes
from burnish.runtime.plan import Plan, PlanTensor

MOST_BLOCKS = 2
"""Of each output: whoever keeps the last run's while the next one runs still gets old memory."""
MOST_KEPT_BYTES = 64 << 20
"""Larger outputs are new each time: what an idle model keeps should stay small."""


class OutputBlocks:
    """Gives arrays for the outputs of fixed size of a plan.

    The system clears each page of new memory when it is first written, which takes longer than
    many a kernel: a step of a decoder writes its caches anew. A block is free when nothing but this
    refers to it: whatever shares an array's memory holds it (views, tensors of other libraries).
    """

    def __init__(self, plan: Plan) -> None:
        every = ((name, plan.tensors[name]) for name in plan.outputs)
        self._tensors: Mapping[str, PlanTensor] = {n: t for n, t in every if t.home == "output"}
        self._blocks: dict[str, list[_Lent]] = {name: [] for name in self._tensors}

    def arrays(self) -> dict[str, Array]:
        """Return memory that nobody else holds; one call at a time."""
        return {
            name: array_in(self._memory(name, tensor.bytes or 0), 0, tensor)
            for name, tensor in self._tensors.items()
        }

    def _memory(self, name: str, size: int) -> Bytes:
        if size > MOST_KEPT_BYTES:
            return output_bytes(size)
        blocks = self._blocks[name]
        for block in blocks:
            if block.is_free:
                return block.memory
        if len(blocks) == MOST_BLOCKS:
            # its holder has it for good; it goes when that lets go
            blocks.pop(0)
        blocks.append(_Lent.of(output_bytes(size)))
        return blocks[-1].memory


def output_bytes(size: int) -> Bytes:
    """Return new memory for an output; later steps may read it as kernels read."""
    return aligned_bytes(size + SLACK_BYTES)


def array_in(memory: Bytes, offset: int, tensor: PlanTensor) -> Array:
    """Return the tensor that lies at an offset of some memory."""
    size = tensor.bytes
    assert size is not None
    flat = memory[offset : offset + size].view(array_type(tensor.dtype))
    shape = tensor.shape or ()
    if tensor.strides is not None:
        apart = [step * flat.itemsize for step in tensor.strides]
        return np.lib.stride_tricks.as_strided(flat, shape, apart)
    if tensor.layout is None:
        return flat.reshape(shape)
    return flat.reshape([shape[axis] for axis in tensor.layout])


@dataclass(frozen=True, slots=True)
class _Lent:
    """Memory, and how many refer to its owner while nobody else does.

    NumPy has each view refer to the array that owns the memory, not to another view.
    """

    memory: Bytes
    alone: int

    @classmethod
    def of(cls, memory: Bytes) -> _Lent:
        return cls(memory, sys.getrefcount(memory.base))

    @property
    def is_free(self) -> bool:
        return sys.getrefcount(self.memory.base) == self.alone
