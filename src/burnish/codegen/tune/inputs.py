"""Seeded values for what a group reads, such that its results say something."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal

import numpy as np

from burnish.core.arrays import Array
from burnish.core.tensors import FLOATS
from burnish.store.element_types import numpy_type
from burnish.tile.graph import TensorType, TileGraph, TileOp, expression_indices
from burnish.tile.group import Group
from burnish.tile.index import Fetch, fetches_of

Sign = Literal["any", "positive"]
"""Numbers around zero, or such that roots and logarithms of them exist."""

_FULL_RANGE = ("i8", "u8")
_SMALL = 8
"""Other integers stay below this: sums and products of them overflow nothing."""


def group_inputs(
    group: Group, graph: TileGraph, *, seed: int = 0, sign: Sign = "any"
) -> dict[str, Array]:
    """Return values for what the group reads: its constants, and random ones for the rest."""
    rng = np.random.default_rng(seed)
    limits = _index_limits(group)
    return {
        name: np.asarray(graph.constants[name])
        if name in graph.constants
        else _values(
            graph.tensors[name], limits.get(name), min(limits.values(), default=0), rng, sign
        )
        for name in group.inputs
    }


def fetches(op: TileOp) -> Iterator[Fetch]:
    """Yield every index that a nest reads from a tensor."""
    indices = [index for read in op.reads for index in read.indices]
    indices += expression_indices(op.body)
    indices += expression_indices(op.finish) if op.finish else []
    for index in indices:
        yield from fetches_of(index)


def _index_limits(group: Group) -> Mapping[str, int]:
    """Return below what the elements of each tensor that holds indices must be."""
    limits: dict[str, int] = {}
    for op in group.ops:
        for fetch in fetches(op):
            limits[fetch.tensor] = min(fetch.extent, limits.get(fetch.tensor, fetch.extent))
    return limits


def _values(
    kind: TensorType, index_limit: int | None, any_limit: int, rng: np.random.Generator, sign: Sign
) -> Array:
    if index_limit is not None:
        return _integers(kind, -index_limit, index_limit, rng)
    if kind.dtype in FLOATS:
        numbers: Any = rng.standard_normal(kind.shape, dtype=np.float32)
        numbers = np.abs(numbers) + np.float32(0.5) if sign == "positive" else numbers
        return np.asarray(numbers.astype(numpy_type(kind.dtype)))
    if kind.dtype == "bool":
        return rng.integers(0, 2, kind.shape).astype(np.bool_)
    if any_limit:
        # indices may be computed of it: small ones stay inside most ways of doing so
        return _integers(kind, 0, any_limit, rng)
    if kind.dtype in _FULL_RANGE:
        low = 0 if kind.dtype == "u8" else -128
        return _integers(kind, low, low + 256, rng)
    return _integers(kind, -_SMALL, _SMALL, rng)


def _integers(kind: TensorType, low: int, high: int, rng: np.random.Generator) -> Array:
    least = 0 if kind.dtype.startswith("u") else low
    return rng.integers(least, max(high, 1), kind.shape).astype(numpy_type(kind.dtype))
