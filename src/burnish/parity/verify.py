"""Run a reference and a candidate on the same inputs, and judge all they give."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path

from burnish.core.arrays import Arrays
from burnish.core.errors import ModelError
from burnish.core.progress import SILENT, Progress
from burnish.engines.base import Session
from burnish.engines.isolated import EngineCrashedError
from burnish.feeds.feed import Feeds
from burnish.parity.arithmetic import weakest
from burnish.parity.compare import compare
from burnish.parity.comparison import (
    CandidateJudge,
    ReferenceTrial,
    crashed,
    facts_of,
    proving_nothing,
)
from burnish.parity.effort import Effort
from burnish.parity.pairing import differing_inputs, differing_outputs
from burnish.parity.report import RECORDED, JudgedSample, VerifyReport
from burnish.parity.subject import JUDGE, JudgedSubject, judge, unoptimised
from burnish.parity.tolerances import Tolerances
from burnish.store import datasets
from burnish.store.interface import ANY_RANK, Interface

__all__ = ["JUDGE", "Effort", "JudgedSubject", "judge", "unoptimised", "verify", "verify_recorded"]


class ReferenceRefusesError(ModelError):
    """The reference does not run on the inputs that were asked for or made."""


def verify(  # noqa: PLR0913  (each is a question of its own)
    reference: JudgedSubject,
    candidate: JudgedSubject,
    feeds: Sequence[Feeds],
    *,
    extra: Sequence[Feeds] = (),
    tolerances: Tolerances | None = None,
    effort: Effort = Effort(),  # noqa: B008  (frozen)
    progress: Progress = SILENT,
) -> VerifyReport:
    """Return whether `candidate` gives what `reference` gives.

    `extra` are inputs that nobody asked for: when the reference itself cannot take them, that
    is noted and they are left out. The two run one after the other, so that only one model is
    in memory at a time; both stay open only where differences are searched for.
    """
    facts = facts_of(reference), facts_of(candidate)
    empty = VerifyReport(
        reference.model.label, candidate.model.label, reference.engine, candidate.engine, ()
    )
    interfaces = facts[0].interface, facts[1].interface
    problems = (*differing_inputs(*interfaces), *differing_outputs(*interfaces))
    if problems:
        return dataclasses.replace(empty, problems=problems)
    trials, precision, notes = _reference_trials(reference, feeds, extra, progress)
    made = [note for each in (*feeds, *extra) for note in each.notes]
    allowed = _allowed(tolerances or Tolerances(), candidate, facts[0].tolerances(precision))
    with CandidateJudge((reference, candidate), facts, allowed, effort, progress) as comparison:
        return comparison.report(empty, trials, [*made, *notes])


def verify_recorded(
    candidate: JudgedSubject,
    folders: Sequence[Path],
    *,
    tolerances: Tolerances | None = None,
    progress: Progress = SILENT,
) -> VerifyReport:
    """Return whether `candidate` gives what was recorded in these `test_data_set_N` folders."""
    facts = facts_of(candidate)
    trials = [_recorded_trial(folder, facts.interface) for folder in folders]
    allowed = _allowed(tolerances or Tolerances(), candidate, facts.tolerances())
    empty = VerifyReport(
        RECORDED, candidate.model.label, RECORDED, candidate.engine, (),
        arithmetic=allowed.arithmetic or _weaker_than_f32(allowed),
        unjudged="what was recorded has no meaning to compare with",
    )  # fmt: skip
    samples: list[JudgedSample] = []
    try:
        with candidate.open() as session:
            placement = session.placement
            for index, trial in enumerate(trials):
                samples.append(_recorded_sample(session, trial, allowed))
                progress.step("candidate", index + 1, len(trials))
    except EngineCrashedError as error:
        return crashed(empty, samples, trials, (), error)
    notes = (*placement.notes, *proving_nothing(samples))
    return dataclasses.replace(empty, samples=tuple(samples), notes=notes)


def _allowed(asked: Tolerances, candidate: JudgedSubject, known: Tolerances) -> Tolerances:
    """Return by what the candidate is judged: the reference's arithmetic, and what was asked for.

    A precision that an engine was asked to compute in is asked for, too.
    """
    return dataclasses.replace(
        asked,
        arithmetic=asked.arithmetic or candidate.options.precision,
        quantised=known.quantised,
        by_tensor=known.by_tensor,
    )


def _weaker_than_f32(allowed: Tolerances) -> str:
    found = weakest(*allowed.by_tensor.values())
    return "" if found in ("f32", "f64") else found


def _reference_trials(
    reference: JudgedSubject, feeds: Sequence[Feeds], extra: Sequence[Feeds], progress: Progress
) -> tuple[list[ReferenceTrial], str, list[str]]:
    """Return what the reference gave, the type it computed in, and what to note."""
    trials: list[ReferenceTrial] = []
    notes: list[str] = []
    total = len(feeds) + len(extra)
    with reference.open() as session:
        notes += session.placement.notes
        for index, each in enumerate((*feeds, *extra)):
            try:
                outputs = session.run(each.arrays)
            except EngineCrashedError:
                raise
            except ModelError as error:
                if index < len(feeds):
                    raise ReferenceRefusesError(error.problem, hint=error.hint) from error
                notes.append(f"left out {_shape(each)}: the reference refuses it ({error.problem})")
            else:
                trials.append(ReferenceTrial(str(index + 1), each, outputs))
            progress.step("reference", index + 1, total)
        return trials, session.placement.precision, notes


def _recorded_trial(folder: Path, interface: Interface) -> ReferenceTrial:
    data_set = datasets.read(folder, interface)
    if not data_set.outputs:
        raise ModelError(
            f"{folder}: holds no outputs to compare with",
            hint="compare with a model instead: burnish verify REFERENCE CANDIDATE "
            f"--data {folder}",
        )
    bindings = _bindings(data_set.inputs, interface)
    return ReferenceTrial(folder.name, Feeds(data_set.inputs, bindings), data_set.outputs)


def _recorded_sample(session: Session, trial: ReferenceTrial, allowed: Tolerances) -> JudgedSample:
    try:
        given = session.run(trial.feeds.arrays)
    except EngineCrashedError:
        raise
    except ModelError as error:
        return JudgedSample(trial.label, trial.feeds.bindings, (), problem=error.problem)
    return JudgedSample(trial.label, trial.feeds.bindings, compare(trial.outputs, given, allowed))


def _bindings(inputs: Arrays, interface: Interface) -> dict[str, int]:
    """Return the sizes that recorded inputs have where the model leaves them open."""
    fed = (spec for spec in interface.inputs if spec.name in inputs and spec.shape != (ANY_RANK,))
    return {
        dim: size
        for spec in fed
        for dim, size in zip(spec.shape, inputs[spec.name].shape, strict=False)
        if isinstance(dim, str)
    }


def _shape(feeds: Feeds) -> str:
    return ", ".join(f"{name}={size}" for name, size in feeds.bindings.items())
