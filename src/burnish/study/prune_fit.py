"""How far to go from zeros towards fitted weights: as far as the outputs get nearer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from burnish.core import units
from burnish.core.arrays import Arrays
from burnish.process.scratch import scratch
from burnish.prune.cut import Kept, Weights, reweighted
from burnish.store import onnx_files
from burnish.store.history import History
from burnish.study.prune_cut import Calibrated, Prunable, new_weights
from burnish.study.prune_inputs import errors, outputs
from burnish.study.prune_write import PruneTask

_BETWEEN = (0.5, 0.25)
_MOST_INPUTS = 4


@dataclass(frozen=True, slots=True)
class FittedWeights:
    """The weights of what is left, and what is said of them."""

    weights: Weights
    zeros: Weights
    """The same without fitting: the very same object where that is what was taken."""
    notes: tuple[str, ...] = ()


def fitted_weights(
    one: Prunable, axes: Sequence[Calibrated], kept: Kept, task: PruneTask
) -> FittedWeights:
    """Return fitted weights, if outputs on calibration inputs are nearer with them.

    Each product is fitted to what it read in the original; in a deep model of convolutions what
    it reads has moved, and a fit of every product can make the whole worse. Then the way from
    zeros to the fit is gone in part, or not at all.
    """
    zeros = new_weights(axes, kept, "zeroed")
    if not task.asked.reconstruct:
        return FittedWeights(zeros, zeros)
    fitted = new_weights(axes, kept, "fitted")
    if task.asked.max_error is not None:  # it was these whose error was found small enough
        return FittedWeights(fitted, zeros)
    judge = _Judge(one, task, outputs(one.model.onnx, task.inputs.calibrating[:_MOST_INPUTS]))
    found = {0.0: judge.error(zeros), 1.0: judge.error(fitted)}
    if found[1.0] > 0.5 * found[0.0]:
        found |= {part: judge.error(_mixed(zeros, fitted, part)) for part in _BETWEEN}
    best = min(found, key=lambda part: found[part])
    if best == 1.0:
        return FittedWeights(fitted, zeros)
    told = (
        f"fitting all that is left gives an error of {units.share(found[1.0])} on calibration "
        f"inputs, fitting nothing {units.share(found[0.0])}: it was fitted by {units.share(best)}, "
        f"which gives {units.share(found[best])}"
    )
    return FittedWeights(_mixed(zeros, fitted, best) if best else zeros, zeros, (told,))


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
    task: PruneTask
    before: Sequence[Arrays]

    def error(self, weights: Weights) -> float:
        """Return the relative error of the worst output with these weights."""
        with scratch("fit") as folder:
            twin = folder / "twin.onnx"
            model = reweighted(self.one.flow.model, weights)
            onnx_files.write(model, twin, history=History("", ()))
            after = outputs(twin, self.task.inputs.calibrating[: len(self.before)])
        return max(own.relative for own in errors(self.before, after))
