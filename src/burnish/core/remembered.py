"""What was made of files, remembered in this process while the files are as they were."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

T = TypeVar("T")

SETTLED_S = 2.0
"""A file that changed a shorter time before it was read may change again with the same stamp."""


class FileStamp(NamedTuple):
    """What changes when a file is written, replaced or touched."""

    changed_ns: int
    written_ns: int
    size_bytes: int
    device: int
    number: int


@dataclass(frozen=True, slots=True)
class _Kept(Generic[T]):
    value: T
    stamps: Mapping[Path, FileStamp]

    @property
    def size_bytes(self) -> int:
        return sum(stamp.size_bytes for stamp in self.stamps.values())


class Remembered(Generic[T]):
    """Values by place, each made once; at most so many, of files with at most so many bytes.

    The one that nobody has asked for longest is forgotten first.
    """

    def __init__(self, most: int, *, most_bytes: float = float("inf")) -> None:
        self._most, self._most_bytes = most, most_bytes
        self._kept: dict[Hashable, _Kept[T]] = {}

    def of(self, place: Hashable, make: Callable[[], tuple[T, Iterable[Path]]]) -> T:
        """Return what was made for a place, or make it; `make` also gives the files it is of."""
        known = self._kept.pop(place, None)
        if known is not None and known.stamps == _stamps(known.stamps):
            self._kept[place] = known
            return known.value
        begun_ns = time.time_ns()
        value, files = make()
        self._keep(place, value, files, begun_ns)
        return value

    def keep(self, place: Hashable, value: T, files: Iterable[Path]) -> None:
        """Remember what is known of files that were written just now."""
        self._keep(place, value, files, time.time_ns())

    def _keep(self, place: Hashable, value: T, files: Iterable[Path], begun_ns: int) -> None:
        made = _Kept(value, _stamps(files))
        newest_ns = max((stamp.changed_ns for stamp in made.stamps.values()), default=begun_ns)
        if newest_ns + int(SETTLED_S * 1e9) <= begun_ns:
            self._kept[place] = made
        while len(self._kept) > self._most or self._bytes() > self._most_bytes:
            del self._kept[next(iter(self._kept))]

    def _bytes(self) -> int:
        return sum(kept.size_bytes for kept in self._kept.values())


def _stamps(files: Iterable[Path]) -> dict[Path, FileStamp]:
    """Return the stamps of those files that are there."""
    found = {}
    for file in files:
        try:
            stat = file.stat()
        except OSError:
            continue
        found[file] = FileStamp(
            stat.st_ctime_ns, stat.st_mtime_ns, stat.st_size, stat.st_dev, stat.st_ino
        )
    return found
