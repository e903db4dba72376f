"""A reference that was run once, and by which outputs from elsewhere are judged.

A benchmark computes its outputs in processes of its own; what they give is compared here, so
that the run that is judged is the run that was timed.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field

from burnish.core.arrays import Arrays
from burnish.core.budget import Budget
from burnish.feeds.distinguish import Suspicions
from burnish.feeds.feed import Feeds
from burnish.parity.arithmetic import weakest
from burnish.parity.compare import compare
from burnish.parity.comparison import JudgedFacts, facts_of, flat
from burnish.parity.effort import JUDGING_S
from burnish.parity.examine import ROUNDED_AS_FAR, ExaminedInputs, Examiner, JudgingTerms
from burnish.parity.noise import Noise, Step, Tensors
from burnish.parity.one_node import NodeRunner
from burnish.parity.pairing import differing_inputs, pair_outputs
from burnish.parity.report import JudgedSample
from burnish.parity.roundings import Run, are_near
from burnish.parity.structure import Structure
from burnish.parity.subject import JudgedSubject, judge
from burnish.parity.truth import Truth
from burnish.store import onnx_files
from burnish.store.stored import StoredModel

PATIENT = 4.0
"""Times as long as it may take to say what a model means, roundings are drawn where some output is
out of its tolerance: 64 images at once took longer than whoever measured them had."""
UNJUDGED = "compared with one run only, not with what it means in real numbers"


@dataclass(frozen=True, slots=True)
class Judged:
    """How far outputs are, and by which type of arithmetic they had to be judged."""

    sample: JudgedSample
    allowed: str = ""
    """A weaker type than the reference's, which the subject computes in; empty: none."""
    doubts: tuple[str, ...] = ()
    """What was not judged as it should be, and what was forgiven."""


@dataclass(frozen=True, slots=True)
class Reference:
    """What a model, as it is written, gives for one set of inputs."""

    feeds: Feeds
    outputs: Arrays
    facts: JudgedFacts
    precision: str
    truth: Truth
    alike: Run
    """Gives what the model gives where it is rounded as devices round, if that is known."""
    longest_s: float = JUDGING_S
    """How long it is evaluated in real numbers before outputs are judged without."""
    noises: dict[Step, Noise] = field(default_factory=dict)
    """What roundings do to its outputs: found out once for all that is judged."""
    patient: list[Budget] = field(default_factory=list)
    """How long that may take for all of it together: from the first on that needs it."""

    def judged(self, model: StoredModel, precision: str, outputs: Arrays) -> Judged:
        """Return how far `outputs` are, which `model` gave while computing in `precision`.

        What is out of the reference's tolerance may be within that of a weaker type which the
        model, or its engine, was meant to compute in: that is said, not hidden.
        """
        facts = facts_of(JudgedSubject(model))
        problems = differing_inputs(self.facts.interface, facts.interface)
        if problems:
            sample = JudgedSample(model.label, self.feeds.bindings, (), problem="; ".join(problems))
            return Judged(sample)
        strict = self._examined(model.label, facts, outputs, "")
        weaker = weakest(precision, *facts.arithmetic.values())
        if strict.sample.passed or weakest(self.precision, weaker) == self.precision:
            return strict
        loose = self._examined(model.label, facts, outputs, weaker)
        return dataclasses.replace(loose, allowed=weaker) if loose.sample.passed else loose

    def _examined(self, label: str, facts: JudgedFacts, outputs: Arrays, arithmetic: str) -> Judged:
        known = self.facts.tolerances(self.precision)
        tolerances = dataclasses.replace(known, arithmetic=arithmetic or None)
        pairing = pair_outputs(self.facts.interface, facts.interface)
        pairs = pairing.candidates
        found = {name: outputs[pairs[name]] for name in self.outputs if pairs.get(name) in outputs}
        near = compare(self.outputs, found, tolerances)
        if all(diff.passed for diff in near) and are_near(self.outputs, found, tolerances):
            # what it means in real numbers takes long to find out, and is asked in doubt only
            return Judged(JudgedSample(label, self.feeds.bindings, near))
        budget = Budget(self.longest_s)
        self.truth.begin(budget)
        if not self.patient:
            self.patient.append(Budget(PATIENT * self.longest_s))
        nothing = Structure(frozenset(self.outputs), frozenset(), Suspicions())
        examiner = Examiner(
            JudgingTerms(pairing, tolerances, nothing, drift=ROUNDED_AS_FAR),
            self.truth,
            run_written=lambda _: self.outputs,
            run_alike=self.alike,
            budget=budget,
            patient=self.patient[0],
            noises=self.noises,
        )
        sample = examiner.sample(ExaminedInputs(label, self.feeds, outputs, self.outputs))
        unjudged = [f"{UNJUDGED}: {examiner.unjudged}"] if examiner.unjudged else []
        return Judged(sample, doubts=(*unjudged, *examiner.notes))


class _TruthOnce(Truth):
    """What a reference means for one set of inputs: whatever gave outputs for these, it stays.

    Where there was no time for it, there is none for the next process's outputs, either.
    """

    _known: tuple[Arrays, Tensors | None] | None = None

    def of_reference(self, feeds: Arrays) -> Tensors | None:
        """Return what the reference means for these inputs; None: that is not known."""
        if self._known is None or self._known[0] is not feeds:
            self._known = feeds, super().of_reference(feeds)
        return self._known[1]


class _Once:
    """A run that several ask for with the same inputs: what it gives is kept."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._known: tuple[Arrays, Arrays] | None = None

    def __call__(self, inputs: Arrays) -> Arrays:
        if self._known is None or self._known[0] is not inputs:
            self._known = inputs, self._run(inputs)
        return self._known[1]


def run_reference(
    model: StoredModel, feeds: Feeds, *, alike: Run = lambda _: {}, longest_s: float = JUDGING_S
) -> Reference:
    """Run a model on ONNX Runtime's CPU provider with nothing optimised.

    Where it takes longer than `longest_s` to say what it means in real numbers, outputs may be as
    far from what it gave as `alike` is.
    """
    subject = judge(model)
    with subject.open() as session:
        outputs = session.run(feeds.arrays)
        precision = session.placement.precision
    written = flat(onnx_files.read(model.onnx))
    facts = facts_of(subject)
    runner = NodeRunner(dict(written.opset_imports))
    truth = _TruthOnce(written, None, runner)
    weak = weakest(precision, *facts.arithmetic.values())
    return Reference(feeds, outputs, facts, weak, truth, _Once(alike), longest_s)
