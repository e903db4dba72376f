"""A program that runs one model again and again, for profilers that watch from outside.

`python -m burnish.engines.repeated REQUEST.json`; every inference is a range `Batch-N Forward`, as
ONNX Runtime names them, so that readers know where each begins and ends. A profiler that waits to
be let in (`ncu --profile-from-start off`) sees these and not what warms up.
"""

from __future__ import annotations

import ctypes
import importlib
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from burnish.core import records
from burnish.engines.base import ENGINES, EngineOptions
from burnish.store.stored import StoredModel
from burnish.timing.counters import LAST_CACHE_MISSES, Counter, NotCountedError

_DRIVER = "libcuda.so.1"
_MARKERS = ("libnvToolsExt.so.1", "libnvToolsExt.so")
Push = Callable[[str], None]
Pop = Callable[[], None]


@dataclass(frozen=True, slots=True)
class Repeating:
    """What to run, on which inputs, and how often."""

    engine: str
    module: str
    """Where the engine is defined: it need not be one of ours."""
    model: StoredModel
    options: EngineOptions
    feeds: Path
    """An .npz with the inputs."""
    warmup: int
    runs: int
    counts: Path | None = None
    """Where to write how often the last cache missed in all runs together; None: nowhere."""


@dataclass(frozen=True, slots=True)
class CacheMisses:
    """What the processor counted in all runs together."""

    misses: Mapping[str, float] = field(default_factory=dict)
    """`read` and `written`, as far as it tells them apart."""
    reason: str = ""
    """Why nothing was counted."""


def main(request: Path) -> None:
    """Run what a file asks for."""
    asked: Repeating = records.decode(Repeating, json.loads(request.read_bytes()))
    importlib.import_module(asked.module)
    with np.load(asked.feeds) as stored:
        feeds = {name: stored[name] for name in stored.files}
    # before a session starts threads: only those that come later are counted with this one
    counters, reason = _counters() if asked.counts is not None else ({}, "")
    session = ENGINES[asked.engine].open(asked.model, asked.options)
    for _ in range(asked.warmup):
        session.run(feeds)
    push, pop = _marks()
    with ExitStack() as stack:
        for counter in counters.values():
            stack.enter_context(counter.on())
        if (driver := _driver()) is not None:
            stack.enter_context(_let_in(driver))
        for number in range(asked.runs):
            with _range(f"Batch-{number} Forward", push, pop):
                session.run(feeds)
    if asked.counts is not None:
        found = _counted(counters) if counters else CacheMisses(reason=reason)
        asked.counts.write_text(records.text_of(records.encode(found)))


def _counters() -> tuple[dict[str, Counter], str]:
    """Return what counts reading and writing, and why the first of them does not."""
    found, reasons = dict[str, Counter](), list[str]()
    for name, what in LAST_CACHE_MISSES.items():
        try:
            found[name] = Counter(what)
        except NotCountedError as error:
            reasons.append(str(error))
    return (found, "") if "read" in found else ({}, reasons[0])


def _counted(counters: Mapping[str, Counter]) -> CacheMisses:
    try:
        return CacheMisses({name: counter.read() for name, counter in counters.items()})
    except NotCountedError as error:
        return CacheMisses(reason=str(error))


def _driver() -> ctypes.CDLL | None:
    """Return NVIDIA's driver if the session has loaded it; a session on a CPU has not."""
    with suppress(OSError, AttributeError):
        return ctypes.CDLL(_DRIVER, mode=os.RTLD_NOLOAD | os.RTLD_NOW)
    return None


@contextmanager
def _let_in(driver: ctypes.CDLL) -> Iterator[None]:
    """Let a profiler see what happens meanwhile; the driver wants a context to be told that."""
    context = ctypes.c_void_p()
    driver.cuCtxGetCurrent(ctypes.byref(context))
    if not context:
        driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
        driver.cuCtxSetCurrent(context)
    driver.cuProfilerStart()
    try:
        yield
    finally:
        driver.cuProfilerStop()


@contextmanager
def _range(name: str, push: Push, pop: Pop) -> Iterator[None]:
    push(name)
    try:
        yield
    finally:
        pop()


def _marks() -> tuple[Push, Pop]:
    """Return what begins and ends a range: NVIDIA's library, PyTorch's, or nothing."""
    for name in _MARKERS:
        with suppress(OSError, AttributeError):
            return _of_library(ctypes.CDLL(name))
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available():
        return torch.cuda.nvtx.range_push, torch.cuda.nvtx.range_pop
    return (lambda _text: None), (lambda: None)


def _of_library(library: ctypes.CDLL) -> tuple[Push, Pop]:
    begin, end = library.nvtxRangePushA, library.nvtxRangePop
    return (lambda text: begin(text.encode())), end


if __name__ == "__main__":
    main(Path(sys.argv[1]))
