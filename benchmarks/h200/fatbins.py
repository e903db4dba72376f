"""A library with the machine code of one kind of card alone, so that it is small when packed.

    python benchmarks/h200/fatbins.py LIBRARY.so TARGET.so [--arch 90]

Compiled kernels lie in a section `.nv_fatbin` as boxes of entries: one for each kind of card, and
portable text (PTX). The contents of other entries are overwritten with zeros where they are, so
that nothing moves: a card that would want one of them says that its image is broken. Boxes that
have entries of this one kind alone are for instructions that only it has (products of experts, in
ONNX Runtime), and are emptied, too, with `--common`.
"""

from __future__ import annotations

import argparse
import struct
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

MAGIC = 0xBA55ED50
SECTION = b".nv_fatbin"
MACHINE_CODE = 2
"""The kind of an entry that is no text."""


class LibraryError(Exception):
    """A file that is no such library."""


@dataclass(frozen=True)
class Entry:
    """What is there for one kind of card, and where its contents lie."""

    kind: int
    arch: int
    first: int
    bytes: int


def section_of(data: bytes | bytearray) -> tuple[int, int]:
    """Return where the section of boxes begins, and its bytes."""
    if data[:5] != b"\x7fELF\x02":
        raise LibraryError("this is no library of 64 bits")
    (table,) = struct.unpack_from("<Q", data, 0x28)
    size, count, names = struct.unpack_from("<HHH", data, 0x3A)
    headers = [struct.unpack_from("<IIQQQQ", data, table + n * size) for n in range(count)]
    texts = headers[names][4]
    for name, _, _, _, first, length in headers:
        end = data.index(b"\0", texts + name)
        if data[texts + name : end] == SECTION:
            return first, length
    raise LibraryError("this library has no kernels")


def boxes(data: bytes | bytearray) -> Iterator[tuple[Entry, ...]]:
    """Yield the entries of each box."""
    place, length = section_of(data)
    end = place + length
    while place + 16 <= end:
        magic, _, head, size = struct.unpack_from("<IHHQ", data, place)
        if magic != MAGIC:
            place += 8
            continue
        inside, last, found = place + head, place + head + size, []
        while inside < last:
            kind, _, header, content = struct.unpack_from("<HHIQ", data, inside)
            (arch,) = struct.unpack_from("<I", data, inside + 28)
            found.append(Entry(kind, arch, inside + header, content))
            inside += header + content
        yield tuple(found)
        place = (last + 7) // 8 * 8


def cut(data: bytearray, arch: int, *, common: bool) -> Counter[str]:
    """Empty what is for other cards; return the bytes that were left and emptied."""
    told: Counter[str] = Counter()
    for box in list(boxes(data)):
        alone = {entry.arch for entry in box} == {arch}
        for entry in box:
            mine = entry.kind == MACHINE_CODE and entry.arch == arch
            if mine and not (common and alone):
                told["kept"] += entry.bytes
                continue
            data[entry.first : entry.first + entry.bytes] = bytes(entry.bytes)
            told["emptied"] += entry.bytes
    if not told["kept"]:
        raise LibraryError(f"nothing in this library is for sm_{arch}")
    return told


def main(arguments: Sequence[str] | None = None) -> None:
    """Cut what the command line names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("library", type=Path)
    parser.add_argument("target", type=Path)
    parser.add_argument("--arch", type=int, default=90)
    parser.add_argument("--common", action="store_true", help="without what only this card has")
    asked = parser.parse_args(arguments)
    data = bytearray(asked.library.read_bytes())
    try:
        told = cut(data, asked.arch, common=asked.common)
    except LibraryError as error:
        sys.exit(f"{asked.library}: {error}")
    asked.target.write_bytes(data)
    print({name: f"{size / 2**20:.0f} MiB" for name, size in told.items()})


if __name__ == "__main__":
    main()
