"""Which operators a model uses, and which of them nobody defines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import onnx_ir as ir

from burnish.store.operator_rules import is_defined
from burnish.store.summary import UnknownOperator

_ONNX_DOMAINS = frozenset({"", "ai.onnx", "ai.onnx.ml", "ai.onnx.training"})
_ONNX_RUNTIME_DOMAINS = frozenset(
    {"com.microsoft", "com.microsoft.nchwc", "com.ms.internal.nhwc", "ai.onnx.preview.training"}
)
"""Operators that ONNX Runtime brings along; which of them exist depends on its build."""


def counts(model: ir.Model) -> dict[str, int]:
    """Return how many nodes each operator has, most frequent first; other domains are named."""
    names = (
        f"{node.domain}.{node.op_type}" if node.domain else node.op_type
        for node, _ in _nodes(model)
    )
    return dict(sorted(Counter(names).items(), key=lambda item: (-item[1], item[0])))


def unknown_operators(model: ir.Model) -> tuple[UnknownOperator, ...]:
    """Return the nodes whose operator neither ONNX nor ONNX Runtime nor the model defines."""
    return tuple(
        UnknownOperator(node.name or "", node.op_type, node.domain)
        for node, opsets in _nodes(model)
        if node.op_identifier() not in model.functions and not _is_known(node, opsets)
    )


def _is_known(node: ir.Node, opsets: dict[str, int]) -> bool:
    if node.domain in _ONNX_RUNTIME_DOMAINS:
        return True
    if node.domain not in _ONNX_DOMAINS:
        return False
    domain = "" if node.domain == "ai.onnx" else node.domain
    opset = opsets.get(domain) or opsets.get(node.domain) or 1
    return is_defined(node.op_type, opset, domain)


def _nodes(model: ir.Model) -> Iterator[tuple[ir.Node, dict[str, int]]]:
    """Yield every node of the model with the opsets that apply to it."""
    for node in model.graph.all_nodes():
        yield node, model.opset_imports
    for function in model.functions.values():
        for node in function.all_nodes():
            yield node, {**model.opset_imports, **function.opset_imports}
