"""What is done on a card, as data: buffers, where they lie, and kernels in order."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from burnish.core.existing import Wanted
from burnish.core.tensors import BITS
from burnish.cuda.kernel import CubinKernel

Home = Literal["input", "output", "arena", "constant"]
"""Where a buffer's memory is: the caller's, what is handed back, what steps share, or constant."""


@dataclass(frozen=True, slots=True)
class Buffer:
    """Memory that some kernel reads or writes."""

    dtype: str
    shape: tuple[int, ...]
    home: Home
    offset: int = 0
    """In the arena or among the constants, in bytes."""

    @property
    def bytes(self) -> int:
        """Return how much memory it takes."""
        return math.prod(self.shape) * -(-BITS[self.dtype] // 8)


@dataclass(frozen=True, slots=True)
class CubinStep:
    """One kernel, over all its programs."""

    kernel: str
    """Under this name among the kernels; steps that do the same share it."""
    arguments: tuple[str, ...]
    """Buffers in the order in which the kernel takes their addresses."""
    outputs: tuple[str, ...]
    """Those of the arguments that it writes."""
    grid: tuple[int, int, int]
    zeroed: tuple[str, ...] = ()
    """Those of the arguments that must be zero before it starts."""
    nodes: tuple[str, ...] = ()
    """The ONNX nodes whose work it does."""

    @property
    def programs(self) -> int:
        """Return how many programs are started."""
        return math.prod(self.grid)


@dataclass(frozen=True, slots=True)
class Copy:
    """What is given out though it lies elsewhere: an input, a constant, or another output."""

    source: str
    target: str


@dataclass(frozen=True, slots=True)
class DevicePlan:
    """Everything that is known before a model is fed; sizes are fixed."""

    buffers: Mapping[str, Buffer]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    steps: tuple[CubinStep | Copy, ...]
    arena_bytes: int
    sizes: Mapping[str, int] = field(default_factory=dict)
    """The size of each symbolic dimension of the model."""
    results: tuple[str, ...] = ()
    """What the model calls its outputs, in their order; empty: as their buffers are called."""
    spans: Mapping[str, Wanted] = field(default_factory=dict)
    """What must be true before outputs are believed, by the buffer of two numbers that tells:
    -1 - least, and greatest."""

    @property
    def given(self) -> tuple[str, ...]:
        """Return the buffers that a run leaves for who started it."""
        return (*self.outputs, *self.spans)

    @property
    def kernel_steps(self) -> tuple[CubinStep, ...]:
        """Return the steps that start kernels."""
        return tuple(step for step in self.steps if isinstance(step, CubinStep))


def program_bytes(plan: DevicePlan, kernels: Mapping[str, CubinKernel]) -> int:
    """Return the memory that the programs of one step need for themselves, at most."""
    needs = (step.programs * kernels[step.kernel].program_bytes for step in plan.kernel_steps)
    return max(needs, default=0)
