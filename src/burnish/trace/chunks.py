"""Read a file piece by piece, unpacked where it is packed."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from pathlib import Path

from burnish.core.errors import ModelError

_CHUNK_BYTES = 1 << 20
_GZIP = b"\x1f\x8b"
_WITH_HEADER = 31
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class Chunks:
    """A file's bytes in pieces; a gzip file that was cut off gives what can still be unpacked."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.note = ""
        """What was cut off; empty when the file is whole, and known when all pieces were taken."""

    def __iter__(self) -> Iterator[bytes]:
        try:
            with self._path.open("rb") as file:
                first = file.read(_CHUNK_BYTES)
                rest = iter(lambda: file.read(_CHUNK_BYTES), b"")
                if first.startswith(_GZIP):
                    yield from self._unpacked(first, rest)
                else:
                    yield first
                    yield from rest
        except OSError as error:
            raise ModelError(
                f"{self._path}: cannot be read ({error.strerror})",
                hint="record a trace with burnish profile MODEL",
            ) from error

    def _unpacked(self, first: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
        unpacking = zlib.decompressobj(wbits=_WITH_HEADER)
        taken = 0
        packed = first
        while packed:
            taken += len(packed)
            try:
                while packed:
                    # bounded, so that a small file that unpacks to gigabytes stays a stream
                    yield unpacking.decompress(packed, _CHUNK_BYTES)
                    packed = unpacking.unconsumed_tail
                    if unpacking.eof and unpacking.unused_data.startswith(_GZIP):
                        packed = unpacking.unused_data
                        unpacking = zlib.decompressobj(wbits=_WITH_HEADER)
            except zlib.error as error:
                raise ModelError(
                    f"{self._path}: is a damaged gzip file ({error})",
                    hint="copy it again from where it was made",
                ) from error
            packed = next(rest, b"")
        yield unpacking.flush()
        if not unpacking.eof:
            self.note = f"the gzip file ends early, after {taken:,} bytes"


def head(path: Path, size: int) -> bytes:
    """Return a file's first bytes, unpacked."""
    found = bytearray()
    for piece in Chunks(path):
        found += piece
        if len(found) >= size:
            break
    return bytes(found[:size]).removeprefix(_BYTE_ORDER_MARK)
