"""Whether a model is a graph that can be followed: looked at once, where a model enters.

What is refused here, ONNX Runtime refuses as well. Everything after this may rely on it: every
value that is read is made somewhere; nodes come after those that they read; operators of ONNX
have as many inputs and outputs, and attributes of the types, that ONNX says; calls fit their
functions; tensors have the data that their shapes need; names are text.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import onnx_ir as ir

from burnish.core.errors import ModelError
from burnish.store import descriptions, mending, tensor_data
from burnish.store.element_types import SHORT_NAMES
from burnish.store.endless import is_endless
from burnish.store.operator_rules import LARGEST_OPSET, OperatorRules, opset_of, rules_of

HINT = "export it again; onnx.checker.check_model may tell more"
_TENSOR, _TENSORS = ir.AttributeType.TENSOR, ir.AttributeType.TENSORS
_GRAPH = ir.AttributeType.GRAPH
_ANY_NUMBER = 2**31 - 1
"""What ONNX writes for "as many as you like"."""
_TYPE_NUMBERS = frozenset({*map(int, SHORT_NAMES), None})
"""What a Cast may cast to; None stands for an attribute of a function."""
_HOLDS_MORE = (_TENSOR, _TENSORS, _GRAPH, ir.AttributeType.GRAPHS)
_STRING, _UNDEFINED = ir.AttributeType.STRING, ir.AttributeType.UNDEFINED


def checked(model: ir.Model, path: Path) -> tuple[ir.ExternalTensor, ...]:
    """Raise where a fresh model cannot be followed; return its tensors that lie beside it.

    Nodes that stand before what they read, which ONNX forbids and ONNX Runtime allows, are put
    in order, and descriptions that are no text are made text.
    """
    walk = _Walk(model, path)
    descriptions.mend_imports(model.opset_imports)
    walk.scope(model.graph, model.opset_imports)
    for function in model.functions.values():
        descriptions.mend_imports(function.opset_imports)
        opsets = {**model.opset_imports, **function.opset_imports}
        walk.require_text([function.domain, function.name, function.overload])
        walk.scope(function.graph, opsets, in_function=True)
        descriptions.mend(function)
    if walk.has_sorted:
        mending.add_note(model, "nodes that stood before what they read were put in order")
    descriptions.mend(model)
    descriptions.mend_producer(model)
    return tuple(walk.external)


class _Walk:
    """One look at all of a model; each node is touched once, and as little as can be."""

    def __init__(self, model: ir.Model, path: Path) -> None:
        self._functions = model.functions
        self._path = path
        self._seen: set[ir.Value | None] = set()
        """Values that are made before the node that is looked at."""
        self._rules: dict[tuple[str, str], OperatorRules | None] = {}
        self._in_function = False
        self._unsorted = False
        self.has_sorted = False
        self.external: list[ir.ExternalTensor] = []

    def scope(
        self, graph: ir.Graph, opsets: Mapping[str, int], *, in_function: bool = False
    ) -> None:
        """Look at a graph whose nodes see nothing outside of it, and put it in order."""
        opset = opset_of("", opsets)
        if opset is None or not 1 <= opset <= LARGEST_OPSET:
            raise self._refusal(f"it uses opset {opset}")
        self._seen, self._rules = {None}, {}
        self._in_function, self._unsorted = in_function, False
        self._graph(graph, opsets)
        if self._unsorted:
            self.has_sorted = True
            try:
                graph.sort()
            except ValueError as error:
                raise self._refusal("its nodes read each other in a circle") from error

    def _graph(self, graph: ir.Graph, opsets: Mapping[str, int]) -> None:
        descriptions.mend(graph)
        twice = _first_twice(value.name for value in graph.inputs)
        if twice is not None:
            raise self._refusal(f"it has two inputs {twice!r}")
        for value in graph.inputs:
            descriptions.mend_value(value)
        for value in graph.initializers.values():
            descriptions.mend_value(value)
            if value.const_value is not None:
                value.const_value = self._tensor(value.const_value, value)
        self._seen.update(graph.inputs)
        self._seen.update(graph.initializers.values())
        names = [graph.name or "", *graph.initializers, *_names(graph.inputs)]
        self._nodes(graph, opsets, names)
        self.require_text(names)
        for value in graph.outputs:
            if value not in self._seen:
                raise self._refusal(f"it gives {value.name!r}, which no node makes")

    def _nodes(self, graph: ir.Graph, opsets: Mapping[str, int], names: list[str]) -> None:
        """Look at the nodes of a graph, and add their names, and those of what they make."""
        seen, known = self._seen, self._rules
        for node in graph:
            inputs, outputs, attributes = node.inputs, node.outputs, node.attributes.data
            if not seen.issuperset(inputs):
                self._not_yet_made(node)
            key = (node.domain, node.op_type)
            if key not in known:
                self.require_text(list(key))
                known[key] = rules_of(*key, opset_of(node.domain, opsets))
            if node.overload:
                names.append(node.overload)
            rules = known[key]
            if rules is None:
                self._call(node)
            elif (
                not rules.fewest_inputs <= len(inputs) <= rules.most_inputs
                or not rules.fewest_outputs <= len(outputs) <= rules.most_outputs
                or None in inputs
                or not rules.required_attributes <= attributes.keys()
            ):
                self._compare(node, rules)
            if node.doc_string or node.metadata_props:
                descriptions.mend(node)
            for attribute in attributes.values():
                self._attribute(attribute, node, rules, opsets)
            seen.update(outputs)
            for value in outputs:
                descriptions.mend_value(value)
            names += [node.name or "", *[value.name or "" for value in outputs]]

    def require_text(self, names: list[str]) -> None:
        """Raise where a name is no text."""
        # protobuf gives bytes where a name is no UTF-8
        try:
            "".join(names)
        except TypeError as error:
            odd = next(name for name in names if type(name) is not str)
            raise self._refusal(f"the name {odd!r} is no UTF-8") from error

    def _not_yet_made(self, node: ir.Node) -> None:
        for value in node.inputs:
            if value in self._seen or value is None:
                continue
            if value.producer() is None:
                raise self._refusal(f"{_described(node)} reads {value.name!r}, which nothing makes")
            self._unsorted = True

    def _call(self, node: ir.Node) -> None:
        """Compare a call with the function; operators that nobody defines are others' business."""
        function = self._functions.get(node.op_identifier()) if self._functions else None
        if function is None:
            return
        for what, given, known in (
            ("takes", len(node.inputs), len(function.inputs)),
            ("gives", len(node.outputs), len(function.outputs)),
        ):
            if given > known:
                raise self._refusal(
                    f"{_described(node)} {what} {given}, the function {what} {known}"
                )

    def _compare(self, node: ir.Node, rules: OperatorRules) -> None:
        for what, found, least, most in (
            ("inputs", len(node.inputs), rules.fewest_inputs, rules.most_inputs),
            ("outputs", len(node.outputs), rules.fewest_outputs, rules.most_outputs),
        ):
            if not least <= found <= most:
                wanted = f"{least}" if least == most else f"at least {least}"
                wanted = f"{least} to {most}" if least < most < _ANY_NUMBER else wanted
                raise self._refusal(f"{_described(node)} has {found} {what} instead of {wanted}")
        for place in rules.must_be_given:
            if place < len(node.inputs) and node.inputs[place] is None:
                raise self._refusal(f"{_described(node)} leaves out its input {place}")
        for name in rules.required_attributes - node.attributes.keys():
            raise self._refusal(f"{_described(node)} lacks the attribute {name!r}")

    def _attribute(
        self,
        attribute: ir.Attr,
        node: ir.Node,
        rules: OperatorRules | None,
        opsets: Mapping[str, int],
    ) -> None:
        kind = attribute.type
        descriptions.mend_attribute(attribute)
        finding = self._attribute_flaw(attribute, node, rules)
        if finding is not None:
            raise self._refusal(f"{_described(node)} {finding}")
        if attribute.ref_attr_name is None and kind in _HOLDS_MORE:
            self._held(attribute, node, opsets)

    def _attribute_flaw(
        self, attribute: ir.Attr, node: ir.Node, rules: OperatorRules | None
    ) -> str | None:
        """Return what is wrong with an attribute."""
        kind, name = attribute.type, attribute.name
        if rules is not None:
            wanted = rules.attribute_types.get(name)
            if wanted is not None and kind is not wanted:
                return f"has the attribute {name!r} of type {kind.name}, it must be {wanted.name}"
            if wanted is None and node.op_type == "Constant":
                return f"has the value {name!r}, which is of no known kind"
            if kind is _STRING and isinstance(attribute.value, bytes):
                return f"has the attribute {name!r}, which is no UTF-8"
            if node.op_type == "Cast" and name == "to" and attribute.value not in _TYPE_NUMBERS:
                return f"casts to the type {attribute.value}"
        if kind is _UNDEFINED or not isinstance(name, str):
            return f"has the attribute {name!r} of type {kind.name}"
        if attribute.ref_attr_name is not None and not self._in_function:
            of = attribute.ref_attr_name
            return f"refers to an attribute {of!r} of a function, and is in none"
        return None

    def _held(self, attribute: ir.Attr, node: ir.Node, opsets: Mapping[str, int]) -> None:
        """Look at the tensors and graphs of an attribute."""
        kind, name = attribute.type, attribute.name
        if kind is _TENSOR:
            tensor = self._tensor(attribute.value, node)
            if tensor is not attribute.value:
                node.attributes[name] = ir.AttrTensor(name, tensor, attribute.doc_string)
        elif kind is _TENSORS:
            tensors = [self._tensor(tensor, node) for tensor in attribute.value]
            node.attributes[name] = ir.AttrTensors(name, tensors, attribute.doc_string)
        else:
            for graph in [attribute.value] if kind is _GRAPH else attribute.value:
                self._graph(graph, opsets)
            if node.op_type == "Loop" and not node.domain and is_endless(node):
                raise self._refusal(f"{_described(node)} has nothing that ever ends it")

    def _tensor(self, tensor: ir.TensorProtocol, owner: ir.Value | ir.Node) -> ir.TensorProtocol:
        """Return a tensor that has what it claims, or says so when it is asked."""
        tensor_data.drop_strays(tensor)
        if tensor_data.is_large(tensor):
            return tensor_data.LateTensor(tensor.raw, self._about(owner))
        finding = tensor_data.flaw(tensor)
        if finding is not None:
            raise ModelError(f"{self._about(owner)} {finding}", hint=tensor_data.HINT)
        if isinstance(tensor, ir.ExternalTensor):
            self.external.append(tensor)
        return tensor

    def _about(self, owner: ir.Value | ir.Node) -> str:
        if isinstance(owner, ir.Value):
            return f"{self._path}: initializer {owner.name!r}"
        return f"{self._path}: a tensor of {_described(owner)}"

    def _refusal(self, finding: str) -> ModelError:
        return ModelError(f"{self._path}: is not a well-formed ONNX graph: {finding}", hint=HINT)


def _described(node: ir.Node) -> str:
    return f"node {node.name!r} ({node.op_type})" if node.name else f"a node {node.op_type}"


def _names(values: Iterable[ir.Value]) -> list[str]:
    return [value.name or "" for value in values]


def _first_twice(names: Iterable[str | None]) -> str | None:
    seen = set[str | None]()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None
