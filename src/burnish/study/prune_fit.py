"""How what is left is fitted: in the way with which the outputs are nearest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from burnish.core import units
from burnish.core.arrays import Arrays
from burnish.feeds.feed import Feeds
from burnish.process.scratch import scratch
from burnish.prune.cut import Kept, Weights, reweighted
from burnish.prune.score import RIDGES
from burnish.store import onnx_files
from burnish.store.history import History
from burnish.study.prune_cut import Calibrated, Prunable, new_weights
from burnish.study.prune_inputs import errors, observe, outputs
from burnish.study.prune_sequence import fitted_in_turn
from burnish.study.prune_write import PruneTask

_BETWEEN = (0.5, 0.25)
_ENOUGH = 0.5
"""Of the error without fitting: a fit that leaves no more of it is not looked at any further."""


@dataclass(frozen=True, slots=True)
class FittedWeights:
    """The weights of what is left, and what is said of them."""

    weights: Weights
    zeros: Weights
    """The same without fitting: the very same object where that is what was taken."""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Tried:
    """One way to fit, and how near the outputs are with it."""

    how: str
    weights: Weights
    error: float
    part: float = 0.0
    """How strongly the weights were held to what they were; 0: not fitted by themselves."""


def fitted_weights(
    one: Prunable, axes: Sequence[Calibrated], kept: Kept, task: PruneTask
) -> FittedWeights:
    """Return fitted weights, if outputs on inputs that were kept back are nearer with them.

    Each product is fitted to what it read in the original, and held to what it was as strongly as
    helps. Where that does not halve the error, because what it reads has moved, products are fitted
    one after the other; where that makes it worse as well, the way from zeros to the fit is gone in
    part, or not at all.
    """
    zeros = new_weights(axes, kept, "zeroed")
    if not task.asked.reconstruct:
        return FittedWeights(zeros, zeros)
    fitted = new_weights(axes, kept, "fitted")
    if task.asked.max_error is not None:  # it was these whose error was found small enough
        return FittedWeights(fitted, zeros)
    judge = _Judge(one, outputs(one.model.onnx, task.inputs.choosing), task.inputs.choosing)
    nothing = judge.tried("fitting nothing", zeros)
    tried = [nothing, *_by_themselves(judge, axes, kept, fitted)]
    best = min(tried, key=lambda own: own.error)
    if best.error > _ENOUGH * nothing.error:
        in_turn = fitted_in_turn(one, axes, kept, zeros, task, best.part or RIDGES[-1])
        tried.append(judge.tried("fitting one after the other", in_turn))
        best = min(tried, key=lambda own: own.error)
    if best is nothing:
        way = min(tried[1:], key=lambda own: own.error)
        tried += [
            judge.tried(f"{way.how}, by {units.share(part)}", _mixed(zeros, way.weights, part))
            for part in _BETWEEN
        ]
        best = min(tried, key=lambda own: own.error)
    weights = _with_all(axes, kept, best.part, one, task) if best.part else best.weights
    return FittedWeights(weights, zeros, _told(tried, best))


def _with_all(
    axes: Sequence[Calibrated], kept: Kept, part: float, one: Prunable, task: PruneTask
) -> Weights:
    """Return fits of each product by itself to all inputs, once it is known how to fit."""
    if task.inputs.choosing is not task.inputs.calibrating:
        moments = [each for own in axes for each in own.moments]
        observe(one.model, moments, task.inputs.choosing, task.progress)
    return new_weights(axes, kept, "fitted", part)


def _by_themselves(
    judge: _Judge, axes: Sequence[Calibrated], kept: Kept, fitted: Weights
) -> Iterator[_Tried]:
    """Yield fits of each product by itself, held more and more strongly, while that helps."""
    last = judge.tried("fitting each product by itself", fitted, RIDGES[0])
    yield last
    for part in RIDGES[1:]:
        found = new_weights(axes, kept, "fitted", part)
        more = judge.tried(f"held {part / RIDGES[0]:g} times as strongly", found, part)
        yield more
        if more.error > last.error:
            return
        last = more


def _told(tried: Sequence[_Tried], best: _Tried) -> tuple[str, ...]:
    """Return what is said where more than the usual was tried."""
    if best.part == RIDGES[0]:
        return ()
    found = ", ".join(f"{own.how} {units.share(own.error)}" for own in tried)
    return (f"errors on calibration inputs: {found}; taken: {best.how}",)


def _mixed(zeros: Weights, fitted: Weights, part: float) -> Weights:
    return {
        name: (
            (1 - part) * np.asarray(array, np.float64) + part * np.asarray(fitted[name], np.float64)
        ).astype(array.dtype)
        for name, array in zeros.items()
    }


@dataclass(frozen=True, slots=True)
class _Judge:
    one: Prunable
    before: Sequence[Arrays]
    feeds: Sequence[Feeds]

    def tried(self, how: str, weights: Weights, part: float = 0.0) -> _Tried:
        """Return these weights with the relative error of the worst output."""
        with scratch("fit") as folder:
            twin = folder / "twin.onnx"
            model = reweighted(self.one.flow.model, weights)
            onnx_files.write(model, twin, history=History("", ()))
            after = outputs(twin, self.feeds)
        worst = max(own.relative for own in errors(self.before, after))
        return _Tried(how, weights, worst, part)
