"""Inputs for a part of a graph: random, with several sizes and several kinds of masks."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import onnx_ir as ir

from burnish.core.array_types import array_type
from burnish.core.arrays import Array, Arrays
from burnish.core.tensors import TensorSpec
from burnish.feeds import dimension
from burnish.feeds.bind import bind as bind_by_name
from burnish.feeds.feed import Padding
from burnish.feeds.make import make
from burnish.feeds.roles import Role, role_of
from burnish.feeds.room import require_room
from burnish.infer.constants import constant_tensor
from burnish.infer.walk import is_standard
from burnish.rewrite.extract import Part
from burnish.rewrite.facts import FLOATS, Facts
from burnish.rewrite.fusions.attention.number_range import NumberRange, range_of
from burnish.store import onnx_files

Kind = Literal["plain", "right", "left", "holes", "empty"]
KINDS: tuple[Kind, ...] = ("plain", "right", "left", "holes")

SIZES = ((2, 5, 3, 7, 4, 6, 8), (1, 3, 2, 4), (4,))
"""Sizes for the symbols of a part, in the order in which they appear, again and again.

Different ones, so that axes which are mixed up do not pass; small ones; and all equal, for
parts with two names for one size.
"""

_SMALL = {"batch": 2, "sequence": 7, "past": 5}


@dataclass(frozen=True, slots=True)
class CheckSample:
    """One set of inputs, and what is special about it."""

    kind: Kind
    sizes: Mapping[str, int]
    arrays: Arrays

    @property
    def title(self) -> str:
        """Return what is special about it: `left mask, n = 3`."""
        sizes = ", ".join(f"{name} = {size}" for name, size in self.sizes.items())
        return f"{self.kind} mask, {sizes or 'one size'}"


def samples(
    cut: Part, model: ir.Model, *, seed: int = 0, emptied: Collection[str] = ()
) -> Iterator[CheckSample]:
    """Yield inputs for a part that was cut out as `model`: every mask kind, several sizes.

    At last those named in `emptied`, as far as they are masks, leave nothing of every second row.
    """
    specs = onnx_files.interface(model).inputs
    masked = any(_is_mask(spec) for spec in specs)
    tried: list[Mapping[str, int]] = []
    for number, cycle in enumerate(SIZES):
        sizes = bind(specs, cycle)
        if sizes in tried:
            continue
        tried.append(sizes)
        for kind in KINDS if masked and number != 1 else KINDS[:1]:
            random = np.random.default_rng([seed, number, KINDS.index(kind)])
            yield filled(cut, specs, sizes, kind, random)
    gone = [spec.name for spec in specs if spec.name in emptied and _has_rows(spec)]
    if gone:
        one = filled(cut, specs, tried[0], "holes", np.random.default_rng([seed, len(SIZES)]))
        masks = {name: _emptied(one.arrays[name]) for name in gone}
        yield CheckSample("empty", one.sizes, {**one.arrays, **masks})


def may_be_empty(cut: Part, facts: Facts) -> tuple[int, ...]:
    """Return which inputs may mask whole rows, by number, where a part asks what is no number.

    What is added to scores and proven to be finite leaves numbers, whatever it masks.
    """
    if not _asks_for_no_numbers(cut):
        return ()
    return tuple(
        number
        for number, value in enumerate(cut.inputs)
        if value.dtype == ir.DataType.BOOL
        or (value.dtype in FLOATS and not _is_bounded(range_of(value, facts)))
    )


def _asks_for_no_numbers(cut: Part) -> bool:
    return any(is_standard(node, "IsNaN") for node in cut.nodes)


def _is_bounded(numbers: NumberRange | None) -> bool:
    return numbers is not None and numbers.lowest > -np.inf


def whole_samples(cut: Part, model: ir.Model) -> Iterator[CheckSample]:
    """Yield inputs for a part that begins at the inputs of its graph, by their names."""
    names = {value.name for value in cut.inputs}
    specs = [spec for spec in onnx_files.interface(model).inputs if spec.name in names]
    sizes = bind(specs, SIZES[-1])
    meanings = bind_by_name(specs, sizes).meanings
    small = {name: _SMALL.get(meanings.get(name, ""), size) for name, size in sizes.items()}
    small = {name: size for name, size in small.items() if meanings.get(name) != "total"}
    held = filled(cut, [], {}, "plain", np.random.default_rng(0)).arrays
    paddings: tuple[tuple[Kind, Padding], ...] = (
        ("right", "right"), ("left", "left"), ("plain", "none"),
    )  # fmt: skip
    for seed, (kind, padding) in enumerate(paddings):
        feeds = make(model, bindings=small, seed=seed, padding=padding)
        yield CheckSample(kind, feeds.bindings, {**feeds.arrays, **held})
    if _asks_for_no_numbers(cut):
        feeds = make(model, bindings=small, seed=len(paddings), padding="left")
        masks = {spec.name: feeds.arrays[spec.name] for spec in specs if role_of(spec) is Role.MASK}
        gone = {name: _without_last_row(mask) for name, mask in masks.items()}
        yield CheckSample("empty", feeds.bindings, {**feeds.arrays, **gone, **held})


def _without_last_row(mask: Array) -> Array:
    """Return a mask of which the last row leaves nothing."""
    found = mask.copy()
    found[-1:] = 0
    return found


def filled(
    cut: Part,
    specs: Sequence[TensorSpec],
    sizes: Mapping[str, int],
    kind: Kind,
    random: np.random.Generator,
) -> CheckSample:
    """Return inputs of given sizes; weights are those of the model."""
    weights = {value.name or "": constant_tensor(value) for value in cut.weights}
    held = {name: tensor.numpy() for name, tensor in weights.items() if tensor is not None}
    free = [spec for spec in specs if spec.name not in held]
    made = {spec.name: _filled(spec, sizes, kind, random) for spec in free}
    return CheckSample(kind, sizes, {**held, **made})


def bind(specs: Sequence[TensorSpec], cycle: Sequence[int]) -> dict[str, int]:
    """Return a size for every name in the shapes of some inputs; a total is what it sums up."""
    names = dict.fromkeys(
        atom
        for spec in specs
        for size in spec.shape
        if isinstance(size, str)
        for atom in dimension.atoms(size)
    )
    found = {name: cycle[index % len(cycle)] for index, name in enumerate(names)}
    by_meaning = {known: name for name, known in bind_by_name(specs, found).meanings.items()}
    if {"total", "past", "sequence"} <= by_meaning.keys():
        parts = (by_meaning["past"], by_meaning["sequence"])
        found[by_meaning["total"]] = sum(found[name] for name in parts)
    return found


def shape_of(spec: TensorSpec, sizes: Mapping[str, int]) -> tuple[int, ...]:
    """Return a shape in which every name has its size."""
    return tuple(
        size if isinstance(size, int) else max(dimension.evaluate(size, sizes), 0)
        for size in spec.shape
    )


def _is_mask(spec: TensorSpec) -> bool:
    """Return whether an input may say which positions count, or be added to scores."""
    if len(spec.shape) < 2:
        return False
    return spec.dtype[0] in "bi" or _is_added(spec)


def _is_added(spec: TensorSpec) -> bool:
    """Return whether an input may be a mask in the form of scores: one for all heads or queries.

    One for all samples does not tell: a picture is that, too, and no layer takes it with -3e38.
    """
    return len(spec.shape) == 4 and 1 in spec.shape[1:3] and spec.dtype[0] == "f"


def _has_rows(spec: TensorSpec) -> bool:
    """Return whether an input is a mask that says of each row what counts."""
    return _is_added(spec) or (spec.dtype == "bool" and len(spec.shape) > 1)


def _emptied(mask: Array) -> Array:
    """Return a mask that leaves nothing of every second row."""
    kept = np.array(mask if mask.dtype == bool else mask == 0)
    kept.reshape(-1, max(mask.shape[-1], 1))[::2] = False
    return kept if mask.dtype == bool else np.where(kept, 0.0, -np.inf).astype(mask.dtype)


def _filled(
    spec: TensorSpec, sizes: Mapping[str, int], kind: Kind, random: np.random.Generator
) -> Array:
    shape = shape_of(spec, sizes)
    require_room({spec.name: shape})
    dtype = array_type(spec.dtype)
    if spec.dtype == "bool":
        return _kept(shape, kind, random)
    if spec.dtype[0] in "iu":
        if kind == "plain" and len(shape) > 1:
            return np.broadcast_to(np.arange(shape[-1]), shape).astype(dtype)
        return _kept(shape, kind, random).astype(dtype)
    if kind != "plain" and _is_added(spec):
        lowest = np.array(np.finfo(np.float32).min if dtype.itemsize >= 4 else -1e4)
        return np.where(_kept(shape, kind, random), 0.0, lowest).astype(dtype)
    return random.standard_normal(shape).astype(dtype)


def _kept(shape: tuple[int, ...], kind: Kind, random: np.random.Generator) -> Array:
    """Return which positions of the last axis count; every row keeps at least one."""
    if not shape or 0 in shape:
        return np.ones(shape, bool)
    length = shape[-1]
    steps = np.arange(length)
    lengths = random.integers(1, length + 1, (*shape[:-1], 1))
    kept: Array
    match kind:
        case "right":
            kept = steps < lengths
        case "left":
            kept = steps >= length - lengths
        case "holes":
            kept = (random.integers(0, 2, shape) == 1) | (steps == lengths - 1)
        case _:
            kept = np.ones(shape, bool)
    return kept
