"""Which weights to set to zero, where they stay at their sizes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from burnish.prune.gram import Matrix

_GROUP, _OF_GROUP = 4, 2


def largest(weight: Matrix, keep: float) -> NDArray[np.bool_]:
    """Return where the largest weights are, as many as the share `keep` of all."""
    return _top(np.abs(weight).reshape(-1, 1), keep).reshape(weight.shape)


def by_output(weight: Matrix, norms: Matrix, keep: float) -> NDArray[np.bool_]:
    """Return for each output the weights that matter most: size times norm of what it scales."""
    return _top(np.abs(weight) * norms[:, None], keep)


def two_of_four(weight: Matrix, norms: Matrix) -> NDArray[np.bool_] | None:
    """Return two of each four weights in a row of each output; None: there are no whole fours."""
    rows, outputs = weight.shape
    if rows % _GROUP:
        return None
    worth = (np.abs(weight) * norms[:, None]).reshape(-1, _GROUP, outputs)
    order = np.argsort(np.argsort(-worth, axis=1, kind="stable"), axis=1, kind="stable")
    return (order < _OF_GROUP).reshape(rows, outputs)


def _top(worth: Matrix, keep: float) -> NDArray[np.bool_]:
    """Return in each column where its largest elements are."""
    count = max(1, round(keep * len(worth)))
    order = np.argsort(np.argsort(-worth, axis=0, kind="stable"), axis=0, kind="stable")
    return order < count
