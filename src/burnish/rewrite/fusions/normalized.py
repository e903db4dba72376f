"""What all normalisations share: squares, averaged axes, and scale and bias of the right shape."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import onnx_ir as ir

from burnish.core.arrays import Array
from burnish.infer.constants import sizes
from burnish.infer.walk import is_standard
from burnish.rewrite import algebra
from burnish.rewrite.algebra import ONE, Monomial, close, power
from burnish.rewrite.element_types import holds_exactly
from burnish.rewrite.facts import FLOATS, Facts, keeps_shape, rank, static_sizes
from burnish.rewrite.matched import narrowing
from burnish.rewrite.rule import Builder, Match, Refusal


@dataclass(frozen=True, slots=True)
class Squared:
    """What a square is the square of, and the nodes in between."""

    root: ir.Value
    nodes: tuple[ir.Node, ...]


def squared(value: ir.Value, facts: Facts) -> Squared | None:
    """Return r if a value is r² by Pow(r, 2) or Mul(r, r), with r spelled in two ways or one."""
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
        by_product = is_standard(node, "Mul") and _are_equal(node.inputs[0], node.inputs[1], facts)
        return Squared(node.inputs[0], tuple(reversed(nodes))) if by_power or by_product else None


def _are_equal(one: ir.Value, other: ir.Value | None, facts: Facts) -> bool:
    """Return whether two values are the same, or the same sum spelled in two ways."""
    if one is other or other is None:
        return one is other
    left, right = (algebra.expand(value, [], facts).polynomial for value in (one, other))
    return len(left) > 1 and algebra.equal(left, right, 1e-9)


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


def mean_within(value: ir.Value) -> ir.Node | None:
    """Return the nearest ReduceMean that a value is computed from by arithmetic."""
    for source in algebra.sources(value, most=8):
        node = source.producer()
        if node is not None and is_standard(node, "ReduceMean"):
            return node
    return None


def axes_refusal(averages: Sequence[ir.Node], x: ir.Value, facts: Facts) -> Refusal | None:
    """Return why the axes of all averages are not the same last ones; None: they are."""
    known, first = rank(x), averages[0]
    if known is None:
        return Refusal(
            f"the rank of {x.name!r} is not known, so neither are the axes of {first.name!r}",
            "declare the shapes of the graph's inputs",
        )
    over = reduced_axes(first, known, facts)
    for node in averages:
        if not node.attributes.get_int("keepdims", 1):
            return Refusal(
                f"ReduceMean {node.name!r} has keepdims = 0, expected 1",
                "keep the averaged axis in the source: mean(…, keepdim=True)",
            )
        axes = reduced_axes(node, known, facts)
        if axes is None:
            return Refusal(
                f"the axes of ReduceMean {node.name!r} are computed when the model runs",
                "state the axes as constants",
            )
        if axes != over:
            return Refusal(
                f"ReduceMean {node.name!r} averages over axes {axes}, expected {over}"
                f" as for the mean in {first.name!r}",
                "none: this is not a layer normalisation",
            )
        if axes != tuple(range(known - len(axes), known)):
            return Refusal(
                f"ReduceMean {node.name!r} averages over axes {axes} of {known},"
                " expected the last ones",
                "move the normalised axes to the end in the source",
            )
    return None


@dataclass(frozen=True, slots=True)
class Shifted:
    """An average of squares + epsilon."""

    value: ir.Value
    epsilon: float
    nodes: tuple[ir.Node, ...]
    """Those that add epsilon."""


def with_epsilon(node: ir.Node, role: str, facts: Facts) -> Shifted | Refusal:
    """Return the average of squares that a node gives, with the epsilon that is added to it."""
    average = node.outputs[0]
    scaled: str | None = None
    for value in algebra.results(average, lambda _: True, most=8):
        found = algebra.expand(value, [average], facts)
        terms = found.polynomial
        if terms.keys() != {ONE, power(average)} or terms[ONE] <= 0:
            continue
        if close(terms[power(average)], 1.0, 1e-9):
            return Shifted(value, terms[ONE], found.nodes)
        scaled = f"{value.name!r} = {algebra.text(terms, {average: role})}"
    if scaled is not None:
        return Refusal(
            f"the {role} in {node.name!r} is scaled: {scaled}, expected 1·{role} + epsilon",
            "use the biased variance: sum of squares / n, not / (n - 1)",
        )
    for use in average.uses():
        if is_standard(use.node, "Transpose", "Reshape"):
            return Refusal(
                f"{use.node.op_type} {use.node.name!r} rearranges the {role} in {node.name!r}"
                " before an epsilon is added, expected it behind the normalisation",
                "rewrite the model as it was exported: another tool moved its axes",
            )
    return Refusal(
        f"no positive epsilon is added to the {role} in {node.name!r} before its root",
        f"add epsilon to the {role}, before the square root",
    )


def source_of_type(value: ir.Value, dtype: ir.DataType | None) -> ir.Value | None:
    """Return the value of this type that a value is, but for casts to wider types.

    None: there is none, or the type is f64, in which no kernel normalises.
    """
    if dtype == ir.DataType.DOUBLE:
        return None
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


def type_refusal(name: str, x: ir.Value, output: ir.Value) -> Refusal:
    """Say that a normalisation is computed in types that no kernel has."""
    return Refusal(
        f"the result {output.name!r} of {name!r} has type {output.dtype},"
        f" expected that of {x.name!r}, {x.dtype}, and not f64",
        "export the model in one floating type, f32 or narrower",
    )


def precision_refusal(nodes: Sequence[ir.Node], output: ir.Value) -> Refusal | None:
    """Return which node computes in a type narrower than the result's; None: none does."""
    narrow = narrowing(nodes, output.dtype or ir.DataType.FLOAT)
    if narrow is None:
        return None
    return Refusal(
        f"{narrow.op_type} {narrow.name!r} computes in {narrow.outputs[0].dtype},"
        f" expected nothing narrower than {output.dtype}",
        "export the model in one floating type",
    )


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


def per_channel(value: ir.Value, channels: int, axis_count: int, facts: Facts) -> Array | None:
    """Return a constant as one number for each channel, on axis 1 of a value of `axis_count` axes.

    None: it is not constant, or varies over something else.
    """
    array = facts.array(value)
    if array is None or array.ndim not in (axis_count - 1, axis_count):
        return None
    wanted = (1,) * (array.ndim - axis_count + 1) + (channels,) + (1,) * (axis_count - 2)
    return array.reshape(-1) if array.shape == wanted else None


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
