"""Which nodes stay in fp32 so that a model in integers is near its original: found by few runs.

What a product of integers loses is predicted for each by itself, from what it reads on one input:
the error of each channel, times how much the weights make of that channel. Those that lose most are
put back first, and the shortest head of that list is looked for with which outputs are near enough.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import onnx_ir as ir
from numpy.typing import NDArray

from burnish.core.arrays import Array
from burnish.core.errors import ModelError
from burnish.feeds.feed import Feeds
from burnish.infer import walk
from burnish.infer.constants import constant_tensor
from burnish.parity.request import VerifyRequest
from burnish.process.scratch import scratch
from burnish.rewrite.options import OptimizeOptions, PrecisionRequest
from burnish.rewrite.precision.products import WeightedProduct, product_at
from burnish.rewrite.precision.thresholds import Span
from burnish.store import onnx_files
from burnish.store.history import History
from burnish.store.stored import StoredModel
from burnish.study.calibration import values_of
from burnish.study.conversion import Seen, comparable, converted
from burnish.study.moved import feeds_of, moved
from burnish.study.repair import Repair, fewest

_LEVELS = 255
_LARGEST = {"int8": 127, "int4": 7}
_BLOCK = 32
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Spoiled:
    """A model whose outputs move too far in integers."""

    model: ir.Model
    """In f32, rewritten."""
    original: StoredModel
    options: OptimizeOptions
    request: VerifyRequest
    seen: Seen

    @property
    def numbers(self) -> PrecisionRequest:
        """Return how it is brought to integers."""
        found = self.options.conversion.integers
        assert found is not None
        return found


def integers_repaired(spoiled: Spoiled) -> Repair | None:
    """Return what must stay in fp32 for outputs to be near enough; None: all of it would have to.

    The shortest head of the list of nodes, those first that lose most, is found by doubling and
    halving.
    """
    report = converted(spoiled.model, spoiled.options, spoiled.seen)[1]
    assert report is not None
    assert report.numbers is not None
    names = {one.node for one in report.numbers.changed}
    feeds = feeds_of(spoiled.original, spoiled.request)
    found = losses(spoiled.model, names, feeds[:1], spoiled)
    ordered = sorted(found, key=lambda name: -found[name])
    runs = 0

    def near(head: int) -> bool:
        nonlocal runs
        runs += 1
        return _is_near(spoiled, ordered[:head])

    if len(ordered) < 2:
        return None
    count = fewest(len(ordered), near)
    if count == len(ordered):
        return None
    precision = spoiled.numbers.precision
    reasons = {
        name: f"in {precision} by itself, what it gives moves by {found[name]:.1%}"
        for name in ordered[:count]
    }
    return Repair(tuple(reasons), reasons, runs)


def losses(
    model: ir.Model, names: set[str], feeds: Sequence[Feeds], spoiled: Spoiled
) -> dict[str, float]:
    """Return the relative error that each of these nodes makes by itself, as predicted."""
    weighted = {
        node.name or "": site
        for node in walk.nodes(model)
        if node.name in names and (site := _site(node)) is not None
    }
    precision = spoiled.numbers.precision
    found = {name: site.loss_of_weights(precision) for name, site in weighted.items()}
    read = {site.activation for site in weighted.values()} - {""}
    for value, array in values_of(model, sorted(read), feeds):
        span = (spoiled.seen.spans or {}).get(value)
        for name, site in weighted.items():
            if site.activation == value:
                found[name] = site.loss(array, precision, span)
    return found


@dataclass(frozen=True, slots=True)
class _Site:
    """What a node multiplies by: a row of weights for each channel of what it reads."""

    activation: str
    """Empty: it reads rows of the weights themselves."""
    channel_axis: int
    weights: Floats
    """Channels × all that they are multiplied by."""
    columns: int
    """How many scales the weights have."""

    def loss_of_weights(self, precision: str) -> float:
        """Return the relative error of the weights."""
        return float(np.linalg.norm(self._lost(precision)) / (np.linalg.norm(self.weights) or 1.0))

    def loss(self, array: Array, precision: str, span: Span | None) -> float:
        """Return the relative error of what the node gives, if errors of channels add up freely."""
        rows = np.moveaxis(np.asarray(array, np.float64), self.channel_axis, -1)
        rows = rows.reshape(-1, rows.shape[-1])
        energy = np.square(rows).sum(axis=0)
        gone = np.zeros_like(energy)
        if precision == "int8":
            gone = np.square(rows - _rounded(rows, span)).sum(axis=0)
        each = np.square(self.weights).sum(axis=1)
        lost = float(gone @ each + energy @ np.square(self._lost(precision)).sum(axis=1))
        return float(np.sqrt(lost / (float(energy @ each) or 1.0)))

    def _lost(self, precision: str) -> Floats:
        if precision == "int4":
            return self._lost_in_blocks()
        top = np.abs(self.weights.reshape(len(self.weights), -1, self.columns)).max(axis=(0, 1))
        step = np.tile(np.where(top > 0, top / _LARGEST[precision], 1.0),
                       self.weights.shape[1] // self.columns)  # fmt: skip
        found: Floats = self.weights - np.rint(self.weights / step) * step
        return found

    def _lost_in_blocks(self) -> Floats:
        found = np.empty_like(self.weights)
        for start in range(0, len(self.weights), _BLOCK):
            part = self.weights[start : start + _BLOCK]
            top = np.abs(part).max(axis=0)
            step = np.where(top > 0, top / _LARGEST["int4"], 1.0)
            found[start : start + _BLOCK] = part - np.rint(part / step) * step
        return found


def _site(node: ir.Node) -> _Site | None:
    """Return what a node multiplies by constant weights; None: it does not."""
    place = product_at(node)
    if isinstance(place, WeightedProduct):
        matrix = _elements(place.weights)
        matrix = matrix.T if place.transposed else matrix
        return _Site(place.activation.name or "", -1, matrix, matrix.shape[1])
    given, weights = (*node.inputs, None, None)[:2]
    if weights is not None and node.op_type == "Conv" and given is not None:
        return _Site(given.name or "", 1, *_kernels(node, _elements(weights)))
    if weights is not None and node.op_type == "Attention" and given is not None:
        matrix = _elements(weights)
        return _Site(given.name or "", -1, matrix, matrix.shape[1])
    if node.op_type == "Gather" and given is not None and constant_tensor(given) is not None:
        matrix = _elements(given).T
        return _Site("", -1, matrix, matrix.shape[1])
    return None


def _kernels(node: ir.Node, weights: Floats) -> tuple[Floats, int]:
    """Return a convolution's weights with a row for each channel, and how many scales they have."""
    groups = node.attributes.get_int("group", 1)
    parts = np.split(weights.reshape(*weights.shape[:2], -1), groups)
    rows = [np.moveaxis(part, 0, -1).reshape(part.shape[1], -1) for part in parts]
    return np.concatenate(rows), len(weights) // groups


def _elements(value: ir.Value) -> Floats:
    tensor = constant_tensor(value)
    assert tensor is not None
    return tensor.numpy().astype(np.float64)


def _rounded(rows: Floats, span: Span | None) -> Floats:
    """Return what 8 bits for all of a tensor make of it."""
    least, largest = span or (min(float(rows.min()), 0.0), max(float(rows.max()), 0.0))
    step = (largest - least) / _LEVELS or 1.0
    found: Floats = np.clip(np.rint(rows / step), np.rint(least / step), np.rint(largest / step))
    return found * step


def _is_near(spoiled: Spoiled, keep: Sequence[str]) -> bool:
    """Return whether outputs are within the bound with these nodes in fp32."""
    options = keeping(spoiled.options, keep)
    try:
        model = converted(spoiled.model, options, spoiled.seen)[0]
    except ModelError:
        return True  # nothing is left to be in integers
    numbers = options.conversion.integers
    assert numbers is not None
    with scratch("integers") as folder:
        draft = folder / "draft.onnx"
        onnx_files.write(model, draft, history=History("", ()))
        changed = StoredModel(draft, "draft")
        with comparable(spoiled.original, changed, options.conversion) as (original, other):
            return moved(original, other, spoiled.request, numbers).passed


def keeping(options: OptimizeOptions, keep: Sequence[str]) -> OptimizeOptions:
    """Return options with which more nodes stay in f32."""
    numbers = options.conversion.numbers
    assert numbers is not None
    more = dataclasses.replace(numbers, keep=(*numbers.keep, *keep))
    conversion = dataclasses.replace(options.conversion, numbers=more)
    return dataclasses.replace(options, conversion=conversion)
