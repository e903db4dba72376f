"""Object code linked once, when compiling: a block of bytes that runs wherever it is put.

Loading it needs no compiler: bytes are copied, addresses of the system's functions are filled in,
and the block is made executable. Only what kernels contain is understood: ELF objects for x86-64 or
AArch64 with code, read-only data, references between them (`burnish.codegen.cpu.relocations`), and
calls of functions elsewhere.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from burnish.codegen.cpu.relocations import FAMILIES, Family, NotLinkableError
from burnish.runtime.cpu.loaded_image import Image, ImageTable

MAGIC = b"\x7fELF\x02\x01\x01"
RELOCATABLE = 1
"""The type of file that the header of an object tells."""

_ALLOCATED, _WRITABLE = 2, 1
_PROGRAM_DATA, _SYMBOLS, _RELOCATIONS = 1, 2, 4
_UNDEFINED = 0
_GLOBAL_FUNCTION = 0x12


@dataclass(frozen=True, slots=True)
class _Section:
    name: int
    kind: int
    flags: int
    start: int
    size: int
    link: int
    info: int
    alignment: int


@dataclass(frozen=True, slots=True)
class _Symbol:
    name: str
    kind: int
    section: int
    value: int


def link(objects: Sequence[bytes]) -> Image:
    """Return the code of several objects in one block."""
    linker = _Linker()
    for each in objects:
        linker.add(each)
    return linker.image()


class _Linker:
    def __init__(self) -> None:
        self._code = bytearray()
        self._symbols: dict[str, int] = {}
        self._externals: dict[str, int] = {}
        self._family: Family | None = None

    def add(self, content: bytes) -> None:
        """Add one object."""
        family = _family(content)
        if self._family not in (None, family):
            raise NotLinkableError(f"it is for {family.name}, and others are not")
        self._family = family
        sections = tuple(_sections(content))
        placed = {n: self._place(s, content) for n, s in enumerate(sections) if _is_loaded(s)}
        tables = [n for n, section in enumerate(sections) if section.kind == _SYMBOLS]
        symbols = tuple(_symbols(content, sections, tables[0])) if tables else ()
        for symbol in symbols:
            if symbol.kind == _GLOBAL_FUNCTION and symbol.section in placed:
                if symbol.name in self._symbols:
                    raise NotLinkableError(f"there are two functions {symbol.name!r}")
                self._symbols[symbol.name] = placed[symbol.section] + symbol.value
        for section in sections:
            if section.kind == _RELOCATIONS and section.info in placed:
                self._relocate(content, section, placed, symbols, family)

    def image(self) -> Image:
        """Return all that was added."""
        return Image(bytes(self._code), ImageTable(self._symbols, self._externals))

    def _place(self, section: _Section, content: bytes) -> int:
        if section.flags & _WRITABLE:
            raise NotLinkableError("it has data that can be written")
        self._code += bytes(-len(self._code) % max(section.alignment, 1))
        start = len(self._code)
        self._code += content[section.start : section.start + section.size]
        return start

    def _relocate(
        self,
        content: bytes,
        section: _Section,
        placed: Mapping[int, int],
        symbols: Sequence[_Symbol],
        family: Family,
    ) -> None:
        for place in range(section.start, section.start + section.size, 24):
            offset, info, addend = struct.unpack_from("<QQq", content, place)
            kind, symbol = info & 0xFFFFFFFF, symbols[info >> 32]
            fill = family.fill(kind)
            target = self._target(symbol, placed, family) + addend
            fill(self._code, placed[section.info] + offset, target)

    def _target(self, symbol: _Symbol, placed: Mapping[int, int], family: Family) -> int:
        if symbol.section == _UNDEFINED:
            return self._jump(symbol.name, family.jump)
        if symbol.section not in placed:
            raise NotLinkableError(f"{symbol.name!r} is not part of what is loaded")
        return placed[symbol.section] + symbol.value

    def _jump(self, name: str, jump: bytes) -> int:
        """Return where calls of a function elsewhere go: a jump to an address filled in later."""
        if name not in self._externals:
            self._code += bytes(-(len(self._code) + len(jump)) % 8)
            self._externals[name] = len(self._code) + len(jump)
            self._code += jump + bytes(8)
        return self._externals[name] - len(jump)


def _family(content: bytes) -> Family:
    """Return the family of processors that an object is for."""
    if content.startswith(MAGIC):
        kind, machine = struct.unpack_from("<HH", content, 16)
        if kind == RELOCATABLE and machine in FAMILIES:
            return FAMILIES[machine]
    known = " or ".join(family.name for family in FAMILIES.values())
    raise NotLinkableError(f"it is no object for {known}")


def _is_loaded(section: _Section) -> bool:
    return bool(section.flags & _ALLOCATED) and section.kind == _PROGRAM_DATA and section.size > 0


def _sections(content: bytes) -> Iterator[_Section]:
    (start,) = struct.unpack_from("<Q", content, 40)
    size, count = struct.unpack_from("<HH", content, 58)
    for number in range(count):
        found = struct.unpack_from("<IIQQQQIIQQ", content, start + number * size)
        name, kind, flags, _, offset, length, linked, info, alignment, _ = found
        yield _Section(name, kind, flags, offset, length, linked, info, alignment)


def _symbols(content: bytes, sections: Sequence[_Section], table: int) -> Iterator[_Symbol]:
    names = sections[sections[table].link].start
    begin = sections[table].start
    for place in range(begin, begin + sections[table].size, 24):
        name, kind, _, section, value, _ = struct.unpack_from("<IBBHQQ", content, place)
        end = content.index(b"\0", names + name)
        yield _Symbol(content[names + name : end].decode(), kind, section, value)
