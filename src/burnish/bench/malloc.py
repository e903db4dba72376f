"""The memory allocator that PyTorch workers run with.

PyTorch's CPU operators allocate their results on every call, and the system's malloc gives large
blocks back to the kernel each time. Its own guide asks for jemalloc or tcmalloc; a comparison
without one would flatter every engine that keeps its buffers.
"""

from __future__ import annotations

import ctypes.util
from collections.abc import Callable, Mapping
from dataclasses import dataclass

PREFERRED = ("jemalloc", "tcmalloc", "tcmalloc_minimal")


@dataclass(frozen=True, slots=True)
class Allocator:
    """What to set for a worker, and what its row says about it."""

    environment: Mapping[str, str]
    note: str


def for_torch(
    inherited: Mapping[str, str],
    find: Callable[[str], str | None] = ctypes.util.find_library,
) -> Allocator:
    """Return a tuned allocator where one is installed; what the user preloads is left alone."""
    preloaded = inherited.get("LD_PRELOAD")
    if preloaded:
        return Allocator({}, f"LD_PRELOAD={preloaded}, as the environment says")
    for name in PREFERRED:
        library = find(name)
        if library is not None:
            return Allocator({"LD_PRELOAD": library}, f"malloc: {library}")
    return Allocator(
        {}, "malloc: the system's, which slows PyTorch down; apt install libjemalloc2 mends it"
    )
