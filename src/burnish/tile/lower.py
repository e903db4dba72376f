"""From ONNX nodes to loop nests: which nodes are covered, and the tile-graph of a region of them.

The graph must be static: `burnish.rewrite.static` gives every value its shape, and makes constants
of what is computed from shapes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx_ir as ir

from burnish.core.arrays import Array
from burnish.core.errors import ModelError
from burnish.store.element_types import SHORT_NAMES
from burnish.tile.graph import TensorType, TileGraph, constant_type
from burnish.tile.recurrence import RECURRENCES, WRITTEN, Body, Recurrence
from burnish.tile.semantics import ELEMENT_TYPES, SEMANTICS, NestBuilder, Node, NotCoveredError
from burnish.tile.sent import sent

Attribute = Any
"""A Python value: int, float, str, a list of them, or an array."""

STANDARD_DOMAINS = ("", "ai.onnx")


@dataclass(frozen=True, slots=True)
class LoweringCoverage:
    """Which nodes have a meaning here, and why the others are left to a library."""

    covered: tuple[str, ...]
    left: Mapping[str, str]
    """The reason, by the name of the node; in the order of the graph."""


@dataclass(frozen=True, slots=True)
class Lowered:
    """The nests of some nodes; tensors have the names of the values that they hold."""

    graph: TileGraph
    nodes: tuple[str, ...]


def cover(
    graph: ir.Graph, *, repeats: bool = False, sends: bool = False, counts: bool = False
) -> LoweringCoverage:
    """Return which nodes of a static graph can be lowered, and for each other one why not.

    `repeats`: nodes that run along a sequence count as well; `recurrence` lowers those. `sends`:
    so do those that write to computed places, whose nests ask every place for every update.
    `counts`: so do those that compare all pairs of long rows, and those along a sequence whose
    steps are all written out; `lower` must be told as well.
    """
    reasons = {
        named(node): _obstacle(node, repeats=repeats, sends=sends, counts=counts) for node in graph
    }
    return LoweringCoverage(
        tuple(name for name, reason in reasons.items() if reason is None),
        {name: reason for name, reason in reasons.items() if reason is not None},
    )


def lower(nodes: Sequence[ir.Node], *, counts: bool = False) -> Lowered:
    """Return the nests of these nodes, which are in the order of their graph.

    The inputs are what the nests read from elsewhere, the outputs what is read elsewhere or is
    an output of the model. A node that is not covered is an error: ask `cover` before.
    """
    builder = _builder(nodes, counts=counts)
    for node in nodes:
        try:
            add(builder, node)
        except NotCoveredError as reason:
            raise ModelError(
                f"node {named(node)!r} ({operator(node)}) cannot be lowered: {reason}",
                hint="leave it to the library: burnish.tile.lower.cover tells which nodes to take",
            ) from reason
    return Lowered(_finished(builder, nodes), tuple(map(named, nodes)))


def add(builder: NestBuilder, node: ir.Node) -> None:
    """Add the nests of one node; NotCoveredError where it has none."""
    name = operator(node)
    known = SEMANTICS if name in SEMANTICS or not builder.counts else WRITTEN
    if name not in known:
        raise NotCoveredError(f"the operator {name} has no tile semantics")
    for value in (*node.inputs, *_wanted(node)):
        if value is not None and value.name:
            _refuse_elements(value)
    for value in node.inputs:
        if value is not None and value.name and value.name not in builder.tensors:
            raise NotCoveredError(f"the shape of {value.name!r} is not known before it is run")
    seen = node_of(node)
    builder.begin(seen)
    try:
        known[name](builder, seen)
    except (LookupError, ValueError, TypeError, ArithmeticError) as error:
        # what a graph says of itself, its shapes and its attributes, need not fit together
        raise NotCoveredError(f"what it reads does not fit its attributes ({error})") from error


def is_recurrent(node: ir.Node) -> bool:
    """Say whether a node runs along a sequence, step after step."""
    return operator(node) in RECURRENCES


def recurrence(node: ir.Node) -> Recurrence:
    """Return the steps of a node that runs along a sequence; NotCoveredError: not in this form."""
    builder = _builder([node])
    for value in node.inputs:
        if value is not None and value.name and value.name not in builder.tensors:
            raise NotCoveredError(f"the shape of {value.name!r} is not known before it is run")
    seen = node_of(node)
    builder.begin(seen)
    try:
        return RECURRENCES[operator(node)](builder, seen)
    except (LookupError, ValueError, TypeError, ArithmeticError) as error:
        raise NotCoveredError(f"what it reads does not fit its attributes ({error})") from error


def operator(node: ir.Node) -> str:
    """Return the name of a node's operator, as the registry has it."""
    return node.op_type if node.domain in STANDARD_DOMAINS else f"{node.domain}.{node.op_type}"


def named(node: ir.Node) -> str:
    """Return the name of a node; one without a name is told by what it computes."""
    return node.name or f"{node.op_type} of {node.outputs[0].name}"


def node_of(node: ir.Node) -> Node:
    """Return what a meaning sees of a node."""
    wanted = {value.name for value in _wanted(node)}
    return Node(
        named(node),
        node.op_type,
        tuple("" if value is None else value.name or "" for value in node.inputs),
        tuple(value.name if value.name and value.name in wanted else "" for value in node.outputs),
        {name: _python(attribute) for name, attribute in node.attributes.items()},
        _opset(node),
    )


def tensor_type(value: ir.Value) -> TensorType | None:
    """Return the type of a value; None where its element type or its shape is not known.

    A size below zero, which some write for one that is not known, is not known.
    """
    if value.dtype is None or value.shape is None or value.dtype not in SHORT_NAMES:
        return None
    sizes = [size for size in value.shape if isinstance(size, int) and size >= 0]
    if len(sizes) < len(value.shape):
        return None
    return TensorType(SHORT_NAMES[value.dtype], tuple(sizes))


def constant(value: ir.Value) -> Array | None:
    """Return the value of a constant; None for all others.

    An initializer that is also an input of the graph is a default that may be overridden.
    """
    if value.is_graph_input() or value.const_value is None:
        return None
    return value.const_value.numpy()


def _obstacle(node: ir.Node, *, repeats: bool, sends: bool, counts: bool = False) -> str | None:
    builder = _builder([node], counts=counts)
    try:
        if repeats and is_recurrent(node):
            recurrence(node)
            return None
        add(builder, node)
        if not sends and any(sent(op) for op in _finished(builder, [node]).ops):
            return "it writes to places that are computed"
    except (NotCoveredError, ValueError) as reason:
        return str(reason)
    return None


def _builder(nodes: Sequence[ir.Node], *, counts: bool = False) -> NestBuilder:
    """Return a builder that knows all that the nodes read, and what their outputs must be."""
    produced = {value for node in nodes for value in node.outputs}
    constants: dict[str, Array] = {}
    tensors: dict[str, TensorType] = {}
    for value in _read(nodes):
        array = constant(value)
        if array is not None:
            constants[_name(value)] = array
        if value in produced:
            continue
        found = tensor_type(value) if array is None else constant_type(array)
        if found is not None:
            tensors[_name(value)] = found
    types = {_name(value): tensor_type(value) for value in produced if value.name}
    wanted = {name: kind for name, kind in types.items() if kind}
    return NestBuilder(tensors, constants, wanted, counts=counts)


def _finished(builder: NestBuilder, nodes: Sequence[ir.Node]) -> TileGraph:
    """Return the graph, with only what its nests use."""
    written = {op.output for op in builder.ops}
    outputs = tuple(_name(value) for value in _outputs(nodes))
    used = dict.fromkeys([*(name for op in builder.ops for name in op.inputs), *outputs])
    outside = [name for name in used if name not in written]
    constants = {name: builder.constants[name] for name in outside if name in builder.constants}
    return TileGraph(
        {name: kind for name, kind in builder.tensors.items() if name in written or name in used},
        tuple(name for name in outside if name not in constants),
        outputs,
        tuple(builder.ops),
        constants,
    )


def _outputs(nodes: Sequence[ir.Node]) -> list[ir.Value]:
    """Return what is read by other nodes (those in bodies included) or is a graph's output."""
    inside = set(nodes)
    return [
        value
        for node in nodes
        for value in node.outputs
        if value.is_graph_output() or any(user not in inside for user in value.consumers())
    ]


def _read(nodes: Iterable[ir.Node]) -> list[ir.Value]:
    values = (value for node in nodes for value in node.inputs if value is not None and value.name)
    return list(dict.fromkeys(values))


def _wanted(node: ir.Node) -> tuple[ir.Value, ...]:
    """Return the outputs that somebody reads; the first if there is none."""
    found = tuple(
        value for value in node.outputs if value.is_graph_output() or any(value.consumers())
    )
    return found or tuple(node.outputs[:1])


def _refuse_elements(value: ir.Value) -> None:
    if value.type is not None and not isinstance(value.type, ir.TensorType):
        raise NotCoveredError(f"{value.name!r} is not a dense tensor")
    if value.dtype is not None and SHORT_NAMES.get(value.dtype) not in ELEMENT_TYPES:
        raise NotCoveredError(f"{value.name!r} has elements of type {value.dtype}")


def _opset(node: ir.Node) -> int:
    if node.version is not None:
        return node.version
    imports = {} if node.graph is None else node.graph.opset_imports
    if node.domain in STANDARD_DOMAINS:
        return imports.get("", imports.get("ai.onnx", 1))
    return imports.get(node.domain, 1)


def _python(attribute: ir.Attr) -> Attribute:
    if attribute.is_ref():
        raise NotCoveredError(f"the attribute {attribute.name!r} is that of a function")
    match attribute.type:
        case ir.AttributeType.INT:
            return int(attribute.as_int())
        case ir.AttributeType.FLOAT:
            return float(attribute.as_float())
        case ir.AttributeType.STRING:
            return attribute.as_string()
        case ir.AttributeType.INTS | ir.AttributeType.FLOATS | ir.AttributeType.STRINGS:
            return list(attribute.value)
        case ir.AttributeType.TENSOR:
            return np.asarray(attribute.as_tensor().numpy())
        case ir.AttributeType.GRAPH:
            return _body(attribute.as_graph())
        case kind:
            raise NotCoveredError(f"the attribute {attribute.name!r} is of type {kind.name}")


def _body(graph: ir.Graph) -> Body:
    """Return the nests of a body; NotCoveredError: a node in it has none."""
    nodes = [node for node in graph if node.op_type != "Constant" or node.domain]
    for node in nodes:
        if (reason := _obstacle(node, repeats=False, sends=True)) is not None:
            raise NotCoveredError(f"in its body, {named(node)!r} ({operator(node)}): {reason}")
    found = lower(nodes).graph
    seen = [*graph.inputs, *graph.outputs]
    types = {_name(value): tensor_type(value) for value in seen}
    for name, kind in types.items():
        if kind is None:
            raise NotCoveredError(f"in its body, the shape of {name!r} is not known")
    known = {_name(value): constant(value) for value in graph.outputs}
    return Body(
        found, tuple(map(_name, graph.inputs)), tuple(map(_name, graph.outputs)),
        {name: kind for name, kind in types.items() if kind is not None},
        {**found.constants, **{n: array for n, array in known.items() if array is not None}},
    )  # fmt: skip


def _name(value: ir.Value) -> str:
    if not value.name:
        raise ModelError(
            "a value of the graph has no name",
            hint="make the model static first: burnish.rewrite.static",
        )
    return value.name
