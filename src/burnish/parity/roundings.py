"""Compare what was run with the truth, with ever more patience.

What a candidate gives must be as near to the truth as its type of arithmetic allows, or as
roundings alone can explain, or as near as the reference itself comes on the same engine.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from burnish.closeness.apart import numbers, scale_of
from burnish.closeness.tolerance import ROUNDING, SMALLEST, is_float
from burnish.core.array_types import name_of
from burnish.core.arrays import Array, Arrays
from burnish.core.budget import Budget
from burnish.core.errors import BurnishError
from burnish.core.tensors import FLOATS
from burnish.meaning.node import TypedArray
from burnish.meaning.numbers import LEAST_STEP, UNIT_ROUNDOFF
from burnish.parity.compare import compare, compare_tensor
from burnish.parity.meanings import MORE_RUNS, NOISE_FACTOR, RUNS
from burnish.parity.noise import Floats, Noise, Step, Tensors
from burnish.parity.report import TensorDiff
from burnish.parity.spread import Spread, spread_of
from burnish.parity.tolerances import Tolerances
from burnish.parity.truth import Truth

_OWN_FACTOR = 4.0
"""How many times the reference's own error on the same engine an error may be."""

_TOGETHER, _TOGETHER_CUT = 1.75, 2.5
"""How many times what roundings do to all elements of a slice, or of a tensor, these may be off:
engines round in other places than the model says. What rounds towards zero is off to one side."""

_SUMMED = 16.0
"""How far a step is off in roundings of f32 or f64: sums have many terms, and functions are made of
sums. In fewer bits what was summed up is rounded once."""

_WIDE = UNIT_ROUNDOFF["f32"]
_CUT = {"tf32": 2.0**-10}
"""How far factors are off that may be rounded towards zero, as devices do."""

_DRAWN = (*UNIT_ROUNDOFF, *_CUT)
"""Types whose roundings are known when they are asked for."""

_USUAL = 0.5
"""Up to this share of what noise was found to do for other inputs, none is made for these."""

Run = Callable[[Arrays], Arrays]
"""Gives outputs for inputs; raises a BurnishError where it cannot."""


@dataclass(slots=True)
class Roundings:
    """Judges outputs of one run; what is costly is done only where it is needed."""

    truth: Truth
    tolerances: Tolerances
    feeds: Arrays
    tensors: Tensors
    written: Arrays | None
    """What the reference gave, run as it is written; None: it was not run yet."""
    run_written: Run
    run_alike: Run
    """Runs the reference on the candidate's engine, as the candidate is run."""
    patience: float = 1.0
    """How many times as far as a rewrite an engine may drift that is judged by itself, in what its
    sums and functions are computed in: that is f32 where values are kept in fewer bits."""
    usual: dict[str, float] = field(default_factory=dict)
    """By output, what noise did to all of it for other inputs, as a share of its size."""
    budget: Budget | None = None
    """For noise where the tolerance holds."""
    drifting: list[str] = field(default_factory=list)
    """Outputs in which the reference itself drifts as far on the same engine."""
    undecided: list[str] = field(default_factory=list)
    """Outputs of which roundings decide how many elements there are."""
    untold: list[str] = field(default_factory=list)
    """Outputs of which it is not known what roundings do to all of their elements."""
    patient: Budget | None = None
    """For noise where the tolerance does not hold; None: as long as it takes."""
    noises: dict[Step, Noise] = field(default_factory=dict)

    def diff(self, name: str, truth: TypedArray, candidate: Array, *, hopeless: bool) -> TensorDiff:
        """Return how far an output is from the truth; `hopeless`: it means something else."""
        if self.tolerances.absolute is not None or self.tolerances.relative is not None:
            return self._as_asked(name, candidate)
        # Engines compute functions as they like: theirs are exact to a share of what they give at
        # most, not of what is left where that is next to nothing.
        tolerances = dataclasses.replace(self.tolerances, near_zero=self.patience > 1)
        expected = truth.value
        if self.written is not None:
            expected = _overflowing_alike(expected, self.written.get(name), candidate)

        def compared(slack: Array | None = None) -> TensorDiff:
            return compare_tensor(
                name, expected, candidate, tolerances, dtype=truth.dtype, slack=slack
            )

        found = compared()
        if hopeless or (not found.passed and candidate.shape != expected.shape):
            return found if hopeless else self._resized(found, truth.dtype)
        if not found.passed:
            if self.written is None:
                self.written = _given(self.run_written, self.feeds)
                expected = _overflowing_alike(expected, self.written.get(name), candidate)
            found = self._patient(found, truth.dtype, expected, compared)
        if not found.passed and truth.value.dtype.kind != "f":
            found = self._as_alike(found, truth.dtype, candidate, compared)
        # of what was asked for in other types, 8 bits for instance, no roundings are drawn
        asked = self.tolerances.arithmetic
        if not found.passed or truth.dtype not in FLOATS or asked not in (None, *_DRAWN):
            return found
        return self._together(found, truth.dtype, expected, candidate)

    def _patient(
        self,
        found: TensorDiff,
        dtype: str,
        expected: Array,
        compared: Callable[[Array | None], TensorDiff],
    ) -> TensorDiff:
        """Return how far each element is beyond what roundings, or the engine, do to it."""
        name = found.name
        noise = self._noise(dtype, name, MORE_RUNS, self.patient)
        if noise.runs < MORE_RUNS and name not in self.untold:
            self.untold.append(name)
        allowed = noise.of(name, NOISE_FACTOR)
        slack = _largest(allowed, _spread(_distance(self._own(name), expected)))
        found = compared(slack)
        if found.passed:
            return found
        alike = _given(self.run_alike, self.feeds).get(name)
        found = compared(_largest(slack, _spread(_distance(alike, expected))))
        self.drifting += [name] if found.passed else []
        return found

    def _as_alike(
        self,
        found: TensorDiff,
        dtype: str,
        candidate: Array,
        compared: Callable[[Array | None], TensorDiff],
    ) -> TensorDiff:
        """Return the same of no real numbers: right is what the reference gives on this engine."""
        alike = _given(self.run_alike, self.feeds).get(found.name)
        if alike is None or alike.shape != candidate.shape or alike.dtype != candidate.dtype:
            return found
        allowed = self._noise(dtype, found.name, MORE_RUNS).of(found.name, NOISE_FACTOR)
        again = compared(_largest(allowed, np.where(alike == candidate, np.inf, 0.0)))
        self.drifting += [found.name] if again.passed else []
        return again

    def _together(
        self, found: TensorDiff, dtype: str, expected: Array, candidate: Array
    ) -> TensorDiff:
        """Return the same; a difference, if more elements are off than roundings explain."""
        scale = scale_of(expected)
        sizes = spread_of(expected, expected, scale)
        errors = spread_of(self._counted(found, dtype, candidate, expected), expected, scale)
        known = max(self._rounding(dtype, found.name), _USUAL * self.usual.get(found.name, 0.0))
        factor = _TOGETHER_CUT if self.tolerances.arithmetic in _CUT else _TOGETHER
        if errors.beyond(sizes.times(known), sizes, factor).ratio <= 1:
            return found
        beyond = None
        for noise in self._explanations(found.name, dtype, expected, scale):
            beyond = errors.beyond(noise, sizes, factor)
            if beyond.ratio <= 1:
                self.usual[found.name] = noise.whole / sizes.whole
                return found
        if beyond is None:
            self.untold.append(found.name)
            return found
        severity = max(found.severity, beyond.ratio)
        return dataclasses.replace(found, passed=False, reason=beyond.said(), severity=severity)

    def _counted(self, found: TensorDiff, dtype: str, candidate: Array, expected: Array) -> Floats:
        """Return the errors, but for those that are below all that the type can hold."""
        errors = _distances(candidate, expected)
        least = SMALLEST.get(self.tolerances.effective(dtype, found.name), 0.0)
        return np.where(errors <= least, 0.0, errors)

    def _explanations(
        self, name: str, dtype: str, expected: Array, scale: float
    ) -> Iterator[Spread]:
        """Yield what roundings do to all elements, as more is asked; nothing: it is not known."""
        known = None
        for runs in (RUNS, MORE_RUNS):
            found = self._noise(dtype, name, runs, self.budget).spreads.get(name)
            if found is None:
                return
            known = found
            yield known
        for run in (self._own, lambda asked: _given(self.run_alike, self.feeds).get(asked)):
            own = _distance(run(name), expected)
            if own is not None and known is not None:
                known = known.wider(spread_of(own, expected, scale))
                yield known

    def _own(self, name: str) -> Array | None:
        """Return what the reference gives, run as it is written."""
        if self.written is None:
            self.written = _given(self.run_written, self.feeds)
        return self.written.get(name)

    def _as_asked(self, name: str, candidate: Array) -> TensorDiff:
        """Return how far an output is from what the reference gave, by numbers of the user's own.

        Whoever names them wants no patience.
        """
        if self.written is None:
            self.written = self.run_written(self.feeds)
        return compare_tensor(name, self.written[name], candidate, self.tolerances)

    def _resized(self, found: TensorDiff, dtype: str) -> TensorDiff:
        """Return a difference in shape; none where roundings alone make one, as of a threshold."""
        if found.name not in self._noise(dtype, found.name, MORE_RUNS).resized:
            return found
        self.undecided.append(found.name)
        return dataclasses.replace(found, passed=True, reason="")

    def _rounding(self, dtype: str, name: str) -> float:
        """Return how far a single step on the way to an output is off."""
        return max(ROUNDING.get(self.tolerances.effective(dtype, name), 0.0), self._wide(dtype))

    def _wide(self, dtype: str) -> float:
        """Return how far steps are off in what sums and functions are computed in.

        That is f32 where values are kept in fewer bits: rounding to these is one of the model's
        own, and as large on every engine.
        """
        patience = max(self.patience, _SUMMED)
        return patience * min(UNIT_ROUNDOFF.get(dtype, _WIDE), _WIDE)

    def _step(self, dtype: str) -> Step:
        """Return how far steps are off, besides what the types say that the model declares."""
        asked = self.tolerances.arithmetic or ""
        if dtype not in FLOATS:
            # What is no real number flips where roundings decide: engines round more than once.
            return Step(NOISE_FACTOR * UNIT_ROUNDOFF.get(asked, _WIDE))
        results = max(self._wide(dtype), UNIT_ROUNDOFF.get(asked, 0.0))
        factors = _CUT.get(asked, UNIT_ROUNDOFF.get(asked, 0.0))
        return Step(results, factors, LEAST_STEP.get(asked, 0.0))

    def _noise(self, dtype: str, name: str, runs: int, budget: Budget | None = None) -> Noise:
        step = self._step(dtype)
        noise = self.noises.setdefault(step, Noise())
        while noise.runs < runs:
            if not self.truth.disturb_results(noise, self.feeds, self.tensors, step, budget):
                break
        return noise


def are_near(written: Arrays, candidate: Arrays, tolerances: Tolerances) -> bool:
    """Return whether outputs are so near to a run that no more than single roundings are seen."""
    return all(
        _is_near(written[name], candidate[name], tolerances.effective(name_of(written[name]), name))
        for name in written
        if name in candidate and is_float(name_of(written[name]))
    )


def _is_near(written: Array, candidate: Array, kind: str) -> bool:
    expected = numbers(written).astype(np.float64)
    scale = scale_of(expected)
    sizes = spread_of(expected, expected, scale)
    errors = spread_of(_distances(numbers(candidate), expected), expected, scale)
    unit = max(ROUNDING[kind], _SUMMED * min(ROUNDING[kind], _WIDE))
    return errors.beyond(sizes.times(unit), sizes, _TOGETHER).ratio <= 1


def near_a_run(
    written: Arrays, candidate: Arrays, tolerances: Tolerances, alike: Callable[[], Arrays]
) -> tuple[tuple[TensorDiff, ...], tuple[str, ...]]:
    """Return how far a candidate is from what the reference gave, where no truth is known.

    As far as the reference itself drifts when it is run as the candidate is (`alike`), the
    candidate may: a step of an integer that falls the other way moves both. The second are the
    outputs where that was needed.
    """
    diffs = compare(written, candidate, tolerances)
    chosen = (tolerances.absolute, tolerances.relative) != (None, None)
    if chosen or all(diff.passed for diff in diffs):
        return diffs, ()
    drifted = _given(lambda _: alike(), {})
    patient = tuple(
        compare_tensor(
            diff.name, written[diff.name], candidate[diff.name], tolerances,
            slack=_spread(_distance(drifted.get(diff.name), written[diff.name])),
        )
        if not diff.passed and diff.name in candidate
        else diff
        for diff in diffs
    )  # fmt: skip
    forgiven = zip(diffs, patient, strict=True)
    return patient, tuple(new.name for old, new in forgiven if new.passed and not old.passed)


def _given(run: Run, feeds: Arrays) -> Arrays:
    try:
        return run(feeds)
    except BurnishError:
        return {}


def _overflowing_alike(truth: Array, written: Array | None, candidate: Array) -> Array:
    """Return the truth, but what the reference gives where one of the two is no finite number.

    A run overflows where the truth does not; the largest of nothing is minus infinity in truth, and
    whatever an engine likes when it is run. Where the reference overflows and the candidate does
    not, the candidate is held to the truth: a form that is more robust is right. So is one that
    overflows where the truth is beyond its type, whatever the reference chose of equal scores. And
    what is no real number is right where it is what the reference gives: scores that are zero in
    f32 are no zeros in truth, and have an order there.
    """
    if written is None or written.shape != truth.shape:
        return truth
    if truth.dtype.kind != "f":
        alike = candidate.shape == truth.shape and candidate.dtype == written.dtype
        return np.where(written == candidate, written, truth) if alike else truth
    run = written.astype(np.float64)
    is_known = np.isfinite(truth)
    holds = np.isfinite(run)
    if candidate.shape == truth.shape and candidate.dtype.kind in "fV":
        found, held = candidate.astype(np.float64), _held(truth, candidate.dtype)
        truth = np.where(np.isinf(held) & (held == found), held, truth)
        holds |= np.isfinite(found)
    return np.where(holds & is_known, truth, run)


def _held(truth: Array, dtype: np.dtype[Any]) -> Floats:
    """Return what a type can hold of the truth: infinity, where that is beyond it."""
    with np.errstate(over="ignore", invalid="ignore"):
        return truth.astype(dtype).astype(np.float64)


def _distance(found: Array | None, expected: Array) -> Floats | None:
    if found is None or found.shape != expected.shape or expected.dtype.kind != "f":
        return None
    return _distances(found, expected)


def _distances(found: Array, expected: Array) -> Floats:
    with np.errstate(all="ignore"):
        distance = np.abs(found.astype(np.float64) - expected.astype(np.float64))
    return np.nan_to_num(distance, nan=0.0, posinf=0.0)


def _spread(own: Floats | None) -> Floats | None:
    """Return what is allowed where the reference's own errors are known.

    Which element an engine's rounding falls upon is chance, how large it is is not: so the
    largest but one in a thousand holds for all.
    """
    if own is None or not own.size:
        return None
    return np.asarray(_OWN_FACTOR * np.maximum(own, np.quantile(own, 0.999)))


def _largest(*slacks: Array | None) -> Array | None:
    known = [slack for slack in slacks if slack is not None]
    result = None
    for slack in known:
        result = slack if result is None else np.maximum(result, slack)
    return result
