"""Find sizes at which a model runs, where those that its names suggest do not.

A graph may demand of its inputs what no name says: a Reshape to rows of 64, a table of 32
positions, two halves of equal length. Only running it tells.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterator, Mapping

from burnish.core.errors import BurnishError
from burnish.engines import isolated
from burnish.engines.base import EngineOptions
from burnish.engines.isolated import EngineCrashedError
from burnish.feeds.make import Maker
from burnish.store import onnx_files
from burnish.store.stored import StoredModel

JUDGE = "onnxruntime-cpu"
_TRIED = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 3, 5, 7, 10, 12, 24, 48, 96, 192, 224, 384, 768)
"""Sizes that graphs were written for, the small ones first."""
_MOST_ELEMENTS = 1 << 21
_LONGEST_S = 8.0
"""How long sizes are looked for; what is right at none of the small ones is seldom so at others."""


def working_sizes(model: StoredModel, asked: Mapping[str, int]) -> dict[str, int] | None:
    """Return sizes of all free dimensions at which ONNX Runtime runs a model as it is written.

    Those in `asked` stay. None: there are none to choose, or nothing that was tried runs.
    """
    maker = Maker(onnx_files.read(model.onnx))
    known = maker.bound(asked).sizes
    free = [symbol for symbol in known if symbol not in asked]
    if not free:
        return None
    unoptimised = dataclasses.replace(EngineOptions(), graph_level="off")
    with isolated.open_session(JUDGE, model, unoptimised) as session:
        until = time.monotonic() + _LONGEST_S
        for sizes in _candidates(known, free):
            if time.monotonic() > until:
                return None
            try:
                if _elements(maker, sizes) <= _MOST_ELEMENTS:
                    session.run(maker.make(sizes).arrays)
                    return sizes
            except EngineCrashedError:
                raise
            except BurnishError:
                continue
    return None


def retry_hint(asked: Mapping[str, int], model: StoredModel) -> str:
    """Return what to do where no size that was tried runs."""
    names = Maker(onnx_files.read(model.onnx)).bound(asked).sizes
    free = ",".join(f"{name}=SIZE" for name in names if name not in asked)
    shape = f"bind sizes that it takes with --shape {free}, or " if free else ""
    return f"{shape}pass inputs of your own with --data FILE.npz"


def _candidates(known: Mapping[str, int], free: list[str]) -> Iterator[dict[str, int]]:
    """Yield one dimension changed at a time, then all of them, then each pair alike."""
    for symbol in free:
        for size in _TRIED:
            yield {**known, symbol: size}
    for size in _TRIED:
        yield {**known, **dict.fromkeys(free, size)}
    for first in free:
        for second in free:
            if first < second:
                for size in _TRIED[:10]:
                    yield {**known, first: size, second: size}


def _elements(maker: Maker, sizes: Mapping[str, int]) -> int:
    total = 0
    for shape in maker.bound(sizes).shapes.values():
        count = 1
        for size in shape:
            count *= size
        total += count
    return total
