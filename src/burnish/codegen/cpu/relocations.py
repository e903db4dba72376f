"""Places in code that hold the distance to something else: how each kind of processor writes them.

An image is put where a page begins and is not known before, so only what holds at every page can
be filled in: distances, and the lowest 12 bits of an address. What holds an address itself is not
understood, on either family.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

PAGE_BYTES = 4096
"""What ARM's instructions take for a page, and the least that a system has."""

Fill = Callable[[bytearray, int, int], None]
"""Given the code, a place in it and what is to be found there, writes how to get there."""


class NotLinkableError(Exception):
    """An object holds something that kernels do not; the text says what."""


@dataclass(frozen=True, slots=True)
class Family:
    """What linking must know of a family of processors."""

    name: str
    machine: int
    """Its number in the header of ELF objects."""
    kinds: Mapping[int, Fill]
    """By the number of the relocation."""
    jump: bytes
    """Jumps to the address that lies behind it."""

    def fill(self, kind: int) -> Fill:
        """Return what fills in a place that a relocation of this number is for."""
        if kind not in self.kinds:
            raise NotLinkableError(f"it has a relocation of kind {kind}, unknown of {self.name}")
        return self.kinds[kind]


def _distance(code: bytearray, at: int, target: int) -> None:
    """Write a distance in 32 bits."""
    struct.pack_into("<i", code, at, _within(target - at, 32))


def _long_distance(code: bytearray, at: int, target: int) -> None:
    """Write a distance in 64 bits."""
    struct.pack_into("<q", code, at, target - at)


def _branch(code: bytearray, at: int, target: int) -> None:
    """Write a distance in instructions: the lowest 26 bits of a branch or a call."""
    _put(code, at, _within(target - at, 28) >> 2, bits=26)


def _pages(code: bytearray, at: int, target: int) -> None:
    """Write a distance in pages into what computes the address of a page (ADRP)."""
    _put_split(code, at, _within(target // PAGE_BYTES - at // PAGE_BYTES, 21))


def _bytes_away(code: bytearray, at: int, target: int) -> None:
    """Write a distance in bytes into what computes a near address (ADR)."""
    _put_split(code, at, _within(target - at, 21))


def _in_page(size: int) -> Fill:
    """Return what writes a place in its page, in units of a size, into an addition or a load."""

    def fill_in(code: bytearray, at: int, target: int) -> None:
        place = target % PAGE_BYTES
        if place % size:
            raise NotLinkableError(f"it loads {size} bytes from a place that is no multiple of it")
        _put(code, at, place // size, bits=12, shift=10)

    return fill_in


def _put_split(code: bytearray, at: int, number: int) -> None:
    """Write 21 bits: the lowest two of them lie apart."""
    _put(code, at, number & 3, bits=2, shift=29)
    _put(code, at, number >> 2, bits=19, shift=5)


def _put(code: bytearray, at: int, number: int, *, bits: int, shift: int = 0) -> None:
    """Write a number into some bits of an instruction; the others stay."""
    (word,) = struct.unpack_from("<I", code, at)
    mask = ((1 << bits) - 1) << shift
    struct.pack_into("<I", code, at, word & ~mask | (number << shift) & mask)


def _within(distance: int, bits: int) -> int:
    """Return a distance that fits so many bits."""
    if not -(1 << bits - 1) <= distance < 1 << bits - 1:
        raise NotLinkableError(f"it is too large: {distance:,} does not fit {bits} bits")
    return distance


X86_64 = Family(
    "x86-64",
    62,
    # R_X86_64_PC32 and PLT32
    MappingProxyType({2: _distance, 4: _distance}),
    # jmp *0(%rip)
    b"\xff\x25\x00\x00\x00\x00",
)

AARCH64 = Family(
    "AArch64",
    183,
    MappingProxyType(
        {
            260: _long_distance,  # R_AARCH64_PREL64
            261: _distance,  # PREL32
            274: _bytes_away,  # ADR_PREL_LO21
            275: _pages,  # ADR_PREL_PG_HI21
            277: _in_page(1),  # ADD_ABS_LO12_NC
            278: _in_page(1),  # LDST8_ABS_LO12_NC
            282: _branch,  # JUMP26
            283: _branch,  # CALL26
            284: _in_page(2),  # LDST16_ABS_LO12_NC
            285: _in_page(4),  # LDST32_ABS_LO12_NC
            286: _in_page(8),  # LDST64_ABS_LO12_NC
            299: _in_page(16),  # LDST128_ABS_LO12_NC
        }
    ),
    # ldr x16, 8; br x16: the register that is free between a call and its function
    b"\x50\x00\x00\x58\x00\x02\x1f\xd6",
)

FAMILIES: Mapping[int, Family] = MappingProxyType(
    {each.machine: each for each in (X86_64, AARCH64)}
)
"""By their number in objects."""
