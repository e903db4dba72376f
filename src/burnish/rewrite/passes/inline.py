"""Replace calls of model-local functions by what the functions do."""

from __future__ import annotations

from dataclasses import dataclass

import onnx_ir as ir

from burnish.rewrite.passes.counted import Counted, InPlacePass, counted
from burnish.store.inlining import fits, inline


@dataclass(frozen=True)
class InlineFunctions(InPlacePass):
    """Put the body of a function in place of each call.

    rewrite:
        y = my.Attention(x)
        -->
        q = MatMul(x, wq); k = MatMul(x, wk); … ; y = MatMul(p, v)

    A function whose operators mean something else in the model's versions, or that takes a graph
    as an attribute, is kept.
    """

    def call(self, model: ir.Model) -> Counted:
        """Inline every call that can be."""
        kept = set(kept_functions(model))
        calls = inline(model, lambda function: function.identifier() not in kept)
        return counted(model, sum(calls.values()))


def kept_functions(model: ir.Model) -> tuple[ir.OperatorIdentifier, ...]:
    """Return the functions whose calls cannot be replaced by their bodies."""
    graph_kinds = (ir.AttributeType.GRAPH, ir.AttributeType.GRAPHS)
    return tuple(
        identifier
        for identifier, function in model.functions.items()
        if not fits(function, model.opset_imports)
        or any(attribute.type in graph_kinds for attribute in function.attributes.values())
    )
