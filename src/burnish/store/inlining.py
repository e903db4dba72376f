"""Put the bodies of functions in place of their calls.

ONNX IR does it; what is added is that names are numbered in linear time (it tries number after
number, which is minutes for a few thousand nodes of one name), and that calls may leave out
outputs at the end.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import onnx
import onnx_ir as ir
from onnx_ir.passes.common import InlinePass

from burnish.core.errors import ModelError
from burnish.core.free_names import FreeNames
from burnish.store.operator_rules import is_defined, opset_of, rules_of

Identifier = ir.OperatorIdentifier
_OF_ONNX = ("", "ai.onnx")


def inline(
    model: ir.Model, wanted: Callable[[ir.Function], bool] = lambda _function: True
) -> dict[Identifier, int]:
    """Inline the calls of wanted functions in `model`, which is changed; return their numbers."""
    if not any(wanted(function) for function in model.functions.values()):
        return {}
    before = {scope: _own(scope) for scope in _scopes(model)}
    for scope in before:
        _give_all_outputs(scope, model)
    for function in model.functions.values():
        if fits(function, model.opset_imports):
            taken = {domain: model.opset_imports.get(domain) for domain in function.opset_imports}
            function.opset_imports.update({d: v for d, v in taken.items() if v is not None})
    try:
        result = _Inlining(wanted)(model)
    except ValueError as error:
        raise ModelError(
            f"the functions of the graph {model.graph.name!r} cannot be put in place of their"
            f" calls ({error})",
            hint='let ONNX put them in place: python -c "import onnx, onnx.inliner as i;'
            " onnx.save(i.inline_local_functions(onnx.load('MODEL.onnx'), convert_version=True),"
            " 'INLINED.onnx')\"",
        ) from error
    for scope in _scopes(model):
        kept = before.get(scope, frozenset())
        _require_inputs(scope, kept, model.opset_imports)
        _name_apart(scope, kept)
    calls: dict[Identifier, int] = getattr(result, "id_count", {})
    return {name: n for name, n in calls.items() if n and name not in model.functions}


class _NoNames(set[str]):
    """Names of which none is ever in use."""

    def __contains__(self, name: object) -> bool:
        return False


class _Inlining(InlinePass):
    """Inlining that leaves names as they are in the function, to be told apart later."""

    def _reset(self, model: ir.Model) -> None:
        super()._reset(model)
        self._used_value_names = _NoNames()
        self._used_node_names = _NoNames()


def _scopes(model: ir.Model) -> list[ir.Graph]:
    return [model.graph, *(function.graph for function in model.functions.values())]


def _own(scope: ir.Graph) -> frozenset[ir.Node]:
    return frozenset(scope.all_nodes())


def fits(function: ir.Function, opsets: Mapping[str, int]) -> bool:
    """Return whether all operators of a function mean the same in a graph of these opsets."""
    return all(
        opsets.get(domain, own) == own or _unchanged(function, domain, own, opsets[domain])
        for domain, own in function.opset_imports.items()
    )


def _unchanged(function: ir.Function, domain: str, own: int, wanted: int) -> bool:
    used = {node.op_type for node in function.all_nodes() if node.domain in _OF_ONNX}
    return domain in _OF_ONNX and all(
        _since(name, own) == _since(name, wanted) is not None for name in used
    )


def _since(op_type: str, opset: int) -> int | None:
    """Return the opset in which an operator was last changed; None: it is unknown there."""
    if not is_defined(op_type, opset, ""):
        return None
    return int(onnx.defs.get_schema(op_type, opset, "").since_version)


def _give_all_outputs(scope: ir.Graph, model: ir.Model) -> None:
    """Let every call give all that its function gives; nobody reads what was left out."""
    for node in scope.all_nodes():
        function = model.functions.get(node.op_identifier())
        if function is not None and len(node.outputs) < len(function.outputs):
            node.resize_outputs(len(function.outputs))


def _require_inputs(scope: ir.Graph, kept: frozenset[ir.Node], opsets: Mapping[str, int]) -> None:
    """Raise where a call left out what a node of its function cannot do without."""
    for node in scope.all_nodes():
        if node in kept or None not in node.inputs:
            continue
        rules = rules_of(node.domain, node.op_type, opset_of(node.domain, opsets))
        for place, value in enumerate(node.inputs):
            if value is None and rules is not None and place in rules.must_be_given:
                raise ModelError(
                    f"a call leaves out an input of its function that the node {node.name!r}"
                    f" ({node.op_type}) in it needs",
                    hint="export it again; onnx.checker.check_model may tell more",
                )


def _name_apart(scope: ir.Graph, kept: frozenset[ir.Node]) -> None:
    """Give nodes and values that came from functions names that nothing else in the scope has.

    What the graphs in a function's nodes take and give is named by their places outside of them.
    """
    ends = (*scope.inputs, *scope.outputs, *scope.initializers.values())
    values, nodes = FreeNames(value.name or "" for value in ends), FreeNames()
    fresh = []
    for node in scope.all_nodes():
        if node in kept:
            nodes.taken.add(node.name or "")
            values.taken.update(value.name or "" for value in (*node.outputs, *_given_in(node)))
        else:
            fresh.append(node)
    fixed = frozenset(map(id, ends))
    for node in fresh:
        node.name = _free(node.name or node.op_type.lower(), nodes)
        for value in (*node.outputs, *_given_in(node)):
            if value.name != "" and id(value) not in fixed:
                value.name = _free(value.name or "value", values)


def _given_in(node: ir.Node) -> tuple[ir.Value, ...]:
    """Return what the graphs that a node holds begin with."""
    graphs = [a.as_graph() for a in node.attributes.values() if a.type == ir.AttributeType.GRAPH]
    graphs += [g for a in node.attributes.values() if a.type == ir.AttributeType.GRAPHS
               for g in a.as_graphs()]  # fmt: skip
    return tuple(v for graph in graphs for v in (*graph.inputs, *graph.initializers.values()))


def _free(name: str, names: FreeNames) -> str:
    if name in names.taken:
        return names.unused(name)
    names.taken.add(name)
    return name
