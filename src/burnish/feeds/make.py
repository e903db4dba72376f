"""Make inputs for any model from its names, types and shapes."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

import numpy as np
import onnx_ir as ir

from burnish.core.arrays import Array
from burnish.core.tensors import Dim, TensorSpec
from burnish.feeds import dimension, values
from burnish.feeds.bind import BoundSizes, bind
from burnish.feeds.feed import Feeds, Padding
from burnish.feeds.positions import longest_sequence
from burnish.feeds.roles import Role, role_of
from burnish.feeds.room import require_room
from burnish.feeds.tables import smallest_table
from burnish.feeds.uses import Purpose, purpose_of
from burnish.feeds.words import TEXT, words_of
from burnish.store import onnx_files

__all__ = ["Feeds", "Padding", "make"]


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
