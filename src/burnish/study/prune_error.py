"""Cut as far as an error allows: the smallest of several choices whose outputs are near enough."""

from __future__ import annotations

from collections.abc import Sequence

from burnish.core import units
from burnish.core.arrays import Arrays
from burnish.core.errors import UsageError
from burnish.process.scratch import scratch
from burnish.prune.choose import Scored, chosen, smallest
from burnish.prune.cut import Kept, reweighted
from burnish.store import onnx_files
from burnish.store.history import History
from burnish.study.prune_cut import Calibrated, Fit, Prunable, new_weights
from burnish.study.prune_inputs import errors, outputs
from burnish.study.prune_write import PruneTask

_TRIES = 6
"""Halvings of the range of shares: the last is within two hundredths of what it could be."""


def within_error(
    one: Prunable, axes: Sequence[Calibrated], worth: Sequence[Scored], task: PruneTask
) -> Kept:
    """Return what stays of a model whose outputs are within `--max-error` of the original's."""
    allowed, before = task.asked.max_error or 0.0, outputs(one.model.onnx, task.inputs.judging)
    whole = one.work.flops({})
    low, high = one.work.flops(smallest(one.found.axes)) / whole, 1.0
    best: Kept = {}
    least = float("inf")
    for number in range(1, _TRIES + 1):
        share = (low + high) / 2
        kept = chosen(worth, one.work.flops, share * whole)
        found = _error(one, axes, kept, before, task)
        least = min(least, found)
        task.progress.step("try", number, _TRIES, f"{share:.0%}: error {units.share(found)}")
        if found <= allowed:
            best, high = kept, share
        else:
            low = share
    if not best:
        raise UsageError(
            f"{one.model.label}: no cut was found with an error below {units.share(allowed)}; the "
            f"smallest that was tried has {units.share(least)}",
            hint=f"allow more: --max-error {1.1 * least:.2g}",
        )
    return best


def _error(
    one: Prunable, axes: Sequence[Calibrated], kept: Kept, before: Sequence[Arrays],
    task: PruneTask,
) -> float:  # fmt: skip
    """Return the largest relative error of an output of the twin, which computes the same."""
    fit: Fit = "fitted" if task.asked.reconstruct else "zeroed"
    with scratch("try") as folder:
        twin = folder / "twin.onnx"
        weights = new_weights(axes, kept, fit)
        onnx_files.write(reweighted(one.flow.model, weights), twin, history=History("", ()))
        return max(own.relative for own in errors(before, outputs(twin, task.inputs.judging)))
