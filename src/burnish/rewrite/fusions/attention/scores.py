"""What is upstream of the softmax: a product of queries and keys, scaled, masked and biased."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import onnx_ir as ir

from burnish.infer.shapes import shapes_of
from burnish.infer.walk import is_standard
from burnish.operators.record import Shape
from burnish.rewrite.facts import FLOATS, Facts
from burnish.rewrite.fusions.attention.open_rows import first_key_is_open
from burnish.rewrite.fusions.attention.operand import Operand, operand, scaled_value, turned
from burnish.rewrite.rule import Refusal

_MOST_VALUES = 48
_LOWEST_FILL = -1e30
"""A score plus this is this, for every score that a model can have; so filling is adding."""
_MASKING_FILL = -1e4
"""GPT-2's, and what many took over from it: what has it is meant to be masked."""


@dataclass(frozen=True, slots=True)
class Term:
    """Something that is added to the scores: factor · value."""

    value: ir.Value
    factor: float = 1.0
    fill: float | None = None
    """If given: `value` is a condition, and this is added where it is `filled`."""
    filled: bool = False
    inside: tuple[Shape, Shape] | None = None
    """The shape of the scores where the term is added, and that of the product."""


@dataclass(frozen=True, slots=True)
class Scores:
    """scale · query · key^T + terms."""

    product: ir.Node
    query: Operand
    key: Operand
    """With its axes ordered (…, length, size), as those of the value."""
    scale: float
    terms: tuple[Term, ...]
    softcap: float
    floored: bool
    """Scores below the lowest number are raised to it: nothing changes, unless some are -inf."""
    nodes: tuple[ir.Node, ...]


@dataclass(frozen=True, slots=True)
class _Path:
    """The way from the softmax towards the product, as far as it has been read."""

    value: ir.Value
    factor: float = 1.0
    terms: tuple[Term, ...] = ()
    softcap: float = 0.0
    nodes: tuple[ir.Node, ...] = ()
    floored: bool = False


def read(softmax: ir.Node, facts: Facts) -> Scores | Refusal | None:
    """Return the parts of the scores; None: no product leads to this softmax."""
    source = softmax.inputs[0]
    return None if source is None else read_value(source, facts)


def read_value(source: ir.Value, facts: Facts) -> Scores | Refusal | None:
    """Return the parts of scores, whoever reads them; None: no product leads to them."""
    if not leads_to_product(source):
        return None
    path: _Path | Refusal = _Path(source)
    while isinstance(path, _Path):
        node = path.value.producer()
        if node is None:
            return None
        if is_product(node):
            return _scores(node, path, facts)
        before = path
        path = _step(node, path, facts)
        if isinstance(path, _Path) and before.softcap and path.terms != before.terms:
            return Refusal(
                f"{node.op_type} {node.name!r} adds to the scores before they are capped,"
                " expected masks and biases after the cap",
                "none: fused operators cap first",
            )
    return path


def is_product(node: ir.Node) -> bool:
    """Return whether a node is a product of matrices, in either of its forms."""
    fused = node.domain == "com.microsoft" and node.op_type == "FusedMatMul"
    return fused or is_standard(node, "MatMul")


def leads_to_product(value: ir.Value) -> bool:
    """Return whether a value is a product of two computed values, but for what is added to it."""
    waiting, seen = [value], {value}
    while waiting and len(seen) <= _MOST_VALUES:
        node = waiting.pop(0).producer()
        if node is None:
            continue
        if is_product(node):
            if not any(source is None or source.is_initializer() for source in node.inputs):
                return True
            continue
        fresh = [item for item in passed(node) if item is not None and item not in seen]
        seen.update(fresh)
        waiting.extend(fresh)
    return False


def passed(node: ir.Node) -> Sequence[ir.Value | None]:
    """Return the inputs of a node that scores may come from."""
    if is_standard(node, "Cast", "Div", "Reshape", "Tanh", "Transpose", "Clip"):
        return node.inputs[:1]
    if is_standard(node, "Where"):
        return node.inputs[1:]
    return node.inputs if is_standard(node, "Add", "Mul", "Sub", "Max") else ()


def _step(node: ir.Node, path: _Path, facts: Facts) -> _Path | Refusal:
    nodes = (node, *path.nodes)
    match node.op_type:
        case "Cast":
            return _cast(node, path)
        case "Mul" | "Div":
            scaled = scaled_value(node, facts)
            if scaled is not None:
                value, factor = scaled
                return replace(path, value=value, factor=path.factor * factor, nodes=nodes)
        case "Tanh":
            return _capped(node, path)
        case "Add" | "Sub":
            return _added(node, path)
        case "Where":
            return _filled(node, path, facts)
        case "Reshape":
            return _reshaped(node, path, facts)
        case "Max":
            return _floored(node, path, facts)
    return Refusal(
        f"{node.op_type} {node.name!r} stands between the product and the softmax,"
        " expected a scale, a mask or a bias",
        "none: this attention is not one that a fused operator computes",
    )


def _cast(node: ir.Node, path: _Path) -> _Path | Refusal:
    source = node.inputs[0]
    if source is None or source.dtype not in FLOATS:
        return Refusal(
            f"Cast {node.name!r} makes scores of {None if source is None else source.dtype},"
            " expected floating ones",
            "none: integer scores have no fused operator",
        )
    return replace(path, value=source, nodes=(node, *path.nodes))


def _added(node: ir.Node, path: _Path) -> _Path | Refusal:
    left, right = node.inputs[0], node.inputs[1]
    if left is None or right is None:
        raise ValueError(f"{node.name} does not add two values")
    nodes = (node, *path.nodes)
    if leads_to_product(left):
        factor = path.factor if node.op_type == "Add" else -path.factor
        term = Term(right, factor)
        return replace(path, value=left, terms=(term, *path.terms), nodes=nodes)
    if node.op_type == "Add":
        term = Term(left, path.factor)
        return replace(path, value=right, terms=(term, *path.terms), nodes=nodes)
    return Refusal(
        f"Sub {node.name!r} takes the scores away from {left.name!r}, expected them first",
        "none: negative scores have no fused operator",
    )


def _filled(node: ir.Node, path: _Path, facts: Facts) -> _Path | Refusal:
    """Read Where(condition, scores, fill) as scores + Where(condition, 0, fill)."""
    condition, chosen, other = node.inputs
    if condition is None or chosen is None or other is None:
        raise ValueError(f"{node.name} lacks an input")
    filled = leads_to_product(other)
    scores, filler = (other, chosen) if filled else (chosen, other)
    fill = _fill_number(filler, facts)
    if fill is None:
        return Refusal(
            f"Where {node.name!r} puts {filler.name!r} in place of scores, expected a constant",
            "mask the scores with -inf, or by adding a bias",
        )
    fill *= path.factor
    if _weighs_nothing(fill, condition, path, filled, facts):
        fill = -np.inf
    if fill > _lowest(chosen.dtype):
        return _too_mild(node, fill, chosen.dtype)
    term = Term(condition, fill=fill, filled=filled)
    return replace(path, value=scores, terms=(term, *path.terms), nodes=(node, *path.nodes))


def _too_mild(node: ir.Node, fill: float, dtype: ir.DataType | None) -> Refusal:
    """Return why filling is not adding, and with what it would be."""
    finite = "" if _lowest(dtype) == -np.inf else " or the lowest number"
    name = dtype.name if dtype is not None else "unknown type"
    remedy = "torch.finfo(dtype).min or -inf" if finite else "-inf, behind a guard against NaN,"
    return Refusal(
        f"Where {node.name!r} puts {fill:g} in place of masked scores of {name}, expected"
        f" -inf{finite}: at {fill:g} a row that is masked throughout would come out different",
        f"mask with {remedy} in the source",
    )


def _weighs_nothing(
    fill: float, condition: ir.Value, path: _Path, filled: bool, facts: Facts
) -> bool:
    """Return whether what is filled has no weight, as the first key of each row is not filled.

    That rests on no model having scores near its own fill: exp(-10000 - score) is 0 for any
    score above -9896. What is added behind could mask the first key, too, so nothing may be.
    """
    if fill > _MASKING_FILL or path.terms:
        return False
    return first_key_is_open(condition, filled=filled, facts=facts)


def _lowest(dtype: ir.DataType | None) -> float:
    """Return the highest fill that swallows every score of a type; f16 has no finite one."""
    return -np.inf if dtype in (ir.DataType.FLOAT16, None) else _LOWEST_FILL


def _fill_number(value: ir.Value, facts: Facts) -> float | None:
    array = facts.array(value)
    if array is None or array.size == 0 or array.dtype.kind == "b":
        return None
    first = float(array.reshape(-1)[0])
    return first if bool(np.all(array == array.reshape(-1)[0])) else None


def _reshaped(node: ir.Node, path: _Path, facts: Facts) -> _Path | Refusal:
    """Read past a Reshape of the scores; what was added behind it is reshaped back."""
    source = node.inputs[0]
    shapes = shapes_of(facts)
    before, after = shapes.of(source), shapes.of(node.outputs[0])
    if source is None or before is None or after is None:
        return Refusal(
            f"Reshape {node.name!r} changes scores of unknown shape, expected a known one",
            "declare the shapes of the graph's inputs",
        )
    terms = tuple(
        replace(term, inside=(after, before) if term.inside is None else (term.inside[0], before))
        for term in path.terms
    )
    return replace(path, value=source, terms=terms, nodes=(node, *path.nodes))


def _floored(node: ir.Node, path: _Path, facts: Facts) -> _Path | Refusal:
    """Read past Max(scores, lowest number)."""
    for scores, floor in (node.inputs[:2], node.inputs[1::-1]):
        number = None if floor is None else facts.scalar(floor)
        if scores is not None and number is not None and number <= _lowest(scores.dtype):
            return replace(path, value=scores, floored=True, nodes=(node, *path.nodes))
    return Refusal(
        f"Max {node.name!r} raises scores, expected at most the lowest number as its limit",
        "none: a fused operator does not limit its scores",
    )


def _capped(tanh: ir.Node, path: _Path) -> _Path | Refusal:
    """Read c · tanh(x) as cap · tanh(scores / cap): the scores are c · x, and the cap is |c|."""
    source, cap = tanh.inputs[0], path.factor
    if source is None or path.softcap or not cap:
        return Refusal(
            f"Tanh {tanh.name!r} bends the scores again, expected cap · tanh(scores / cap) once",
            "none: only one soft cap has a fused operator",
        )
    return replace(path, value=source, softcap=abs(cap), nodes=(tanh, *path.nodes))


def _scores(node: ir.Node, path: _Path, facts: Facts) -> Scores | Refusal:
    alpha = 1.0
    if node.domain == "com.microsoft":
        alpha = node.attributes.get_float("alpha", 1.0) or 1.0
    left, right = node.inputs[0], node.inputs[1]
    keys = turned(node, "B")
    query = None if left is None else operand(left, facts, turned(node, "A"))
    key = None if right is None else operand(right, facts, replace(keys, swapped=not keys.swapped))
    if query is None or key is None or len(query.perm) != len(key.perm):
        return Refusal(
            f"MatMul {node.name!r} multiplies values of unknown or different rank,"
            " expected queries and keys of one rank, 3 or more",
            "declare the shapes of the graph's inputs",
        )
    scale = path.factor * alpha * query.factor * key.factor
    if scale <= 0:
        return Refusal(
            f"the product {node.name!r} is multiplied by {scale:g}, expected more than 0",
            "none: fused operators take a positive scale only",
        )
    nodes = (*query.nodes, *key.nodes, node, *path.nodes)
    return Scores(node, query, key, scale, path.terms, path.softcap, path.floored, nodes)
