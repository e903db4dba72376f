"""Constants of a candidate that are the reference's, rounded to what was asked for.

Whoever asks for 16 bits asks for rounded weights; what the candidate does with them is another
question. So its meaning is judged with the weights as they were, and a wrong layer stands out
however far roundings of all the others would have moved its outputs.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx_ir as ir

from burnish.core.array_types import array_type
from burnish.core.arrays import Array
from burnish.meaning.evaluate import bodies
from burnish.parity.structure import Structure
from burnish.store.element_types import array_of
from burnish.store.external_data import let_go

_LARGEST = {"f16": 65504.0, "bf16": (2.0 - 2.0**-7) * 2.0**127}
"""By the types that weights are rounded to, the largest number of each: those beyond become it."""


@dataclass(frozen=True, slots=True)
class Restored:
    """What a candidate's constants were, and which of both models are still in question."""

    instead: Mapping[str, ir.TensorProtocol]
    """By the names of constants of the candidate, those of the reference that they are rounded."""
    lost: frozenset[str]
    new: frozenset[str]


def restored(
    models: tuple[ir.Model, ir.Model], structure: Structure, asked: str | None
) -> Restored:
    """Return which constants of the second model are those of the first, rounded as asked."""
    if asked not in _LARGEST or not structure.new:
        return Restored({}, structure.lost, structure.new)
    found: dict[str, ir.TensorProtocol] = {}
    paired: set[str] = set()
    before: dict[str, list[tuple[str, ir.TensorProtocol]]] = {}
    for name, tensor in _held(models[0]):
        before.setdefault(_key(_rounded(tensor, asked)), []).append((name, tensor))
    after = [*_held(models[1])]
    names = Counter(name for name, _ in after)
    for name, tensor in after:
        if name not in structure.new or names[name] > 1:  # a body may have a name of its own again
            continue
        sources = before.get(_key(_as_f32(tensor)), ())
        # where two that differ are rounded to one, nobody knows which of them it was
        if sources and len({_key(_as_f32(each)) for _, each in sources}) == 1:
            found[name] = sources[0][1]
            paired.update(source for source, _ in sources)
    return Restored(found, structure.lost - paired, structure.new - found.keys())


def _held(model: ir.Model) -> Iterator[tuple[str, ir.TensorProtocol]]:
    """Yield the constants that hold real numbers, those of bodies included."""
    graph = model.graph
    for each in (graph, *(body for node in graph.all_nodes() for body in bodies(node))):
        for value in each.initializers.values():
            tensor = value.const_value
            if tensor is not None and tensor.dtype.is_floating_point():
                yield value.name or "", tensor
                let_go(tensor)


def _as_f32(tensor: ir.TensorProtocol) -> Array:
    with np.errstate(over="ignore"):
        return np.asarray(array_of(tensor), np.float32)


def _rounded(tensor: ir.TensorProtocol, kind: str) -> Array:
    array, largest = _as_f32(tensor), np.float32(_LARGEST[kind])
    clipped = np.where(np.isfinite(array), np.clip(array, -largest, largest), array)
    return np.asarray(clipped.astype(array_type(kind)).astype(np.float32))


def _key(array: Array) -> str:
    """Return what constants share that hold the same; of a single number the rank says nothing."""
    shape = array.shape if array.size != 1 else ()
    content: Any = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    return f"{shape} {hashlib.sha256(content).hexdigest()}"
