"""Judge what a candidate gives for one set of inputs: its meaning first, then its roundings.

Meaning: in real numbers the candidate must give what the reference gives, but for what
rounding the constants of a model can do, as folding them into others does. Rounding: what the
candidate gave when it was run must be as near to the truth as its type of arithmetic allows, or
as near as the reference itself comes on the same engine, or as roundings alone can explain.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from burnish.core.arrays import Array, Arrays
from burnish.core.budget import Budget
from burnish.feeds.feed import Feeds
from burnish.parity.compare import compare
from burnish.parity.meanings import Meanings
from burnish.parity.noise import Noise, Step, Tensors
from burnish.parity.pairing import Pairing
from burnish.parity.report import JudgedSample, TensorDiff
from burnish.parity.roundings import Roundings, Run, near_a_run
from burnish.parity.structure import Structure
from burnish.parity.tolerances import Tolerances
from burnish.parity.truth import Meant, Truth

DRIFTS_AS_FAR = "the reference itself drifts as far on this engine: it is the engine's"
ROUNDED_AS_FAR = "the model itself drifts as far where each value is rounded to its 16 bits"

UNTOLD = "judged by its tolerance alone: there was no time to see what roundings do to all of it"


@dataclass(frozen=True, slots=True)
class JudgingTerms:
    """By what a candidate is judged."""

    pairing: Pairing
    tolerances: Tolerances
    structure: Structure
    patience: float = 1.0
    """How far roundings may go: see `Roundings`."""
    drift: str = DRIFTS_AS_FAR
    """What is said of outputs that were forgiven because `run_alike` is as far off."""


@dataclass(frozen=True, slots=True)
class ExaminedInputs:
    """What came of one set of inputs."""

    label: str
    feeds: Feeds
    candidate: Arrays
    """By the candidate's names."""
    written: Arrays | None = None
    """What the reference gave, run as it is written; None: it was not run yet."""
    kind: str = ""


@dataclass(slots=True)
class Examiner:
    """Judges one set of inputs after another, and remembers what they showed."""

    terms: JudgingTerms
    truth: Truth | None
    """None: meaning cannot be judged."""
    run_written: Run
    """Runs the reference as it is written."""
    run_alike: Run
    """Runs the reference on the candidate's engine, as the candidate is run."""
    unjudged: str = ""
    notes: dict[str, None] = field(default_factory=dict)
    seen: dict[str, _Seen] = field(default_factory=dict)
    explained: dict[str, float] = field(default_factory=dict)
    """By output, the relative difference in meaning that noise was found to explain."""
    along: dict[str, float] = field(default_factory=dict)
    """The same of models that are led along their steps of 8 bits."""
    usual: dict[str, float] = field(default_factory=dict)
    """By output, what roundings do to all of it, as a share of its size."""
    budget: Budget | None = None
    """For finding that out."""
    patient: Budget | None = None
    """For finding it out where a tolerance does not hold; None: as long as it takes."""
    noises: dict[Step, Noise] | None = None
    """What roundings do, where all samples have the same inputs; None: each has its own."""

    def sample(self, given: ExaminedInputs) -> JudgedSample:
        """Return how the candidate fares on one set of inputs."""
        truth = self._truth(given)
        if truth is None:
            written = given.written or self.run_written(given.feeds.arrays)
            self._see(written)
            found = self._paired(given.candidate, written)
            diffs, drifting = near_a_run(
                written, found, self.terms.tolerances, lambda: self.run_alike(given.feeds.arrays)
            )
            self._note_drift(drifting)
            return JudgedSample(given.label, given.feeds.bindings, diffs, kind=given.kind)
        self._see({name: tensor.value for name, tensor in truth.items()})
        meanings = self._found(given, truth)
        truth = self.truth.mended(truth, meanings) if self.truth is not None else truth
        meant = self._meant(given, truth, meanings)
        diffs = self._as_run(given, truth, {diff.name for diff in meant if not diff.passed})
        return JudgedSample(given.label, given.feeds.bindings, diffs, meant=meant, kind=given.kind)

    @property
    def unshown(self) -> dict[str, str]:
        """Return the outputs of which nothing was shown, each with the reason."""
        structure = self.terms.structure
        open_ones = {n: s for n, s in self.seen.items() if n not in structure.same}
        found = {
            name: "it is NaN or infinite in every sample"
            for name, seen in open_ones.items()
            if seen.elements and not seen.finite
        }
        empty = "it has no element in any sample"
        found |= {name: empty for name, seen in open_ones.items() if not seen.elements}
        changing = {n: s for n, s in open_ones.items() if n not in structure.constant}
        if changing and all(seen.fixed for seen in changing.values()):
            said = "it has one and the same value in every sample"
            found = dict.fromkeys((n for n, seen in changing.items() if seen.finite), said) | found
        return found

    def _truth(self, given: ExaminedInputs) -> Tensors | None:
        if self.truth is None:
            return None
        found = self.truth.of_reference(given.feeds.arrays)
        if found is None and given.written is not None:
            self.unjudged = self.unjudged or self.truth.obstacle
        return found

    def _see(self, outputs: Arrays) -> None:
        for name, array in outputs.items():
            self.seen.setdefault(name, _Seen()).add(array)

    def _paired(self, candidate: Arrays, names: Arrays) -> dict[str, Array]:
        pairs = self.terms.pairing.candidates
        return {name: candidate[pairs[name]] for name in names if pairs.get(name) in candidate}

    def _found(self, given: ExaminedInputs, truth: Tensors) -> Tensors:
        """Return what the candidate means, by the reference's names, where that is in question."""
        open_ones = [name for name in truth if name not in self.terms.structure.same]
        if self.truth is None or self.truth.candidate is None or not open_ones:
            return {}
        found = self.truth.of_candidate(given.feeds.arrays)
        if found is None:
            if given.written is not None:
                self.unjudged = self.unjudged or f"the candidate: {self.truth.obstacle}"
            return {}
        pairs = self.terms.pairing.candidates
        return {name: found[pairs[name]] for name in open_ones if pairs.get(name) in found}

    def _meant(
        self, given: ExaminedInputs, truth: Tensors, found: Tensors
    ) -> tuple[TensorDiff, ...]:
        if self.truth is None or not found:
            return ()
        pairs = self.terms.pairing.candidates
        outputs = [Meant(name, truth[name], pairs[name], each) for name, each in found.items()]
        judging = Meanings(
            self.truth, given.feeds.arrays, outputs, self.terms.tolerances, self.explained,
            along=self.along,
        )  # fmt: skip
        return judging.diffs()

    def _as_run(
        self, given: ExaminedInputs, truth: Tensors, wrong: set[str]
    ) -> tuple[TensorDiff, ...]:
        assert self.truth is not None
        judging = Roundings(
            self.truth, self.terms.tolerances, given.feeds.arrays, truth, given.written,
            self.run_written, self.run_alike, self.terms.patience, self.usual, self.budget,
            patient=self.patient, noises={} if self.noises is None else self.noises,
        )  # fmt: skip
        found = self._paired(given.candidate, {name: each.value for name, each in truth.items()})
        diffs = tuple(
            judging.diff(name, tensor, found[name], hopeless=name in wrong)
            if name in found
            else compare({name: tensor.value}, {}, self.terms.tolerances)[0]
            for name, tensor in truth.items()
        )
        self._note_drift(judging.drifting)
        for name in judging.undecided:
            self.notes[f"{name}: for some inputs roundings decide how many elements it has"] = None
        for name in judging.untold:
            self.notes[f"{name}: {UNTOLD}"] = None
        return diffs

    def _note_drift(self, names: Iterable[str]) -> None:
        for name in names:
            self.notes[f"{name}: {self.terms.drift}"] = None


@dataclass(slots=True)
class _Seen:
    """What an output was like in all samples."""

    elements: int = 0
    finite: int = 0
    first: object = None
    fixed: bool = True

    def add(self, array: Array) -> None:
        """Take one more sample into account."""
        self.elements += array.size
        if array.dtype.kind in "fcV":
            array = array[np.isfinite(array.astype(np.float64))]
        self.finite += array.size
        if not array.size or not self.fixed:
            return
        self.first = array.reshape(-1)[0] if self.first is None else self.first
        self.fixed = bool((array == self.first).all())
