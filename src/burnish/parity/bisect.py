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
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import onnx_ir as ir

from burnish.closeness.tolerance import ROUNDING
from burnish.core.arrays import Array
from burnish.core.command import command
from burnish.core.errors import UsageError
from burnish.core.progress import SILENT, Progress
from burnish.core.units import count
from burnish.engines.base import ENGINES
from burnish.feeds.feed import Feeds
from burnish.parity.arithmetic import quantised_values
from burnish.parity.compare import compare_tensor
from burnish.parity.pairing import pair_outputs
from burnish.parity.region import Producers, ValueRegion, live_values, name_of
from burnish.parity.report import Agreement, Bisection, Change, Culprit, TensorDiff
from burnish.parity.scan import Scan, runs, scan
from burnish.parity.tolerances import Tolerances
from burnish.parity.verify import JUDGE, JudgedSubject, unoptimised
from burnish.store import onnx_files

RULE = "burnish.rule"
"""The metadata in which a rewritten node names the rule that made it."""
_EQUAL = Tolerances(absolute=0.0, relative=0.0)


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
            + command("verify", candidate.model.onnx, "--engine", candidate.engine, "--bisect")
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


def changes(reference: ValueRegion, candidate: ValueRegion) -> tuple[Change, ...]:
    """Return which weights, operators and attributes of the same name differ."""
    return (
        *_changed_initializers(reference.initializers, candidate.initializers),
        *_changed_nodes(reference.nodes, candidate.nodes),
    )


def are_evidence(found: Sequence[Change]) -> bool:
    """Return whether these changes alone explain a difference.

    Another operator may compute the same, and another type was chosen on purpose; a weight of
    the same type and shape with other numbers, or another attribute of the same operator, is
    hardly meant to give the same.
    """
    kinds = {change.kind for change in found}
    return "operator" not in kinds and bool(kinds & {"initializer", "attribute"})


def _changed_initializers(
    reference: Sequence[ir.Value], candidate: Sequence[ir.Value]
) -> Iterator[Change]:
    before = {value.name: value for value in reference}
    for value in candidate:
        name = value.name or ""
        if name in before:
            yield from _changed_tensor(name, before[name].const_value, value.const_value)


def _changed_tensor(
    name: str, before: ir.TensorProtocol | None, after: ir.TensorProtocol | None
) -> Iterator[Change]:
    detail = _difference(name, before, after)
    if detail and before is not None and after is not None:
        same_kind = (before.dtype, before.shape) == (after.dtype, after.shape)
        yield Change("initializer" if same_kind else "type", name, detail)


def _changed_nodes(reference: Sequence[ir.Node], candidate: Sequence[ir.Node]) -> Iterator[Change]:
    before = {value.name: node for node in reference for value in node.outputs if value.name}
    for node in candidate:
        other = next((before[v.name] for v in node.outputs if v.name in before), None)
        if other is None:
            continue
        if (other.domain, other.op_type) != (node.domain, node.op_type):
            detail = f"{node.op_type}, the reference has {other.op_type}"
            yield Change("operator", name_of(node), detail)
        else:
            yield from _changed_attributes(other, node)


def _changed_attributes(reference: ir.Node, candidate: ir.Node) -> Iterator[Change]:
    for name in dict.fromkeys((*reference.attributes, *candidate.attributes)):
        before, after = reference.attributes.get(name), candidate.attributes.get(name)
        detail = _attribute_difference(name, before, after)
        if detail:
            yield Change("attribute", f"{name_of(candidate)}.{name}", detail)


def _attribute_difference(name: str, before: ir.Attr | None, after: ir.Attr | None) -> str:
    kinds = {None if attribute is None else attribute.type for attribute in (before, after)}
    if kinds & {ir.AttributeType.GRAPH, ir.AttributeType.GRAPHS}:
        return ""  # subgraphs are compared by what they give
    if kinds == {ir.AttributeType.TENSOR} and before is not None and after is not None:
        return _difference(name, before.as_tensor(), after.as_tensor())
    values = ["nothing" if a is None else repr(a.value) for a in (before, after)]
    return "" if values[0] == values[1] else f"{values[1]}, the reference has {values[0]}"


def _difference(
    name: str, before: ir.TensorProtocol | None, after: ir.TensorProtocol | None
) -> str:
    """Return how a stored tensor differs from another, as a sentence; empty when it does not."""
    if before is None or after is None:
        return ""
    left, right = _array(before), _array(after)
    diff = compare_tensor(name, left, right, _EQUAL)
    if diff.passed:
        return ""
    if not diff.worst_index and diff.elements != 1:
        return diff.reason
    where = list(diff.worst_index)
    return f"at {where}: {diff.worst_candidate:.6g}, the reference has {diff.worst_reference:.6g}"


def _array(tensor: ir.TensorProtocol) -> Array:
    array: Array = np.asarray(tensor.numpy())
    return array
