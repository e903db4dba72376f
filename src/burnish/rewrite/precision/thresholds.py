"""Which part of a value's range 8 bits are spent on: four ways to read a histogram.

A histogram has a fixed number of bins, however much data went into it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from burnish.rewrite.options import Method

Span = tuple[float, float]
"""The least and the largest number that 8 bits stand for."""

BINS = 2048
_STEPS = 256
_OUTSIDE = 1e-4
"""Which part of the elements a percentile leaves outside, on both sides together."""
_TRIED = 20
"""How many places of each end are tried."""
_NARROWEST = 0.1

Counts = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Histogram:
    """How often elements of a value fell into each of equally wide bins."""

    least: float
    largest: float
    counts: Counts

    @staticmethod
    def empty(least: float, largest: float) -> Histogram:
        """Return one that nothing has been added to."""
        return Histogram(least, largest, np.zeros(BINS))

    def with_elements(self, elements: NDArray[np.generic]) -> Histogram:
        """Return one to which elements were added; those outside count as the ends."""
        flat = elements.reshape(-1).astype(np.float64)
        flat = np.clip(flat[np.isfinite(flat)], self.least, self.largest)
        width = self.largest - self.least
        if width <= 0 or not flat.size:
            return self
        at = np.minimum(((flat - self.least) / width * BINS).astype(np.int64), BINS - 1)
        return Histogram(self.least, self.largest, self.counts + np.bincount(at, minlength=BINS))

    @property
    def centres(self) -> Counts:
        """Return the number in the middle of each bin."""
        width = (self.largest - self.least) / BINS
        found: Counts = self.least + width * (np.arange(BINS, dtype=np.float64) + 0.5)
        return found


def span_of(histogram: Histogram, method: Method) -> Span:
    """Return the span that 8 bits are spent on; it always has 0 in it, so that 0 stays exact."""
    whole = histogram.least, histogram.largest
    if not histogram.counts.sum() or method == "minmax":
        return _with_zero(whole)
    return _with_zero(_METHODS[method](histogram))


def _percentile(histogram: Histogram) -> Span:
    share = np.cumsum(histogram.counts) / histogram.counts.sum()
    centres = histogram.centres
    first = int(np.searchsorted(share, _OUTSIDE / 2))
    last = int(np.searchsorted(share, 1 - _OUTSIDE / 2))
    return float(centres[first]), float(centres[min(last, BINS - 1)])


def _mse(histogram: Histogram) -> Span:
    def error(span: Span) -> float:
        step = (span[1] - span[0]) / (_STEPS - 1)
        clipped = np.clip(histogram.centres, *span)
        rounded = span[0] + np.rint((clipped - span[0]) / step) * step
        return float((np.square(rounded - histogram.centres) * histogram.counts).sum())

    return min(_narrower(histogram), key=error)


def _entropy(histogram: Histogram) -> Span:
    """Return the span with which the rounded distribution tells least from the whole one."""

    def divergence(span: Span) -> float:
        inside = (histogram.centres >= span[0]) & (histogram.centres <= span[1])
        kept = np.flatnonzero(inside)
        if kept.size < _STEPS:
            return float("inf")
        given = histogram.counts[kept].copy()
        given[0] += histogram.counts[: kept[0]].sum()
        given[-1] += histogram.counts[kept[-1] + 1 :].sum()
        group = np.arange(kept.size) * _STEPS // kept.size
        filled = histogram.counts[kept] > 0
        amount = np.bincount(group, weights=histogram.counts[kept], minlength=_STEPS)
        places = np.bincount(group, weights=filled.astype(float), minlength=_STEPS)
        shared = np.divide(amount, places, out=np.zeros_like(amount), where=places > 0)
        rounded = np.where(filled, shared[group], 0.0)
        p, q = given / given.sum(), np.maximum(rounded / max(rounded.sum(), 1e-12), 1e-12)
        return float((p[p > 0] * np.log(p[p > 0] / q[p > 0])).sum())

    return min(_narrower(histogram), key=divergence)


def _narrower(histogram: Histogram) -> list[Span]:
    """Return the whole span first, then those with one or both ends nearer to 0."""
    least, largest = min(histogram.least, 0.0), max(histogram.largest, 0.0)
    parts = [float(part) for part in np.linspace(1.0, _NARROWEST, _TRIED)]
    lower = [least * part for part in parts] if least else [0.0]
    upper = [largest * part for part in parts] if largest else [0.0]
    return [(low, high) for low in lower for high in upper if high > low] or [(least, largest)]


def _with_zero(span: Span) -> Span:
    least, largest = min(span[0], 0.0), max(span[1], 0.0)
    return (least, largest) if largest > least else (0.0, 1.0)


_METHODS: Mapping[str, Callable[[Histogram], Span]] = {
    "percentile": _percentile, "entropy": _entropy, "mse": _mse,
}  # fmt: skip
