"""A reference and a candidate, held open side by side while they are compared."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial

import numpy as np
import onnx_ir as ir
import onnx_ir.passes.common as common_passes

from burnish.core.arrays import Arrays
from burnish.core.budget import Budget
from burnish.core.closing import Closing
from burnish.core.errors import BurnishError, ModelError
from burnish.core.progress import Progress
from burnish.core.units import count
from burnish.engines.base import Session
from burnish.engines.isolated import EngineCrashedError
from burnish.feeds.distinguish import Variant, Varied
from burnish.feeds.feed import Feeds
from burnish.feeds.make import Maker
from burnish.parity.arithmetic import arithmetic_by_output, quantised_values, weakest
from burnish.parity.effort import Effort
from burnish.parity.examine import (
    DRIFTS_AS_FAR,
    ROUNDED_AS_FAR,
    ExaminedInputs,
    Examiner,
    JudgingTerms,
)
from burnish.parity.one_node import NodeRunner
from burnish.parity.pairing import pair_outputs
from burnish.parity.report import JudgedSample, VerifyReport
from burnish.parity.restored import restored
from burnish.parity.structure import Structure, compare_structure
from burnish.parity.subject import JudgedSubject, open_rounded
from burnish.parity.tolerances import Tolerances
from burnish.parity.truth import Truth
from burnish.store import onnx_files
from burnish.store.inlining import inline
from burnish.store.interface import Interface

_LEVEL, _ENGINE = 8.0, 64.0
"""Engines reassociate and fuse as they like: on inputs that were made to be hard they drift several
times as far as roundings drawn at random, others with functions of their own farther still; what
is wrong with one is wrong by far more."""
SEARCHED = "search "
"""How the labels begin of inputs that were looked for."""
_MIXTURES = 24
_KEPT = 3
"""How many of the inputs that were found by searching a report keeps."""


@dataclass(frozen=True, slots=True)
class ReferenceTrial:
    """Inputs, and what a reference made of them."""

    label: str
    feeds: Feeds
    outputs: Arrays


@dataclass(frozen=True, slots=True)
class JudgedFacts:
    """What must be known of a model, so that its weights need not stay in memory."""

    interface: Interface
    arithmetic: Mapping[str, str]
    """By output, the weakest type that is computed in on the way to it."""
    quantised: frozenset[str]

    def tolerances(self, precision: str = "f32") -> Tolerances:
        """Return what is allowed against this model, on an engine that computes in `precision`."""
        by_output = {name: weakest(kind, precision) for name, kind in self.arithmetic.items()}
        return Tolerances(quantised=self.quantised, by_tensor=by_output)


def facts_of(subject: JudgedSubject) -> JudgedFacts:
    """Return what must be known of a subject's model."""
    model = onnx_files.read(subject.model.onnx)
    interface = onnx_files.interface(model)
    without_functions = flat(model)
    return JudgedFacts(
        interface, arithmetic_by_output(without_functions), quantised_values(without_functions)
    )


def variants_of(
    reference: ir.Model, structure: Structure, effort: Effort, works: Callable[[Feeds], bool]
) -> tuple[Varied, Iterator[Variant]]:
    """Return inputs that may tell two models apart, always the same for the same arguments."""
    varied = Varied(Maker(reference), structure.clues, effort.fixed, works, effort.usual)
    return varied, varied.variants(seed=effort.seed + 1000, random=_MIXTURES)


def feeds_of(
    label: str,
    asked: Sequence[Feeds],
    subjects: tuple[JudgedSubject, JudgedSubject],
    effort: Effort,
) -> Feeds:
    """Return the inputs of a sample again, by its label."""
    if label.isdigit():
        return asked[int(label) - 1]
    models = [flat(onnx_files.read(subject.model.onnx)) for subject in subjects]
    for model in models:
        model.graph.sort()
    pairs = pair_outputs(*(onnx_files.interface(model) for model in models)).candidates
    structure = compare_structure((models[0], models[1]), pairs)
    with subjects[0].open() as session:
        varied, variants = variants_of(models[0], structure, effort, partial(_takes, session))
    number = int(label.removeprefix(SEARCHED)) - 1
    return varied.feeds(next(itertools.islice(variants, number, None)))


class CandidateJudge(Closing):
    """Judges a candidate: on inputs that were asked for, then on inputs that may tell."""

    def __init__(
        self,
        subjects: tuple[JudgedSubject, JudgedSubject],
        facts: tuple[JudgedFacts, JudgedFacts],
        tolerances: Tolerances,
        effort: Effort,
        progress: Progress,
    ) -> None:
        self._reference, self._candidate = subjects
        self._facts, self._effort, self._progress = facts, effort, progress
        self._open = ExitStack()
        self._sessions: dict[str, Session] = {}
        self._budget, judging = Budget(effort.budget_s), Budget(effort.judging_s)
        models = [flat(onnx_files.read(subject.model.onnx)) for subject in subjects]
        pairing = pair_outputs(facts[0].interface, facts[1].interface)
        for model in models:
            model.graph.sort()
        self._structure = compare_structure((models[0], models[1]), pairing.candidates)
        runner = self._open.enter_context(NodeRunner(dict(models[0].opset_imports)))
        self._model = models[0]
        self._examiner = Examiner(
            JudgingTerms(
                pairing,
                tolerances,
                self._structure,
                self._patience,
                ROUNDED_AS_FAR if self._is_one_model else DRIFTS_AS_FAR,
            ),
            self._truth((models[0], models[1]), tolerances.arithmetic, runner, judging),
            run_written=lambda feeds: self._session("written", self._reference).run(feeds),
            run_alike=self._run_alike,
            budget=judging,
        )

    def _truth(
        self, models: tuple[ir.Model, ir.Model], asked: str | None, runner: NodeRunner, time: Budget
    ) -> Truth:
        """Return both in real numbers, with the reference's constants where they were rounded."""
        same = len(self._structure.same) == len(self._facts[0].interface.outputs)
        known = restored(models, self._structure, asked)
        return Truth(
            models[0], None if same else models[1], runner,
            loose=(known.lost, known.new), instead=known.instead, budget=time,
        )  # fmt: skip

    def close(self) -> None:
        """Close all sessions."""
        self._open.close()

    def report(
        self, empty: VerifyReport, trials: Sequence[ReferenceTrial], notes: Sequence[str]
    ) -> VerifyReport:
        """Return what was found on these inputs, and on all that were looked for."""
        samples: list[JudgedSample] = []
        try:
            session = self._session("candidate", self._candidate)
            for index, trial in enumerate(trials):
                samples.append(self._sample(session, trial))
                self._progress.step("candidate", index + 1, len(trials))
        except EngineCrashedError as error:
            return crashed(empty, samples, trials, notes, error)
        searched, found = 0, list[JudgedSample]()
        if self._effort.search and samples and all(sample.passed for sample in samples):
            searched, found = self._search(session)
        terms = self._examiner.terms
        everything = (*samples, *found)
        said = (
            *notes, *session.placement.notes, *terms.pairing.notes, *self._examiner.notes,
            *_narrow(terms.tolerances, self._weaker(), everything), *proving_nothing(everything),
        )  # fmt: skip
        return dataclasses.replace(
            empty,
            samples=tuple(samples),
            telling=tuple(found),
            arithmetic=terms.tolerances.arithmetic or "",
            searched=searched,
            proven=tuple(sorted(self._structure.same)),
            unshown=self._examiner.unshown if everything else {},
            unjudged=self._examiner.unjudged,
            notes=tuple(dict.fromkeys(said)),
        )

    def _sample(self, session: Session, trial: ReferenceTrial) -> JudgedSample:
        try:
            outputs = session.run(trial.feeds.arrays)
        except EngineCrashedError:
            raise
        except ModelError as error:
            return JudgedSample(trial.label, trial.feeds.bindings, (), problem=error.problem)
        given = ExaminedInputs(trial.label, trial.feeds, outputs, trial.outputs)
        return self._examiner.sample(given)

    def _search(self, session: Session) -> tuple[int, list[JudgedSample]]:
        """Return how many inputs were tried, and the worst; the first that differs ends it."""
        varied, variants = variants_of(self._model, self._structure, self._effort, self._is_taken)
        tried, worst = 0, list[JudgedSample]()
        for number, variant in enumerate(variants):
            if self._budget.is_spent:
                self._examiner.notes["the budget ended before all inputs were tried"] = None
                break
            sample = self._tried(session, varied, variant, f"{SEARCHED}{number + 1}")
            if sample is None:
                continue
            tried += 1
            worst = sorted([*worst, sample], key=_badness)[-_KEPT:]
            self._progress.step("search", number + 1, 0, variant.kind)
            if not sample.passed:
                worst = [sample]
                break
        self._progress.step("search", 1, 1, f"{count(tried, 'input')} tried")
        return tried, worst

    def _tried(
        self, session: Session, varied: Varied, variant: Variant, label: str
    ) -> JudgedSample | None:
        """Return how the candidate fares on a variant; None: the reference does not take it."""
        try:
            feeds = varied.feeds(variant)
        except BurnishError:
            return None
        if self._is_beyond(feeds):
            return None
        try:
            outputs = session.run(feeds.arrays)
        except ModelError as error:
            if _is_empty(feeds.arrays) or not self._gives_something(feeds):
                return None  # many kernels refuse to be given nothing, or to give nothing
            return JudgedSample(label, feeds.bindings, (), problem=error.problem, kind=variant.kind)
        if _is_empty(feeds.arrays) and _is_empty(outputs):
            return None  # of what shape nothing is, engines do not agree with themselves
        try:
            return self._examiner.sample(ExaminedInputs(label, feeds, outputs, kind=variant.kind))
        except ModelError:
            return None

    def _is_beyond(self, feeds: Feeds) -> bool:
        """Return whether the type that was asked for cannot hold the squares of some inputs.

        Squares are the first that norms and products make of them; whoever asks for f16 asks
        for its range, too.
        """
        asked = self._examiner.terms.tolerances.arithmetic
        if asked != "f16":
            return False
        floats = (a for a in feeds.arrays.values() if a.dtype.kind == "f" and a.size)
        largest = max((float(np.nanmax(np.abs(a.astype(np.float64)))) for a in floats), default=0)
        beyond = largest**2 > float(np.finfo(np.float16).max)
        if beyond:
            self._examiner.notes["no inputs were tried whose squares f16 cannot hold"] = None
        return beyond

    def _gives_something(self, feeds: Feeds) -> bool:
        """Return whether the reference takes some inputs, and gives any number for them."""
        try:
            return not _is_empty(self._session("written", self._reference).run(feeds.arrays))
        except ModelError:
            return False

    def _is_taken(self, feeds: Feeds) -> bool:
        return _takes(self._session("written", self._reference), feeds)

    def _session(self, name: str, subject: JudgedSubject) -> Session:
        if name not in self._sessions:
            self._sessions[name] = self._open.enter_context(subject.open())
        return self._sessions[name]

    @property
    def _patience(self) -> float:
        if not self._is_one_model:
            return 1.0
        return _LEVEL if self._candidate.engine == self._reference.engine else _ENGINE

    @property
    def _is_one_model(self) -> bool:
        """Return whether both have the same text, however their places are spelled."""
        one, two = (each.model.onnx for each in (self._reference, self._candidate))
        if one == two or one.stat().st_size != two.stat().st_size:
            return one == two
        return onnx_files.content_key(one) == onnx_files.content_key(two)

    def _run_alike(self, feeds: Arrays) -> Arrays:
        """Run the reference on the candidate's engine, as the candidate is run.

        Where the two are one model it is the engine that is being judged: a model of 16 bits is
        rounded as devices round, and of others nothing is known.
        """
        if self._is_one_model:
            return self._run_rounded(feeds)
        alike = dataclasses.replace(self._candidate, model=self._reference.model, runs=None)
        return self._session("alike", alike).run(feeds)

    def _run_rounded(self, feeds: Arrays) -> Arrays:
        if "rounded" not in self._sessions:
            session = open_rounded(self._reference.model)
            if session is None:
                return {}
            self._sessions["rounded"] = self._open.enter_context(session)
        return self._sessions["rounded"].run(feeds)

    def _weaker(self) -> dict[str, str]:
        """Return the outputs on the way to which the candidate computes in a weaker type."""
        own = self._examiner.terms.tolerances.by_tensor
        pairs = self._examiner.terms.pairing.candidates
        found = {name: self._facts[1].arithmetic.get(pairs.get(name, ""), "f32") for name in own}
        return {n: kind for n, kind in found.items() if weakest(own[n], kind) != own[n]}


def crashed(
    empty: VerifyReport,
    samples: Sequence[JudgedSample],
    trials: Sequence[ReferenceTrial],
    notes: Sequence[str],
    error: EngineCrashedError,
) -> VerifyReport:
    """Return what is left to say when the candidate ended its engine."""
    left = trials[len(samples) :]
    rest = [JudgedSample(trial.label, trial.feeds.bindings, (), error.problem) for trial in left]
    return dataclasses.replace(
        empty, samples=(*samples, *rest), notes=tuple(notes), crash=error.crash
    )


def _takes(session: Session, feeds: Feeds) -> bool:
    """Return whether a model can be run on some inputs."""
    try:
        session.run(feeds.arrays)
    except ModelError:
        return False
    return True


def _is_empty(arrays: Arrays) -> bool:
    return not any(array.size for array in arrays.values())


def proving_nothing(samples: Sequence[JudgedSample]) -> list[str]:
    """Return a note for each tensor that is NaN or infinite in places on both sides."""
    return [
        f"{diff.name}: {count(diff.non_finite_shared, 'element')} of {diff.elements:,} NaN or "
        f"infinite in both, sample {sample.label}"
        for sample in samples
        for diff in sample.diffs
        if diff.non_finite_shared
    ]


def _narrow(
    tolerances: Tolerances, weaker: Mapping[str, str], samples: Sequence[JudgedSample]
) -> Iterator[str]:
    """Yield what the user may want to allow, or has allowed."""
    if tolerances.arithmetic is not None:
        yield f"judged by the tolerance of {tolerances.arithmetic}, as asked for"
        return
    wrong = {diff.name for sample in samples for diff in sample.all_diffs if not diff.passed}
    for name, kind in weaker.items():
        if name in wrong:
            yield (
                f"the candidate computes in {kind} on the way to {name}; if that is meant, allow "
                f"it: --tolerance {kind}"
            )


def _badness(sample: JudgedSample) -> tuple[bool, float]:
    return (not sample.passed, max((diff.severity for diff in sample.all_diffs), default=0.0))


def flat(model: ir.Model) -> ir.Model:
    """Return a model without functions and dead code, whose constants are all initializers."""
    inline(model)
    common_passes.LiftConstantsToInitializersPass(lift_all_constants=True, size_limit=0)(model)
    common_passes.RemoveUnusedNodesPass()(model)
    return model
