"""Weights in 8 bits once and for all, activations in 8 bits as they come; no data is needed.

What is written is what ONNX Runtime has kernels for, so that nothing depends on its own fusing:

    MatMul(x, W) (+ b)        -->  DynamicQuantizeMatMul(x, Wi, scales, , b)
    several that read one x   -->  DynamicQuantizeLinear(x), and a MatMulIntegerToFloat for each
    Attention(x, W, b, …)     -->  DynamicQuantizeLinear(x), QAttention
    Gather(table, i)          -->  Cast(Gather(integers, i)) * Gather(scales, i)

With `standard` operators, MatMulInteger, a Cast and two Mul stand for the first two.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
import onnx_ir as ir

from burnish.infer import walk
from burnish.infer.constants import constant_tensor
from burnish.infer.walk import is_standard
from burnish.rewrite import edit, opsets
from burnish.rewrite.options import Operators
from burnish.rewrite.passes.names import FixNames
from burnish.rewrite.precision.keep import ASKED, Asked
from burnish.rewrite.precision.products import WeightedProduct, product_at
from burnish.rewrite.precision.report import ChangedNode, KeptNode
from burnish.rewrite.precision.weights import Bits, as_integers, flaw

CONTRIB = "com.microsoft"
_QUANTIZES = 11
"""The first opset that has DynamicQuantizeLinear."""
_TABLE_ELEMENTS = 1 << 10
"""Smaller tables are not worth the nodes."""
_CONVOLUTIONS = ("Conv", "ConvTranspose")
_RECURRENT = ("LSTM", "GRU", "RNN")


@dataclass(frozen=True, slots=True)
class Quantised:
    """A model in integers, and what is not."""

    model: ir.Model
    changed: tuple[ChangedNode, ...]
    kept: tuple[KeptNode, ...]


def in_int8(
    model: ir.Model, *, bits: Bits = 8, ops: Operators = "auto", keep: Collection[str] = ()
) -> Quantised:
    """Return a copy whose products with constant weights are those of 8-bit integers.

    `bits` is how many of the 8 weights use; `keep` names operators, nodes or patterns that stay.
    The argument is untouched, and a large weight is only turned into integers when it is written.
    """
    copy = model.clone()
    work = _Quantising(copy, bits, ops, Asked(copy, keep))
    for graph in tuple(walk.graphs(copy)):
        work.quantise(graph)
    work.finish()
    return Quantised(copy, tuple(work.changed), tuple(work.kept))


class _Quantising:
    """A model on its way to integers."""

    def __init__(self, model: ir.Model, bits: Bits, ops: Operators, asked: Asked) -> None:
        self.model = model
        self.changed: list[ChangedNode] = []
        self.kept: list[KeptNode] = []
        self._bits = bits
        self._is_standard = ops == "standard"
        self._asked = asked
        self._quantizes = opsets.declared(model) >= _QUANTIZES
        self._weights: dict[tuple[ir.Value, bool], tuple[ir.Value, ir.Value]] = {}
        self._tables: dict[ir.Value, tuple[ir.Value, ir.Value]] = {}
        self._activations: dict[tuple[ir.Value, ir.Graph], tuple[ir.Value, ...]] = {}
        self._number = 0

    def quantise(self, graph: ir.Graph) -> None:
        """Turn the products, attentions and tables of one graph into those of integers."""
        found: dict[ir.Node, WeightedProduct | str] = {}
        for node in graph:
            place = product_at(node)
            if place is not None:
                found[node] = ASKED if node in self._asked else place
            elif self._candidate(node):
                found[node] = ASKED if node in self._asked else self._other(node)
        readers = Counter(
            place.activation for place in found.values() if isinstance(place, WeightedProduct)
        )
        for node, place in found.items():
            before = node.op_type
            if isinstance(place, WeightedProduct):
                into = self._product(place, shared=readers[place.activation] > 1)
            elif place:
                self.kept.append(KeptNode(node.name or "", before, place))
                continue
            else:
                into = self._attention(node) if node.domain == CONTRIB else self._table(node)
            self.changed.append(ChangedNode(node.name or "", before, into))

    def finish(self) -> None:
        """Remove weights that nobody reads any more, and give what is new its name."""
        graph = self.model.graph
        for value in {*(value for value, _ in self._weights), *self._tables}:
            bound = value.is_graph_input() or value.is_graph_output()
            if value.is_initializer() and not value.uses() and not bound and value.graph is graph:
                del graph.initializers[value.name or ""]
        if any(node.domain == CONTRIB for node in walk.nodes(self.model)):
            self.model.opset_imports.setdefault(CONTRIB, 1)
        FixNames()(self.model)

    def _candidate(self, node: ir.Node) -> bool:
        """Return whether a node that is no product has weights that might be integers."""
        if is_standard(node, "Gather"):
            tensor = None if node.inputs[0] is None else constant_tensor(node.inputs[0])
            floats = tensor is not None and tensor.dtype == ir.DataType.FLOAT
            return floats and tensor is not None and tensor.size >= _TABLE_ELEMENTS
        attends = node.domain == CONTRIB and node.op_type == "Attention"
        return attends or is_standard(node, *_CONVOLUTIONS, *_RECURRENT)

    def _other(self, node: ir.Node) -> str:
        """Return why a node that is no product stays; empty: it can be changed."""
        if node.op_type in _CONVOLUTIONS:
            return "convolutions gain from scales that are known beforehand: --calibrate DATA"
        if node.op_type in _RECURRENT:
            return "errors of a recurrence add up from step to step"
        if node.op_type == "Gather":
            if node.attributes.get_int("axis", 0) != 0:
                return "it does not gather rows"
            return flaw(node.inputs[0], rank=2) or ""
        return self._attention_obstacle(node)

    def _attention_obstacle(self, node: ir.Node) -> str:
        if self._is_standard or not self._quantizes:
            return f"QAttention needs ONNX Runtime's operators, and opset {_QUANTIZES}"
        names = ("attention_bias", "past_sequence_length")
        for name, value in zip(names, node.inputs[5:], strict=False):
            if value is not None:
                return f"QAttention takes no {name}"
        sizes = walk.ints(node, "qkv_hidden_sizes")
        if sizes is not None and len(set(sizes)) > 1:
            return "QAttention takes queries, keys and values of one size only"
        if node.attributes.get_int("do_rotary", 0):
            return "QAttention does not rotate"
        return flaw(node.inputs[1], rank=2) or ""

    def _product(self, place: WeightedProduct, *, shared: bool) -> str:
        integers, scale = self._integers(place.weights, place.transposed, place.factor)
        if self._is_standard:
            return self._standard(place, integers, scale)
        node = place.absorb()
        if shared and self._quantizes:
            quantised, step, zero = self._quantized(place.activation, node)
            operands = [quantised, integers, step, scale, zero, None, place.bias]
            into = "MatMulIntegerToFloat"
        else:
            operands = [place.activation, integers, scale, None, place.bias]
            into = "DynamicQuantizeMatMul"
        become(node, into, operands, {})
        return into

    def _standard(self, place: WeightedProduct, integers: ir.Value, scale: ir.Value) -> str:
        node = place.absorb()
        result = node.outputs[0]
        quantised, step, zero = self._quantized(place.activation, node)
        product = self._new("MatMulInteger", [quantised, integers, zero], node, ir.DataType.INT32)
        number = self._new("Cast", [product], node, ir.DataType.FLOAT, to=int(ir.DataType.FLOAT))
        factor = self._new("Mul", [step, scale], node, ir.DataType.FLOAT)
        number.shape = product.shape = result.shape
        if place.bias is None:
            become(node, "Mul", [number, factor], {}, domain="")
        else:
            scaled = self._new("Mul", [number, factor], node, ir.DataType.FLOAT)
            become(node, "Add", [scaled, place.bias], {}, domain="")
        return "MatMulInteger"

    def _attention(self, node: ir.Node) -> str:
        source, weights, bias, mask, past = (*node.inputs, *[None] * 5)[:5]
        assert source is not None
        assert weights is not None
        integers, scale = self._integers(weights, transposed=False, factor=1.0)
        quantised, step, zero = self._quantized(source, node)
        if bias is None:
            tensor = scale.const_value
            assert tensor is not None
            bias = self._constant("bias", np.zeros(tensor.size, np.float32))
        operands = [quantised, integers, bias, step, scale, mask, zero, None, past]
        kept = {
            name: attribute
            for name, attribute in node.attributes.items()
            if name not in ("qkv_hidden_sizes", "rotary_embedding_dim", "do_rotary")
        }
        become(node, "QAttention", operands, kept)
        return "QAttention"

    def _table(self, node: ir.Node) -> str:
        table, rows = node.inputs[0], node.inputs[1]
        assert table is not None
        if table not in self._tables:
            found = as_integers(table, axis=0, bits=8)
            scale = found.scale.reshape(-1, 1)
            integers = self._constant(f"{table.name}/int8", found.integers)
            self._tables[table] = (integers, self._constant(f"{table.name}/scale", scale))
        integers, scale_of_rows = self._tables[table]
        elements = self._new("Gather", [integers, rows], node, ir.DataType.INT8)
        steps = self._new("Gather", [scale_of_rows, rows], node, ir.DataType.FLOAT)
        number = self._new("Cast", [elements], node, ir.DataType.FLOAT, to=int(ir.DataType.FLOAT))
        number.shape = elements.shape = node.outputs[0].shape
        become(node, "Mul", [number, steps], {}, domain="")
        return "Gather of integers"

    def _integers(
        self, weights: ir.Value, transposed: bool, factor: float
    ) -> tuple[ir.Value, ir.Value]:
        """Return a matrix as integers, and the scale of each of its columns."""
        key = (weights, transposed)
        if key not in self._weights:
            found = as_integers(weights, axis=1, bits=self._bits, transposed=transposed)
            integers = self._constant(f"{weights.name}/int8", found.integers)
            self._weights[key] = (integers, self._constant(f"{weights.name}/scale", found.scale))
        integers, scale = self._weights[key]
        if factor == 1.0 or scale.const_value is None:
            return integers, scale
        scaled = scale.const_value.numpy() * np.float32(factor)
        return integers, self._constant(f"{weights.name}/scale", scaled)

    def _quantized(self, value: ir.Value, before: ir.Node) -> tuple[ir.Value, ...]:
        """Return a value as bytes, their step and their zero, computed once where it is made."""
        graph = before.graph
        assert graph is not None
        if (value, graph) not in self._activations:
            made = ir.node("DynamicQuantizeLinear", [value], num_outputs=3)
            self._name(made, value.name or "x")
            types = (ir.DataType.UINT8, ir.DataType.FLOAT, ir.DataType.UINT8)
            for output, dtype in zip(made.outputs, types, strict=True):
                output.type = ir.TensorType(dtype)
                output.shape = ir.Shape([])
            made.outputs[0].shape = value.shape
            producer = value.producer()
            if producer is not None and producer.graph is graph:
                graph.insert_after(producer, made)
            else:
                graph.insert_before(graph[0], made)
            self._activations[value, graph] = tuple(made.outputs)
        return self._activations[value, graph]

    def _new(
        self,
        op_type: str,
        operands: list[ir.Value | None],
        before: ir.Node,
        dtype: ir.DataType,
        **attributes: int,
    ) -> ir.Value:
        made = ir.node(op_type, operands, attributes=attributes)
        self._name(made, before.name or before.op_type)
        made.outputs[0].type = ir.TensorType(dtype)
        graph = before.graph
        assert graph is not None
        graph.insert_before(before, made)
        return made.outputs[0]

    def _name(self, node: ir.Node, stem: str) -> None:
        self._number += 1
        node.name = f"{stem}/{node.op_type}/{self._number}"
        for position, output in enumerate(node.outputs):
            output.name = f"{node.name}/{position}"

    def _constant(self, name: str, content: np.ndarray | ir.TensorProtocol) -> ir.Value:
        self._number += 1
        return edit.add_initializer(self.model.graph, f"{name}/{self._number}", content)


def become(
    node: ir.Node,
    op_type: str,
    operands: list[ir.Value | None],
    attributes: dict[str, ir.Attr],
    domain: str = CONTRIB,
) -> None:
    """Make a node another operator in its place; what it gives keeps its name."""
    while operands and operands[-1] is None:
        operands.pop()
    node.op_type, node.domain = op_type, domain
    node.version = None
    node.attributes.clear()
    node.attributes.update(attributes)
    node.resize_inputs(len(operands))
    for position, value in enumerate(operands):
        node.replace_input_with(position, value)
