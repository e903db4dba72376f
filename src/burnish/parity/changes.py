"""What is written differently in two models where their runs part."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import onnx_ir as ir

from burnish.core.arrays import Array
from burnish.parity.compare import compare_tensor
from burnish.parity.region import ValueRegion, name_of
from burnish.parity.report import Change
from burnish.parity.tolerances import Tolerances

_EQUAL = Tolerances(absolute=0.0, relative=0.0)


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
