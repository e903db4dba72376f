"""A plan that can be run on a card: memory that is set out once, and a graph that is replayed."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from burnish.core.array_types import array_type
from burnish.core.arrays import Array
from burnish.core.errors import ModelError
from burnish.cuda import feeding
from burnish.cuda.device_array import DeviceArray
from burnish.cuda.dlpack import LentMemory
from burnish.cuda.driver import Driver, DriverError, Event, Stream
from burnish.cuda.feeding import Feed, GivenInput
from burnish.cuda.graphs import Addresses, Line, Memory
from burnish.cuda.kernel import CubinKernel
from burnish.cuda.loaded import LoadedKernels
from burnish.cuda.looking import Looks
from burnish.cuda.memory import Holder, Slot, SlotPool, aligned, enough_memory
from burnish.cuda.plan import Buffer, DevicePlan, program_bytes
from burnish.cuda.staging import Staging

Feeds = Mapping[str, Feed]
Result = Array | DeviceArray


@dataclass(frozen=True, slots=True)
class CardStepTime:
    """One step of a run, on the card's own clock."""

    start_s: float
    """Since the run's first step began."""
    duration_s: float


class DeviceExecutable:
    """Runs a plan on a card; calls from several threads run one after the other."""

    def __init__(
        self,
        driver: Driver,
        plan: DevicePlan,
        loaded: LoadedKernels,
        constants: int,
        lent: Addresses | None = None,
        *,
        looks: list[Looks] | None = None,
    ) -> None:
        """`looks`: those of other plans of the model; see `Looks`."""
        self.plan = plan
        self._driver = driver
        self._lock = threading.Lock()
        self._results = plan.results or plan.outputs
        shared = aligned(plan.arena_bytes)
        needed = shared + program_bytes(plan, loaded.kernels)
        with enough_memory(driver, needed, "the model"):
            self._arena = driver.allocate(max(needed, 1))
        self._own = driver.new_stream()
        self._last: Stream | None = None
        """Where the last run was put: whoever runs elsewhere waits for it, in the same memory."""
        self._staging = Staging(driver)
        self._inputs = _Block(driver, {name: plan.buffers[name] for name in plan.inputs})
        self._outputs = _Block(driver, {name: plan.buffers[name] for name in plan.given})
        self._looks = Looks(driver, plan, looks)
        memory = Memory(self._arena, self._arena + shared, constants, lent or {})
        self._line = Line(driver, plan, loaded, memory)

    def run(
        self,
        feeds: Feeds,
        *,
        stream: Any = None,  # noqa: ANN401  (of any library)
        on_card: bool | None = None,
    ) -> dict[str, Result]:
        """Run once. Inputs on the card are read where they are; outputs are new.

        `stream`: the outputs are ready in it, and inputs on the card must stay as they are until
        it has come so far. None: the outputs are ready on return. `on_card`: where the outputs
        are to be; None: on the card if an input is.
        """
        with at_work(self._driver, self._lock), ExitStack() as until_done:
            self._looks.due()
            line = self._stream(stream)
            given = feeding.checked(feeds, self.plan, self._driver, line, until_done)
            self._turn_to(line)
            inputs, _kept = self._placed(given, line)
            slot, holder = self._outputs.pool.take(line)
            outputs = self._outputs.addresses(slot)
            self._line.run({**inputs, **outputs}, line, self._own)
            if on_card is None:
                on_card = any(each.on_card for each in given.values())
            if not on_card:
                return {**self._fetched(outputs, line)}
            if stream is None:
                self._require_places(outputs, line)
            else:
                self._looks.later(outputs, line)
            written_in = None if stream is None else line
            return {**self._lent(outputs, (slot, holder), written_in)}

    def to_host(self, feeds: Feeds) -> dict[str, Array]:
        """Run once; the outputs are new arrays of the host."""
        return {name: np.asarray(each) for name, each in self.run(feeds, on_card=False).items()}

    def prepare(self, feeds: Feeds) -> Callable[[], None]:
        """Return one run on these inputs, which are on the card then, that ends when it is done."""
        prepared = self._prepared(feeds)

        def run() -> None:
            with at_work(self._driver, self._lock):
                self._turn_to(self._own)
                self._line.replay(prepared.addresses, self._own, self._own)
                self._driver.synchronize(self._own)

        return run

    def times_s(
        self, feeds: Feeds, *, warmup: int, runs: int, repeats: int = 1
    ) -> tuple[float, ...]:
        """Return how long each of `runs` runs took, on the card's own clock.

        `repeats`: each is the mean of so many in one graph, so that what it costs to begin and to
        end a graph does not count.
        """
        prepared = self._prepared(feeds)
        with at_work(self._driver, self._lock), self._events(2) as (start, end):
            self._turn_to(self._own)
            graph = self._line.repeated(prepared.addresses, self._own, repeats)
            found = []
            for _ in range(warmup + runs):
                self._driver.record(start, self._own)
                self._driver.replay(graph, self._own)
                self._driver.record(end, self._own)
                self._driver.synchronize(self._own)
                found.append(self._driver.elapsed_s(start, end) / repeats)
            self._driver.drop_graph(graph)
        return tuple(found[warmup:])

    def step_times(self, feeds: Feeds, *, warmup: int, runs: int) -> list[list[CardStepTime]]:
        """Return when each step of each of `runs` runs began, and how long it took."""
        prepared = self._prepared(feeds)
        with at_work(self._driver, self._lock), self._events(len(self.plan.steps) + 1) as events:
            self._turn_to(self._own)
            graph = self._line.with_events(prepared.addresses, self._own, events)
            recorded = []
            for _ in range(warmup + runs):
                self._driver.replay(graph, self._own)
                self._driver.synchronize(self._own)
                reached = [self._driver.elapsed_s(events[0], event) for event in events]
                times = [CardStepTime(begin, end - begin) for begin, end in pairwise(reached)]
                recorded.append(times)
            self._driver.drop_graph(graph)
        return recorded[warmup:]

    def close(self) -> None:
        """Free the card's memory; outputs that somebody still has keep theirs.

        Raises, when all is freed, where a run in a stream that nobody looked at since was wrong.
        """
        with at_work(self._driver, self._lock):
            self._driver.synchronize(self._own)
            self._line.close()
            self._staging.close()
            self._inputs.pool.close()
            self._outputs.pool.close()
            self._driver.drop_stream(self._own)
            self._driver.free(self._arena)
            self._looks.close()

    def _turn_to(self, line: Stream) -> None:
        """Let a stream wait for the last run where that was put into another one."""
        last = self._last
        if last is not None and self._driver.handle(line) != self._driver.handle(last):
            event = self._driver.new_event()
            self._driver.record(event, last)
            self._driver.wait(line, event)
            self._driver.drop_event(event)
        self._last = line

    def _stream(self, stream: Any) -> Stream:  # noqa: ANN401
        return self._own if stream is None else self._driver.stream(feeding.stream_handle(stream))

    def _placed(
        self, given: Mapping[str, GivenInput], line: Stream
    ) -> tuple[dict[str, int], Holder]:
        """Return where the inputs are on the card; those that are elsewhere are sent there."""
        found = {name: each.address for name, each in given.items() if each.usable}
        if len(found) == len(given):
            return found, Holder()
        slot, holder = self._inputs.pool.take(line)
        places = self._inputs.addresses(slot)
        sent = []
        for name, each in given.items():
            size = self.plan.buffers[name].bytes
            if name in found or not size:
                continue
            if each.on_card:
                self._driver.copy(places[name], each.address, size, line)
            else:
                sent.append((places[name], each.address, size))
        self._staging.send(sent, line)
        return {**places, **found}, holder

    def _fetched(self, places: Mapping[str, int], line: Stream) -> dict[str, Array]:
        """Return the outputs as arrays of the host."""
        found = self._arrays(self.plan.given, places, line)
        self._looks.require(found)
        named = zip(self._results, self.plan.outputs, strict=True)
        return {result: found[name] for result, name in named}

    def _require_places(self, places: Mapping[str, int], line: Stream) -> None:
        """Wait until a run is done; raise if it was led to a place that does not exist."""
        self._looks.require(self._arrays(tuple(self.plan.spans), places, line))

    def _arrays(
        self, names: Sequence[str], places: Mapping[str, int], line: Stream
    ) -> dict[str, Array]:
        """Return what lies in buffers on the card, once a stream has come so far."""
        buffers = [self.plan.buffers[name] for name in names]
        found = [np.empty(buffer.shape, array_type(buffer.dtype)) for buffer in buffers]
        self._staging.fetch([places[name] for name in names], found, line)
        return dict(zip(names, found, strict=True))

    def _lent(
        self, places: Mapping[str, int], memory: tuple[Slot, Holder], written_in: Stream | None
    ) -> dict[str, DeviceArray]:
        """Return the outputs where they are."""
        device = self._driver.device.dlpack
        found = {}
        for result, name in zip(self._results, self.plan.outputs, strict=True):
            buffer = self.plan.buffers[name]
            piece = LentMemory(places[name], buffer.dtype, buffer.shape, device)
            found[result] = DeviceArray(self._driver, piece, memory, written_in, self._looks.due)
        return found

    def _prepared(self, feeds: Feeds) -> _Prepared:
        """Return inputs and outputs that keep their places."""
        with at_work(self._driver, self._lock), ExitStack() as until_done:
            given = feeding.checked(feeds, self.plan, self._driver, self._own, until_done)
            self._turn_to(self._own)
            inputs, holder = self._placed(given, self._own)
            slot, kept = self._outputs.pool.take(self._own)
            addresses = {**inputs, **self._outputs.addresses(slot)}
            prepared = _Prepared(addresses, (holder, kept, until_done.pop_all(), feeds))
            self._line.replay(addresses, self._own, self._own)
            self._require_places(addresses, self._own)
        return prepared

    @contextmanager
    def _events(self, count: int) -> Iterator[list[Event]]:
        events = [self._driver.new_event() for _ in range(count)]
        try:
            yield events
        finally:
            for event in events:
                self._driver.drop_event(event)


@contextmanager
def at_work(driver: Driver, lock: threading.Lock) -> Iterator[None]:
    """Use the card alone, and explain what goes wrong on it."""
    with lock, driver.current():
        try:
            yield
        except DriverError as error:
            raise ModelError(
                f"a run on {driver.device.name} failed: {error}",
                hint="try it in a new process; if it fails there, too, compile it again with"
                " burnish compile",
            ) from error


def needed_bytes(plan: DevicePlan, kernels: Mapping[str, CubinKernel]) -> int:
    """Return how much of the card's memory a plan takes, without constants."""
    border = sum(aligned(plan.buffers[name].bytes) for name in (*plan.inputs, *plan.given))
    return aligned(plan.arena_bytes) + program_bytes(plan, kernels) + border


@dataclass(frozen=True, slots=True)
class _Prepared:
    addresses: Mapping[str, int]
    kept: tuple[object, ...]
    """Whatever keeps the memory at these addresses."""


class _Block:
    """Buffers that lie one after the other in memory of their own."""

    def __init__(self, driver: Driver, buffers: Mapping[str, Buffer]) -> None:
        self._offsets: dict[str, int] = {}
        end = 0
        for name, buffer in buffers.items():
            self._offsets[name] = end
            end += aligned(buffer.bytes)
        self.pool = SlotPool(driver, end)

    def addresses(self, slot: Slot) -> dict[str, int]:
        """Return where each buffer is in a slot."""
        return {name: slot.address + offset for name, offset in self._offsets.items()}
