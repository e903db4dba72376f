"""Whether computed places exist: kernels tell between which numbers they lie, and here it is read.

What waits for its results reads that with them. What only puts work into a stream cannot; there it
is copied behind the kernels, and read when somebody comes by and the stream has come so far. But
only of places: whoever works in streams divides by 0 without a word, as PyTorch does on cards.
"""

from __future__ import annotations

import ctypes
import threading
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from burnish.core.array_types import array_type
from burnish.core.arrays import Array
from burnish.core.errors import UsageError
from burnish.core.existing import Wanted
from burnish.cuda.driver import Driver, Event, Stream
from burnish.cuda.memory import aligned
from burnish.cuda.plan import DevicePlan

MOST_WAITING = 64
"""Runs that nobody has looked at: the oldest is waited for when there are more."""
EARLIER = " in an earlier run of this model"


@dataclass(slots=True)
class _Waiting:
    reached: Event
    address: int
    """In memory of the host that the card has written when the event is reached."""


class Looks:
    """What is read of computed places that may not exist, for one plan; to be closed."""

    def __init__(self, driver: Driver, plan: DevicePlan, every: list[Looks] | None = None) -> None:
        """`every`: those of all plans of one model, to which this is added.

        Whoever runs another plan is told of this one's, too: its own next run may never come.
        """
        self._driver = driver
        self._plan = plan
        self._every = [] if every is None else every
        self._every.append(self)
        self._later = {name: each for name, each in plan.spans.items() if each.kind == "place"}
        self._waiting: deque[_Waiting] = deque()
        self._idle: list[_Waiting] = []
        self._lock = threading.RLock()

    def require(self, found: Mapping[str, Array]) -> None:
        """Raise if what kernels told of a run says that it was led to what has no answer."""
        if (refusal := _refusal(self._plan.spans, found)) is not None:
            raise refusal

    def later(self, addresses: Mapping[str, int], stream: Stream) -> None:
        """Have what kernels told copied once a stream has come so far."""
        if not self._later:
            return
        with self._lock:
            if len(self._waiting) >= MOST_WAITING:
                self._driver.finish(self._waiting[0].reached)
                self._due()  # its own: others may wait for this lock with theirs
            place = self._idle.pop() if self._idle else self._new()
            for name, address in self._places(place):
                self._driver.copy(address, addresses[name], self._plan.buffers[name].bytes, stream)
            self._driver.record(place.reached, stream)
            self._waiting.append(place)

    def due(self) -> None:
        """Raise if a run that is over since was led to a place that does not exist."""
        for each in tuple(self._every):
            each._due()

    def close(self) -> None:
        """Wait for what is still to be told, free the memory, and raise as `due` does."""
        with self._lock:
            self._every.remove(self)
            if self._waiting:
                self._driver.finish(self._waiting[-1].reached)
            wrong = [self._told(place) for place in self._waiting]
            for place in (*self._waiting, *self._idle):
                self._driver.drop_event(place.reached)
                self._driver.free_pinned(place.address)
            self._waiting.clear()
            self._idle.clear()
        for refusal in filter(None, wrong):
            raise refusal

    def _due(self) -> None:
        with self._lock:
            while self._waiting and self._driver.is_reached(self._waiting[0].reached):
                done = self._waiting.popleft()
                self._idle.append(done)
                if (refusal := self._told(done)) is not None:
                    raise refusal

    def _told(self, done: _Waiting) -> UsageError | None:
        """Return what is wrong with what a run in a stream was led to; None: nothing."""
        return _refusal(self._later, dict(self._read(done)), EARLIER)

    def _new(self) -> _Waiting:
        size = sum(aligned(self._plan.buffers[name].bytes) for name in self._later)
        return _Waiting(self._driver.new_event(), self._driver.allocate_pinned(size))

    def _places(self, place: _Waiting) -> Iterator[tuple[str, int]]:
        begin = place.address
        for name in self._later:
            yield name, begin
            begin += aligned(self._plan.buffers[name].bytes)

    def _read(self, place: _Waiting) -> Iterator[tuple[str, Array]]:
        for name, address in self._places(place):
            buffer = self._plan.buffers[name]
            array = np.empty(buffer.shape, array_type(buffer.dtype))
            ctypes.memmove(array.ctypes.data, address, array.nbytes)
            yield name, array


def _refusal(
    spans: Mapping[str, Wanted], found: Mapping[str, Array], when: str = ""
) -> UsageError | None:
    for name, wanted in spans.items():
        mirrored, high = (int(each) for each in found[name].reshape(-1))
        wrong = wanted.refusal((-1 - mirrored, high), when)
        if wrong is not None:
            return wrong
    return None
