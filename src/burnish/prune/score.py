"""What each unit of an axis is worth: how far the outputs of its products move without it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from burnish.prune.axes import CoupledAxis
from burnish.prune.gram import GramMoments, Matrix

Score = Literal["norm", "output-error"]

RIDGES = (1e-3, 1e-2, 1e-1)
"""Of the mean square of the data: what keeps a solution small where there are few samples."""


def unit_scores(
    axis: CoupledAxis, moments: Sequence[GramMoments], weights: Sequence[Matrix], score: Score
) -> NDArray[np.float64]:
    """Return for each unit its share of the squared outputs of the products that read it.

    `norm` is the square of weight norm times activation norm; `output-error` what is lost when
    the other units make up for it as well as they can.
    """
    total = np.zeros(axis.size)
    for own, weight in zip(moments, weights, strict=True):
        gram = own.gram
        energy = squared_output(gram, weight) or 1.0
        rows = [own.product.rows({axis.dim: (unit,)}) for unit in range(axis.size)]
        found = _norms(gram, weight, rows) if score == "norm" else _losses(gram, weight, rows)
        total += found / energy
    return total


def _norms(gram: Matrix, weight: Matrix, rows: Sequence[NDArray[np.int64]]) -> Matrix:
    each = np.diag(gram) * np.sum(weight**2, axis=1)
    return np.array([float(np.sum(each[own])) for own in rows])


def _losses(gram: Matrix, weight: Matrix, rows: Sequence[NDArray[np.int64]]) -> Matrix:
    """Return tr(Wᵤᵀ [(G⁻¹)ᵤᵤ]⁻¹ Wᵤ): the error that remains if all others are fitted anew."""
    inverse = np.linalg.inv(gram + ridge(gram, RIDGES[0]) * np.eye(len(gram)))
    return np.array(
        [
            float(np.sum(weight[own] * np.linalg.solve(inverse[np.ix_(own, own)], weight[own])))
            for own in rows
        ]
    )


def ridge(gram: Matrix, part: float) -> float:
    """Return what is added to the diagonal before a system is solved."""
    return part * float(np.mean(np.diag(gram))) + 1e-12


def without(weight: Matrix, kept: NDArray[np.int64]) -> Matrix:
    """Return the weights with zeros where rows are cut."""
    masked = np.zeros_like(weight)
    masked[kept] = weight[kept]
    return masked


def refitted(
    gram: Matrix,
    weight: Matrix,
    kept: NDArray[np.int64],
    *,
    part: float = RIDGES[0],
    cross: Matrix | None = None,
) -> Matrix:
    """Return weights, zero outside of `kept`, whose product is nearest to what it was.

    min |X W - Yₛ W'|² + ridge |W' - Wₛ|², so that few samples leave the weights as they were. Y is
    what the product reads by now, `gram` YᵀY and `cross` YᵀX; without the latter, Y is X. `part` is
    how much of the mean square of Y the ridge is.
    """
    own = gram[np.ix_(kept, kept)]
    wanted = (gram if cross is None else cross)[kept] @ weight
    fitted = np.zeros_like(weight)
    missing = wanted - own @ weight[kept]
    within = own + ridge(gram, part) * np.eye(len(kept))
    fitted[kept] = weight[kept] + np.linalg.solve(within, missing)
    return fitted


def relative_error(gram: Matrix, weight: Matrix, other: Matrix) -> float:
    """Return the error of a product's output with other weights, relative to its norm."""
    energy = squared_output(gram, weight) or 1.0
    return float(np.sqrt(max(squared_output(gram, other - weight), 0.0) / energy))


def squared_output(gram: Matrix, weight: Matrix) -> float:
    """Return |X W|², from XᵀX; in single precision, for it is large and only compared."""
    narrow = weight.astype(np.float32)
    return float(np.sum((gram.astype(np.float32) @ narrow) * narrow, dtype=np.float64))
