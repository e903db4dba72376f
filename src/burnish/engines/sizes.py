"""Find sizes at which a model runs, where those that its names suggest do not.

A graph may demand of its inputs what no name says: a Reshape to rows of 64, a table of 32
positions, two halves of equal length. Only running it tells, and how far it comes says which way
to go. Every command that feeds a model asks here, so that all of them feed it alike.
"""

from __future__ import annotations

import dataclasses
import math
import re
import shlex
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import onnx_ir as ir

from burnish.core.errors import BurnishError, ModelError
from burnish.engines import isolated
from burnish.engines.base import EngineOptions
from burnish.engines.isolated import EngineCrashedError, EngineHungError, IsolatedSession
from burnish.feeds.choose import choose
from burnish.feeds.feed import Feeds, Padding
from burnish.feeds.load import load
from burnish.feeds.make import Maker
from burnish.feeds.tables import constant
from burnish.store import onnx_files
from burnish.store.stored import StoredModel

JUDGE = "onnxruntime-cpu"
_TRIED = (
    1, 2, 4, 8, 16, 32, 48, 64, 128, 256, 512, 3, 24, 96, 192, 1024, 5, 7, 10, 12, 224, 384, 768,
    4096, 16000,
)  # fmt: skip
"""Sizes that graphs were written for, the small ones first."""
_DOTS, _LEAST_DOTS = ("height", "width", "samples"), 32
_MOST_NUMBERS = 24
"""How many numbers that stand in the graph itself are tried as sizes."""
_LARGEST = 1 << 15
_MOST_ELEMENTS = 1 << 22
_LONGEST_S = 30.0
"""How long sizes are looked for; what is right at none of the small ones is seldom so at others."""
_ALONE_S = 60.0
"""How long one run may take before its sizes are given up."""
_QUOTED = re.compile(r"'([^']*)'")
_RUNS = math.inf


@dataclass(frozen=True, slots=True)
class Usual:
    """What a model is fed where the user asks for nothing else."""

    sizes: Mapping[str, int] = field(default_factory=dict)
    """Of dimensions; those that are not in it have the size that their name suggests."""
    data: Path | None = None
    """Recorded inputs that lie beside the model; None: they are made."""
    notes: tuple[str, ...] = ()


def fitting(
    model: StoredModel,
    *,
    data: Path | None = None,
    bindings: Mapping[str, int] | None = None,
    seed: int = 0,
    padding: Padding = "right",
    samples: int = 1,
) -> tuple[Feeds, ...]:
    """Return what `choose` returns, of sizes at which the model runs where they are left open."""
    asked = dict(bindings or {})
    found = usual(model, asked) if data is None else Usual()
    chosen = choose(
        model, data=data or found.data, bindings={**found.sizes, **asked}, seed=seed,
        padding=padding, samples=samples,
    )  # fmt: skip
    return tuple(dataclasses.replace(feeds, notes=(*found.notes, *feeds.notes)) for feeds in chosen)


_KNOWN: dict[tuple[Path, int, tuple[tuple[str, int], ...]], Usual] = {}


def usual(model: StoredModel, asked: Mapping[str, int]) -> Usual:
    """Return how a model is fed so that it runs: as names suggest, as recorded, or otherwise.

    Sizes in `asked` stay. Where nothing that was tried runs, or ONNX Runtime cannot tell, what
    names suggest is returned: whoever runs it will say what is wrong.
    """
    stated = tuple(sorted(asked.items()))
    key = (model.onnx.absolute(), model.onnx.stat().st_mtime_ns, stated)
    if key not in _KNOWN:
        _KNOWN[key] = _usual(model, asked)
    return _KNOWN[key]


def retry_hint(asked: Mapping[str, int], model: StoredModel) -> str:
    """Return what to do where no size that was tried runs."""
    names = Maker(onnx_files.look(model.onnx)).bound(asked).sizes
    free = ",".join(f"{name}=SIZE" for name in names if name not in asked)
    shape = f"bind sizes that it takes with --shape {free}, or " if free else ""
    own = "pass inputs of your own with --data FILE.npz; those that were tried are written by"
    return f"{shape}{own} burnish inputs {shlex.quote(str(model.onnx))} --output FILE.npz"


def _usual(model: StoredModel, asked: Mapping[str, int]) -> Usual:
    loaded = onnx_files.look(model.onnx)
    maker = Maker(loaded)
    known = maker.bound(asked).sizes
    free = [symbol for symbol in known if symbol not in asked]
    if not free and (asked or not model.data_sets):
        return Usual()  # there is nothing to choose: whoever runs it will say what is wrong
    unoptimised = dataclasses.replace(EngineOptions(), graph_level="off")
    try:
        with isolated.open_session(JUDGE, model, unoptimised, limit_s=_ALONE_S) as session:
            search = _Search(session, maker, loaded)
            if search.reach(known) == _RUNS:
                return Usual()
            for folder in () if asked else model.data_sets:
                if search.takes(folder):
                    note = f"made inputs do not fit it, so it is fed those of {folder.name}"
                    return Usual(data=folder, notes=(note,))
            found = search.found(known, free)
    except (ModelError, EngineHungError):
        return Usual()
    if found is None:
        return Usual()
    sizes = ", ".join(f"{name}={size}" for name, size in found.items())
    note = f"it does not run at the sizes that its names suggest, but at {sizes}"
    return Usual(found, notes=(note,))


class _Search:
    """Climbs towards sizes at which a model runs, by how far it comes."""

    def __init__(self, session: IsolatedSession, maker: Maker, model: ir.Model) -> None:
        self._session, self._maker = session, maker
        self._interface = onnx_files.interface(model)
        self._order = {node.name: place for place, node in enumerate(model.graph.all_nodes())}
        self._sizes = (*_TRIED, *_numbers(model))
        self._until = time.monotonic() + _LONGEST_S

    def takes(self, folder: Path) -> bool:
        """Return whether the model runs on recorded inputs."""
        try:
            self._session.run(load(folder, self._interface).arrays)
        except EngineCrashedError:
            raise
        except BurnishError:
            return False
        return True

    def reach(self, sizes: Mapping[str, int]) -> float:
        """Return the place of the node at which a run with these sizes fails; infinite: it runs."""
        try:
            if _elements(self._maker, sizes) > _MOST_ELEMENTS:
                return -1
            self._session.run(self._maker.make(sizes).arrays)
        except EngineCrashedError:
            raise
        except BurnishError as error:
            named = _QUOTED.findall(error.problem)
            return max((self._order.get(name, -1) for name in named), default=-1)
        return _RUNS

    def found(self, known: Mapping[str, int], free: Sequence[str]) -> dict[str, int] | None:
        """Return sizes at which the model runs; None: none were found in time."""
        best, far = dict(known), self.reach(known)
        ways = (self._alone, self._alike) if free else ()
        climbed = True
        while climbed:
            climbed = False
            for way in ways:
                for sizes in way(best, free):
                    if time.monotonic() > self._until:
                        return None
                    reached = self.reach(sizes)
                    if reached == _RUNS:
                        return self._grown(sizes, known)
                    if reached > far:
                        best, far, climbed = sizes, reached, True
                if climbed:
                    break  # nearer now: change one at a time again
        return None

    def _grown(self, sizes: dict[str, int], known: Mapping[str, int]) -> dict[str, int]:
        """Return sizes nearer to those that names suggest: a sequence of one shows no mask."""
        for symbol, size in sizes.items():
            larger = known[symbol] // 2
            while larger > size and time.monotonic() < self._until:
                grown = {**sizes, symbol: larger}
                if self.reach(grown) == _RUNS:
                    sizes = grown
                    break
                larger //= 2
        return sizes

    def _alone(self, best: dict[str, int], free: Sequence[str]) -> Iterator[dict[str, int]]:
        """Yield one dimension changed at a time; how many rows there are matters least."""
        meanings = self._maker.bound(best).meanings
        rows = [symbol for symbol in free if meanings[symbol] == "batch"]
        others = [symbol for symbol in free if symbol not in rows]
        for symbols in (others, rows):
            tried = [self._sizes_of(meanings[symbol]) for symbol in symbols]
            for sizes in zip(*tried, strict=True):
                for symbol, size in zip(symbols, sizes, strict=True):
                    yield {**best, symbol: size}

    def _sizes_of(self, meaning: str) -> list[int]:
        """Return sizes for a dimension: sounds and pictures of a few dots tell little."""
        least = _LEAST_DOTS if meaning in _DOTS else 0
        return sorted(self._sizes, key=lambda size: size < least)

    def _alike(self, best: dict[str, int], free: Sequence[str]) -> Iterator[dict[str, int]]:
        """Yield each pair of dimensions made alike, then all of them."""
        for size in _TRIED[:12]:
            for index, first in enumerate(free):
                for second in free[index + 1 :]:
                    yield {**best, first: size, second: size}
        for size in self._sizes:
            yield {**best, **dict.fromkeys(free, size)}


def _numbers(model: ir.Model) -> tuple[int, ...]:
    """Return numbers that stand in a graph, and sides of its weights, that may be sizes."""
    found: dict[int, None] = {}
    for node in model.graph.all_nodes():
        for value in node.inputs:
            tensor = None if value is None else ir.convenience.get_const_tensor(value)
            if tensor is None:
                continue
            if tensor.dtype is ir.DataType.INT64 and tensor.size <= 8:
                held = constant(value)
                found |= dict.fromkeys(() if held is None else map(int, held.reshape(-1)))
            found |= dict.fromkeys(tensor.shape.numpy())
    kept = (size for size in found if 1 < size <= _LARGEST and size not in _TRIED)
    return tuple(kept)[:_MOST_NUMBERS]


def _elements(maker: Maker, sizes: Mapping[str, int]) -> int:
    return sum(math.prod(shape) for shape in maker.bound(sizes).shapes.values())
