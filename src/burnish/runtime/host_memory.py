"""Memory of this process: aligned, and by its address."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from burnish.core.placing import ALIGNMENT

PAGE_BYTES = 4096

Bytes = NDArray[np.uint8]
Words = NDArray[np.int64]


def aligned_bytes(size: int, alignment: int = ALIGNMENT) -> Bytes:
    """Return memory that begins at a multiple of `alignment`; pages are taken when written."""
    memory = np.empty(size + alignment, np.uint8)
    start = -memory.ctypes.data % alignment
    return memory[start : start + size]


def address_of(array: NDArray[Any]) -> int:
    """Return where an array's elements begin."""
    return int(array.ctypes.data)
