"""Residual branches, x + f(x), and models without some of them: what-ifs, never results."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import onnx_ir as ir

from burnish.core.free_names import FreeNames
from burnish.infer.constants import constant_tensor
from burnish.prune.flow import Flow

_ADDING = ("Add", "Sum", "SkipLayerNormalization", "SkipSimplifiedLayerNormalization")


@dataclass(frozen=True, slots=True)
class ResidualBranch:
    """One branch that is added to what it was computed from."""

    name: str
    adding: ir.Node
    branch: int
    """Which input of the addition is the branch."""
    nodes: frozenset[ir.Node]
    """All that is computed for the branch alone."""

    @property
    def around(self) -> ir.Value:
        """Return what the branch is added to."""
        value = self.adding.inputs[1 - self.branch]
        assert value is not None
        return value


def residual_blocks(flow: Flow) -> tuple[ResidualBranch, ...]:
    """Return the branches of a graph that hold a product with weights, in order."""
    weighing = {one.node for one in flow.sums}
    found = []
    for node in flow.model.graph:
        if node.op_type not in _ADDING:
            continue
        for branch in (0, 1):
            block = _block(flow, node, branch)
            if block is not None and block.nodes & weighing:
                found.append(block)
                break
    return tuple(found)


def without_block(model: ir.Model, block: ResidualBranch) -> ir.Model:
    """Return a copy in which a branch adds zeros."""
    work = model.clone()
    node = dict(zip(model.graph, work.graph, strict=True))[block.adding]
    around = node.inputs[1 - block.branch]
    names = FreeNames(v.name or "" for n in work.graph for v in n.outputs)
    zeros = ir.node("Sub", [around, around], name=names.unused("no_branch"))
    zeros.outputs[0].name = names.unused("no_branch_output")
    work.graph.insert_before(node, zeros)
    node.replace_input_with(block.branch, zeros.outputs[0])
    return work


def _block(flow: Flow, node: ir.Node, branch: int) -> ResidualBranch | None:
    inner, around = node.inputs[branch], node.inputs[1 - branch]
    if inner is None or around is None or flow.shape(inner) != flow.shape(around):
        return None
    if constant_tensor(inner) is not None or constant_tensor(around) is not None:
        return None
    made: dict[ir.Node, None] = {}
    reached = False
    waiting = [inner]
    while waiting:
        value = waiting.pop()
        if value is around:
            reached = True
            continue
        maker = value.producer()
        if maker is not None and maker not in made and _leads_only(maker, made, node):
            made[maker] = None
            waiting.extend(operand for operand in maker.inputs if operand is not None)
    return (
        ResidualBranch(node.name or inner.name or "", node, branch, frozenset(made))
        if reached
        else None
    )


def _leads_only(maker: ir.Node, made: dict[ir.Node, None], end: ir.Node) -> bool:
    """Return whether all that a node gives is read by the branch, or by the addition."""
    return all(
        not output.is_graph_output() and all(user in made or user is end for user in users)
        for output, users in _users(maker)
    )


def _users(node: ir.Node) -> Iterator[tuple[ir.Value, list[ir.Node]]]:
    for output in node.outputs:
        yield output, [user for user, _ in output.uses()]
