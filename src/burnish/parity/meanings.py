"""Compare what two forms of a computation mean, in real numbers.

They must agree but for what rounding the constants of a model can do: folding some of them into
others rounds them anew.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field

import numpy as np

from burnish.core.arrays import Arrays
from burnish.core.tensors import FLOATS
from burnish.meaning.node import Tensor
from burnish.meaning.numbers import UNIT_ROUNDOFF
from burnish.parity.compare import compare_tensor
from burnish.parity.report import TensorDiff
from burnish.parity.tolerances import Tolerance, Tolerances
from burnish.parity.truth import Noise, Tensors, Truth

MEANING = Tolerance(0.0, 1e-10, "two right forms agree in f64: 1,000,000 times 2^-53 a rounding")

NOISE_FACTOR = 8.0
"""How many times the noise of a few runs an error may be: what is seen of a tensor's noise is
about two standard deviations, and the worst of a million elements is five of them off."""
_CONSTANTS_FACTOR = 3.0
"""The same where only constants are rounded anew, once each."""
RUNS, MORE_RUNS = 3, 9
_USUAL = 0.25
"""Up to this share of what noise explained for other inputs, no noise is made for these."""


@dataclass(slots=True)
class Meanings:
    """Compares meanings; noise is made only where it is needed."""

    truth: Truth
    feeds: Arrays
    tensors: Tensors
    tolerances: Tolerances
    explained: dict[str, float]
    noise: Noise = field(default_factory=Noise)

    def diff(self, name: str, truth: Tensor, meant: Tensor) -> TensorDiff:
        """Return how far apart the two meanings of an output are."""
        tolerance = self._tolerance(name, truth.dtype)
        reference, candidate = truth.value, np.asarray(meant.value)
        found = compare_tensor(name, reference, candidate, tolerance)
        if not found.passed and name in self.explained:
            known = dataclasses.replace(MEANING, relative=self.explained[name])
            usual = compare_tensor(name, reference, candidate, known)
            if usual.severity <= _USUAL:
                return usual
        for runs in (RUNS, MORE_RUNS):
            if found.passed or candidate.shape != reference.shape:
                break
            self._disturb(runs, name, truth.dtype)
            slack = self.noise.of(name, _CONSTANTS_FACTOR)
            found = compare_tensor(name, reference, candidate, tolerance, slack=slack)
        if found.passed and self.noise.runs and found.severity > 0:
            allowed = found.max_rel / found.severity
            self.explained[name] = min(allowed, self.explained.get(name, allowed))
        return found

    def _tolerance(self, name: str, dtype: str) -> Tolerance:
        """Return what is allowed before any noise; what the user chose, if noise cannot say it."""
        allowed = self.tolerances.of(name, dtype)
        if dtype not in FLOATS:
            return allowed
        chosen = (self.tolerances.absolute, self.tolerances.relative) != (None, None)
        kind = self.tolerances.arithmetic
        unknown = kind is not None and kind not in UNIT_ROUNDOFF
        return allowed if chosen or unknown else MEANING

    def _disturb(self, runs: int, name: str, dtype: str) -> None:
        """Disturb the constants, and all results where an engine or a step had a part in them."""
        kind = self.tolerances.effective(dtype, name) if dtype in FLOATS else "f32"
        unit = UNIT_ROUNDOFF.get(kind, 0.0) if self.tolerances.is_asked else 0.0
        only = self.truth.is_exact and dtype in FLOATS
        while self.noise.runs < runs:
            before = self.noise.runs
            self.truth.disturb(
                self.noise, self.feeds, self.tensors, unit=unit, constants_only=only, alike=True
            )
            if self.noise.runs == before:
                break
