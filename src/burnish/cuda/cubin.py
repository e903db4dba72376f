"""What a cubin says of its kernel: the card it is for, its parameters, threads and registers.

A cubin is an ELF file; NVIDIA keeps a kernel's properties as tagged values in `.nv.info` (all
kernels) and `.nv.info.NAME` (one). They are read here so that a file can be held against what is
told of it before any driver sees it.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

from burnish.cuda.kernel import CubinKernel, capability_of

MACHINE = 190
"""The number of NVIDIA's machines in ELF."""

_HEAD = struct.Struct("<4sBBBBB7xHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SIZED = 4
"""The format of a tagged value whose length stands before it; all others have two bytes."""
_PARAMETER, _REGISTERS, _FRAME, _THREADS, _TOOLKIT = 0x17, 0x2F, 0x11, 0x10, 0x37
_NEW_FLAGS = 8
"""Since this version of the ABI the card stands in the second byte of the flags."""


class NotACubinError(ValueError):
    """The bytes are no cubin with one kernel."""


@dataclass(frozen=True, slots=True)
class CubinFacts:
    """What a cubin tells of its one kernel."""

    capability: tuple[int, int]
    """Of the card that it was compiled for."""
    entry: str
    parameter_bytes: tuple[int, ...]
    threads: int | None
    """Per block, if it may be started with these only."""
    registers: int
    """Per thread."""
    frame_bytes: int
    """Per thread, in memory: what did not fit into registers."""
    toolkit: tuple[int, int] | None
    """The version of CUDA that wrote it: an older driver cannot load it."""


def facts(code: bytes) -> CubinFacts:
    """Return what a cubin tells; `NotACubinError` where it is none, or has not one kernel."""
    try:
        return _facts(code)
    except (struct.error, IndexError, KeyError, UnicodeDecodeError) as error:
        raise NotACubinError(f"is no readable cubin ({error})") from error


def code_findings(told: CubinKernel, code: bytes) -> Iterator[str]:
    """Yield where a cubin is another one than is told."""
    try:
        found = facts(code)
    except NotACubinError as error:
        yield str(error)
        return
    pointers = len(told.pointers) + told.trailing
    pairs = {
        "kernel": (found.entry, told.entry),
        "capability": (found.capability, capability_of(told.architecture)),
        "parameters": (found.parameter_bytes, (8,) * pointers),
        "threads": (found.threads or told.threads, told.threads),
    }
    for what, (here, there) in pairs.items():
        if here != there:
            yield f"its {what}: {here}, and its table says {there}"


def _facts(code: bytes) -> CubinFacts:
    head = _HEAD.unpack_from(code)
    if head[0] != b"\x7fELF" or head[7] != MACHINE:
        raise NotACubinError("is no cubin")
    abi, flags = head[5], head[12]
    sections = dict(_sections(code, offset=head[11], count=head[17], names=head[18]))
    entries = [name.removeprefix(".text.") for name in sections if name.startswith(".text.")]
    if len(entries) != 1:
        raise NotACubinError(f"has {len(entries)} kernels, not one")
    shared = dict(_tagged(sections[".nv.info"]))
    own = list(_tagged(sections[f".nv.info.{entries[0]}"]))
    single = dict(own)
    threads = struct.unpack("<III", single[_THREADS])[0] if _THREADS in single else None
    version = (flags >> 8 if abi >= _NEW_FLAGS else flags) & 0xFF
    return CubinFacts(
        capability=divmod(version, 10),
        entry=entries[0],
        parameter_bytes=_parameters(own),
        threads=threads,
        registers=struct.unpack("<II", shared[_REGISTERS])[1],
        frame_bytes=struct.unpack("<II", shared[_FRAME])[1],
        toolkit=_toolkit(single),
    )


def _sections(code: bytes, *, offset: int, count: int, names: int) -> Iterator[tuple[str, bytes]]:
    """Yield each section's name and content; one without content in the file has none."""
    rows = [_SECTION.unpack_from(code, offset + number * _SECTION.size) for number in range(count)]
    texts = rows[names][4]
    for row in rows:
        begin = texts + row[0]
        name = code[begin : code.index(b"\0", begin)].decode()
        yield name, code[row[4] : row[4] + row[5]]


def _tagged(content: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the tag and the value of each property."""
    place = 0
    while place < len(content):
        form, tag, value = struct.unpack_from("<BBH", content, place)
        size = value if form == _SIZED else 0
        body = content[place + 4 : place + 4 + size] if size else content[place + 2 : place + 4]
        yield tag, body
        place += 4 + size


def _parameters(properties: list[tuple[int, bytes]]) -> tuple[int, ...]:
    """Return the size of each parameter, in the order in which they are passed."""
    found = {}
    for tag, body in properties:
        if tag == _PARAMETER:
            _, ordinal, _, packed = struct.unpack("<IHHI", body)
            found[ordinal] = packed >> 18
    return tuple(found[number] for number in range(len(found)))


def _toolkit(properties: dict[int, bytes]) -> tuple[int, int] | None:
    if _TOOLKIT not in properties:
        return None
    version: int = struct.unpack("<I", properties[_TOOLKIT])[0]
    return divmod(version, 10)
