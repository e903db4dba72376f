"""Memory in which a process has mapped files: given back, to be read again when it is needed."""

from __future__ import annotations

import ctypes
import mmap
import re
from collections.abc import Iterator
from pathlib import Path

_SMAPS = Path("/proc/self/smaps")
_AREA = re.compile(r"([0-9a-f]+)-([0-9a-f]+) \S+ \S+ \S+ \S+ *(.*)")
_CHANGED = re.compile(r"Anonymous: +([0-9]+) kB")
"""Pages of a mapped file that are the process's own, for it has written to them."""


def let_go(folder: Path) -> None:
    """Give back the memory of mapped files of a folder, but of those that were written to.

    For data that another library has mapped: ONNX Runtime keeps what it read of a model's weights
    in memory for as long as the model is loaded.
    """
    if not _SMAPS.exists():  # only Linux tells what is mapped where
        return
    advise = ctypes.CDLL(None).madvise
    advise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    for start, end in _unchanged_areas(folder.resolve()):
        advise(start, end - start, mmap.MADV_DONTNEED)


def _unchanged_areas(folder: Path) -> Iterator[tuple[int, int]]:
    """Yield from where to where files of a folder are mapped, and are as they are on disk."""
    area: tuple[int, int] | None = None
    changed = 0
    for line in [*_SMAPS.read_text(errors="replace").splitlines(), "0-0 - - - - /"]:
        begins = _AREA.match(line)
        if begins is None:
            found = _CHANGED.match(line)
            changed += 0 if found is None else int(found[1])
            continue
        if area is not None and not changed:
            yield area
        start, end, path = begins.groups()
        area = (int(start, 16), int(end, 16)) if Path(path).parent == folder else None
        changed = 0
