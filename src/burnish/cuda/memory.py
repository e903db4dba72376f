"""Memory on a card that is kept, and given out again when nobody needs it any more."""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from burnish.core.errors import MissingCapabilityError
from burnish.core.units import size as size_text
from burnish.cuda.driver import NO_MEMORY, Driver, DriverError, Stream

ALIGNMENT = 256
"""Of what lies in one block with others, in bytes: at least what the driver itself gives."""


def aligned(size: int) -> int:
    """Return the bytes up to where the next thing in a block may begin."""
    return -(-size // ALIGNMENT) * ALIGNMENT


@contextmanager
def enough_memory(driver: Driver, needed: int, what: str) -> Iterator[None]:
    """Explain that the card has not so much memory."""
    try:
        yield
    except DriverError as error:
        if error.name != NO_MEMORY:
            raise
        device = driver.device
        raise MissingCapabilityError(
            f"{what} needs {size_text(needed)} on {device.name}, of whose"
            f" {size_text(device.memory_bytes)} only {size_text(driver.free_bytes())} are free",
            hint="end what else uses the card (nvidia-smi lists it), or compile for smaller sizes:"
            " burnish compile --shape",
        ) from error


class Holder:
    """As long as it lives its memory is not given out again."""

    __slots__ = ("__weakref__",)


@dataclass(eq=False, slots=True)
class Slot:
    """A block of memory for the outputs of one call."""

    address: int
    users: set[int] = field(default_factory=set)
    """Streams in which somebody writes or reads it."""


class SlotPool:
    """Blocks of one size, made as they are needed; in a steady state the same few go around.

    Blocks come back whenever Python finds that nobody has them, in the middle of anything; so there
    is no lock that whoever is interrupted could hold, only operations that are one step each.
    """

    def __init__(self, driver: Driver, size: int) -> None:
        self._driver = driver
        self._size = size
        self._idle: deque[Slot] = deque()
        self._closed = False

    def take(self, stream: Stream) -> tuple[Slot, Holder]:
        """Return a block that may be written in a stream, and what keeps it from others."""
        try:
            slot = self._idle.pop()
        except IndexError:
            with enough_memory(self._driver, self._size, "one more run"):
                slot = Slot(self._driver.allocate(max(self._size, 1)))
        self._wait_for_users(slot, stream)
        holder = Holder()
        back = weakref.finalize(holder, self._give_back, slot)
        back.atexit = False  # the card's memory ends with the process
        return slot, holder

    def close(self) -> None:
        """Free what is idle now, and the rest as it comes back."""
        self._closed = True
        self._free_idle()

    def _wait_for_users(self, slot: Slot, stream: Stream) -> None:
        """Let a stream wait for whatever others have put in line on this block."""
        own = self._driver.handle(stream)
        for user in slot.users - {own}:
            event = self._driver.new_event()
            self._driver.record(event, self._driver.stream(user))
            self._driver.wait(stream, event)
            self._driver.drop_event(event)
        slot.users = {own}

    def _give_back(self, slot: Slot) -> None:
        self._idle.append(slot)
        if self._closed:
            with self._driver.current():
                self._free_idle()

    def _free_idle(self) -> None:
        with suppress(IndexError):
            while True:
                self._driver.free(self._idle.pop().address)
