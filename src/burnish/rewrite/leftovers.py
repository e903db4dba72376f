"""Operators that fusions grow around, where no rule found anything to say: what they are."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass

import onnx_ir as ir

from burnish.infer import walk
from burnish.infer.walk import is_standard
from burnish.rewrite.facts import FLOATS
from burnish.rewrite.options import OptimizeOptions

_DEFAULTS = OptimizeOptions()

_FAR = 200
"""How many nodes up or down the graph are looked at."""
_LIGHT = frozenset(
    {"Add", "Sub", "Mul", "Div", "Where", "Cast", "Reshape", "Transpose", "Unsqueeze", "Squeeze",
     "Identity", "Expand", "Softmax", "IsNaN", "Clip", "Neg", "Sqrt", "Tanh", "Dropout"}
)  # fmt: skip
_REARRANGING = frozenset(
    {"Slice", "Concat", "Pad", "ScatterND", "ScatterElements", "Gather", "Split"}
)
_PRODUCTS = ("MatMul", "Gemm", "Einsum")


@dataclass(frozen=True, slots=True)
class Leftover:
    """An operator that is part of many fusions and was left, and what it does here."""

    node: str
    op_type: str
    reason: str
    remedy: str


def leftovers(
    model: ir.Model, explained: Collection[str], options: OptimizeOptions = _DEFAULTS
) -> tuple[Leftover, ...]:
    """Return the operators that stayed, less the nodes that a rule has already explained."""
    found: list[Leftover] = []
    for node in walk.nodes(model):
        known = _DESCRIPTIONS.get(node.op_type) if is_standard(node, node.op_type) else None
        if known is None or (node.name or "") in explained:
            continue
        rules, describe = known
        reason, remedy = _left_out(node, rules, options) or _untyped(node) or describe(node)
        found.append(Leftover(node.name or "", node.op_type, reason, remedy))
    return tuple(found)


_Description = tuple[str, str]
"""Why a node was left, and what would let it through."""


def _left_out(
    node: ir.Node, rules: Collection[str], options: OptimizeOptions
) -> _Description | None:
    """Return which rules were not to be tried here; None: at least one was."""
    disabled = [name for name in rules if name in options.disable]
    if options.only and not set(rules) & set(options.only):
        option, rest = "--only", f"add {next(iter(rules))} to --only, or leave it out"
    elif rules and len(disabled) == len(rules):
        option, rest = "--disable", f"take {', '.join(disabled)} out of --disable"
    else:
        return None
    names = " and ".join(rules)
    return f"{node.op_type} {node.name!r} was not looked at: {option} leaves out {names}", rest


def _untyped(node: ir.Node) -> _Description | None:
    """Return that no rule can judge a node whose element type nobody states."""
    if node.outputs[0].dtype is not None:
        return None
    return (
        f"the element type of {node.op_type} {node.name!r} is not known, so no rule can be applied",
        "save the model with the types of its values: onnx.shape_inference.infer_shapes(model)",
    )


def _softmax(node: ir.Node) -> _Description:
    name = f"Softmax {node.name!r}"
    # a bias may be a product with a table, and nearer than that of queries and keys
    scores = _way(node, _up, _is_of_two) or _way(node, _up, _is_product)
    values = _way(node, _down, _is_product)
    if not scores:
        return f"the scores of {name} are no product of matrices", _not("an attention")
    if not values:
        return f"the result of {name} is multiplied with no values", _not("an attention")
    constant = _constant_factor(scores[-1])
    if constant is not None:
        what = f"{scores[-1].op_type} {scores[-1].name!r} with the constant {constant.name!r}"
        return (
            f"the scores of {name} come from the product {what}, expected one of queries and keys",
            _not("an attention"),
        )
    for way, what in ((scores, "scores"), (values, "weights")):
        moving = next((step for step in way if step.op_type in _REARRANGING), None)
        if moving is not None:
            moved = f"the {what} of {name} are rearranged by {moving.op_type} {moving.name!r}"
            return f"{moved}, expected one product of whole rows", _not("one attention, but blocks")
    steps = " and ".join(f"{step.op_type} {step.name!r}" for step in scores[:-1]) or "nothing"
    reason = f"{steps} between the product {scores[-1].name!r} and {name}"
    return (
        f"{reason}, expected a scale, a mask or a bias",
        "none: this attention is not one that a fused operator computes",
    )


def _constant_factor(product: ir.Node) -> ir.Value | None:
    return next((v for v in product.inputs if v is not None and v.is_initializer()), None)


def _erf(node: ir.Node) -> _Description:
    return (
        f"Erf {node.name!r} is not part of x·(1 + erf(x/√2))",
        _not("a GELU"),
    )


def _tanh(node: ir.Node) -> _Description:
    readers = ", ".join(_readers(node)) or "an output of the graph"
    return (
        f"Tanh {node.name!r} is an activation of its own, read by {readers}",
        _not("a GELU"),
    )


def _mean(node: ir.Node) -> _Description:
    readers = ", ".join(_readers(node)) or "an output of the graph"
    if any(is_standard(reader, "Sub", "Sqrt") for reader in _down(node)):
        reason = f"the average {node.name!r} is read by {readers}, and not divided by, expected"
        return f"{reason} (x - mean(x)) / √(var(x) + epsilon)", _not("a normalisation")
    reason = f"the average {node.name!r} is read by {readers}, expected a difference or a root"
    return reason, _not("a normalisation: it pools")


def _sigmoid(node: ir.Node) -> _Description:
    source = node.inputs[0]
    readers = ", ".join(_readers(node)) or "an output of the graph"
    own = "?" if source is None else repr(source.name)
    reason = f"Sigmoid {node.name!r} is read by {readers}, expected a product with its input {own}"
    return reason, _not("a SiLU: it gates something else")


def _not(what: str) -> str:
    return f"none: this is not {what}"


_DESCRIPTIONS: Mapping[str, tuple[tuple[str, ...], Callable[[ir.Node], _Description]]] = {
    "Softmax": (("attention",), _softmax),
    "Erf": (("gelu",), _erf),
    "Tanh": (("gelu",), _tanh),
    "ReduceMean": (("layer-norm", "rms-norm"), _mean),
    "Sigmoid": (("swish",), _sigmoid),
}
"""The rules that look at an operator, and what to say where none had anything to say."""


def _readers(node: ir.Node) -> list[str]:
    readers = (use.node for value in node.outputs for use in value.uses())
    return list(dict.fromkeys(f"{reader.op_type} {reader.name!r}" for reader in readers))[:3]


def _up(node: ir.Node) -> Iterator[ir.Node]:
    """Yield what a node's numbers come from: not its shapes, places and conditions."""
    numbers = (value for value in node.inputs if value is not None)
    producers = (value.producer() for value in numbers if value.dtype in (None, *FLOATS))
    yield from (producer for producer in producers if producer is not None)


def _down(node: ir.Node) -> Iterator[ir.Node]:
    yield from (use.node for value in node.outputs for use in value.uses())


def _is_product(node: ir.Node) -> bool:
    return is_standard(node, *_PRODUCTS) or node.op_type == "FusedMatMul"


def _is_of_two(node: ir.Node) -> bool:
    """Return whether a node is a product of two values that are both computed."""
    return _is_product(node) and _constant_factor(node) is None


def _way(
    start: ir.Node,
    step: Callable[[ir.Node], Iterator[ir.Node]],
    is_wanted: Callable[[ir.Node], bool],
) -> tuple[ir.Node, ...]:
    """Return the shortest way to a product, which comes last; empty: none is near."""
    before: dict[ir.Node, ir.Node] = {}
    waiting = deque((node, start) for node in step(start))
    while waiting and len(before) <= _FAR:
        node, reached_from = waiting.popleft()
        if node in before or node is start:
            continue
        before[node] = reached_from
        if is_wanted(node):
            way = [node]
            while before[way[0]] is not start:
                way.insert(0, before[way[0]])
            return tuple(way)
        if is_standard(node, *_LIGHT, *_REARRANGING):
            waiting.extend((further, node) for further in step(node))
    return ()
