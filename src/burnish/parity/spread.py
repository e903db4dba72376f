"""How far elements of a tensor are off together: as a whole, and by the places along each axis.

What rounds is right about as often too high as too low, and about as far for one element as for its
neighbours: of a single element it explains much, of a thousand that are all off a little it does
not. So root mean squares are compared, of the whole and of every slice: a layer that is off by a
few in a hundred moves all elements, a wrong channel all of its own.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from burnish.core.arrays import Array
from burnish.core.units import error

Floats = NDArray[np.float64]

_FEW = 8.0
"""A mean over so few elements is off by chance as far again; the farthest of many means, over more:
their number's logarithm says how many times as many."""
_NEARLY_ALL = 0.95
"""The share of slices that is no small number of them."""
_SMALL = 16
"""Slices of fewer elements may have noise as those around them have, whatever is in them."""
_MOST = 1e150
"""Truth goes beyond every type that is run: of larger errors, f64 cannot hold sums of squares."""


@dataclass(frozen=True, slots=True)
class Spread:
    """Root mean squares of a tensor: of all elements, then of each place along each axis."""

    whole: float
    along: tuple[Floats, ...]
    """By axis; none of an axis that has one place only, or is the only one."""
    shape: tuple[int, ...]

    def wider(self, other: Spread) -> Spread:
        """Return the larger of both, place by place."""
        pairs = zip(self.along, other.along, strict=True)
        along = tuple(np.maximum(one, two) for one, two in pairs)
        return Spread(max(self.whole, other.whole), along, self.shape)

    def times(self, share: float) -> Spread:
        """Return a share of it, place by place."""
        along = tuple(each * share for each in self.along)
        return Spread(self.whole * share, along, self.shape)

    def beyond(
        self, noise: Spread, sizes: Spread, factor: float, along: float | None = None
    ) -> Beyond:
        """Return where these errors are farthest beyond what noise does to values of such sizes.

        `factor` times the noise is allowed, `along` times that of a slice.
        """
        count = math.prod(self.shape)
        worst = Beyond(_ratio(self.whole, _allowance(factor, count) * noise.whole), self.whole)
        for axis, errors in enumerate(self.along):
            if not errors.size:
                continue
            inside = count // len(errors)
            allowed = _allowance(along or factor, inside, len(errors)) * _usual(
                noise.along[axis], sizes.along[axis], alone=inside < _SMALL
            )
            with np.errstate(divide="ignore"):
                ratios = np.divide(errors, allowed, out=np.zeros_like(errors), where=errors > 0)
            at = int(np.argmax(ratios))
            if ratios[at] > worst.ratio:
                worst = Beyond(float(ratios[at]), float(errors[at]), axis, at)
        return worst


@dataclass(frozen=True, slots=True)
class Beyond:
    """How many times as far as it may be something is off, and where."""

    ratio: float
    off: float
    axis: int = -1
    place: int = -1

    def said(self) -> str:
        """Return it in words."""
        where = "all of it" if self.axis < 0 else f"what lies at {self.place} of axis {self.axis}"
        explained = error(self.off / self.ratio) if math.isfinite(self.ratio) else "nothing"
        return f"{where} is off by {error(self.off)} (root mean square), roundings by {explained}"


def spread_of(errors: Array, truth: Array, scale: float) -> Spread:
    """Return the root mean squares of errors; what is not finite counts as nothing.

    Errors of values larger than `scale` count by their share in these: no single large one, or
    a filled mask, hides what happens to all the others.
    """
    with np.errstate(all="ignore"):
        weighed = np.asarray(errors, np.float64) * (scale / np.maximum(np.abs(truth), scale))
    known = np.nan_to_num(weighed, nan=0.0, posinf=0.0, neginf=0.0)
    squares = np.square(np.clip(known, -_MOST, _MOST))
    axes = range(truth.ndim)
    along = tuple(
        np.sqrt(squares.mean(axis=tuple(other for other in axes if other != axis)))
        if truth.ndim > 1 and truth.shape[axis] > 1 and truth.size
        else np.zeros(0)
        for axis in axes
    )
    return Spread(float(np.sqrt(squares.mean())) if truth.size else 0.0, along, truth.shape)


def _allowance(factor: float, count: int, places: int = 1) -> float:
    return factor * math.sqrt(1 + _FEW * (1 + math.log(places)) / max(count, 1))


def _usual(noise: Floats, sizes: Floats, *, alone: bool) -> Floats:
    """Return the noise of each slice, at least what is usual for its size, and around it.

    Around slices of a few elements that is what all have together, not what the middle one has: of
    elements that are cut to steps, noise moves one in seven by a step, and the others not at all.
    But a few that move far say nothing of the others.
    """
    known = sizes > 0
    share = float(np.median(noise[known] / sizes[known])) if known.any() else 0.0
    least = np.maximum(noise, share * sizes)
    return np.maximum(least, _together(noise)) if alone else least


def _together(noise: Floats) -> float:
    """Return what slices have together; of far ones, what nearly all others stay below."""
    root_mean_square = float(np.sqrt(np.square(noise).mean()))
    middle, nearly_all = (float(each) for each in np.quantile(noise, (0.5, _NEARLY_ALL)))
    return max(middle, min(root_mean_square, nearly_all))


def _ratio(errors: float, allowed: float) -> float:
    if errors == 0:
        return 0.0
    return errors / allowed if allowed else math.inf
