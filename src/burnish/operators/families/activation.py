"""Activation functions."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from burnish.operators.record import FoldRule, Operator, register
from burnish.operators.rules import defined, each_output, first
from burnish.tile.expr import Expr, call
from burnish.tile.pointwise import above, below, elementwise, like, pointwise, present
from burnish.tile.semantics import Meaning, NestBuilder, Node, NotCoveredError

_MOST_PARTS = 16
"""Of one, in a fraction that somebody meant."""

Attributes = dict[str, float]
Activation = Callable[[Expr, Attributes], Expr]
"""The activated value, from a value and the node's numbers."""

_DEFAULTS: dict[str, Attributes] = {
    "LeakyRelu": {"alpha": 0.01},
    "Elu": {"alpha": 1.0},
    "Celu": {"alpha": 1.0},
    "Selu": {"alpha": 1.67326319217681884765625, "gamma": 1.05070102214813232421875},
    "ThresholdedRelu": {"alpha": 1.0},
    "HardSigmoid": {"alpha": 0.2, "beta": 0.5},
    "Shrink": {"lambd": 0.5, "bias": 0.0},
    "Swish": {"alpha": 1.0},
    "com.microsoft.QuickGelu": {"alpha": 1.702},
}

_GREATEST = {
    "f64": float(np.finfo(np.float64).max),
    "f32": float(np.finfo(np.float32).max),
    "f16": float(np.finfo(np.float16).max),
    "bf16": float.fromhex("0x1.fep127"),
}
"""The greatest finite number of each floating type."""


def relu(x: Expr) -> Expr:
    """Return x where it is not negative, else zero."""
    return above(x, like(x, 0))


def leaky_relu(x: Expr, alpha: float = 0.01) -> Expr:
    """Return x, scaled where it is negative."""
    return call("where", _negative(x), call("multiply", like(x, alpha), x), x)


def hard_sigmoid(x: Expr, alpha: float = 0.2, beta: float = 0.5) -> Expr:
    """Return a line between the limits zero and one."""
    line = call("add", call("multiply", like(x, alpha), x), like(x, beta))
    return below(above(line, like(x, 0.0)), like(x, 1.0))


def gelu(x: Expr) -> Expr:
    """Return x · Φ(x), by the error function."""
    inner = call("erf", call("multiply", x, like(x, math.sqrt(0.5))))
    half = call("multiply", like(x, 0.5), x)
    return call("multiply", half, call("add", like(x, 1.0), inner))


def gelu_by_tanh(x: Expr) -> Expr:
    """Return x · Φ(x), approximated by a hyperbolic tangent."""
    cube = call("multiply", call("multiply", x, x), x)
    inner = call("add", x, call("multiply", like(x, 0.044715), cube))
    turned = call("tanh", call("multiply", like(x, math.sqrt(2 / math.pi)), inner))
    half = call("multiply", like(x, 0.5), x)
    return call("multiply", half, call("add", like(x, 1.0), turned))


def swish(x: Expr, alpha: float) -> Expr:
    """Return x · sigmoid(alpha · x)."""
    scaled = x if alpha == 1.0 else call("multiply", like(x, alpha), x)
    return call("multiply", x, call("sigmoid", scaled))


def softplus(x: Expr) -> Expr:
    """Return log(1 + exp(x)), without overflow."""
    tail = call("exp", call("negative", call("absolute", x)))
    return call("add", relu(x), call("log", call("add", like(x, 1.0), tail)))


def _elu(x: Expr, given: Attributes) -> Expr:
    return call("where", _negative(x), _exponential(x, given["alpha"]), x)


def _selu(x: Expr, given: Attributes) -> Expr:
    return call("multiply", like(x, given["gamma"]), _elu(x, given))


def _celu(x: Expr, given: Attributes) -> Expr:
    alpha = given["alpha"]
    curve = _exponential(call("divide", x, like(x, alpha)), alpha)
    return call("add", relu(x), below(curve, like(x, 0.0)))


def _exponential(x: Expr, alpha: float) -> Expr:
    less_one = call("subtract", call("exp", x), like(x, 1.0))
    return less_one if alpha == 1.0 else call("multiply", like(x, alpha), less_one)


def _thresholded(x: Expr, given: Attributes) -> Expr:
    return call("where", call("less", like(x, given["alpha"]), x), x, like(x, 0.0))


def _softsign(x: Expr, _: Attributes) -> Expr:
    return call("divide", x, call("add", like(x, 1.0), call("absolute", x)))


def _hard_sigmoid(x: Expr, given: Attributes) -> Expr:
    alpha, beta = given["alpha"], given["beta"]
    # engines compute doubles with what is written
    exact = x.dtype != "f64"
    return hard_sigmoid(x, _meant(alpha) if exact else alpha, _meant(beta) if exact else beta)


def _meant(number: float) -> float:
    """Return the plain fraction that an attribute is, but for being kept in f32: a sixth.

    Whoever writes the same line as Clip(x + 3, 0, 6) / 6 means no rounding of it.
    """
    plain = float(Fraction(number).limit_denominator(_MOST_PARTS))
    return plain if np.float32(plain) == np.float32(number) else number


def _hard_swish(x: Expr, _: Attributes) -> Expr:
    return call("multiply", x, hard_sigmoid(x, 1 / 6, 0.5))


def _mish(x: Expr, _: Attributes) -> Expr:
    return call("multiply", x, call("tanh", softplus(x)))


def _shrink(x: Expr, given: Attributes) -> Expr:
    limit, bias = given["lambd"], given["bias"]
    raised = call("add", x, _number(x, bias))
    lowered = call("subtract", x, _number(x, bias))
    high = call("where", call("less", _number(x, limit), x), lowered, like(x, 0))
    return call("where", call("less", x, _number(x, -limit)), raised, high)


_ACTIVATIONS: dict[str, Activation] = {
    "Relu": lambda x, _: relu(x),
    "LeakyRelu": lambda x, given: leaky_relu(x, given["alpha"]),
    "Elu": _elu,
    "Selu": _selu,
    "Celu": _celu,
    "ThresholdedRelu": _thresholded,
    "Softplus": lambda x, _: softplus(x),
    "Softsign": _softsign,
    "HardSigmoid": _hard_sigmoid,
    "HardSwish": _hard_swish,
    "Mish": _mish,
    "Shrink": _shrink,
    "Swish": lambda x, given: swish(x, given["alpha"]),
    "com.microsoft.Gelu": lambda x, _: gelu(x),
    "com.microsoft.QuickGelu": lambda x, given: swish(x, given["alpha"]),
}


def _activation(operator: str, function: Activation) -> Meaning:
    def meaning(builder: NestBuilder, node: Node) -> None:
        given = {**_DEFAULTS.get(operator, {}), **node.attributes}
        elementwise(builder, node, lambda x: function(x, given))

    return meaning


def gelu_node(builder: NestBuilder, node: Node) -> None:
    """Add the exact or the approximated form, as the node says."""
    approximate = node.attributes.get("approximate", "none")
    if approximate not in ("none", "tanh"):
        raise NotCoveredError(f"the approximation {approximate!r}")
    elementwise(builder, node, gelu if approximate == "none" else gelu_by_tanh)


def bias_gelu(builder: NestBuilder, node: Node) -> None:
    """Add the exact form of a sum."""
    elementwise(builder, node, lambda x, bias: gelu(call("add", x, bias)))


def fast_gelu(builder: NestBuilder, node: Node) -> None:
    """Add the approximated form of a value, or of a sum."""
    operands = [name for name in node.inputs if name]
    pointwise(
        builder,
        node.outputs[0],
        operands,
        lambda x, *bias: gelu_by_tanh(call("add", x, *bias) if bias else x),
    )


def parametric_relu(builder: NestBuilder, node: Node) -> None:
    """Add x, multiplied by the slope where it is negative."""
    if node.opset < 7:
        raise NotCoveredError("its slope is broadcast as before opset 7")
    elementwise(
        builder,
        node,
        lambda x, slope: call("where", _negative(x), call("multiply", slope, x), x),
    )


def clip(builder: NestBuilder, node: Node) -> None:
    """Add the value between two limits; the upper one wins, and a limit that is NaN is none.

    A limit that is left out is the least or greatest finite number, so that infinity is clipped.
    """
    greatest = _GREATEST.get(builder.type(node.inputs[0]).dtype)
    if node.opset < 11:
        least, most = (node.attributes.get(name) for name in ("min", "max"))
        elementwise(
            builder, node, lambda x: _between(x, _stated(x, least), _stated(x, most), greatest)
        )
        return
    low, high = node.input(1), node.input(2)
    given = [name for name in (low, high) if name is not None]
    _refuse_large(builder, given)

    def scalar(x: Expr, *limits: Expr) -> Expr:
        left = list(limits)
        least = None if low is None else left.pop(0)
        return _between(x, least, left.pop(0) if left else None, greatest)

    pointwise(builder, node.outputs[0], present([node.inputs[0], *given]), scalar)


def _between(x: Expr, low: Expr | None, high: Expr | None, greatest: float | None) -> Expr:
    """Return x between two limits; those left out are ±greatest, or none for whole numbers."""
    if greatest is not None:
        low = like(x, -greatest) if low is None else low
        high = like(x, greatest) if high is None else high
    raised = x if low is None else above(x, low)
    return raised if high is None else below(raised, high)


def _stated(x: Expr, limit: float | None) -> Expr | None:
    return None if limit is None else like(x, limit)


def _refuse_large(builder: NestBuilder, limits: list[str]) -> None:
    for name in limits:
        if builder.type(name).size != 1:
            raise NotCoveredError("a limit that is not a single number")


def _negative(x: Expr) -> Expr:
    return call("less", x, like(x, 0))


def _number(x: Expr, value: float) -> Expr:
    """Return a number in the type of x; whole where x is."""
    return like(x, value if x.dtype[0] in "fb" else int(value))


def _like_first(loops: Meaning, operations: float, folds: FoldRule | None = None) -> Operator:
    return Operator(shape=first, work=each_output(operations), folds=folds, loops=loops)


_WORK = {
    "Relu": 1, "ThresholdedRelu": 1, "LeakyRelu": 2, "HardSigmoid": 2, "HardSwish": 3,
    "Softplus": 10, "Softsign": 10, "Elu": 10, "Selu": 10, "Celu": 10, "Shrink": 3,
}  # fmt: skip
"""Operations for each element; those that are not here spend 14."""

register({
    name: _like_first(_activation(name, function), _WORK.get(name, 14),
                      defined if name == "Relu" else None)
    for name, function in _ACTIVATIONS.items()
})  # fmt: skip
register(
    {
        "Gelu": _like_first(gelu_node, 14),
        "com.microsoft.BiasGelu": _like_first(bias_gelu, 15),
        "com.microsoft.FastGelu": _like_first(fast_gelu, 14),
        "com.microsoft.BiasSplitGelu": Operator(work=each_output(15)),
        "PRelu": _like_first(parametric_relu, 2),
        "Clip": _like_first(clip, 2, defined),
    }
)
