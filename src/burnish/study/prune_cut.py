"""Cut the axes of one model: what can be cut, what that would cost, and the smaller model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import onnx_ir as ir

from burnish.core.arrays import Array
from burnish.core.errors import ModelError
from burnish.core.progress import Progress
from burnish.feeds.feed import Feeds
from burnish.infer.constants import constant_tensor
from burnish.prune.axes import CoupledAxis, PrunableAxes, coupled_axes
from burnish.prune.choose import Scored
from burnish.prune.cut import Kept
from burnish.prune.dims import Dim
from burnish.prune.flow import Flow
from burnish.prune.gram import GramMoments, products
from burnish.prune.score import RIDGES, Score, refitted, relative_error, unit_scores, without
from burnish.prune.work import PrunedWork
from burnish.store import onnx_files
from burnish.store.graph import GraphRecord
from burnish.store.stored import StoredModel
from burnish.study.inputs import fed
from burnish.study.observed import completed
from burnish.study.prune_inputs import observe
from burnish.study.prune_report import CutAxis

Fit = Literal["fitted", "zeroed"]


@dataclass(frozen=True, slots=True)
class Prunable:
    """A model that was followed, and what can be cut out of it."""

    model: StoredModel
    graph: GraphRecord
    """At the sizes of the inputs that it was followed with."""
    flow: Flow
    found: PrunableAxes
    work: PrunedWork


@dataclass(frozen=True, slots=True)
class Calibrated:
    """What the products that sum an axis away read on the calibration inputs."""

    axis: CoupledAxis
    moments: tuple[GramMoments, ...]

    @property
    def weights(self) -> list[np.ndarray[tuple[int, ...], np.dtype[np.float64]]]:
        """Return the weights of each product as a matrix."""
        return [one.product.matrix(elements(one.product.summed.weight)) for one in self.moments]


def prunable(model: StoredModel, feeds: Feeds) -> Prunable:
    """Return what can be cut out of a model; it is an error if nothing can."""
    seen = fed(model, feeds)
    graph = completed(seen.graph, model, feeds)
    flow = Flow(onnx_files.read(model.onnx), graph)
    found = coupled_axes(flow)
    if not found.axes:
        reason = next(iter(found.refused.items()), None)
        why = "it has no product with constant weights that are floats"
        if reason is not None:
            why = f"what {reason[0]} sums over must stay: {reason[1]}"
        raise ModelError(
            f"{model.label}: nothing in it can be made smaller; {why}",
            hint="set weights to zero instead: --method magnitude --keep 0.5",
        )
    return Prunable(model, graph, flow, found, PrunedWork(flow))


def calibrated(one: Prunable, feeds: Sequence[Feeds], progress: Progress) -> tuple[Calibrated, ...]:
    """Return what the products of all axes read, seen on these inputs."""
    result = tuple(
        Calibrated(axis, tuple(GramMoments(each) for each in products(one.flow, axis.sums)))
        for axis in one.found.axes
    )
    observe(one.model, [moments for own in result for moments in own.moments], feeds, progress)
    return result


def scored(axes: Sequence[Calibrated], score: Score) -> tuple[Scored, ...]:
    """Return what each unit of each axis is worth."""
    return tuple(
        Scored(own.axis, unit_scores(own.axis, own.moments, own.weights, score)) for own in axes
    )


def new_weights(
    axes: Sequence[Calibrated], kept: Kept, fit: Fit, part: float = RIDGES[0]
) -> dict[str, Array]:
    """Return the weights that read what is cut, at their old sizes, with zeros for what is gone.

    A weight that several products read is only zeroed: what fits one need not fit another. `part`
    is how strongly fitted weights are held to what they were.
    """
    result: dict[str, Array] = {}
    for own in axes:
        if own.axis.dim not in kept:
            continue
        for moments, weight in zip(own.moments, own.weights, strict=True):
            value, rows = moments.product.summed.weight, moments.product.rows(kept)
            new = (
                refitted(moments.gram, weight, rows, part=part)
                if fit == "fitted" and moments.product.alone
                else without(weight, rows)
            )
            result[value.name or ""] = moments.product.weight(new, elements(value))
    return result


def cut_axes(
    axes: Sequence[Calibrated], kept: Kept, weights: Mapping[str, Array]
) -> tuple[CutAxis, ...]:
    """Return how each axis was cut, and the error of the products that read it."""
    return tuple(_row(own, kept, weights) for own in axes if own.axis.dim in kept)


def _row(own: Calibrated, kept: Kept, weights: Mapping[str, Array]) -> CutAxis:
    fitted, zeroed = [], []
    for moments, weight in zip(own.moments, own.weights, strict=True):
        product, gram = moments.product, moments.gram
        new = product.matrix(weights[product.summed.weight.name or ""])
        fitted.append(relative_error(gram, weight, new))
        zeroed.append(relative_error(gram, weight, without(weight, product.rows(kept))))
    return CutAxis(
        own.axis.name, own.axis.kind, own.axis.size, len(kept[own.axis.dim]),
        error=max(fitted), error_unfitted=max(zeroed),
    )  # fmt: skip


def left_of(kept: Kept) -> dict[Dim, int]:
    """Return how many units are left of each dim that is cut."""
    return {dim: len(units) for dim, units in kept.items()}


def elements(value: ir.Value) -> Array:
    """Return the elements of a constant."""
    tensor = constant_tensor(value)
    assert tensor is not None
    return tensor.numpy()
