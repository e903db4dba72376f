"""Whether a model is one and the same at every size up to the greatest, and not only at that.

Nests are compared at the greatest size and at one more. What a model computes from the size itself
(a comparison, a branch, a dimension that is dropped where it is one) may be another at a third. So
the model is bound to each smaller size, and all that is then known of it must lie on the line
through the two that were compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import onnx_ir as ir

from burnish.core.arrays import Array


@dataclass(frozen=True, slots=True)
class SizeLine:
    """A model that is bound to a size, and to one more."""

    size: int
    one: ir.Model
    more: ir.Model

    def departure(self, bound_to: Callable[[int], ir.Model]) -> str | None:
        """Return at which smaller size a model is another one, and in what; None: at none."""
        found = (
            f"at {size} {what}"
            for size in range(1, self.size)
            for what in self._departures(size, bound_to(size))
        )
        return next(found, None)

    def _departures(self, size: int, model: ir.Model) -> Iterator[str]:
        yield from _other_nodes(self.one, model)
        one, more, found = map(_values, (self.one, self.more, model))
        for name in (each for each in one if each in more and each in found):
            shapes = [_shape(each[name]) for each in (one, more, found)]
            if not self._is_straight(size, *shapes):
                yield f"{name!r} has the shape {list(shapes[2])}"
            kept = [each[name].const_value for each in (one, more, found)]
            if kept[0] is not kept[2] and not self._agree(size, kept):
                yield f"the constant {name!r} is another"

    def _agree(self, size: int, kept: list[ir.TensorProtocol | None]) -> bool:
        """Say whether a constant is what the two others foretell; what is none is computed."""
        one, more, found = (None if each is None else each.numpy() for each in kept)
        if one is None or more is None or found is None:
            return True
        if one.shape == more.shape == found.shape and not same(one, more):
            return self._is_straight(size, one.tolist(), more.tolist(), found.tolist())
        corner = tuple(map(slice, found.shape))
        return found.ndim == one.ndim and same(found, one[corner])

    def _is_straight(self, size: int, one: object, more: object, found: object) -> bool:
        """Say whether a number, or each of a list, goes on as it does from the first to `more`."""
        if isinstance(one, list | tuple):
            lists = (one, more, found)
            return len({len(each) for each in lists}) == 1 and all(  # type: ignore[arg-type]
                self._is_straight(size, *each)
                for each in zip(*lists, strict=True)  # type: ignore[call-overload]
            )
        if isinstance(one, int | float) and isinstance(more, int | float):
            return found == one + (more - one) * (size - self.size)
        return one == more == found


def same(one: Array, other: Array) -> bool:
    """Say whether two arrays are equal; what is no number is equal to itself."""
    return np.array_equal(one, other, equal_nan=one.dtype.kind == other.dtype.kind == "f")


def _other_nodes(one: ir.Model, model: ir.Model) -> Iterator[str]:
    """Yield the nodes of a model that the first does not have, and those that it lacks.

    What is a constant at a small size is computed at a greater one, where it would be large.
    """
    known, found = ({_key(node) for node in each.graph} for each in (one, model))
    for key in sorted(found - known):
        yield f"{key[1][0]!r} is computed by {key[0]}"
    for key in sorted(known - found):
        if not model.graph.initializers.keys() >= set(filter(None, key[1])):
            yield f"{key[1][0]!r} is not computed by {key[0]}"


def _key(node: ir.Node) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    """Return what a node is, in names."""
    inputs = tuple(value.name or "" if value is not None else "" for value in node.inputs)
    return node.op_type, tuple(value.name or "" for value in node.outputs), inputs


def _values(model: ir.Model) -> dict[str, ir.Value]:
    """Return what nodes read and write, by name."""
    written = (value for node in model.graph for value in node.outputs)
    read = (value for node in model.graph for value in node.inputs if value is not None)
    return {value.name: value for value in (*written, *read) if value.name}


def _shape(value: ir.Value) -> tuple[int | None, ...]:
    dims = value.shape if value.shape is not None else ()
    return tuple(dim if isinstance(dim, int) else None for dim in dims)
