"""One of two bodies: an If whose condition is known only when it runs.

Each branch is a graph of nests of its own that writes the node's outputs, and steps of a branch run
only where the condition is what the branch is for.
"""

from __future__ import annotations

from burnish.operators.families.turns import named_as, told_by_bodies
from burnish.operators.loops.parameters import required
from burnish.operators.loops.time_steps import nests_before
from burnish.operators.record import Operator, register
from burnish.tile.graph import TileGraph
from burnish.tile.index import at
from burnish.tile.recurrence import Body, Chain, Recurrence
from burnish.tile.semantics import NestBuilder, Node, NotCoveredError, axes_for


def either(builder: NestBuilder, node: Node) -> Recurrence:
    """Return the branches of an If, each to run if its condition says so."""
    condition = required(node, 0)
    if builder.type(condition).dtype != "bool" or builder.type(condition).size != 1:
        raise NotCoveredError("its condition is not one truth value")
    bodies = {True: _body(node, "then_branch"), False: _body(node, "else_branch")}
    _require_alike(node, bodies[True], bodies[False])
    chains = [
        Chain(_branch(builder, node, body), {}, condition=condition, holds=holds)
        for holds, body in bodies.items()
    ]
    return Recurrence(nests_before(builder), tuple(chains), 1, None, {})


def _body(node: Node, which: str) -> Body:
    body = node.attributes[which]
    assert isinstance(body, Body)
    return body


def _require_alike(node: Node, one: Body, other: Body) -> None:
    """Raise if the branches give tensors of different kinds, or none that memory is needed for."""
    for output, first, second in zip(node.outputs, one.outputs, other.outputs, strict=True):
        kinds = one.types[first], other.types[second]
        if output and kinds[0] != kinds[1]:
            raise NotCoveredError(
                f"{output!r} is {kinds[0]} in one branch, {kinds[1]} in the other"
            )
        if output and not kinds[0].size:
            raise NotCoveredError(f"{output!r} has no elements")


def _branch(outer: NestBuilder, node: Node, body: Body) -> TileGraph:
    """Return a branch as nests that write the node's outputs."""
    builder = NestBuilder({**body.types, **body.graph.tensors}, body.constants, outer.wanted)
    builder.begin(node)
    builder.ops = list(named_as(body, node))
    outputs = {name: own for name, own in zip(node.outputs, body.outputs, strict=True) if name}
    for name, own in outputs.items():
        axes = axes_for(builder.type(own).shape)
        builder.view(name, own, tuple(map(at, axes)), axes)
    written = {op.output for op in builder.ops}
    # what a nest gives may be known as well
    used = {name for op in builder.ops for name in op.inputs} - written
    constants = {name: builder.constants[name] for name in used & builder.constants.keys()}
    inputs = tuple(name for name in body.graph.inputs if name in used)
    known = {name: builder.tensors[name] for name in (*inputs, *written, *constants)}
    return TileGraph(known, inputs, tuple(outputs), tuple(builder.ops), constants)


register({"If": Operator(types=told_by_bodies, steps=either)})
