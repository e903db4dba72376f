"""Put the branch that is always taken in place of an If."""

from __future__ import annotations

import onnx_ir as ir

from burnish.core.arrays import Array


def take_branch(node: ir.Node, condition: Array) -> tuple[ir.Node, ...]:
    """Replace an If by the nodes of the branch that its condition chooses; return those.

    Names must be unique over the whole model. The results of the branch are copied to values
    with the names of the If's outputs.
    """
    graph = node.graph
    assert graph is not None
    chosen = "then_branch" if condition.reshape(-1)[0] else "else_branch"
    branch = node.attributes[chosen].as_graph()
    results = tuple(branch.outputs)
    branch.outputs.clear()
    for name, value in tuple(branch.initializers.items()):
        del branch.initializers[name]
        graph.initializers.add(value)
    nodes = tuple(branch)
    branch.remove(nodes)
    copies = tuple(
        _copied(result, output, f"{node.name}/{position}")
        for position, (output, result) in enumerate(zip(node.outputs, results, strict=True))
    )
    graph.insert_before(node, [*nodes, *copies])
    graph.remove(node, safe=True)
    return (*nodes, *copies)


def _copied(result: ir.Value, output: ir.Value, name: str) -> ir.Node:
    """Return the copy of a branch's result that takes the place of an If's output."""
    copy = ir.node("Identity", [result], name=name)
    new = copy.outputs[0]
    new.name, new.type, new.shape = output.name, result.type or output.type, output.shape
    output.name = f"{output.name}/replaced"
    output.replace_all_uses_with(new, replace_graph_outputs=True)
    return copy
