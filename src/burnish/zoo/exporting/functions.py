"""Keep each module of a network as a function of the ONNX model.

dynamo writes flat graphs, but notes on every node which modules it was written for. Nodes of one
module become one function, innermost modules first; modules of one class that do the same share
theirs, and their weights become arguments.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import onnx_ir as ir

_SCOPES = "pkg.torch.onnx.name_scopes"
_CLASSES = "pkg.torch.onnx.class_hierarchy"
_SMALLEST = 2
"""A function of fewer nodes would only hide an operator."""


@dataclass(frozen=True, slots=True)
class _Module:
    path: str
    kind: str


@dataclass(frozen=True, slots=True)
class _Cut:
    """The nodes of a module, and what crosses its border."""

    module: _Module
    nodes: tuple[ir.Node, ...]
    inputs: tuple[ir.Value, ...]
    outputs: tuple[ir.Value, ...]


def kept_as_functions(model: ir.Model) -> tuple[str, ...]:
    """Turn modules into functions, in place; return what could not be kept, as sentences."""
    notes = []
    shared: dict[tuple[str, object], ir.Function] = {}
    for module in _modules(model.graph):
        nodes = tuple(node for node in model.graph if module in _scope(node))
        if len(nodes) < _SMALLEST:
            continue
        reason = _refusal(model.graph, nodes)
        if reason:
            notes.append(f"{module.path} is not kept as a function: {reason}")
            continue
        cut = _cut(module, nodes)
        key = (module.kind, _signature(cut))
        if key not in shared:
            shared[key] = _function(
                cut, model, number=sum(kind == module.kind for kind, _ in shared)
            )
        _replace(model, cut, shared[key])
    model.graph.sort()
    return tuple(notes)


def _modules(graph: ir.Graph) -> list[_Module]:
    """Return the modules below the outermost one, innermost first."""
    found = dict.fromkeys(module for node in graph for module in _scope(node)[1:])
    return sorted(found, key=lambda module: -module.path.count("."))


def _scope(node: ir.Node) -> list[_Module]:
    """Return the modules that a node was written for, outermost first."""
    if _SCOPES not in node.metadata_props:
        return []
    paths = ast.literal_eval(node.metadata_props[_SCOPES])[1:-1]
    kinds = ast.literal_eval(node.metadata_props[_CLASSES])[1:-1]
    return [_Module(path, kind) for path, kind in zip(paths, kinds, strict=True)]


def _refusal(graph: ir.Graph, nodes: Sequence[ir.Node]) -> str:
    """Return why these nodes cannot be one; empty: they can."""
    inside = set(nodes)
    after: set[ir.Node] = set()
    for node in graph:
        producers = {value.producer() for value in node.inputs if value is not None}
        if node in inside:
            if producers & after:
                return f"{node.name!r} needs what is computed outside from its results"
        elif producers & (inside | after):
            after.add(node)
    if any(attribute.type == ir.AttributeType.GRAPH for attribute in _attributes(nodes)):
        return "it holds a branch or a loop"
    return ""


def _attributes(nodes: Iterable[ir.Node]) -> Iterable[ir.Attr]:
    return (attribute for node in nodes for attribute in node.attributes.values())


def _cut(module: _Module, nodes: tuple[ir.Node, ...]) -> _Cut:
    inside = set(nodes)
    given = (value for node in nodes for value in node.inputs if value is not None)
    outer = dict.fromkeys(value for value in given if value.producer() not in inside)
    made = (value for node in nodes for value in node.outputs)
    used = [value for value in made if _leaves(value, inside)]
    return _Cut(module, nodes, tuple(outer), tuple(used))


def _leaves(value: ir.Value, inside: set[ir.Node]) -> bool:
    return value.is_graph_output() or any(user not in inside for user in value.consumers())


def _signature(cut: _Cut) -> object:
    """Return what two modules must share to be the same function."""
    number = {value: index for index, value in enumerate(cut.inputs)}
    lines = []
    for node in cut.nodes:
        attributes = sorted((name, _content(value)) for name, value in node.attributes.items())
        inputs = tuple(-1 if value is None else number[value] for value in node.inputs)
        lines.append((node.domain, node.op_type, inputs, tuple(attributes)))
        number |= {value: len(number) + index for index, value in enumerate(node.outputs)}
    return tuple(lines), tuple(number[value] for value in cut.outputs)


def _content(attribute: ir.Attr) -> str:
    if attribute.type == ir.AttributeType.TENSOR:
        tensor = attribute.as_tensor()
        return f"{tensor.dtype}{tensor.shape}{tensor.tobytes().hex()}"
    return repr(attribute.value)


def _function(cut: _Cut, model: ir.Model, *, number: int) -> ir.Function:
    """Add a function that does what the nodes do."""
    domain, _, name = cut.module.kind.rpartition(".")
    values: dict[ir.Value, ir.Value] = {
        value: ir.Value(name=f"input_{index}") for index, value in enumerate(cut.inputs)
    }
    nodes = []
    for node in cut.nodes:
        inputs = [None if value is None else values[value] for value in node.inputs]
        copy = ir.Node(
            node.domain, node.op_type, inputs, list(node.attributes.values()), name=node.name,
            num_outputs=len(node.outputs), metadata_props=dict(node.metadata_props),
        )  # fmt: skip
        for old, new in zip(node.outputs, copy.outputs, strict=True):
            new.name = old.name
            values[old] = new
        nodes.append(copy)
    graph = ir.Graph(
        [values[value] for value in cut.inputs],
        [values[value] for value in cut.outputs],
        nodes=nodes,
        opset_imports={node.domain: model.opset_imports.get(node.domain, 1) for node in nodes},
    )
    function = ir.Function(
        domain, name if not number else f"{name}_{number + 1}", graph=graph, attributes=()
    )
    model.functions[function.identifier()] = function
    model.opset_imports[domain] = 1
    return function


def _replace(model: ir.Model, cut: _Cut, function: ir.Function) -> None:
    """Call the function where the nodes were."""
    outer = cut.nodes[0].metadata_props
    scopes = [path.path for path in _scope(cut.nodes[0])]
    depth = scopes.index(cut.module.path) + 1
    kept = {
        key: repr([*ast.literal_eval(outer[key])[:depth], cut.module.path])
        for key in (_SCOPES, _CLASSES)
    }
    call = ir.Node(
        function.domain, function.name, list(cut.inputs), name=cut.module.path,
        num_outputs=len(cut.outputs), metadata_props=kept,
    )  # fmt: skip
    model.graph.insert_after(cut.nodes[-1], call)
    for old, new in zip(cut.outputs, call.outputs, strict=True):
        new.name, new.type, new.shape = old.name, old.type, old.shape
        _redirect(model.graph, old, new, set(cut.nodes))
    model.graph.remove(reversed(cut.nodes))


def _redirect(graph: ir.Graph, old: ir.Value, new: ir.Value, inside: set[ir.Node]) -> None:
    for user, index in list(old.uses()):
        if user not in inside:
            user.replace_input_with(index, new)
    for index, output in enumerate(graph.outputs):
        if output is old:
            graph.outputs[index] = new
