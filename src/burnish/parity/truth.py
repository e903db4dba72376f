"""What two models mean, apart from how they are run: evaluated in real numbers.

Where a computation is written in another way, its value in f64 moves in the last bits only; so
a difference in meaning stands out far below any tolerance for roundings. How far roundings can
move each element is measured, too: by evaluating the reference with every result disturbed at
random by one rounding of its type.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import onnx_ir as ir

from burnish.core.arrays import Arrays
from burnish.core.budget import Budget
from burnish.core.errors import BurnishError
from burnish.core.tensors import FLOATS
from burnish.meaning.evaluate import Evaluator, Otherwise
from burnish.meaning.node import NotEvaluatedError, TypedArray
from burnish.meaning.numbers import Noisy, Numbers, Reals
from burnish.meaning.steps import Led, Way
from burnish.parity.noise import Noise, Step, Tensors

_FAILURES = (
    NotEvaluatedError, BurnishError, ArithmeticError, LookupError, ValueError, TypeError,
    MemoryError, AssertionError,
)  # fmt: skip
"""What evaluating inputs that do not fit a model may end in: NumPy raises many things."""


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

    def __init__(  # noqa: PLR0913  (each says something else of the constants)
        self,
        reference: ir.Model,
        candidate: ir.Model | None,
        otherwise: Otherwise,
        *,
        weights: Collection[str] = (),
        loose: tuple[Collection[str], Collection[str]] = ((), ()),
        instead: Mapping[str, ir.TensorProtocol] = MappingProxyType({}),
        budget: Budget | None = None,
    ) -> None:
        """Take models of one's own; no candidate: it is written like the reference.

        `weights` are inputs of the reference that are constants of a larger model; `loose` are
        constants of each that may be those of the other, rounded anew; `instead` are what constants
        of the candidate were before they were rounded.
        """
        self.reference = Evaluator(reference, otherwise=otherwise, weights=weights, loose=loose[0])
        self.candidate = (
            None
            if candidate is None
            else Evaluator(candidate, otherwise=otherwise, loose=loose[1], instead=instead)
        )
        self._budget = budget
        self.obstacle = ""
        """Why the last evaluation failed; empty: it did not."""
        self.overflowed = False
        """Whether the reference left f64's range on its way, when it was last evaluated."""

    def begin(self, budget: Budget) -> None:
        """Count time from now on: a reference may wait long for what it judges."""
        self._budget = budget

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

    def way(self, feeds: Arrays) -> Way | None:
        """Return how the reference comes to its steps of 8 bits; None: it has none, or too many."""
        numbers, way = Reals(), Way()
        numbers.steps = way
        found = self._evaluated(self.reference, feeds, numbers, self._budget)
        return way if found is not None and way.is_known else None

    def of_candidate_along(self, way: Way, feeds: Arrays) -> Tensors | None:
        """Return what the candidate means when led along a way; None: it does not go there."""
        assert self.candidate is not None
        numbers, led = Reals(), Led(way.values)
        numbers.steps = led
        found = self._evaluated(self.candidate, feeds, numbers, self._budget)
        return found if led.went_along else None

    def disturb_results(
        self,
        noise: Noise,
        feeds: Arrays,
        truth: Tensors,
        step: Step,
        budget: Budget | None = None,
    ) -> bool:
        """Add one run in which every result is off by a rounding; return whether that was done."""
        numbers = Noisy(
            1 + noise.runs, least=step.results, factors=step.factors, least_step=step.least_step
        )
        found = self._evaluated(self.reference, feeds, numbers, budget)
        if found is not None:
            noise.add(truth, found)
        return found is not None

    def disturb_constants(
        self,
        noise: Noise,
        feeds: Arrays,
        meant: Sequence[Meant],
        unit: float,
        way: Way | None = None,
    ) -> bool:
        """Add one run in which the loose constants of both are off, by at least `unit`.

        Where an engine had a part in it, all results are off; ties stay ties in any case. With a
        `way`, both are led along it; returns whether they went there.
        """
        numbers = Noisy(1 + noise.runs, constants_only=self.is_exact, least=unit, alike=True)
        noise.runs += 1
        led = [Led(way.values) if way is not None else None for _ in range(2)]
        numbers.steps = led[0]
        before = self._evaluated(self.reference, feeds, numbers, None) or {}
        after = before
        if self.candidate is not None:
            numbers.steps = led[1]
            after = self._evaluated(self.candidate, feeds, numbers, None) or {}
        for each in meant:
            for name, tensor, found in (
                (each.name, each.truth, before), (each.counterpart, each.meant, after),
            ):  # fmt: skip
                if name in found:
                    noise.widen({each.name: tensor}, {each.name: found[name]})
        return all(one.went_along for one in led if one is not None)

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
