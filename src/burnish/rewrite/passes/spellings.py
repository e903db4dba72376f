"""Operators that others say more plainly, each with the proof that both mean the same.

Every function changes the node in place and returns True, or returns False.
"""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from burnish.rewrite import edit
from burnish.rewrite.facts import Facts, rank

_AXES_AS_INPUT = 18


def mean_of_last_axis(node: ir.Node, facts: Facts) -> bool:
    """GlobalAveragePool(x) --> ReduceMean(x, axes = 2), if x has three axes.

    tf2onnx writes means over the last of three axes as a pool, those of layer norms among them.
    """
    source, graph = node.inputs[0], node.graph
    if source is None or graph is None or rank(source) != 3:
        return False
    node.op_type = "ReduceMean"
    if facts.opset < _AXES_AS_INPUT:
        node.attributes["axes"] = ir.AttrInt64s("axes", [2])
        return True
    name = f"{node.outputs[0].name}/axes"
    axes = graph.initializers.get(name)
    if axes is None:
        axes = edit.add_initializer(graph, name, np.array([2], np.int64))
    node.resize_inputs(2)
    node.replace_input_with(1, axes)
    return True
