"""A plan that runs in less memory than it needs: what does not fit waits in memory of the host."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack

import numpy as np
from numpy.typing import NDArray

from burnish.core.array_types import array_type
from burnish.core.arrays import Array
from burnish.core.errors import MissingCapabilityError
from burnish.core.residency import Residency, SteppedWork, TooSmallError, Touched, residency
from burnish.core.units import size as size_text
from burnish.cuda import feeding
from burnish.cuda.driver import Driver, Event, Stream
from burnish.cuda.executable import CardStepTime, Feeds, at_work
from burnish.cuda.graphs import Line, Memory
from burnish.cuda.loaded import LoadedKernels
from burnish.cuda.looking import Looks
from burnish.cuda.memory import aligned, enough_memory
from burnish.cuda.plan import Copy, CubinStep, DevicePlan, program_bytes
from burnish.cuda.timetable import Moved, TimedStep, timetable

Bytes = NDArray[np.uint8]


def work_of(plan: DevicePlan) -> SteppedWork:
    """Return what the steps of a plan touch; inputs and outputs are the host's."""
    steps = tuple(_touched(step) for step in plan.steps)
    names = dict.fromkeys(name for step in steps for name in step.names)
    homes = {name: plan.buffers[name].home for name in names}
    constants = frozenset(name for name in names if homes[name] == "constant")
    # programs of a kernel add to what must be zero before: they do not do so across the link
    zeroed = frozenset(name for step in plan.kernel_steps for name in step.zeroed)
    return SteppedWork(
        steps=steps,
        sizes={name: aligned(plan.buffers[name].bytes) for name in names},
        given=constants | {name for name in names if homes[name] == "input"},
        wanted=frozenset(name for name in names if homes[name] == "output"),
        fixed=constants | zeroed,
        lasting=constants,
    )


def _touched(step: CubinStep | Copy) -> Touched:
    match step:
        case Copy(source, target):
            return Touched((source,), (target,))
        case CubinStep():
            read = (name for name in step.arguments if name not in step.outputs)
            return Touched(tuple(dict.fromkeys(read)), step.outputs)


class StreamedExecutable:
    """Runs a plan inside of a limit; calls from several threads run one after the other."""

    def __init__(
        self,
        driver: Driver,
        plan: DevicePlan,
        loaded: LoadedKernels,
        constants: Bytes,
        limit_bytes: int,
    ) -> None:
        self.plan = plan
        self._driver = driver
        self._lock = threading.Lock()
        self._results = plan.results or plan.outputs
        self._looks = Looks(driver, plan)
        self._work = work_of(plan)
        programs = aligned(program_bytes(plan, loaded.kernels))
        self.residency = _fitting(self._work, plan, limit_bytes - programs)
        self._block = _Layout(self._work.sizes, self.residency.kept, aligned(self.residency.bytes))
        self._host = _Layout(self._work.sizes, _on_host(self._work, self.residency))
        needed = self._block.end + programs
        with ExitStack() as undo:
            with enough_memory(driver, needed, "the model"):
                self._card = driver.allocate(max(needed, 1))
            undo.callback(driver.free, self._card)
            self._pinned = driver.allocate_pinned(max(self._host.end, 1))
            undo.callback(driver.free_pinned, self._pinned)
            self._streams = tuple(driver.new_stream() for _ in range(3))
            undo.pop_all()
        behind = Memory(0, self._card + self._block.end, 0)
        self._line = Line(driver, plan, loaded, behind, library=False)
        self._timetable = timetable(self._work, self.residency)
        self._events = [driver.new_event() for _ in range(self._timetable.events + 1)]
        self._addresses = tuple(map(self._places, self._work.steps, self._timetable.steps))
        self._taken: Feeds = {}
        """The inputs that lie where the card fetches them."""
        self._take_constants(constants)

    def to_host(self, feeds: Feeds) -> dict[str, Array]:
        """Run once; the outputs are new arrays of the host."""
        with at_work(self._driver, self._lock):
            self._take(feeds)
            self._run()
            return self._given_out()

    def prepare(self, feeds: Feeds) -> Callable[[], None]:
        """Return one run on these inputs, kept by the host, that ends when it is done."""
        held = {name: np.array(np.asarray(feed)) for name, feed in feeds.items()}

        def run() -> None:
            with at_work(self._driver, self._lock):
                if self._taken is not held:
                    self._take(held)
                self._run()

        run()
        self._looks.require(self._arrays(self.plan.spans))
        return run

    def step_times(self, feeds: Feeds, *, warmup: int, runs: int) -> list[list[CardStepTime]]:
        """Return when each step of each of `runs` runs began, with what it had to wait for."""
        found = []
        with at_work(self._driver, self._lock):
            self._take(feeds)
            for _ in range(warmup + runs):
                self._run()
                found.append(self._times())
        return found[warmup:]

    def close(self) -> None:
        """Free the memory of the card and of the host."""
        with at_work(self._driver, self._lock):
            self._line.close()
            for event in self._events:
                self._driver.drop_event(event)
            for stream in self._streams:
                self._driver.drop_stream(stream)
            self._driver.free_pinned(self._pinned)
            self._driver.free(self._card)

    def _run(self) -> None:
        """Put everything in line, and wait until all of it is done."""
        kernels, there, back = self._streams
        self._driver.record(self._events[-1], kernels)
        every = zip(self.plan.steps, self._timetable.steps, self._addresses, strict=True)
        for step, timed, addresses in every:
            for move in timed.fetched:
                self._copy(move, there, to_card=True)
            self._wait(timed.after, kernels)
            self._line.step(step, addresses, kernels)
            self._driver.record(self._events[timed.event], kernels)
            for move in timed.stored:
                self._copy(move, back, to_card=False)
        for stream in self._streams:
            self._driver.synchronize(stream)

    def _copy(self, move: Moved, stream: Stream, *, to_card: bool) -> None:
        self._wait(move.after, stream)
        card, host = self._card + move.offset, self._pinned + self._host.offsets[move.name]
        target, source = (card, host) if to_card else (host, card)
        if size := self.plan.buffers[move.name].bytes:
            self._driver.copy(target, source, size, stream)
        self._driver.record(self._events[move.event], stream)

    def _wait(self, events: Iterable[int], stream: Stream) -> None:
        for event in events:
            self._driver.wait(stream, self._events[event])

    def _places(self, touched: Touched, timed: TimedStep) -> Mapping[str, int]:
        """Return where everything is that a step touches: there for a while, kept, or aside."""
        card = {**self._block.offsets, **timed.places}
        return {
            name: self._card + card[name]
            if name in card
            else self._pinned + self._host.offsets[name]
            for name in touched.names
        }

    def _times(self) -> list[CardStepTime]:
        found, begun = [], 0.0
        for timed in self._timetable.steps:
            ended = self._elapsed(self._events[timed.event])
            found.append(CardStepTime(begun, ended - begun))
            begun = ended
        return found

    def _elapsed(self, event: Event) -> float:
        return self._driver.elapsed_s(self._events[-1], event)

    def _take_constants(self, constants: Bytes) -> None:
        """Bring what stays to the card, and the rest to where the card fetches it."""
        stream = self._streams[0]
        for name in self._work.lasting:
            buffer = self.plan.buffers[name]
            source = constants.ctypes.data + buffer.offset
            if name in self.residency.kept and buffer.bytes:
                target = self._card + self._block.offsets[name]
                self._driver.copy(target, source, buffer.bytes, stream)
            elif name in self._host.offsets:
                ctypes.memmove(self._pinned + self._host.offsets[name], source, buffer.bytes)
        self._driver.synchronize(stream)

    def _take(self, feeds: Feeds) -> None:
        """Copy the inputs to where the card fetches them."""
        self._taken = feeds
        stream = self._streams[0]
        with ExitStack() as until_done:
            given = feeding.checked(feeds, self.plan, self._driver, stream, until_done)
            for name, each in given.items():
                buffer = self.plan.buffers[name]
                if name in self._host.offsets and buffer.bytes:
                    place = self._pinned + self._host.offsets[name]
                    if each.on_card:
                        self._driver.copy(place, each.address, buffer.bytes, stream)
                    else:
                        ctypes.memmove(place, each.address, buffer.bytes)
            self._driver.synchronize(stream)

    def _given_out(self) -> dict[str, Array]:
        """Return the outputs, whose places were found to exist."""
        found = self._arrays(self.plan.given)
        self._looks.require(found)
        named = zip(self._results, self.plan.outputs, strict=True)
        return {result: found[name] for result, name in named}

    def _arrays(self, names: Iterable[str]) -> dict[str, Array]:
        """Return what a run has given out, as arrays of their own."""
        found = {}
        for name in names:
            buffer = self.plan.buffers[name]
            array = np.empty(buffer.shape, array_type(buffer.dtype))
            ctypes.memmove(array.ctypes.data, self._pinned + self._host.offsets[name], array.nbytes)
            found[name] = array
        return found


class _Layout:
    """Things one after the other in one block, from some place on."""

    def __init__(self, sizes: Mapping[str, int], names: Iterable[str], begin: int = 0) -> None:
        self.offsets: dict[str, int] = {}
        self.end = begin
        for name in sorted(names):
            self.offsets[name] = self.end
            self.end += sizes[name]


def _on_host(work: SteppedWork, found: Residency) -> set[str]:
    """Return what lies aside at some time."""
    fetched = {stay.name for stay in found.stays if stay.fetched}
    touched = {name for names in found.aside.values() for name in names}
    return {*fetched, *touched, *found.stored, *work.wanted}


def _fitting(work: SteppedWork, plan: DevicePlan, limit_bytes: int) -> Residency:
    """Return how the steps run in so much memory; one line where they cannot."""
    try:
        return residency(work, limit_bytes)
    except TooSmallError as error:
        step = plan.steps[error.step]
        what = f"the kernel {step.kernel!r}" if isinstance(step, CubinStep) else "a copy"
        raise MissingCapabilityError(
            f"{what} needs {size_text(error.needed_bytes)} of the card's memory for itself, and"
            f" {size_text(max(limit_bytes, 0))} are allowed",
            hint=f"allow more: --device-memory {error.needed_bytes}, or compile for smaller sizes:"
            " burnish compile --shape",
        ) from error
