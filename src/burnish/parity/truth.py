"""What two models mean, apart from how they are run: evaluated in real numbers.

Where a computation is written in another way, its value in f64 moves in the last bits only; so
a difference in meaning stands out far below any tolerance for roundings. How far roundings can
move each element is measured, too: by evaluating the reference with every result disturbed at
random by one rounding of its type.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import onnx_ir as ir
from numpy.typing import NDArray

from burnish.closeness.apart import scale_of
from burnish.core.arrays import Arrays
from burnish.core.budget import Budget
from burnish.core.errors import BurnishError
from burnish.core.tensors import FLOATS
from burnish.meaning.evaluate import Evaluator, Otherwise
from burnish.meaning.node import NotEvaluatedError, TypedArray
from burnish.meaning.numbers import Noisy, Numbers, Reals

_SMOOTHED = 0.95
"""The share of a tensor's elements whose noise, for their size, the others may have, too: a few
runs of noise leave single elements undisturbed by chance."""

_MOST_DRAWN = 1 << 20
"""Elements that this is estimated from."""

_FAILURES = (
    NotEvaluatedError, BurnishError, ArithmeticError, LookupError, ValueError, TypeError,
    MemoryError, AssertionError,
)  # fmt: skip
"""What evaluating inputs that do not fit a model may end in: NumPy raises many things."""

Tensors = Mapping[str, TypedArray]
Floats = NDArray[np.float64]


@dataclass(slots=True)
class Noise:
    """How far elements move when results are disturbed; grows with every run."""

    seen: dict[str, Floats] = field(default_factory=dict)
    truth: dict[str, Floats] = field(default_factory=dict)
    """The real elements that were disturbed."""
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

    def of(self, name: str, factor: float) -> Floats | None:
        """Return so many times the noise of a tensor's elements; None: nothing is known of it.

        An element that is not a real number and moved at all may be anything. A real one may
        move as far, for its size, as nearly all others did. One that is far smaller than most is
        what others left of each other, and may move as these do: of millions, some stay
        undisturbed by chance in every run.
        """
        found, truth = self.seen.get(name), self.truth.get(name)
        if found is None or truth is None or not found.size:
            return found
        # One array and no more beside what is known: a vocabulary makes these large.
        allowed = np.asarray(np.nan_to_num(np.abs(truth), posinf=0.0))
        known, least = allowed > 0, scale_of(allowed)
        of_own, of_others = _usual(found, allowed, 0.0), _usual(found, allowed, least)
        allowed *= of_own
        np.maximum(allowed, of_others * least, out=allowed, where=known)
        np.maximum(allowed, found, out=allowed)
        allowed *= factor
        return allowed


def _usual(moved: Floats, sizes: Floats, least: float) -> float:
    """Return how far nearly all elements moved for their size, which counts as `least` or more."""
    step = sizes.size // _MOST_DRAWN | 1
    drawn, large = moved.reshape(-1)[::step], np.maximum(sizes.reshape(-1)[::step], least)
    known = sizes.reshape(-1)[::step] > 0
    return float(np.quantile(drawn[known] / large[known], _SMOOTHED)) if known.any() else 0.0


def _moved(truth: TypedArray, disturbed: TypedArray) -> Floats:
    if truth.dtype not in FLOATS:
        return np.where(truth.value != disturbed.value, np.inf, 0.0)
    with np.errstate(all="ignore"):
        moved: Floats = np.abs(disturbed.value - truth.value)
    return np.nan_to_num(moved, nan=0.0, posinf=0.0)


@dataclass(frozen=True, slots=True)
class Meant:
    """An output of the reference, and what the candidate gives for it, in real numbers."""

    name: str
    truth: TypedArray
    counterpart: str
    """What the candidate calls it."""
    meant: TypedArray


def _filled(truth: TypedArray, meant: TypedArray) -> TypedArray:
    """Return the truth, with what is meant where the former is no finite number."""
    if truth.dtype not in FLOATS or truth.value.shape != meant.value.shape:
        return truth
    return dataclasses.replace(
        truth, value=np.where(np.isfinite(truth.value), truth.value, meant.value)
    )


class Truth:
    """A reference and a candidate, or the reference alone, in real numbers."""

    def __init__(
        self,
        reference: ir.Model,
        candidate: ir.Model | None,
        otherwise: Otherwise,
        *,
        weights: Collection[str] = (),
        loose: tuple[Collection[str], Collection[str]] = ((), ()),
        budget: Budget | None = None,
    ) -> None:
        """Take models of one's own; no candidate: it is written like the reference.

        `weights` are inputs of the reference that are constants of a larger model; `loose` are
        constants of each that may be those of the other, rounded anew.
        """
        self.reference = Evaluator(reference, otherwise=otherwise, weights=weights, loose=loose[0])
        self.candidate = (
            None if candidate is None else Evaluator(candidate, otherwise=otherwise, loose=loose[1])
        )
        self._budget = budget
        self.obstacle = ""
        """Why the last evaluation failed; empty: it did not."""
        self.overflowed = False
        """Whether the reference left f64's range on its way, when it was last evaluated."""

    def of_reference(self, feeds: Arrays) -> Tensors | None:
        """Return what the reference means for these inputs; None: that is not known."""
        numbers = Reals()
        found = self._evaluated(self.reference, feeds, numbers, self._budget)
        self.overflowed = numbers.overflowed
        return found

    def of_candidate(self, feeds: Arrays) -> Tensors | None:
        """Return what the candidate means, by its own names; None: that is not known."""
        assert self.candidate is not None
        return self._evaluated(self.candidate, feeds, Reals(), self._budget)

    def disturb_results(self, noise: Noise, feeds: Arrays, truth: Tensors, unit: float) -> None:
        """Add one run in which every result is off by a rounding, of at least `unit`."""
        found = self._evaluated(self.reference, feeds, Noisy(1 + noise.runs, least=unit), None)
        if found is not None:
            noise.add(truth, found)

    def disturb_constants(
        self, noise: Noise, feeds: Arrays, meant: Sequence[Meant], unit: float
    ) -> None:
        """Add one run in which the loose constants of both are off, by at least `unit`.

        Where an engine had a part in it, all results are off; ties stay ties in any case.
        """
        numbers = Noisy(1 + noise.runs, constants_only=self.is_exact, least=unit, alike=True)
        noise.runs += 1
        before = self._evaluated(self.reference, feeds, numbers, None) or {}
        after = before
        if self.candidate is not None:
            after = self._evaluated(self.candidate, feeds, numbers, None) or {}
        for each in meant:
            for name, tensor, found in (
                (each.name, each.truth, before), (each.counterpart, each.meant, after),
            ):  # fmt: skip
                if name in found:
                    noise.widen({each.name: tensor}, {each.name: found[name]})

    def mended(self, truth: Tensors, meant: Tensors) -> Tensors:
        """Return the truth; where f64 could not hold it on the way, what the candidate means.

        exp(1000) over a sum of such is a number, though not in f64: a form that reaches it without
        the detour is right. `meant` is by the reference's names.
        """
        if not self.overflowed:
            return truth
        return {
            name: _filled(tensor, meant[name]) if name in meant else tensor
            for name, tensor in truth.items()
        }

    @property
    def is_exact(self) -> bool:
        """Return whether nothing was left to an engine, which rounds."""
        sides = [each for each in (self.reference, self.candidate) if each is not None]
        return not any(side.by_engine for side in sides)

    def _evaluated(
        self, evaluator: Evaluator, feeds: Arrays, numbers: Numbers, budget: Budget | None
    ) -> Tensors | None:
        try:
            found = evaluator.outputs(feeds, numbers, budget=budget)
        except _FAILURES as reason:
            self.obstacle = str(reason) or type(reason).__name__
            return None
        self.obstacle = ""
        return {name: each for name, each in found.items() if isinstance(each, TypedArray)}
