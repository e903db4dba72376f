"""What the runtime needs of a card, as NVIDIA's driver gives it: thin, so that a fake can stand in.

Addresses are whole numbers, handles are whatever the driver gives out. Everything that takes a
stream is only put in line there. What fails raises `DriverError`.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol

from burnish.cuda.library import LibraryProduct

Module = Any
Function = Any
Stream = Any
Event = Any
Graph = Any
"""Handles of the driver's own types."""

LEGACY = 1
"""The number of the default stream, which some call 0."""

NO_DEVICE, NO_MEMORY = "CUDA_ERROR_NO_DEVICE", "CUDA_ERROR_OUT_OF_MEMORY"
NOT_READY = "CUDA_ERROR_NOT_READY"


class DriverError(Exception):
    """A call of the driver failed."""

    def __init__(self, call: str, name: str, text: str = "") -> None:
        super().__init__(f"{call}: {name}" + (f" ({text})" if text else ""))
        self.call = call
        self.name = name
        """As the driver calls it: `CUDA_ERROR_OUT_OF_MEMORY`."""


@dataclass(frozen=True, slots=True)
class Device:
    """A card, and the driver that it is used through."""

    name: str
    capability: tuple[int, int]
    memory_bytes: int
    multiprocessors: int
    shared_bytes: int
    """The most that one program can have."""
    driver: tuple[int, int]
    """The newest version of CUDA that the driver knows."""
    dlpack: tuple[int, int]
    """How DLPack calls it: a type of device and a number."""

    @property
    def architecture(self) -> str:
        """Return the kind of card that kernels must be built for."""
        return f"sm_{self.capability[0]}{self.capability[1]}"


@dataclass(frozen=True, slots=True)
class Start:
    """How many programs of a kernel are started, and what each of them gets."""

    grid: tuple[int, int, int]
    threads: int
    shared_bytes: int
    addresses: tuple[int, ...]
    early: bool = False
    """Whether it may begin while the kernel ahead of it in its stream still runs."""


class Driver(Protocol):
    """A card that can be used."""

    @property
    def device(self) -> Device:
        """Return what is known of the card."""

    def current(self) -> AbstractContextManager[None]:
        """Make the card the one that this thread's calls are for, as long as it is held."""

    def load(self, code: bytes) -> Module:
        """Return a cubin as the card runs it."""

    def unload(self, module: Module) -> None:
        """Free what `load` gave."""

    def function(self, module: Module, entry: str, shared_bytes: int) -> Function:
        """Return a kernel of a module that may be started with so much shared memory."""

    def free_bytes(self) -> int:
        """Return how much of the card's memory nobody has."""

    def allocate(self, size: int) -> int:
        """Return the address of new memory on the card."""

    def free(self, address: int) -> None:
        """Give memory on the card back."""

    def allocate_pinned(self, size: int) -> int:
        """Return the address of new memory of the host that the card can reach by itself."""

    def free_pinned(self, address: int) -> None:
        """Give such memory back."""

    def zero(self, address: int, size: int, stream: Stream) -> None:
        """Fill memory on the card with zeros."""

    def copy(self, target: int, source: int, size: int, stream: Stream) -> None:
        """Copy memory; either side may be the card's or the host's."""

    def launch(self, function: Function, start: Start, stream: Stream) -> None:
        """Start a kernel."""

    def multiplies(self, product: LibraryProduct) -> bool:
        """Say whether there is a library here that forms a product on this card."""

    def multiply(self, product: LibraryProduct, addresses: Sequence[int], stream: Stream) -> None:
        """Let the library form a product, over the pointers of the kernel in whose place it is."""

    def new_stream(self) -> Stream:
        """Return a line of work that waits for no other."""

    def stream(self, handle: int) -> Stream:
        """Return the stream that somebody else made."""

    def handle(self, stream: Stream) -> int:
        """Return the number by which others know a stream."""

    def drop_stream(self, stream: Stream) -> None:
        """Free what `new_stream` gave."""

    def synchronize(self, stream: Stream) -> None:
        """Wait until all that stands in a stream is done."""

    def new_event(self) -> Event:
        """Return something that notes when it was reached."""

    def drop_event(self, event: Event) -> None:
        """Free what `new_event` gave."""

    def record(self, event: Event, stream: Stream, *, at_replay: bool = False) -> None:
        """Put an event in line; `at_replay`: in a captured graph, to be reached by each replay."""

    def wait(self, stream: Stream, event: Event) -> None:
        """Let a stream wait for an event."""

    def finish(self, event: Event) -> None:
        """Wait until an event was reached; one that never was in line is."""

    def is_reached(self, event: Event) -> bool:
        """Say whether an event was reached, without waiting."""

    def elapsed_s(self, start: Event, end: Event) -> float:
        """Return the seconds between two events that were reached."""

    def begin_capture(self, stream: Stream) -> None:
        """Record what is put into a stream from now on instead of doing it."""

    def end_capture(self, stream: Stream) -> Graph:
        """Return what was recorded, ready to be replayed."""

    def replay(self, graph: Graph, stream: Stream) -> None:
        """Put all that was recorded in line."""

    def drop_graph(self, graph: Graph) -> None:
        """Free what `end_capture` gave."""
