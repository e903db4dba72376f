"""Write a model node by node, or change one that exists: plain protos, nothing of ours."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import NodeProto, TensorProto, helper, numpy_helper

from burnish.core.arrays import Array

Operand = str | int | float | Sequence[int] | Array
"""A value's name, or a constant: floats are f32, integers i64, lists shapes and axes."""

F32, F16, BF16 = TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.BFLOAT16
I64, I32, I8, U8 = TensorProto.INT64, TensorProto.INT32, TensorProto.INT8, TensorProto.UINT8
BOOL, F64 = TensorProto.BOOL, TensorProto.DOUBLE
CONTRIB = "com.microsoft"


class Draft:
    """A model that is being written; `finish` puts its nodes in order."""

    def __init__(self, model: onnx.ModelProto | None = None, *, opset: int = 20) -> None:
        """Start from a copy of `model`, or from nothing."""
        self.proto = onnx.ModelProto()
        if model is not None:
            self.proto.CopyFrom(model)
        else:
            imports = [helper.make_opsetid("", opset), helper.make_opsetid(CONTRIB, 1)]
            self.proto.CopyFrom(
                helper.make_model(
                    helper.make_graph([], "g", [], []), opset_imports=imports, ir_version=10
                )
            )
        self._made = 0

    @property
    def graph(self) -> onnx.GraphProto:
        """Return the main graph."""
        return self.proto.graph

    # what a new model is made of

    def input(self, name: str, shape: Sequence[int | str], dtype: int = F32) -> str:
        """Declare an input and return its name."""
        self.graph.input.append(helper.make_tensor_value_info(name, dtype, shape))
        return name

    def output(self, value: str, name: str, shape: Sequence[int | str], dtype: int = F32) -> str:
        """Give a value back under `name`."""
        self.op("Identity", value, out=name)
        self.graph.output.append(helper.make_tensor_value_info(name, dtype, shape))
        return name

    def constant(self, value: Operand, name: str = "") -> str:
        """Return the name of a constant; a name is returned as it is."""
        if isinstance(value, str):
            return value
        array = np.asarray(value)
        if not isinstance(value, np.ndarray):
            array = array.astype(np.float32 if array.dtype.kind == "f" else array.dtype)
        name = name or self._fresh("c")
        self.graph.initializer.append(numpy_helper.from_array(array, name))
        return name

    def op(
        self, op_type: str, *inputs: Operand, out: str = "", domain: str = "", **attributes: object
    ) -> str:
        """Add a node and return the name of its only output."""
        return self.ops(op_type, *inputs, out=[out] if out else 1, domain=domain, **attributes)[0]

    def ops(
        self,
        op_type: str,
        *inputs: Operand,
        out: int | Sequence[str],
        domain: str = "",
        **attributes: object,
    ) -> list[str]:
        """Add a node and return the names of its outputs."""
        names = [self._fresh(op_type) for _ in range(out)] if isinstance(out, int) else [*out]
        operands = [self.constant(value) for value in inputs]
        name = self._fresh(f"node_{op_type}")
        node = helper.make_node(op_type, operands, names, name=name, domain=domain, **attributes)
        self.graph.node.append(node)
        return names

    def size(self, value: str, axis: int) -> str:
        """Return the size of a value along an axis, as a scalar."""
        return self.op("Gather", self.op("Shape", value), axis)

    # how an existing one is changed

    def find(self, op_type: str, nth: int = 0) -> NodeProto:
        """Return the nth node of a type, in the order they stand in."""
        return [node for node in self.graph.node if node.op_type == op_type][nth]

    def producer(self, value: str) -> NodeProto:
        """Return the node that makes a value."""
        return next(node for node in self.graph.node if value in node.output)

    def after(self, value: str, change: Callable[[str], str]) -> None:
        """Let everybody, the caller of the model included, see `change(value)` instead.

        What the change itself is made from goes on seeing the value as it was.
        """
        changed = change(value)
        behind = self._behind(changed)
        if any(value == each.name for each in self.graph.input):
            _redirect((n for n in self.graph.node if n.output[0] not in behind), value, changed)
            return
        was = self._fresh("was")
        producer = self.producer(value)
        producer.output[[*producer.output].index(value)] = was
        _redirect((n for n in self.graph.node if n.output[0] in behind), value, was)
        self.op("Identity", changed, out=value)

    def before(self, node: NodeProto, index: int, change: Callable[[str], str]) -> None:
        """Let one node see `change(input)` instead of that input."""
        node.input[index] = change(node.input[index])

    def array(self, name: str) -> Array:
        """Return what a constant holds."""
        for tensor in self.graph.initializer:
            if tensor.name == name:
                return numpy_helper.to_array(tensor).copy()
        node = self.producer(name)
        return numpy_helper.to_array(_attribute(node, "value").t).copy()

    def put(self, name: str, array: Array) -> None:
        """Change what a constant holds."""
        for tensor in self.graph.initializer:
            if tensor.name == name:
                tensor.CopyFrom(numpy_helper.from_array(np.ascontiguousarray(array), name))
                return
        node = self.producer(name)
        _attribute(node, "value").t.CopyFrom(numpy_helper.from_array(array))

    def change(self, name: str, change: Callable[[Array], Array | None]) -> None:
        """Change what a constant holds, in place or by what `change` returns."""
        array = self.array(name)
        changed = change(array)
        self.put(name, array if changed is None else changed)

    def set(self, node: NodeProto, **attributes: object) -> None:
        """Give attributes of a node other values."""
        kept = [each for each in node.attribute if each.name not in attributes]
        del node.attribute[:]
        node.attribute.extend(kept)
        node.attribute.extend(helper.make_attribute(k, v) for k, v in attributes.items())

    def drop(self, node: NodeProto) -> None:
        """Remove a node; somebody else has to make its outputs."""
        self.graph.node.remove(node)

    def bypass(self, node: NodeProto, index: int = 0) -> None:
        """Let a node do nothing but hand on one of its inputs."""
        out, given = node.output[0], node.input[index]
        self.drop(node)
        self.op("Identity", given, out=out)

    def replace(self, node: NodeProto, op_type: str, *inputs: Operand, **attributes: Any) -> None:  # noqa: ANN401
        """Let another node make what this one made."""
        out = [*node.output]
        self.drop(node)
        self.ops(op_type, *inputs, out=out, **attributes)

    def imports(self, domain: str, version: int = 1) -> None:
        """Make sure that a domain is declared."""
        if all(each.domain != domain for each in self.proto.opset_import):
            self.proto.opset_import.append(helper.make_opsetid(domain, version))

    def finish(self) -> onnx.ModelProto:
        """Return the model, its nodes in an order in which they can run."""
        nodes = in_order(self.graph.node)
        del self.graph.node[:]
        self.graph.node.extend(nodes)
        return self.proto

    def _behind(self, value: str) -> set[str]:
        """Return the first outputs of all nodes that a value is made by."""
        makers = {name: node for node in self.graph.node for name in node.output}
        found: set[str] = set()
        waiting = [value]
        while waiting:
            node = makers.get(waiting.pop())
            if node is not None and node.output[0] not in found:
                found.add(node.output[0])
                waiting += _reads(node)
        return found

    def _fresh(self, stem: str) -> str:
        self._made += 1
        taken = {name for node in self.graph.node for name in (node.name, *node.output)}
        taken |= {tensor.name for tensor in self.graph.initializer}
        while (name := f"{stem.lower()}_{self._made}") in taken:
            self._made += 1
        return name


def in_order(
    nodes: Iterable[NodeProto], first: Callable[[list[int]], int] = lambda ready: ready[0]
) -> list[NodeProto]:
    """Return copies of the nodes in an order in which they can run; `first` picks among many."""
    nodes = [_copy(node) for node in nodes]
    made_by = {name: index for index, node in enumerate(nodes) for name in node.output if name}
    waits = [{made_by[name] for name in _reads(node) if name in made_by} for node in nodes]
    done: list[int] = []
    left = set(range(len(nodes)))
    while left:
        ready = sorted(index for index in left if not waits[index])
        if not ready:
            raise ValueError("the nodes wait for each other in a circle")
        chosen = first(ready)
        left.remove(chosen)
        done.append(chosen)
        for other in left:
            waits[other].discard(chosen)
    return [nodes[index] for index in done]


def _reads(node: NodeProto) -> set[str]:
    """Return what a node reads, the graphs inside of it included."""
    names = {name for name in node.input if name}
    for attribute in node.attribute:
        graphs = [attribute.g] if attribute.HasField("g") else [*attribute.graphs]
        names |= {name for graph in graphs for inner in graph.node for name in _reads(inner)}
        names |= {each.name for graph in graphs for each in graph.output}
    return names


def _copy(node: NodeProto) -> NodeProto:
    copied = NodeProto()
    copied.CopyFrom(node)
    return copied


def _redirect(nodes: Iterable[NodeProto], old: str, new: str) -> None:
    for node in nodes:
        for index, name in enumerate(node.input):
            if name == old:
                node.input[index] = new


def _attribute(node: NodeProto, name: str) -> onnx.AttributeProto:
    return next(each for each in node.attribute if each.name == name)
