"""Compare what two forms of a computation mean, in real numbers.

They must agree but for what rounding constants can do, where a model has others than before:
folding some of them into new ones rounds them anew.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from burnish.closeness.apart import scale_of
from burnish.closeness.tolerance import ROUNDING, Tolerance
from burnish.core.arrays import Arrays
from burnish.core.tensors import FLOATS
from burnish.meaning.numbers import UNIT_ROUNDOFF
from burnish.meaning.steps import Way
from burnish.parity.compare import compare_tensor
from burnish.parity.noise import Noise
from burnish.parity.report import TensorDiff
from burnish.parity.spread import spread_of
from burnish.parity.tolerances import Tolerances
from burnish.parity.truth import Meant, Truth

MEANING = Tolerance(0.0, 1e-10, "two right forms agree in f64: 1,000,000 times 2^-53 a rounding")

NOISE_FACTOR = 8.0
"""How many times the noise of a few runs an error may be: what is seen of a tensor's noise is
about two standard deviations, and the worst of a million elements is five of them off."""
_CONSTANTS_FACTOR = 5.0
"""The same where only constants are rounded anew, once each."""
_TOGETHER, _ALONG = 1.75, 2.5
"""How many times what rounding constants does to all elements of a tensor, or of a slice, these may
be apart: each is rounded once. A slice may hang on a single one, a bias for instance."""
RUNS, MORE_RUNS = 3, 9
_STORED = {**UNIT_ROUNDOFF, "tf32": ROUNDING["tf32"]}
"""By the type that was asked for, how far constants may be off that were stored anew. Products in
tf32 leave what a model means as it is."""
_USUAL = 0.25
"""Up to this share of what noise explained for other inputs, no noise is made for these."""


@dataclass(slots=True)
class Meanings:
    """Compares the meanings of outputs for one set of inputs; noise is made where it is needed."""

    truth: Truth
    feeds: Arrays
    outputs: Sequence[Meant]
    tolerances: Tolerances
    explained: dict[str, float]
    """By output, the relative difference that noise was found to explain; is added to."""
    noise: Noise = field(default_factory=Noise)
    along: dict[str, float] | None = None
    """The same as `explained` of models that are led along their steps; None: they are not."""
    way: Way | None = None
    """That of the reference to its steps, along which both are led."""
    strayed: bool = False
    """Whether one of them could not be led there."""
    forgiven: bool = False
    """Whether something was, for what rounding constants does."""

    def diffs(self) -> tuple[TensorDiff, ...]:
        """Return how far apart the two meanings of each output are."""
        found = tuple(map(self._diff, self.outputs))
        unsure = self.forgiven and all(diff.passed for diff in found)
        # who asks for other numbers has other scales, too
        asked = self.along is None or self.tolerances.is_asked
        return self._led(found) if unsure and not asked else found

    def _led(self, found: tuple[TensorDiff, ...]) -> tuple[TensorDiff, ...]:
        """Return the same; differences, where models of 8 bits differ though their steps do not.

        What falls to the other side of a step explains much. Led along one way, right models have
        the same steps, and then only constants are left by which they may be apart.
        """
        way = self.truth.way(self.feeds) if self.truth.candidate is not None else None
        meant = None if way is None else self.truth.of_candidate_along(way, self.feeds)
        if meant is None or any(each.counterpart not in meant for each in self.outputs):
            return found
        outputs = [dataclasses.replace(one, meant=meant[one.counterpart]) for one in self.outputs]
        assert self.along is not None
        led = Meanings(self.truth, self.feeds, outputs, self.tolerances, self.along, way=way)
        strict = led.diffs()
        return found if led.strayed else strict

    def _diff(self, output: Meant) -> TensorDiff:
        name, tolerance = output.name, self._tolerance(output)
        reference, candidate = output.truth.value, np.asarray(output.meant.value)
        found = compare_tensor(name, reference, candidate, tolerance)
        if not found.passed and name in self.explained:
            known = dataclasses.replace(MEANING, relative=self.explained[name])
            usual = compare_tensor(name, reference, candidate, known)
            if usual.severity <= _USUAL:
                self.forgiven = True
                return usual
        for runs in (RUNS, MORE_RUNS):
            if found.passed or candidate.shape != reference.shape:
                break
            self._disturb(runs)
            self.forgiven = True
            slack = self.noise.of(name, _CONSTANTS_FACTOR)
            found = compare_tensor(name, reference, candidate, tolerance, slack=slack)
            found = self._together(found, output)
        if found.passed and self.noise.runs and found.severity > 0:
            allowed = found.max_rel / found.severity
            self.explained[name] = min(allowed, self.explained.get(name, allowed))
        return found

    def _together(self, found: TensorDiff, output: Meant) -> TensorDiff:
        """Return the same; a difference, if more elements are apart than rounding explains.

        A weight that is off by a few in a hundred moves all elements by less than bf16 may move the
        worst of them. One rounding of everything is explained whatever a few runs of noise did: all
        may hang on a single constant, which these may have moved by little.
        """
        noise = self.noise.spreads.get(found.name)
        if not found.passed or noise is None:
            return found
        reference, candidate = output.truth.value, np.asarray(output.meant.value)
        scale = scale_of(reference)
        with np.errstate(invalid="ignore"):
            off = np.abs(candidate.astype(np.float64) - reference.astype(np.float64))
        errors = spread_of(off, reference, scale)
        sizes = spread_of(reference, reference, scale)
        least = sizes.times(max(self._unit, UNIT_ROUNDOFF.get(output.truth.dtype, 0.0)))
        beyond = errors.beyond(noise.wider(least), sizes, _TOGETHER, _ALONG)
        if beyond.ratio <= 1:
            return found
        severity = max(found.severity, beyond.ratio)
        return dataclasses.replace(found, passed=False, reason=beyond.said(), severity=severity)

    def _tolerance(self, output: Meant) -> Tolerance:
        """Return what is allowed before any noise; what the user chose, if noise cannot say it."""
        allowed = self.tolerances.of(output.name, output.truth.dtype)
        if output.truth.dtype not in FLOATS:
            return allowed
        chosen = (self.tolerances.absolute, self.tolerances.relative) != (None, None)
        kind = self.tolerances.arithmetic
        unknown = kind is not None and kind not in _STORED
        return allowed if chosen or unknown else MEANING

    def _disturb(self, runs: int) -> None:
        while self.noise.runs < runs:
            went = self.truth.disturb_constants(
                self.noise, self.feeds, self.outputs, self._unit, self.way
            )
            self.strayed = self.strayed or not went

    @property
    def _unit(self) -> float:
        """Return how far constants may be off that were stored in what was asked for."""
        return _STORED.get(self.tolerances.arithmetic or "", 0.0)
