"""A plan's kernels put in line: one by one at first, as one captured graph when they come again."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from burnish.cuda.driver import Driver, DriverError, Event, Graph, Start, Stream
from burnish.cuda.loaded import LoadedKernels
from burnish.cuda.plan import Copy, CubinStep, DevicePlan

Addresses = Mapping[str, int]
"""Where inputs and outputs are."""

MOST_GRAPHS = 16
"""Kept at once, for different addresses of inputs and outputs; each costs the card some memory."""


@dataclass(slots=True)
class _Captured:
    graph: Graph
    last: Stream
    """Where it was last replayed."""


@dataclass(frozen=True, slots=True)
class Memory:
    """What stays where it is on the card."""

    arena: int
    programs: int
    """For what the programs of a step need for themselves."""
    constants: int
    lent: Addresses = field(default_factory=dict)
    """Constants that lie elsewhere: somebody has them on the card already."""


class Line:
    """Puts a plan's steps in line, on any addresses of inputs and outputs."""

    def __init__(
        self,
        driver: Driver,
        plan: DevicePlan,
        loaded: LoadedKernels,
        memory: Memory,
        *,
        library: bool = True,
    ) -> None:
        """`library`: whether one may form products; all that it touches must lie on the card."""
        self._driver = driver
        self._by_library = loaded.by_library if library else frozenset()
        self._plan = plan
        self._loaded = loaded
        self._programs = memory.programs
        homes = {"arena": memory.arena, "constant": memory.constants}
        self._fixed = {
            name: homes[buffer.home] + buffer.offset
            for name, buffer in plan.buffers.items()
            if buffer.home in homes
        } | dict(memory.lent)
        self._border = (*plan.inputs, *plan.given)
        self._graphs: OrderedDict[tuple[int, ...], _Captured] = OrderedDict()
        self._seen: OrderedDict[tuple[int, ...], None] = OrderedDict()

    def run(self, addresses: Addresses, stream: Stream, own: Stream) -> None:
        """Put the steps in line; `own` is a stream that is idle, to capture in.

        Graphs hold addresses. Those that come a second time get a graph: libraries that give
        memory out again come back with few different ones.
        """
        key = tuple(addresses[name] for name in self._border)
        if key not in self._graphs and key not in self._seen:
            self._seen[key] = None
            if len(self._seen) > MOST_GRAPHS:
                self._seen.popitem(last=False)
            self.each(addresses, stream)
            return
        self.replay(addresses, stream, own)

    def replay(self, addresses: Addresses, stream: Stream, own: Stream) -> None:
        """Put the graph for these addresses in line; it is captured if there is none yet."""
        key = tuple(addresses[name] for name in self._border)
        found = self._graphs.get(key)
        if found is None:
            graph = self._captured(lambda: self.each(addresses, own), own)
            found = self._graphs[key] = _Captured(graph, stream)
            if len(self._graphs) > MOST_GRAPHS:
                self._drop(self._graphs.popitem(last=False)[1])
        self._graphs.move_to_end(key)
        found.last = stream
        self._driver.replay(found.graph, stream)

    def each(self, addresses: Addresses, stream: Stream) -> None:
        """Put the steps in line one by one."""
        every = {**self._fixed, **addresses}
        ahead: CubinStep | Copy | None = None
        for step in self._plan.steps:
            self.step(step, every, stream, ahead)
            ahead = step

    def repeated(self, addresses: Addresses, own: Stream, times: int) -> Graph:
        """Return a graph of all steps, several times one after the other."""

        def put() -> None:
            for _ in range(times):
                self.each(addresses, own)

        return self._captured(put, own)

    def with_events(self, addresses: Addresses, own: Stream, events: Sequence[Event]) -> Graph:
        """Return a graph that reaches an event before each step, and one at its end."""
        every = {**self._fixed, **addresses}

        def put() -> None:
            for step, event in zip(self._plan.steps, events, strict=False):
                self._driver.record(event, own, at_replay=True)
                self.step(step, every, own)
            self._driver.record(events[len(self._plan.steps)], own, at_replay=True)

        return self._captured(put, own)

    def step(
        self,
        step: CubinStep | Copy,
        addresses: Addresses,
        stream: Stream,
        ahead: CubinStep | Copy | None = None,
    ) -> None:
        """Put one step in line; `ahead` is the one before it, if nothing else lies between.

        Only behind kernels is a kernel started early: by waiting for one it has waited for all.
        """
        match step:
            case Copy(source, target):
                if size := self._plan.buffers[source].bytes:
                    self._driver.copy(addresses[target], addresses[source], size, stream)
            case CubinStep():
                self._start(step, addresses, stream, behind_kernel=self._is_kernel(ahead))

    def close(self) -> None:
        """Free the graphs."""
        for captured in self._graphs.values():
            self._drop(captured)
        self._graphs.clear()

    def _captured(self, put: Callable[[], None], own: Stream) -> Graph:
        self._driver.begin_capture(own)
        try:
            put()
        except BaseException:
            # a stream that is left capturing can do nothing else; what was captured may be spoilt
            with suppress(DriverError):
                self._driver.drop_graph(self._driver.end_capture(own))
            raise
        return self._driver.end_capture(own)

    def _is_kernel(self, step: CubinStep | Copy | None) -> bool:
        return isinstance(step, CubinStep) and step.kernel not in self._by_library

    def _start(
        self, step: CubinStep, addresses: Addresses, stream: Stream, *, behind_kernel: bool
    ) -> None:
        for name in step.zeroed:
            if size := self._plan.buffers[name].bytes:
                self._driver.zero(addresses[name], size, stream)
        kernel, function = self._loaded.kernels[step.kernel], self._loaded.functions[step.kernel]
        if kernel.library is not None and step.kernel in self._by_library:
            places = [addresses[name] for name in step.arguments]
            self._driver.multiply(kernel.library, places, stream)
            return
        behind = (self._programs if kernel.program_bytes else 0, 0, 0, 0)[: kernel.trailing]
        given = (*(addresses[name] for name in step.arguments), *behind)
        early = kernel.early and behind_kernel and not step.zeroed
        start = Start(step.grid, kernel.threads, kernel.shared_bytes, given, early)
        self._driver.launch(function, start, stream)

    def _drop(self, captured: _Captured) -> None:
        self._driver.synchronize(captured.last)
        self._driver.drop_graph(captured.graph)
