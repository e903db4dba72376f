"""What all normalisations share: squares, averaged axes, and scale and bias of the right shape."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import onnx_ir as ir

from burnish.core.arrays import Array
from burnish.rewrite.algebra import ONE, Monomial, close
from burnish.rewrite.edit import is_standard
from burnish.rewrite.element_types import holds_exactly
from burnish.rewrite.facts import FLOATS, Facts, keeps_shape, rank, sizes, static_sizes
from burnish.rewrite.rule import Builder, Match, Refusal


@dataclass(frozen=True, slots=True)
class Squared:
    """What a square is the square of, and the nodes in between."""

    root: ir.Value
    nodes: tuple[ir.Node, ...]


def squared(value: ir.Value, facts: Facts) -> Squared | None:
    """Return r if a value is r² by Pow(r, 2) or Mul(r, r)."""
    nodes: list[ir.Node] = []
    while True:
        node = value.producer()
        if node is None or node.inputs[0] is None:
            return None
        nodes.append(node)
        if is_standard(node, "Cast", "Identity") and node.outputs[0].dtype in FLOATS:
            value = node.inputs[0]
            continue
        by_power = is_standard(node, "Pow") and _is_plain_two(node, facts)
        by_product = is_standard(node, "Mul") and node.inputs[0] is node.inputs[1]
        return Squared(node.inputs[0], tuple(reversed(nodes))) if by_power or by_product else None


def _is_plain_two(node: ir.Node, facts: Facts) -> bool:
    exponent, base = facts.array(node.inputs[1]), node.inputs[0]
    if exponent is None or base is None or facts.scalar(node.inputs[1]) != 2:
        return False
    return keeps_shape(exponent.shape, base)


def reduced_axes(node: ir.Node, axis_count: int, facts: Facts) -> tuple[int, ...] | None:
    """Return the axes that a reduction averages over, counted from 0; None: not known."""
    axes = facts.axes(node)
    if axes is None:
        return None
    if not axes:
        keeps = bool(node.attributes.get_int("noop_with_empty_axes", 0))
        return () if keeps else tuple(range(axis_count))
    return tuple(sorted(axis % axis_count for axis in axes)) if axis_count else None


def source_of_type(value: ir.Value, dtype: ir.DataType | None) -> ir.Value | None:
    """Return the value of this type that a value is, but for casts to wider types."""
    while value.dtype != dtype:
        node = value.producer()
        if node is None or not is_standard(node, "Cast") or node.inputs[0] is None:
            return None
        source = node.inputs[0]
        if (
            source.dtype is None
            or value.dtype is None
            or not holds_exactly(value.dtype, source.dtype)
        ):
            return None
        value = source
    return value


@dataclass(frozen=True, slots=True)
class Affine:
    """normalised · scale · factor + bias + offset; without a scale or bias, the numbers do."""

    scale: ir.Value | None
    factor: float
    bias: ir.Value | None
    offset: float


def affine(scale: Monomial, factor: float, rest: Mapping[Monomial, float]) -> Affine | None:
    """Return scale and bias if each is one value or one number; None: they are more."""
    weight = _single(scale)
    if weight is None and scale != ONE:
        return None
    if weight is not None and not close(factor, 1.0, 1e-9):
        return None
    if not rest:
        return Affine(weight, factor, None, 0.0)
    if len(rest) > 1:
        return None
    ((term, coefficient),) = rest.items()
    if term == ONE:
        return Affine(weight, factor, None, coefficient)
    bias = _single(term)
    return Affine(weight, factor, bias, 0.0) if bias is not None and coefficient == 1 else None


def _single(term: Monomial) -> ir.Value | None:
    if len(term) != 1:
        return None
    ((value, exponent),) = term
    return value if exponent == 1 else None


def affine_refusal(
    affine: Affine, x: ir.Value, normalised_axes: int, output: ir.Value, facts: Facts
) -> Refusal | None:
    """Return why scale or bias do not fit the last axes of x; None: they do."""
    known = sizes(x) or ()
    inner = known[len(known) - normalised_axes :]
    if not inner or not all(isinstance(size, int) for size in inner):
        return Refusal(
            f"the sizes of the normalised axes of {output.name!r} are {tuple(inner)},"
            " expected known numbers",
            "declare the sizes of the last axes of the graph's inputs",
        )
    shape = tuple(size for size in inner if isinstance(size, int))
    for role, value in (("scale", affine.scale), ("bias", affine.bias)):
        stretches = value is not None and (rank(value) or 0) > len(known)
        if value is not None and (stretches or not _fits(value, shape, output.dtype, facts)):
            return Refusal(
                f"the {role} {value.name!r} of {output.name!r} is"
                f" {value.dtype}{list(sizes(value) or ())},"
                f" expected {output.dtype}{list(shape)}",
                f"store the {role} with the shape of the normalised axes",
            )
    return None


def _fits(value: ir.Value, shape: tuple[int, ...], dtype: ir.DataType | None, facts: Facts) -> bool:
    if static_sizes(value) == shape and value.dtype == dtype:
        return True
    array = facts.array(value)
    if array is None or dtype is None or value.dtype is None:
        return False
    return holds_exactly(dtype, value.dtype) and _as_shape(array, shape) is not None


def _as_shape(array: Array, shape: tuple[int, ...]) -> Array | None:
    """Return a constant with exactly this shape, if broadcasting would give it."""
    leading = array.ndim - len(shape)
    if leading > 0:
        if any(size != 1 for size in array.shape[:leading]):
            return None
        array = array.reshape(array.shape[leading:])
    try:
        return np.broadcast_to(array, shape)
    except ValueError:
        return None


def inner_shape(x: ir.Value | None, axis: int) -> tuple[int, ...]:
    """Return the sizes of the normalised axes, which a match has proven to be known."""
    known = () if x is None else sizes(x) or ()
    return tuple(size for size in known[axis:] if isinstance(size, int))


def parameters(
    match: Match, builder: Builder, shape: tuple[int, ...]
) -> tuple[ir.Value, ir.Value | None]:
    """Return scale and bias for the new node; where there are none, or not of `shape`, new ones."""
    scale = _parameter(match, builder, "scale", float(match.attributes["factor"]), shape)
    offset = float(match.attributes["offset"])
    if match.values["bias"] is None and not offset:
        return scale, None
    return scale, _parameter(match, builder, "bias", offset, shape)


def _parameter(
    match: Match, builder: Builder, role: str, number: float, shape: tuple[int, ...]
) -> ir.Value:
    value, dtype = match.values[role], match.output.dtype
    if dtype is None:
        raise ValueError(f"the type of {match.output.name} is not known")
    if value is None:
        return builder.constant(role, np.full(shape, number, dtype.numpy()))
    if static_sizes(value) == shape and value.dtype == dtype:
        return value
    array = builder.facts.array(value)
    fitted = None if array is None else _as_shape(array, shape)
    if fitted is None:
        raise ValueError(f"the {role} {value.name} does not fit {shape}")
    return builder.constant(role, fitted.astype(dtype.numpy()))
