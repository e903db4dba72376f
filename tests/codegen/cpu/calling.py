"""One kernel, compiled and called from Python: for checking and timing it by itself."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from burnish.codegen.cpu.compile import MachineCode, compile_module
from burnish.codegen.cpu.kernel import Kernel
from burnish.codegen.cpu.target import InstructionSet
from burnish.core.arrays import Array, Arrays
from burnish.core.placing import ALIGNMENT
from burnish.runtime.buffers import SLACK_BYTES

_SIGNATURE = ctypes.CFUNCTYPE(
    None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p
)


@dataclass(frozen=True, slots=True)
class LoadedKernel:
    """A kernel in memory, ready to be called."""

    kernel: Kernel
    compiled: MachineCode
    call: Any = field(repr=False)

    def bound(self, tensors: Arrays) -> Bound:
        """Return the kernel with its arguments.

        Every array must be contiguous in its layout. What a kernel may read behind a tensor
        (`SLACK_BYTES`) is the caller's to provide; NumPy's own small arrays have it in practice.
        """
        given = {**tensors, **self.kernel.packed}
        arrays = tuple(given[name] for name in self.kernel.arguments)
        addresses = np.array([array.ctypes.data for array in arrays], dtype=np.uintp)
        return Bound(self, arrays, addresses, aligned(self.kernel.scratch_bytes))


@dataclass(frozen=True, slots=True)
class Bound:
    """A kernel with the tensors it works on; it keeps them alive."""

    loaded: LoadedKernel
    arrays: tuple[Array, ...]
    addresses: Any
    scratch: Any

    def run(self, begin: int = 0, end: int | None = None) -> None:
        """Compute the tiles from `begin` to `end` (default: all) in this thread."""
        last = self.loaded.kernel.tiles if end is None else end
        self.loaded.call(self.addresses.ctypes.data, begin, last, self.scratch.ctypes.data)


def load_kernel(kernel: Kernel, target: InstructionSet) -> LoadedKernel:
    """Compile a kernel and return it, ready to be called."""
    compiled = compile_module(kernel.ir_text, target)
    return LoadedKernel(kernel, compiled, _SIGNATURE(compiled.address(kernel.name)))


def aligned(size_bytes: int) -> NDArray[np.uint8]:
    """Return uninitialised bytes that begin at a multiple of a cache line."""
    memory = np.empty(size_bytes + ALIGNMENT + SLACK_BYTES, dtype=np.uint8)
    start = -memory.ctypes.data % ALIGNMENT
    return memory[start : start + size_bytes + SLACK_BYTES]
