"""Choose what is cut: the units that matter least for what they cost, until a target is met."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from burnish.prune.axes import CoupledAxis
from burnish.prune.dims import Dim

Cost = Callable[[Mapping[Dim, int]], float]
"""What an inference costs when of some dims so many units are left: operations, or seconds."""

_LANES = 8
"""Long axes keep a multiple of this: kernels take as long for the units that are missing to one."""
_LONG = 64


@dataclass(frozen=True, slots=True)
class Scored:
    """An axis with what each of its units is worth."""

    axis: CoupledAxis
    scores: NDArray[np.float64]

    def best(self, count: int) -> tuple[int, ...]:
        """Return the units of most worth, in their order."""
        order = np.argsort(-self.scores, kind="stable")
        return tuple(sorted(int(unit) for unit in order[:count]))


def step_of(axis: CoupledAxis) -> int:
    """Return of how many units what is left of an axis is a multiple."""
    return _LANES if axis.size >= _LONG else 1


def smallest(axes: Iterable[CoupledAxis]) -> dict[Dim, int]:
    """Return the sizes below which nothing is cut: one step of each axis."""
    return {axis.dim: step_of(axis) for axis in axes}


def chosen(scored: Sequence[Scored], cost: Cost, target: float) -> dict[Dim, tuple[int, ...]]:
    """Return the units that stay, as many as cost no more than `target`.

    Where even the smallest sizes cost more, they are what is returned.
    """
    order = _order(scored, cost)
    low, high = 0, len(order)
    while low < high:
        middle = (low + high) // 2
        if cost(_left(scored, order[:middle])) <= target:
            high = middle
        else:
            low = middle + 1
    left = _left(scored, order[:low])
    return {
        one.axis.dim: one.best(left[one.axis.dim])
        for one in scored
        if left[one.axis.dim] < one.axis.size
    }


def _order(scored: Sequence[Scored], cost: Cost) -> list[int]:
    """Return the number of the axis of each unit, what matters least for its cost first."""
    whole = cost({})
    worth, owner = [], []
    for number, one in enumerate(scored):
        half = max(one.axis.size // 2, 1)
        saved = (whole - cost({one.axis.dim: half})) / max(one.axis.size - half, 1)
        worth.append(one.scores / max(saved, 1e-30))
        owner.append(np.full(one.axis.size, number))
    ranking = np.argsort(np.concatenate(worth), kind="stable")
    return [int(number) for number in np.concatenate(owner)[ranking]]


def _left(scored: Sequence[Scored], gone: Sequence[int]) -> dict[Dim, int]:
    counts = np.bincount(np.asarray(gone, np.int64), minlength=len(scored))
    left = {}
    for number, one in enumerate(scored):
        kept, step = one.axis.size - int(counts[number]), step_of(one.axis)
        left[one.axis.dim] = max(step, min(-(-kept // step) * step, one.axis.size))
    return left
