"""Compare what was run with the truth, with ever more patience.

What a candidate gives must be as near to the truth as its type of arithmetic allows, or as
roundings alone can explain, or as near as the reference itself comes on the same engine.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from burnish.closeness.tolerance import ROUNDING
from burnish.core.arrays import Array, Arrays
from burnish.core.errors import BurnishError
from burnish.core.tensors import FLOATS
from burnish.meaning.node import TypedArray
from burnish.meaning.numbers import UNIT_ROUNDOFF
from burnish.parity.compare import compare, compare_tensor
from burnish.parity.meanings import MORE_RUNS, NOISE_FACTOR
from burnish.parity.report import TensorDiff
from burnish.parity.tolerances import Tolerances
from burnish.parity.truth import Floats, Noise, Tensors, Truth

_OWN_FACTOR = 4.0
"""How many times the reference's own error on the same engine an error may be."""

_UNITS = {**UNIT_ROUNDOFF, "tf32": ROUNDING["tf32"]}
"""How far one step moves what it gives: in tf32, whose factors are rounded, about as far as in f16.
"""

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
    drifting: list[str] = field(default_factory=list)
    """Outputs in which the reference itself drifts as far on the same engine."""
    undecided: list[str] = field(default_factory=list)
    """Outputs of which roundings decide how many elements there are."""

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
        if found.passed or hopeless:
            return found
        if self.written is None:
            self.written = _given(self.run_written, self.feeds)
            expected = _overflowing_alike(expected, self.written.get(name), candidate)
        own = _distance(self.written.get(name), expected)
        noise = self._noise(truth.dtype, name)
        if candidate.shape != expected.shape:
            return self._resized(found, noise)
        allowed = noise.of(name, self._patience(truth.dtype, name) * NOISE_FACTOR)
        slack = _together(allowed, _spread(own))
        found = compared(slack)
        if found.passed:
            return found
        alike = _given(self.run_alike, self.feeds).get(name)
        found = compared(_together(slack, _spread(_distance(alike, expected))))
        self.drifting += [name] if found.passed else []
        return found

    def _as_asked(self, name: str, candidate: Array) -> TensorDiff:
        """Return how far an output is from what the reference gave, by numbers of the user's own.

        Whoever names them wants no patience.
        """
        if self.written is None:
            self.written = self.run_written(self.feeds)
        return compare_tensor(name, self.written[name], candidate, self.tolerances)

    def _resized(self, found: TensorDiff, noise: Noise) -> TensorDiff:
        """Return a difference in shape; none where roundings alone make one, as of a threshold."""
        if found.name not in noise.resized:
            return found
        self.undecided.append(found.name)
        return dataclasses.replace(found, passed=True, reason="")

    def _unit(self, dtype: str, name: str) -> float:
        """Return how far one step on the way to an output moves what it gives."""
        kind = self.tolerances.effective(dtype, name) if dtype in FLOATS else "f32"
        return _UNITS.get(kind, 0.0)

    def _patience(self, dtype: str, name: str) -> float:
        """Return how many times what roundings do an output may be off.

        A rounding to 16 bits is one of the model's own, and as large on every engine: sixty-four
        of them would let a layer pass that is off by a fifth.
        """
        wide = _UNITS["f32"] / max(self._unit(dtype, name), _UNITS["f32"])
        return max(1.0, self.patience * wide)

    def _noise(self, dtype: str, name: str) -> Noise:
        noise = Noise()
        # What is no real number flips where roundings decide: engines round more than once.
        unit = self._unit(dtype, name) * (1 if dtype in FLOATS else NOISE_FACTOR)
        for _ in range(MORE_RUNS):
            self.truth.disturb_results(noise, self.feeds, self.tensors, unit)
        return noise


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
    not, the candidate is held to the truth: a form that is more robust is right.
    """
    if written is None or written.shape != truth.shape or truth.dtype.kind != "f":
        return truth
    run = written.astype(np.float64)
    is_known = np.isfinite(truth)
    holds = np.isfinite(run)
    if candidate.shape == truth.shape and candidate.dtype.kind in "fV":
        holds |= np.isfinite(candidate.astype(np.float64))
    return np.where(holds & is_known, truth, run)


def _distance(found: Array | None, expected: Array) -> Floats | None:
    if found is None or found.shape != expected.shape or expected.dtype.kind != "f":
        return None
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


def _together(*slacks: Array | None) -> Array | None:
    known = [slack for slack in slacks if slack is not None]
    result = None
    for slack in known:
        result = slack if result is None else np.maximum(result, slack)
    return result
