"""Arrays of the host on their way to and from the card, through memory that the card can reach."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

from burnish.core.arrays import Array
from burnish.cuda.driver import Driver, Stream
from burnish.cuda.memory import aligned

Move = tuple[int, int, int]
"""To which address, from which, and how many bytes."""


class Staging:
    """Two blocks of pinned memory, one per direction, as large as was needed so far."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver
        self._sent = driver.new_event()
        self._there = _Block(driver)
        self._back = _Block(driver)

    def send(self, moves: Sequence[Move], stream: Stream) -> None:
        """Put copies from the host in line; the host's memory may change as soon as this ends."""
        if not moves:
            return
        # what was sent last, in whatever stream, may still be on its way
        self._driver.finish(self._sent)
        places = self._there.places([size for _, _, size in moves])
        for place, (target, source, size) in zip(places, moves, strict=True):
            ctypes.memmove(place, source, size)
            self._driver.copy(target, place, size, stream)
        self._driver.record(self._sent, stream)

    def fetch(self, sources: Sequence[int], arrays: Sequence[Array], stream: Stream) -> None:
        """Fill arrays with what lies at addresses of the card, once a stream has come so far."""
        places = self._back.places([array.nbytes for array in arrays])
        for place, source, array in zip(places, sources, arrays, strict=True):
            if array.nbytes:
                self._driver.copy(place, source, array.nbytes, stream)
        self._driver.synchronize(stream)
        for place, array in zip(places, arrays, strict=True):
            ctypes.memmove(array.ctypes.data, place, array.nbytes)

    def close(self) -> None:
        """Free both."""
        self._driver.finish(self._sent)
        self._driver.drop_event(self._sent)
        self._there.close()
        self._back.close()


class _Block:
    """Pinned memory that grows."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver
        self._size = 0
        self._address = 0

    def places(self, sizes: Sequence[int]) -> list[int]:
        """Return where things of these sizes can lie; what lay there before is gone."""
        needed = sum(map(aligned, sizes))
        if needed > self._size:
            self.close()
            self._address, self._size = self._driver.allocate_pinned(needed), needed
        places, begin = [], self._address
        for size in sizes:
            places.append(begin)
            begin += aligned(size)
        return places

    def close(self) -> None:
        """Free it."""
        if self._size:
            self._driver.free_pinned(self._address)
            self._size = 0
