"""A card that is none: memory of the host, kernels in Python, graphs that are lists.

Whatever a real card would not forgive is an error here: addresses outside of what was allocated,
freeing twice, work in a stream while it is captured that cannot be captured.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from burnish.core.array_types import array_type
from burnish.core.arrays import Array
from burnish.cuda.driver import NO_MEMORY, Device, DriverError, Start
from burnish.cuda.library import LibraryProduct

FakeKernel = Callable[..., None]
"""Takes the grid, then the memory behind each pointer as bytes, up to the end of its allocation."""

KERNELS: dict[str, FakeKernel] = {}
"""What cubins stand for, by their entries; filled by `kernel`."""

H200 = Device("Fake H200", (9, 0), 1 << 24, 132, 227 << 10, (13, 0), dlpack=(1, 0))


def kernel(function: FakeKernel) -> FakeKernel:
    """File a function under its name as a kernel."""
    KERNELS[function.__name__] = function
    return function


@dataclass(eq=False)
class FakeStream:
    handle: int
    captured: list[Callable[[], None]] | None = None


@dataclass(eq=False)
class FakeEvent:
    reached_s: float | None = None


class FakeDriver:
    """Does everything at once; `calls` says what was asked of it."""

    def __init__(self, ordinal: int = 0, device: Device = H200) -> None:
        self.device = replace(device, dlpack=(device.dlpack[0], ordinal))
        self.calls: list[str] = []
        self.early: list[bool] = []
        """Of each launch, whether it may begin before the one ahead of it has ended."""
        self.refuses: dict[str, DriverError] = {}
        """What the next call of a name raises."""
        self.behind = False
        """Whether streams have not come as far as the host yet, for who asks without waiting."""
        self.library = False
        """Whether there is one that forms products."""
        self._memory: dict[int, Array] = {}
        self._pinned: dict[int, Array] = {}
        self._streams: dict[int, FakeStream] = {1: FakeStream(1)}
        self._clock_s = 0.0
        self._depth = 0

    @property
    def allocations(self) -> int:
        """Return how many pieces of memory nobody has freed."""
        return len(self._memory) + len(self._pinned)

    @contextmanager
    def current(self) -> Iterator[None]:
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1

    def load(self, code: bytes) -> bytes:
        self._called("load")
        return code

    def unload(self, module: bytes) -> None:
        self._called("unload")

    def function(self, module: bytes, entry: str, shared_bytes: int) -> tuple[str, int]:
        self._called("function")
        assert shared_bytes <= self.device.shared_bytes
        if entry not in KERNELS:
            raise DriverError(
                "cuModuleGetFunction", "CUDA_ERROR_NOT_FOUND", "named symbol not found"
            )
        return entry, shared_bytes

    def free_bytes(self) -> int:
        return self.device.memory_bytes - sum(each.nbytes for each in self._memory.values())

    def allocate(self, size: int) -> int:
        self._called("allocate")
        if size > self.free_bytes():
            raise DriverError("cuMemAlloc", NO_MEMORY, "out of memory")
        return self._new(self._memory, size)

    def free(self, address: int) -> None:
        self._called("free")
        del self._memory[address]

    def allocate_pinned(self, size: int) -> int:
        self._called("allocate_pinned")
        return self._new(self._pinned, size)

    def free_pinned(self, address: int) -> None:
        self._called("free_pinned")
        del self._pinned[address]

    def zero(self, address: int, size: int, stream: FakeStream) -> None:
        base = self._base(address)
        assert base is not None
        assert address + size <= base + self._memory[base].nbytes
        self._put(stream, "zero", lambda: ctypes.memset(address, 0, size))

    def copy(self, target: int, source: int, size: int, stream: FakeStream) -> None:
        self._put(stream, "copy", lambda: ctypes.memmove(target, source, size))

    def launch(self, function: tuple[str, int], start: Start, stream: FakeStream) -> None:
        entry, shared_bytes = function
        assert start.shared_bytes == shared_bytes
        assert start.threads % 32 == 0
        assert all(size >= 1 for size in start.grid)
        self.early.append(start.early)
        self._put(stream, f"launch {entry}", lambda: self._start(entry, start))

    def multiplies(self, product: LibraryProduct) -> bool:
        self._called("multiplies")
        return self.library

    def multiply(
        self, product: LibraryProduct, addresses: Sequence[int], stream: FakeStream
    ) -> None:
        assert self.library
        self._put(stream, "multiply", lambda: self._multiplied(product, addresses))

    def _multiplied(self, product: LibraryProduct, addresses: Sequence[int]) -> None:
        """Form a product as the library would."""

        def matrix(place: int, rows: int, columns: int) -> Array:
            kind = array_type(product.dtype)
            base = self._base(addresses[place])
            assert base is not None
            whole = self._memory[base][addresses[place] - base :]
            return whole[: rows * columns * kind.itemsize].view(kind).reshape(rows, columns)

        rows, columns, terms = product.rows, product.columns, product.terms
        right = (columns, terms) if product.turned else (terms, columns)
        b = matrix(product.right, *right).astype(np.float32)
        total = matrix(product.left, rows, terms).astype(np.float32) @ (
            b.T if product.turned else b
        )
        if product.offsets is not None:
            total += matrix(product.offsets, 1, columns)
        if product.added is not None:
            total += matrix(product.added, rows, columns)
        matrix(product.result, rows, columns)[...] = total

    def new_stream(self) -> FakeStream:
        self._called("new_stream")
        made = FakeStream(100 + len(self._streams))
        self._streams[made.handle] = made
        return made

    def stream(self, handle: int) -> FakeStream:
        return self._streams.setdefault(handle or 1, FakeStream(handle or 1))

    def handle(self, stream: FakeStream) -> int:
        return stream.handle

    def drop_stream(self, stream: FakeStream) -> None:
        del self._streams[stream.handle]

    def synchronize(self, stream: FakeStream) -> None:
        assert stream.captured is None, "a stream that is captured cannot be waited for"
        self._called("synchronize")

    def new_event(self) -> FakeEvent:
        return FakeEvent()

    def drop_event(self, event: FakeEvent) -> None:
        pass

    def record(self, event: FakeEvent, stream: FakeStream, *, at_replay: bool = False) -> None:
        assert at_replay == (stream.captured is not None)
        self._put(stream, "record", lambda: setattr(event, "reached_s", self._clock_s))

    def wait(self, stream: FakeStream, event: FakeEvent) -> None:
        self._put(stream, f"wait in {stream.handle}", lambda: None)

    def finish(self, event: FakeEvent) -> None:
        self._called("finish")
        self.behind = False

    def is_reached(self, event: FakeEvent) -> bool:
        self._called("is_reached")
        return event.reached_s is not None and not self.behind

    def elapsed_s(self, start: FakeEvent, end: FakeEvent) -> float:
        assert start.reached_s is not None
        assert end.reached_s is not None
        return end.reached_s - start.reached_s

    def begin_capture(self, stream: FakeStream) -> None:
        self._called("begin_capture")
        assert stream.captured is None
        assert stream.handle not in (1, 2), "the default stream cannot be captured"
        stream.captured = []

    def end_capture(self, stream: FakeStream) -> list[Callable[[], None]]:
        self._called("end_capture")
        assert stream.captured is not None
        found, stream.captured = stream.captured, None
        return found

    def replay(self, graph: list[Callable[[], None]], stream: FakeStream) -> None:
        def all_of_it() -> None:
            for each in graph:
                each()

        self._put(stream, "replay", all_of_it)

    def drop_graph(self, graph: list[Callable[[], None]]) -> None:
        self._called("drop_graph")

    def _called(self, name: str) -> None:
        assert self._depth, f"{name} without a current card"
        self.calls.append(name)
        if name in self.refuses:
            raise self.refuses.pop(name)

    def _put(self, stream: FakeStream, name: str, act: Callable[[], Any]) -> None:
        self._called(name)
        assert self._streams.get(stream.handle) is stream, "the stream is gone"
        if stream.captured is None:
            act()
        else:
            stream.captured.append(act)

    def _start(self, entry: str, start: Start) -> None:
        self._clock_s += 1e-6 * start.grid[0]
        memory = [self._bytes(address) for address in start.addresses]
        KERNELS[entry](start.grid, *memory)

    def _bytes(self, address: int) -> Array | None:
        """Return the memory from an address to the end of its allocation; None: a null pointer."""
        if not address:
            return None
        assert address % 16 == 0, "kernels load 16 bytes at once"
        for place in (self._memory, self._pinned):  # kernels reach the host's pages, too
            base = self._base(address, place)
            if base is not None:
                return place[base][address - base :]
        # another library's: how far it goes nobody knows
        return np.ctypeslib.as_array((ctypes.c_uint8 * (1 << 16)).from_address(address))

    def _base(self, address: int, place: dict[int, Array] | None = None) -> int | None:
        known = self._memory if place is None else place
        inside = (b for b, array in known.items() if b <= address < b + array.nbytes)
        return next(inside, None)

    def _new(self, place: dict[int, Array], size: int) -> int:
        raw = np.full(size + 256, 0xA5, np.uint8)  # as fresh memory is: not zero
        shift = -raw.ctypes.data % 256
        address = raw.ctypes.data + shift
        place[address] = raw[shift : shift + size]
        return int(address)
