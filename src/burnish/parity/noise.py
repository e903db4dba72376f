"""How far roundings move what a model gives: seen in a few runs with every result disturbed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from burnish.closeness.apart import scale_of
from burnish.core.tensors import FLOATS
from burnish.meaning.node import TypedArray
from burnish.parity.spread import Spread, spread_of

_SMOOTHED = 0.95
"""The share of a tensor's elements whose noise, for their size, the others may have, too: a few
runs of noise leave single elements undisturbed by chance."""

_MOST_DRAWN = 1 << 20
"""Elements that this is estimated from."""

Tensors = Mapping[str, TypedArray]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Step:
    """How far one step of a computation is off, as a share of what it gives."""

    results: float = 0.0
    """At least; more where the type that the model declares rounds more."""
    factors: float = 0.0
    """Of products: where a type of fewer bits than the model's was asked for."""
    least_step: float = 0.0
    """Whatever it gives, in numbers: types of few bits have none next to nothing."""


@dataclass(slots=True)
class Noise:
    """How far elements move when results are disturbed; grows with every run."""

    seen: dict[str, Floats] = field(default_factory=dict)
    truth: dict[str, Floats] = field(default_factory=dict)
    """The real elements that were disturbed."""
    spreads: dict[str, Spread] = field(default_factory=dict)
    """How far they moved together, at most in one run."""
    runs: int = 0
    resized: set[str] = field(default_factory=set)
    """Tensors that had another shape in some run: roundings decide how many elements they have."""

    def add(self, truth: Tensors, disturbed: Tensors) -> None:
        """Take one more run into account."""
        self.runs += 1
        self.widen(truth, disturbed)

    def widen(self, truth: Tensors, disturbed: Tensors) -> None:
        """Take what moved into account, without counting a run."""
        for name, tensor in truth.items():
            if name in disturbed and disturbed[name].value.shape != tensor.value.shape:
                self.resized.add(name)
            elif name in disturbed:
                moved = _moved(tensor, disturbed[name])
                self.seen[name] = np.maximum(self.seen.get(name, 0.0), moved)
                if tensor.dtype in FLOATS:
                    self.truth[name] = tensor.value
                    found = spread_of(moved, tensor.value, scale_of(tensor.value))
                    before = self.spreads.get(name)
                    self.spreads[name] = found if before is None else before.wider(found)

    def of(self, name: str, factor: float) -> Floats | None:
        """Return so many times the noise of a tensor's elements; None: nothing is known of it.

        An element that is not a real number and moved at all may be anything. A real one may
        move as far, for its size, as nearly all others of usual size did. One that is smaller than
        these is what others left of each other, and may move as these do: of millions, some stay
        undisturbed by chance in every run.
        """
        found, truth = self.seen.get(name), self.truth.get(name)
        if found is None or truth is None or not found.size:
            return found
        # One array and no more beside what is known: a vocabulary makes these large.
        allowed = np.asarray(np.nan_to_num(np.abs(truth), posinf=0.0))
        size, share = _usual(found, allowed)
        np.maximum(allowed, size, out=allowed, where=allowed > 0)
        with np.errstate(over="ignore"):  # beyond every type that is run
            allowed *= share
            np.maximum(allowed, found, out=allowed)
            allowed *= factor
        return allowed


def _usual(moved: Floats, sizes: Floats) -> tuple[float, float]:
    """Return the usual size of an element, and how far nearly all that have it moved for theirs.

    Of what is nearly zero every noise is many times its size, and says nothing of others.
    """
    step = sizes.size // _MOST_DRAWN | 1
    drawn, sizes = moved.reshape(-1)[::step], sizes.reshape(-1)[::step]
    if not (sizes > 0).any():
        return 0.0, 0.0
    usual = float(np.median(sizes[sizes > 0]))
    typical = sizes >= usual
    return usual, float(np.quantile(drawn[typical] / sizes[typical], _SMOOTHED))


def _moved(truth: TypedArray, disturbed: TypedArray) -> Floats:
    if truth.dtype not in FLOATS:
        return np.where(truth.value != disturbed.value, np.inf, 0.0)
    with np.errstate(all="ignore"):
        moved: Floats = np.abs(disturbed.value - truth.value)
    return np.nan_to_num(moved, nan=0.0, posinf=0.0)
