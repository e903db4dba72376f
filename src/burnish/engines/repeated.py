"""A program that runs one model again and again, for profilers that watch from outside.

`python -m burnish.engines.repeated REQUEST.json`; every inference is a range `Batch-N Forward`, as
ONNX Runtime names them, so that readers know where each begins and ends.
"""

from __future__ import annotations

import ctypes
import importlib
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from burnish.core import records
from burnish.engines.base import ENGINES, EngineOptions
from burnish.store.stored import StoredModel

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


def main(request: Path) -> None:
    """Run what a file asks for."""
    asked: Repeating = records.decode(Repeating, json.loads(request.read_bytes()))
    importlib.import_module(asked.module)
    with np.load(asked.feeds) as stored:
        feeds = {name: stored[name] for name in stored.files}
    session = ENGINES[asked.engine].open(asked.model, asked.options)
    for _ in range(asked.warmup):
        session.run(feeds)
    push, pop = _marks()
    for number in range(asked.runs):
        with _range(f"Batch-{number} Forward", push, pop):
            session.run(feeds)


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
