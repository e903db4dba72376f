"""Run a reference and a candidate on the same inputs, and compare all they give."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from burnish.core.arrays import Arrays
from burnish.core.errors import ModelError
from burnish.core.progress import SILENT, Progress
from burnish.core.units import count
from burnish.engines import isolated
from burnish.engines.base import EngineOptions, Session
from burnish.engines.isolated import EngineCrashedError
from burnish.feeds.feed import Feeds
from burnish.parity.arithmetic import arithmetic_of, quantised_values, weakest
from burnish.parity.compare import compare
from burnish.parity.pairing import Pairing, differing_inputs, pair_outputs
from burnish.parity.report import RECORDED, Sample, VerifyReport
from burnish.parity.tolerances import Tolerances
from burnish.store import datasets, onnx_files
from burnish.store.interface import ANY_RANK, Interface
from burnish.store.stored import StoredModel

JUDGE = "onnxruntime-cpu"
"""The engine that every installation has; it runs references with nothing optimised."""

_WITH_GRAPH_LEVELS = "onnxruntime-"
"""How the names begin of engines that can be told to optimise less."""


@dataclass(frozen=True, slots=True)
class Subject:
    """A model on an engine."""

    model: StoredModel
    engine: str = JUDGE
    options: EngineOptions = field(default_factory=EngineOptions)

    def open(self) -> Session:
        """Return a session that runs the model, in a process of its own."""
        return isolated.open_session(self.engine, self.model, self.options)


def judge(model: StoredModel, engine: str = JUDGE, options: EngineOptions | None = None) -> Subject:
    """Return a reference: the model as it is written, with nothing optimised by the engine."""
    return unoptimised(Subject(model, engine, options or EngineOptions()))


def unoptimised(subject: Subject) -> Subject:
    """Return the same with nothing optimised, where the engine can be told so."""
    if not subject.engine.startswith(_WITH_GRAPH_LEVELS):
        return subject
    options = dataclasses.replace(subject.options, graph_level="off")
    return dataclasses.replace(subject, options=options)


@dataclass(frozen=True, slots=True)
class _Trial:
    """Inputs, and what a reference made of them."""

    label: str
    bindings: Mapping[str, int]
    inputs: Arrays
    outputs: Arrays


@dataclass(frozen=True, slots=True)
class _Terms:
    """By what the candidate's outputs are judged."""

    pairing: Pairing
    asked: Tolerances
    types: tuple[str, ...]
    """The types of arithmetic that are known of before the candidate is opened."""


def verify(
    reference: Subject,
    candidate: Subject,
    feeds: Sequence[Feeds],
    *,
    extra: Sequence[Feeds] = (),
    tolerances: Tolerances | None = None,
    progress: Progress = SILENT,
) -> VerifyReport:
    """Return whether `candidate` gives what `reference` gives.

    `extra` are inputs that nobody asked for: when the reference itself cannot take them, that
    is noted and they are left out. The two run one after the other, so that only one model is
    in memory at a time.
    """
    facts = [_facts(subject) for subject in (reference, candidate)]
    interfaces = [each.interface for each in facts]
    empty = VerifyReport(
        reference.model.label, candidate.model.label, reference.engine, candidate.engine, ()
    )
    problems = differing_inputs(*interfaces)
    if problems:
        return dataclasses.replace(empty, problems=problems)
    trials, precision, notes = _reference_trials(reference, feeds, extra, progress)
    terms = _Terms(
        pair_outputs(*interfaces),
        dataclasses.replace(tolerances or Tolerances(), quantised=facts[0].quantised),
        (precision, *(each.arithmetic for each in facts)),
    )
    made = [note for each in (*feeds, *extra) for note in each.notes]
    return _judged(empty, candidate, trials, terms, [*made, *notes], progress=progress)


def verify_recorded(
    candidate: Subject,
    folders: Sequence[Path],
    *,
    tolerances: Tolerances | None = None,
    progress: Progress = SILENT,
) -> VerifyReport:
    """Return whether `candidate` gives what was recorded in these `test_data_set_N` folders."""
    facts = _facts(candidate)
    trials = [_recorded_trial(folder, facts.interface) for folder in folders]
    names = {spec.name: spec.name for spec in facts.interface.outputs}
    terms = _Terms(
        Pairing(names, ()),
        dataclasses.replace(tolerances or Tolerances(), quantised=facts.quantised),
        (facts.arithmetic,),
    )
    empty = VerifyReport(RECORDED, candidate.model.label, RECORDED, candidate.engine, ())
    return _judged(empty, candidate, trials, terms, [], progress=progress)


@dataclass(frozen=True, slots=True)
class _Facts:
    """What must be known of a model, so that its weights need not stay in memory."""

    interface: Interface
    arithmetic: str
    quantised: frozenset[str]


def _facts(subject: Subject) -> _Facts:
    model = onnx_files.read(subject.model.onnx)
    return _Facts(onnx_files.interface(model), arithmetic_of(model), quantised_values(model))


def _reference_trials(
    reference: Subject, feeds: Sequence[Feeds], extra: Sequence[Feeds], progress: Progress
) -> tuple[list[_Trial], str, list[str]]:
    """Return what the reference gave, the type it computed in, and what to note."""
    trials: list[_Trial] = []
    notes: list[str] = []
    total = len(feeds) + len(extra)
    with reference.open() as session:
        notes += session.placement.notes
        for index, each in enumerate((*feeds, *extra)):
            try:
                outputs = session.run(each.arrays)
            except ModelError as error:
                if index < len(feeds):
                    raise
                notes.append(f"left out {_shape(each)}: the reference refuses it ({error.problem})")
            else:
                trials.append(_Trial(str(index + 1), each.bindings, each.arrays, outputs))
            progress.step("reference", index + 1, total)
        return trials, session.placement.precision, notes


def _recorded_trial(folder: Path, interface: Interface) -> _Trial:
    data_set = datasets.read(folder, interface)
    if not data_set.outputs:
        raise ModelError(
            f"{folder}: holds no outputs to compare with",
            hint="compare with a model instead: burnish verify REFERENCE CANDIDATE "
            f"--data {folder}",
        )
    return _Trial(
        folder.name, _bindings(data_set.inputs, interface), data_set.inputs, data_set.outputs
    )


def _bindings(inputs: Arrays, interface: Interface) -> dict[str, int]:
    """Return the sizes that recorded inputs have where the model leaves them open."""
    fed = (spec for spec in interface.inputs if spec.name in inputs and spec.shape != (ANY_RANK,))
    return {
        dim: size
        for spec in fed
        for dim, size in zip(spec.shape, inputs[spec.name].shape, strict=False)
        if isinstance(dim, str)
    }


def _judged(
    empty: VerifyReport,
    candidate: Subject,
    trials: Sequence[_Trial],
    terms: _Terms,
    notes: Sequence[str],
    *,
    progress: Progress,
) -> VerifyReport:
    samples: list[Sample] = []
    try:
        with candidate.open() as session:
            placement = session.placement
            tolerances, why = _settled(terms, placement.precision)
            for index, trial in enumerate(trials):
                samples.append(_sample(session, trial, terms.pairing, tolerances))
                progress.step("candidate", index + 1, len(trials))
    except EngineCrashedError as error:
        rest = [Sample(t.label, t.bindings, (), error.problem) for t in trials[len(samples) :]]
        return dataclasses.replace(
            empty, samples=(*samples, *rest), notes=tuple(notes), crash=error.crash
        )
    said = (*notes, *placement.notes, *terms.pairing.notes, *why, *_proving_nothing(samples))
    return dataclasses.replace(
        empty,
        samples=tuple(samples),
        arithmetic=tolerances.arithmetic or "",
        notes=tuple(dict.fromkeys(said)),
    )


def _settled(terms: _Terms, precision: str) -> tuple[Tolerances, tuple[str, ...]]:
    """Return the tolerances for the weakest type that either run computes in."""
    if terms.asked.arithmetic is not None:
        return terms.asked, ()
    found = weakest(precision, *terms.types)
    if found == "f32":
        return terms.asked, ()
    note = f"judged by the tolerance of {found}, which one of the two computes in"
    return dataclasses.replace(terms.asked, arithmetic=found), (note,)


def _sample(session: Session, trial: _Trial, pairing: Pairing, tolerances: Tolerances) -> Sample:
    try:
        given = session.run(trial.inputs)
    except EngineCrashedError:
        raise
    except ModelError as error:
        return Sample(trial.label, trial.bindings, (), problem=error.problem)
    found = {
        name: given[pairing.candidates[name]]
        for name in trial.outputs
        if pairing.candidates.get(name) in given
    }
    return Sample(trial.label, trial.bindings, compare(trial.outputs, found, tolerances))


def _proving_nothing(samples: Sequence[Sample]) -> list[str]:
    return [
        f"{diff.name}: {count(diff.non_finite_shared, 'element')} of {diff.elements:,} NaN or "
        f"infinite in both, sample {sample.label}"
        for sample in samples
        for diff in sample.diffs
        if diff.non_finite_shared
    ]


def _shape(feeds: Feeds) -> str:
    return ", ".join(f"{name}={size}" for name, size in feeds.bindings.items())
