"""Which version of an operator a node in a body means: what its model states, for bodies do not."""

from __future__ import annotations

import onnx_ir as ir

from burnish.infer import walk


def inherit_opsets(model: ir.Model) -> None:
    """Let every body of one's own model state the versions of operators that the model states."""
    for graph in walk.graphs(model):
        graph.opset_imports.update(model.graph.opset_imports)
