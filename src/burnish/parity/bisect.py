"""Find the node where two runs part.

All values that both models have, by name, are compared. From a wrong output the search goes
back along wrong values only, so that a difference which something later hides (a masked score)
accuses nobody, to the first one out of tolerance. What made it wrong may have begun earlier,
below the tolerance: so the search goes on, along the values that differ by more than a
rounding. On this last stretch the accused is the first node that is written differently in the
two models (another weight, another attribute), and where none is, the one at which the error
grew most.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from burnish.core.errors import UsageError
from burnish.core.progress import SILENT, Progress
from burnish.core.units import count
from burnish.engines.base import ENGINES
from burnish.feeds.feed import Feeds
from burnish.parity.arithmetic import quantised_values
from burnish.parity.changes import are_evidence, changes
from burnish.parity.pairing import pair_outputs
from burnish.parity.region import Producers, ValueRegion, live_values, name_of
from burnish.parity.report import Agreement, Bisection, Culprit, TensorDiff
from burnish.parity.scan import Scan, runs, scan
from burnish.parity.tolerances import ROUNDING, Tolerances
from burnish.parity.verify import JUDGE, JudgedSubject, unoptimised
from burnish.store import onnx_files

RULE = "burnish.rule"
"""The metadata in which a rewritten node names the rule that made it."""


@dataclass(frozen=True, slots=True)
class _Graphs:
    """The two models, and which value of one is which of the other."""

    reference: Producers
    candidate: Producers
    counterparts: Mapping[str, str]
    """Candidate value → reference value, in the candidate's order of execution."""
    outputs: tuple[str, ...]
    quantised: frozenset[str]
    unshared: int


def bisect(
    reference: JudgedSubject,
    candidate: JudgedSubject,
    feeds: Feeds,
    *,
    sample: str = "1",
    tolerances: Tolerances | None = None,
    progress: Progress = SILENT,
) -> Bisection:
    """Return the node of `candidate` at which its run parts from that of `reference`.

    Two different models run with nothing optimised by the engine; the same model on two
    engines runs as asked for, because then the engine is in question.
    """
    for subject in (reference, candidate):
        _check_exposable(subject)
    graphs = _graphs(reference, candidate)
    subjects = reference, candidate
    if reference.model.onnx.absolute() != candidate.model.onnx.absolute():
        subjects = unoptimised(reference), unoptimised(candidate)
    asked = dataclasses.replace(tolerances or Tolerances(), quantised=graphs.quantised)
    with runs(*subjects, feeds.arrays) as both:
        found = scan(both, graphs.counterparts, asked, progress)
    if_agreeing = _note_if_agreeing((reference, candidate), subjects)
    return _bisection(graphs, found, asked, sample, if_agreeing)


def _check_exposable(subject: JudgedSubject) -> None:
    if ENGINES[subject.engine].needs_torch_source:
        raise UsageError(
            f"{subject.engine} runs the PyTorch module, whose inner values have no ONNX names",
            hint=f"bisect on an engine that runs the ONNX file, for instance --engine {JUDGE}",
        )


def _graphs(reference: JudgedSubject, candidate: JudgedSubject) -> _Graphs:
    models = [onnx_files.read(subject.model.onnx) for subject in (reference, candidate)]
    interfaces = [onnx_files.interface(model) for model in models]
    paired = {b: a for a, b in pair_outputs(*interfaces).candidates.items()}
    for model in models:
        model.graph.sort()
    producers = [Producers(model) for model in models]
    live = live_values(models[1])
    counterparts = {name: paired.get(name, name) for name in live}
    shared = {name: other for name, other in counterparts.items() if other in producers[0]}
    return _Graphs(
        producers[0],
        producers[1],
        shared,
        tuple(spec.name for spec in interfaces[1].outputs if spec.name in shared),
        quantised_values(models[1]),
        len(live) - len(shared),
    )


def _note_if_agreeing(
    asked: tuple[JudgedSubject, JudgedSubject], ran: tuple[JudgedSubject, JudgedSubject]
) -> str:
    if asked != ran:
        candidate = asked[1]
        return (
            "the runs agree everywhere when the engines optimise nothing: if the outputs did not, "
            "an engine's own optimisation makes the difference: "
            f"burnish verify {candidate.model.onnx} --engine {candidate.engine} --bisect"
        )
    if asked[0].model == asked[1].model:
        return (
            "the runs agree everywhere while all values are kept: if the outputs did not, the "
            "engine's own fusion of nodes makes the difference, which keeping values prevents"
        )
    return "the runs agree everywhere"


def _bisection(
    graphs: _Graphs, found: Scan, tolerances: Tolerances, sample: str, if_agreeing: str
) -> Bisection:
    notes = [f"the engine cannot give out {name!r}" for name in found.refused]
    unshared = graphs.unshared + len(found.refused)
    wrong = [name for name in graphs.outputs if name in found.diffs and not _passes(found, name)]
    if not wrong:
        inner = sum(not diff.passed for diff in found.diffs.values())
        notes.append(
            f"no output shows the difference of {count(inner, 'inner value')}"
            if inner
            else if_agreeing
        )
        return Bisection(sample, None, len(found.diffs), unshared, tuple(notes))
    accused = _accused(graphs, found.diffs, wrong, tolerances)
    culprit = _culprit(graphs, found.diffs, accused)
    if unshared:
        notes.append(f"{count(unshared, 'value')} of the candidate could not be compared")
    if set(found.diffs) <= set(graphs.outputs):
        notes.append(
            "the two models call no inner value by the same name: "
            "bisect against the model that the candidate was made from"
        )
    return Bisection(sample, culprit, len(found.diffs), unshared, tuple(notes))


def _passes(found: Scan, name: str) -> bool:
    return found.diffs[name].passed


def _accused(
    graphs: _Graphs, diffs: Mapping[str, TensorDiff], wrong: Sequence[str], tolerances: Tolerances
) -> str:
    """Return the value whose node is to blame for the worst of the wrong outputs."""
    path = [max(wrong, key=lambda name: diffs[name].severity)]
    while (worst := _worst_before(graphs.candidate, path[-1], diffs)) is not None:
        if diffs[worst].severity <= _rounding(diffs[worst], tolerances):
            break
        path.append(worst)
    errors = [diffs[name].severity for name in path]
    first_wrong = next((i for i, error in enumerate(errors) if error <= 1), len(errors)) - 1
    for name in reversed(path[first_wrong:]):
        if are_evidence(changes(*_regions(graphs, diffs, name))):
            return name
    growth: dict[str, float] = {}
    for index in reversed(range(first_wrong, len(path))):
        rounding = _rounding(diffs[path[index]], tolerances)
        before = errors[index + 1] if index + 1 < len(path) else 0.0
        growth[path[index]] = _ratio(errors[index], max(before, rounding))
    return max(growth, key=growth.__getitem__)


def _worst_before(candidate: Producers, name: str, diffs: Mapping[str, TensorDiff]) -> str | None:
    cut = candidate.before(name, diffs.__contains__).cut
    return max(cut, key=lambda value: diffs[value].severity, default=None)


def _rounding(diff: TensorDiff, tolerances: Tolerances) -> float:
    """Return the error of a single rounding, in units of what is allowed for this tensor."""
    tolerance = diff.tolerance
    if tolerance is None or tolerance.relative == 0:
        return 0.0
    return min(1.0, ROUNDING[tolerances.effective(diff.dtype)] / tolerance.relative)


def _ratio(after: float, before: float) -> float:
    if after == before:
        return 1.0  # also where both are infinite
    return after / before if before else float("inf")


def _culprit(graphs: _Graphs, diffs: Mapping[str, TensorDiff], tensor: str) -> Culprit:
    node = graphs.candidate.node(tensor)
    other, region = _regions(graphs, diffs, tensor)
    return Culprit(
        node=name_of(node),
        op_type=node.op_type,
        tensor=tensor,
        diff=diffs[tensor],
        inputs=tuple(Agreement(name, diffs[name].severity) for name in region.cut),
        candidate_nodes=tuple(map(name_of, region.nodes)),
        reference_nodes=tuple(map(name_of, other.nodes)),
        changes=changes(other, region),
        rule=node.metadata_props.get(RULE),
    )


def _regions(
    graphs: _Graphs, diffs: Mapping[str, TensorDiff], tensor: str
) -> tuple[ValueRegion, ValueRegion]:
    """Return what computes `tensor` from the nearest compared values: in both models."""
    compared = {graphs.counterparts[name] for name in diffs}
    return (
        graphs.reference.before(graphs.counterparts[tensor], compared.__contains__),
        graphs.candidate.before(tensor, diffs.__contains__),
    )
