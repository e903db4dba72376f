"""Make inputs for any model from its names, types and shapes."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import onnx_ir as ir

from burnish.core.arrays import Array
from burnish.core.tensors import Dim, TensorSpec
from burnish.feeds import dimension, values
from burnish.feeds.bind import BoundSizes, bind
from burnish.feeds.feed import Feeds, Padding
from burnish.feeds.roles import Role, role_of
from burnish.feeds.room import require_room
from burnish.feeds.tables import constant, size_along, smallest_table
from burnish.feeds.uses import Purpose, purpose_of
from burnish.feeds.words import TEXT, words_of
from burnish.store import onnx_files

__all__ = ["Feeds", "Padding", "make"]
_FOLLOWED_OPERANDS: Mapping[str, tuple[int, ...]] = {
    "Cast": (0,), "Identity": (0,), "Unsqueeze": (0,), "Squeeze": (0,), "Reshape": (0,),
    "Expand": (0,), "Tile": (0,), "Transpose": (0,), "Slice": (0,), "Concat": (0,), "Sub": (0,),
    "Add": (0, 1), "Mul": (0, 1), "Where": (1, 2),
}  # fmt: skip
"""Operators through which positions reach a look-up; a difference of positions is none."""
_NUMBERS = (ir.DataType.FLOAT, ir.DataType.FLOAT16, ir.DataType.BFLOAT16, ir.DataType.DOUBLE)
_MOST_NODES = 16
"""How many nodes up from the end of a slice its length is looked for."""
_LAST_INDEX: Mapping[str, int] = {"Range": -1, "NonZero": -1, "CumSum": 0}
"""Operators that count along a sequence: the last index for a length of n is n plus this."""


def make(
    model: ir.Model, *, bindings: Mapping[str, int], seed: int = 0, padding: Padding = "right"
) -> Feeds:
    """Return inputs that the model accepts; equal arguments give equal inputs, in any process.

    Dimensions that are not in `bindings` get a default by their name or place. Integers stay
    inside the tables that they index, masks have rows of different lengths.
    """
    return Maker(model).make(bindings, seed=seed, padding=padding)


class Maker:
    """Makes many sets of inputs for one model, whose graph is looked at once."""

    def __init__(self, model: ir.Model) -> None:
        self.inputs = onnx_files.interface(model).inputs
        by_name = {value.name: value for value in model.graph.inputs}
        self._tables = {s.name: smallest_table(by_name[s.name], model) for s in self.inputs}
        self._purposes = {s.name: purpose_of(s, by_name[s.name], model) for s in self.inputs}
        self._words = words_of(model) if any(s.dtype == TEXT for s in self.inputs) else ()
        self.longest = _longest(model, self.inputs, self._tables)
        """How many positions the model has; None: nothing limits them."""

    def bound(self, bindings: Mapping[str, int]) -> BoundSizes:
        """Return the sizes of all dimensions where some are given."""
        return bind(self.inputs, bindings, longest=self.longest)

    def rows(self, name: str, bound: BoundSizes) -> int | None:
        """Return how many rows the smallest table has that an input indexes; None: no table."""
        return _rows(self._tables[name], bound)

    def purpose(self, name: str) -> Purpose:
        """Return what an input is for."""
        return self._purposes[name]

    def make(
        self, bindings: Mapping[str, int], *, seed: int = 0, padding: Padding = "right"
    ) -> Feeds:
        """Return inputs of these sizes."""
        bound = self.bound(bindings)
        require_room(bound.shapes)
        past = _past_length(self.inputs, bound)
        sequence = bound.size_of("sequence") or _longest_tokens(self.inputs, bound)
        arrays: dict[str, Array] = {}
        notes = list(bound.notes)
        for spec in self.inputs:
            request = values.Request(
                spec=spec,
                shape=bound.shapes[spec.name],
                rows=self.rows(spec.name, bound),
                random=_generator(seed, spec.name),
                padding=padding,
                past=past,
                sequence=sequence,
                purpose=self._purposes[spec.name],
                words=self._words,
            )
            filled = values.fill(request)
            arrays[spec.name] = filled.array
            notes += [filled.note] if filled.note is not None else []
        return Feeds(arrays, bound.sizes, tuple(notes))


def _generator(seed: int, name: str) -> np.random.Generator:
    """Return randomness that belongs to one input: another input more does not change it."""
    digest = hashlib.sha256(name.encode()).digest()
    return np.random.default_rng([seed % 2**63, int.from_bytes(digest[:8], "little")])


def _rows(table: Dim | None, bound: BoundSizes) -> int | None:
    if isinstance(table, str):
        known = all(name in bound.sizes for name in dimension.atoms(table))
        return dimension.evaluate(table, bound.sizes) if known else None
    return table


def _longest(
    model: ir.Model, inputs: Sequence[TensorSpec], tables: Mapping[str, Dim | None]
) -> int | None:
    """Return how many positions the model has, computed inside of it or fed to it."""
    fed = (tables[spec.name] for spec in inputs if role_of(spec) is Role.POSITIONS)
    limits = [limit for limit in (*fed, longest_sequence(model)) if isinstance(limit, int)]
    return min(limits, default=None)


def _past_length(inputs: Sequence[TensorSpec], bound: BoundSizes) -> int:
    """Return how many steps are in the past: by name, else from (batch, heads, past, size)."""
    size = bound.size_of("past")
    if size is not None:
        return size
    shapes = (bound.shapes[spec.name] for spec in inputs if role_of(spec) is Role.PAST)
    return next((shape[2] for shape in shapes if len(shape) == 4), 0)


def _longest_tokens(inputs: Sequence[TensorSpec], bound: BoundSizes) -> int:
    """Return the length of the token inputs of a model with fixed shapes, else of anything."""
    batched = [spec for spec in inputs if len(spec.shape) > 1]
    tokens = [spec for spec in batched if role_of(spec) is Role.TOKENS]
    return max((bound.shapes[spec.name][1] for spec in tokens or batched), default=1)


def longest_sequence(model: ir.Model) -> int | None:
    """Return how many positions the model has a row for; None: nothing limits them."""
    limits = [limit for node in model.graph.all_nodes() for limit in _limits(node)]
    return max(min(limits), 1) if limits else None


def _limits(node: ir.Node) -> Iterator[int]:
    """Yield the longest sequences that a look-up by position allows."""
    if node.op_type == "Slice" and not node.domain:
        yield from _cut_table(node)
    if node.op_type != "Gather" or node.domain or _axis(node) != 0:
        return
    rows = size_along(node.inputs[0], 0)
    if not isinstance(rows, int):
        return
    for source, shift, is_cut in _sources(node.inputs[1]):
        producer = source.producer()
        if producer is not None and producer.op_type in _LAST_INDEX:
            yield rows - 1 - shift - _LAST_INDEX[producer.op_type]
        elif is_cut:
            known = constant(source)
            if known is not None and known.ndim > 0:
                yield min(known.shape[-1], rows - shift)


def _cut_table(node: ir.Node) -> Iterator[int]:
    """Yield the rows of a table of numbers of which the first ones are taken, by a length."""
    table = node.inputs[0]
    if table is None or not table.is_initializer() or table.dtype not in _NUMBERS:
        return
    axes = constant(node.inputs[3]) if len(node.inputs) > 3 else None
    rows = size_along(table, 0)
    by_row = axes is None or 0 in axes.reshape(-1).tolist()
    is_table = table.shape is not None and len(table.shape) == 2 and by_row
    if is_table and isinstance(rows, int) and len(node.inputs) > 2 and _measures(node.inputs[2]):
        yield rows


def _measures(value: ir.Value | None) -> bool:
    """Return whether a value is computed from the shape of another."""
    waiting = [value]
    seen: set[ir.Node] = set()
    while waiting and len(seen) < _MOST_NODES:
        item = waiting.pop()
        node = None if item is None else item.producer()
        if node is None or node in seen:
            continue
        if node.op_type == "Shape":
            return True
        seen.add(node)
        waiting.extend(node.inputs)
    return False


def _sources(indices: ir.Value | None) -> Iterator[tuple[ir.Value, int, bool]]:
    """Yield what indices are made of, the constant added on the way, and whether it was sliced."""
    waiting = [(indices, 0, False)]
    seen = set()
    while waiting:
        state = waiting.pop()
        value, shift, is_cut = state
        if value is None or state in seen:
            continue
        seen.add(state)
        yield value, shift, is_cut
        node = value.producer()
        if node is None:
            continue
        for operand in _FOLLOWED_OPERANDS.get(node.op_type, ()):
            change = _change(node, operand)
            if change is not None:
                is_slice = is_cut or node.op_type == "Slice"
                waiting.append((node.inputs[operand], shift + change, is_slice))


def _change(node: ir.Node, operand: int) -> int | None:
    """Return the constant that a node adds; None: its result is no position any more."""
    if node.op_type not in ("Add", "Sub"):
        return 0
    other = constant(node.inputs[1 - operand])
    if other is None or other.size == 0:
        return None if node.op_type == "Sub" else 0
    return int(other.max()) if node.op_type == "Add" else -int(other.min())


def _axis(node: ir.Node) -> int:
    attribute = node.attributes.get("axis")
    return 0 if attribute is None else attribute.as_int()
