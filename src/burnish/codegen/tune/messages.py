"""What the tuner and its measuring process say to each other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from burnish.codegen.tune.check import Case
from burnish.core.arrays import Array


@dataclass(frozen=True, slots=True)
class TensorMessage:
    """A tensor in memory."""

    dtype: str
    shape: tuple[int, ...]
    layout: tuple[int, ...] | None = None
    """Its dimensions from the outermost to the innermost; None: in their own order."""
    strides: tuple[int, ...] | None = None
    """Elements from each to its neighbour along each dimension; None: they lie densely."""


@dataclass(frozen=True, slots=True)
class BuiltKernel:
    """A compiled kernel, and what it needs to be called."""

    name: str
    code: bytes = field(repr=False)
    arguments: tuple[str, ...]
    launch: Mapping[str, int]
    packed: Mapping[str, Array] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Compile:
    """Compile a kernel; the answer is its code."""

    source: str
    target: str


@dataclass(frozen=True, slots=True)
class PlaceTensors:
    """Take these tensors in place of those before; kernels that were loaded are forgotten."""

    case: Case
    inputs: Mapping[str, TensorMessage]
    outputs: Mapping[str, TensorMessage]
    constants: frozenset[str]
    """Those of the inputs that are the same in every run."""
    target: str
    threads: int


@dataclass(frozen=True, slots=True)
class Prove:
    """Load a kernel and see that it is right; the answer is what is wrong, or nothing."""

    key: str
    kernel: BuiltKernel


@dataclass(frozen=True, slots=True)
class LoadPart:
    """Load a part of the model into ONNX Runtime; the answer is what is wrong, or nothing."""

    key: str
    model: bytes = field(repr=False)
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    shapes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """Where they differ from those of the tensors that were placed."""


@dataclass(frozen=True, slots=True)
class Time:
    """Run something that was loaded this often; the answer is the seconds of one run."""

    key: str
    runs: int
    settling: int = 1
    """Runs before that are not counted: the caches hold what was timed before."""


@dataclass(frozen=True, slots=True)
class Forget:
    """Unload this."""

    key: str


class Trials(Protocol):
    """What a measuring process does when asked; kernels run there and nowhere else."""

    def compile(self, request: Compile) -> bytes:
        """Return the code of a kernel; what it raises becomes the reason of a failed trial."""

    def place(self, request: PlaceTensors) -> None:
        """Lay out the tensors of a group."""

    def prove(self, request: Prove) -> str:
        """Return what is wrong with a kernel; one that is right can be timed."""

    def load_part(self, request: LoadPart) -> str:
        """Return what is wrong with an ONNX Runtime part; one that is right can be timed."""

    def time(self, request: Time) -> float:
        """Return the seconds of one run of what was loaded."""

    def forget(self, request: Forget) -> None:
        """Unload something."""
