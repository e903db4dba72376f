"""The way by which a quantised model comes to its steps, so that another can be led along it.

Numbers that are cut to steps of 8 bits fall to one side of a border or to the other, and one that
falls the other way moves all that follows: in a deep network so far that a channel of weights which
is off by 5 % hides behind it. But two models that mean the same come to every such border within a
small part of a step. So one is led along the way of the other: what is nearly as far between two
steps is taken to be as far, and then nothing is left by which right ones may differ.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from burnish.core.arrays import Array

NEAR = 0.02
"""How far, in steps, two models that mean the same may be apart before they are cut to steps:
biases and scales are stored in steps of their own."""
_ALIKE = 0.8
"""The share of a tensor that is as near where it is the same tensor: a wrong channel is not all."""
_MOST_BYTES = 1 << 28
_MOST_AXES, _LOOKED_AT = 4, 1024


class Steps(Protocol):
    """Sees, and may replace, what is about to be cut to whole steps."""

    def taken(self, value: Array) -> Array:
        """Return the numbers of steps to cut."""


@dataclass(slots=True)
class Way:
    """Remembers all that one model cuts to steps; of what would fill the memory, nothing."""

    values: list[Array] = field(default_factory=list)
    size_bytes: int = 0

    def taken(self, value: Array) -> Array:
        """Return the same numbers."""
        self.size_bytes += value.nbytes
        if self.size_bytes <= _MOST_BYTES:
            self.values.append(np.asarray(value))
        return value

    @property
    def is_known(self) -> bool:
        """Return whether there is a way, and all of it was remembered."""
        return bool(self.values) and self.size_bytes <= _MOST_BYTES


@dataclass(slots=True)
class Led:
    """Leads a model along a way, tensor by tensor, in whatever order it comes to them.

    A tensor is known by its numbers, with its axes in whatever order: layouts differ. One that has
    other numbers than any on the way is taken for the next of its size, and keeps them.
    """

    way: Sequence[Array]
    _met: set[int] = field(default_factory=set)
    """Which tensors of the way it has been to."""
    _lost: int = 0
    """Tensors that stand for none."""

    @property
    def went_along(self) -> bool:
        """Return whether it is known which tensor stands for which, and all of the way was gone.

        What an engine cuts to steps within an operator is not seen.
        """
        return not self._lost and len(self._met) == len(self.way)

    def taken(self, value: Array) -> Array:
        """Return the numbers of the way where these are near them."""
        for known in self.way:
            led = _along(known, value)
            if led is not None:
                # one that is cut twice may be cut once by the other
                self._met |= {n for n, each in enumerate(self.way) if np.array_equal(each, known)}
                return led
        alike = [
            place
            for place, known in enumerate(self.way)
            if known.size == value.size and place not in self._met
        ]
        if not alike or any(_are_the_same_numbers(self.way[place], value) for place in alike):
            self._lost += 1
        else:
            self._met.add(alike[0])
        return value


def _along(known: Array, value: Array) -> Array | None:
    """Return numbers that were led by those of the same tensor; None: it is another one.

    Its axes may have been turned around, or taken together, since.
    """
    if known.size != value.size:
        return None
    known = known.squeeze()
    turns = itertools.permutations(range(known.ndim)) if known.ndim <= _MOST_AXES else ()
    for turn in (None, *turns):
        turned = (known if turn is None else known.transpose(turn)).reshape(-1)
        step = known.size // _LOOKED_AT + 1
        looked_at = turned[::step], value.reshape(-1)[::step]
        if _are_near(*looked_at) and _are_near(turned, value.reshape(-1)):
            near = _near(turned, value.reshape(-1))
            return np.where(near, turned, value.reshape(-1)).reshape(value.shape)
    return None


def _are_the_same_numbers(known: Array, value: Array) -> bool:
    """Return whether a tensor has another's numbers in some order: then it cannot be led."""
    return _are_near(np.sort(known, axis=None), np.sort(value, axis=None))


def _are_near(known: Array, value: Array) -> bool:
    return not known.size or bool(_near(known, value).mean() >= _ALIKE)


def _near(known: Array, value: Array) -> Array:
    """Return which numbers are near each other, or beyond where one of the two models clips them.

    The range of a byte clips as well as a Relu in front of it, which one of them may have left out.
    """
    if not known.size:
        return np.ones(known.shape, bool)
    with np.errstate(invalid="ignore"):
        low, high = max(known.min(), value.min()), min(known.max(), value.max())
        found = np.abs(np.subtract(known, value, dtype=np.float64)) <= NEAR
        below = np.less_equal(known, low) & np.less_equal(value, low)
        above = np.greater_equal(known, high) & np.greater_equal(value, high)
    return np.asarray(found | below | above)
