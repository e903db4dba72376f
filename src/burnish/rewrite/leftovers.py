"""Operators that fusions grow around, where no rule found anything to say: what they are."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass

import onnx_ir as ir

from burnish.infer import walk
from burnish.infer.walk import is_standard

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


def leftovers(model: ir.Model, explained: Collection[str]) -> tuple[Leftover, ...]:
    """Return the operators that stayed, less the nodes that a rule has already explained."""
    found: list[Leftover] = []
    for node in walk.nodes(model):
        describe = _DESCRIPTIONS.get(node.op_type) if is_standard(node, node.op_type) else None
        if describe is None or (node.name or "") in explained:
            continue
        reason, remedy = describe(node)
        found.append(Leftover(node.name or "", node.op_type, reason, remedy))
    return tuple(found)


_Description = tuple[str, str]


def _softmax(node: ir.Node) -> _Description:
    name = f"Softmax {node.name!r}"
    scores, values = _near(node, _up), _near(node, _down)
    if scores is None:
        return f"the scores of {name} are no product of matrices", _not("an attention")
    if values is None:
        return f"the result of {name} is multiplied with no values", _not("an attention")
    for found, what in ((scores, "scores"), (values, "weights")):
        if not is_standard(found, *_PRODUCTS):
            moved = f"the {what} of {name} are rearranged by {found.op_type} {found.name!r}"
            return f"{moved}, expected one product of whole rows", _not("one attention, but blocks")
    return (
        f"{name} stands between products, and no attention rule was applied",
        "allow the rule attention: leave out --disable and --only",
    )


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


_DESCRIPTIONS: Mapping[str, Callable[[ir.Node], _Description]] = {
    "Softmax": _softmax,
    "Erf": _erf,
    "Tanh": _tanh,
    "ReduceMean": _mean,
    "Sigmoid": _sigmoid,
}


def _readers(node: ir.Node) -> list[str]:
    readers = (use.node for value in node.outputs for use in value.uses())
    return list(dict.fromkeys(f"{reader.op_type} {reader.name!r}" for reader in readers))[:3]


def _up(node: ir.Node) -> Iterator[ir.Node]:
    producers = (value.producer() for value in node.inputs if value is not None)
    yield from (producer for producer in producers if producer is not None)


def _down(node: ir.Node) -> Iterator[ir.Node]:
    yield from (use.node for value in node.outputs for use in value.uses())


def _near(start: ir.Node, step: Callable[[ir.Node], Iterator[ir.Node]]) -> ir.Node | None:
    """Return the nearest product, or what rearranges elements on the way to one."""
    waiting, seen = deque((node, node) for node in step(start)), {start}
    while waiting and len(seen) <= _FAR:
        node, answer = waiting.popleft()
        if node in seen:
            continue
        seen.add(node)
        if is_standard(node, *_PRODUCTS):
            return answer if answer.op_type in _REARRANGING else node
        if is_standard(node, *_LIGHT, *_REARRANGING):
            first = answer if answer.op_type in _REARRANGING else node
            waiting.extend((further, first) for further in step(node))
    return None
