"""Memory whose surroundings cannot be touched unnoticed.

A block ends, with the slack that kernels are promised, where a page begins that nobody may read or
write: going further ends the process, which is what a crash is reported for. The bytes around the
block hold a pattern; whoever changed it wrote where nothing is.
"""

from __future__ import annotations

import ctypes
import mmap
from typing import Any

import numpy as np
from numpy.typing import NDArray

from burnish.core.placing import ALIGNMENT
from burnish.runtime.buffers import SLACK_BYTES

Bytes = NDArray[np.uint8]

_PATTERN = 0xA5
_FORBIDDEN, _READ_ONLY = 0, 1
"""PROT_NONE and PROT_READ."""


class GuardedBlock:
    """A block of bytes that begins at a cache line; `bytes` is the part that may be written."""

    def __init__(self, size: int) -> None:
        page = mmap.PAGESIZE
        room = -(-(size + SLACK_BYTES) // ALIGNMENT) * ALIGNMENT
        inner = -(-room // page) * page
        self._memory: Bytes = np.frombuffer(mmap.mmap(-1, inner + 2 * page), np.uint8)
        start = page + inner - room
        self._front = self._memory[page:start]
        self._behind = self._memory[start + size : page + inner]
        self.bytes = self._memory[start : start + size]
        self._front[:] = _PATTERN
        self._behind[:] = _PATTERN
        for forbidden in (0, page + inner):
            _protect(self._memory.ctypes.data + forbidden, page, _FORBIDDEN)

    def finding(self) -> str:
        """Return where something was written that is not the block; empty: nowhere since asked."""
        for where, around in (("before", self._front), ("behind", self._behind)):
            if (around != _PATTERN).any():
                around[:] = _PATTERN
                return f"it wrote {where} the tensor"
        return ""

    def seal(self) -> None:
        """Let nobody write into the block any more."""
        page = mmap.PAGESIZE
        _protect(self._memory.ctypes.data + page, self._memory.nbytes - 2 * page, _READ_ONLY)


def _protect(address: int, size: int, allowed: int) -> None:
    library: Any = ctypes.CDLL(None, use_errno=True)
    protect = getattr(library, "mprotect", None)
    # where the system has no such call the pattern alone must do
    if protect is not None:
        protect(ctypes.c_void_p(address), ctypes.c_size_t(size), allowed)
