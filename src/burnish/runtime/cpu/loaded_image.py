"""Linked code in memory, ready to be called."""

from __future__ import annotations

import ctypes
import mmap
import struct
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from burnish.core.errors import MissingCapabilityError
from burnish.hw import detect

_READ, _EXECUTE = 1, 4


@dataclass(frozen=True, slots=True)
class ImageTable:
    """What must be known to use an image's bytes."""

    symbols: Mapping[str, int] = field(default_factory=dict)
    """Where each function begins."""
    externals: Mapping[str, int] = field(default_factory=dict)
    """Where the address of each function of the system is to be written."""


@dataclass(frozen=True, slots=True)
class Image:
    """Linked code."""

    code: bytes
    table: ImageTable


class LoadedImage:
    """An image in executable memory, which lives as long as this object."""

    def __init__(self, image: Image) -> None:
        _check(image)
        self._table = image.table
        self._memory = mmap.mmap(-1, max(len(image.code), 1))
        self._memory[: len(image.code)] = image.code
        for name, place in image.table.externals.items():
            self._memory[place : place + 8] = struct.pack("<Q", system_address(name))
        view = (ctypes.c_char * len(self._memory)).from_buffer(self._memory)
        self._start = ctypes.addressof(view)
        if detect.family() == detect.ARM:
            _show_to_instructions(self._start, len(image.code))
        system = ctypes.CDLL(None, use_errno=True)
        size = ctypes.c_size_t(len(self._memory))
        if system.mprotect(ctypes.c_void_p(self._start), size, _READ | _EXECUTE):
            raise OSError(ctypes.get_errno(), "the system does not allow code in memory")
        # while the view lives, the memory cannot be unmapped under the code
        self._view = view

    def address(self, name: str) -> int:
        """Return where a function is."""
        return self._start + self._table.symbols[name]


def _show_to_instructions(start: int, size: int) -> None:
    """Let the cores of an ARM processor execute what was just written.

    They fetch instructions past their caches of data, and may keep what was at these addresses
    before. Linux empties those caches when a fresh page becomes executable, but promises it to
    nobody; this function of the compiler's library is what promises it, for all cores.
    """
    try:
        clear = ctypes.CDLL("libgcc_s.so.1").__clear_cache
    except (OSError, AttributeError) as error:
        raise MissingCapabilityError(
            f"the system has no __clear_cache, without which ARM cannot run new code ({error})",
            hint="install the library libgcc_s.so.1 (Debian: apt-get install libgcc-s1)",
        ) from error
    clear(ctypes.c_void_p(start), ctypes.c_void_p(start + size))


def _check(image: Image) -> None:
    """Raise if the table leads out of the code."""
    size = len(image.code)
    functions = all(0 <= place < size for place in image.table.symbols.values())
    addresses = all(0 <= place <= size - 8 for place in image.table.externals.values())
    if not functions or not addresses:
        raise ValueError("the table of functions does not fit the code")


def system_address(name: str) -> int:
    """Return where a function of the C library, or of its mathematics, is."""
    for library in _libraries():
        with suppress(AttributeError):
            return ctypes.cast(getattr(library, name), ctypes.c_void_p).value or 0
    raise KeyError(f"the system has no function {name!r}")


def _libraries() -> Iterator[ctypes.CDLL]:
    yield ctypes.CDLL(None)
    with suppress(OSError):
        yield ctypes.CDLL("libm.so.6")
