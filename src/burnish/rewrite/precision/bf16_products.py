"""Products with constant weights as products of bf16, summed in f32; everything else stays.

    MatMul(x, W)  -->  MatMul(f32(bf16(x)), f32(Wh))

CPUs have one instruction for bf16: it multiplies pairs of them and adds up in f32. So that is what
becomes bf16 for CPUs, and no norm, sum or activation is rounded. Any engine computes what is
written; ours multiply the bf16 themselves (`burnish.tile.steps.halves`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

import onnx_ir as ir

from burnish.core.errors import ModelError
from burnish.infer import walk
from burnish.rewrite import edit, opsets
from burnish.rewrite.passes.fold import FEWEST_WEIGHTS
from burnish.rewrite.passes.names import FixNames
from burnish.rewrite.precision.half import Halved, narrowed
from burnish.rewrite.precision.half_types import BF16, WIDE
from burnish.rewrite.precision.keep import ASKED, Asked
from burnish.rewrite.precision.products import WeightedProduct, product_at
from burnish.rewrite.precision.report import ChangedNode, KeptNode

_CASTS = 13
"""The first opset whose Cast knows bf16."""
_TAKEN = ("MatMul", "Gemm", "FusedMatMul")
_OTHERS = ("Attention", "MultiHeadAttention", "GroupQueryAttention", "Conv", "ConvTranspose",
           "LSTM", "GRU", "RNN", "Einsum")  # fmt: skip
"""Operators that multiply and add too: of those that stay, people want to know why."""


def products_in_bf16(model: ir.Model, *, keep: Collection[str] = ()) -> Halved:
    """Return a copy whose products with constant weights are those of bf16, and what stays.

    `keep` names operators, nodes or patterns that stay in f32.
    """
    if opsets.declared(model) < _CASTS:
        raise ModelError(
            f"opset {opsets.declared(model)} has no casts to bf16",
            hint=f"convert the model to opset {_CASTS} or later first",
        )
    copy = model.clone()
    work = _Rounding(copy, Asked(copy, keep))
    for graph in tuple(walk.graphs(copy)):
        for node in tuple(graph):
            work.convert(node)
    if not work.changed:
        raise ModelError(
            f"nothing in the model can become bf16 for CPUs: {_usual_reason(work.kept)}",
            hint="leave -p bf16 away; for GPUs, add --target cuda",
        )
    work.drop_unread()
    FixNames()(copy)
    return Halved(copy, tuple(work.changed), tuple(work.kept), ())


class _Rounding:
    """A model on its way to products of bf16."""

    def __init__(self, model: ir.Model, asked: Asked) -> None:
        self.model = model
        self.changed: list[ChangedNode] = []
        self.kept: list[KeptNode] = []
        self._asked = asked
        self._weights: dict[ir.Value, ir.Value] = {}
        self._rounded: dict[tuple[ir.Value, ir.Graph | None], ir.Value] = {}
        """What was bf16 and is f32 again, by what it was and where it is read."""

    def convert(self, node: ir.Node) -> None:
        """Make a product one of bf16, or say why it stays as it is."""
        if node.op_type not in (*_TAKEN, *_OTHERS):
            return
        place = product_at(node)
        reason = ASKED if node in self._asked else _obstacle(node, place)
        if reason:
            self.kept.append(KeptNode(node.name or "", node.op_type, reason))
            return
        assert isinstance(place, WeightedProduct)
        node.replace_input_with(0, self._activation(place.activation, node))
        node.replace_input_with(1, self._constant(place.weights, node))
        self.changed.append(ChangedNode(node.name or "", node.op_type, node.op_type))

    def drop_unread(self) -> None:
        """Remove weights that are only read in bf16 now."""
        for value in self._weights:
            bound = value.is_graph_input() or value.is_graph_output()
            if not value.uses() and not bound and value.is_initializer() and value.graph:
                del value.graph.initializers[value.name or ""]

    def _activation(self, value: ir.Value, reader: ir.Node) -> ir.Value:
        key = (value, reader.graph)
        if key not in self._rounded:
            narrow = _cast_before(reader, value, BF16.dtype, f"{value.name}/bf16")
            wide = _cast_before(reader, narrow, WIDE, f"{value.name}/bf16/fp32")
            self._rounded[key] = wide
        return self._rounded[key]

    def _constant(self, value: ir.Value, reader: ir.Node) -> ir.Value:
        if value not in self._weights:
            tensor = value.const_value
            assert tensor is not None
            name = f"{value.name}/bf16"
            self._weights[value] = edit.add_initializer(
                self.model.graph, name, narrowed(tensor, BF16)
            )
        key = (value, reader.graph)
        if key not in self._rounded:
            narrow = self._weights[value]
            self._rounded[key] = _cast_before(reader, narrow, WIDE, f"{narrow.name}/fp32")
        return self._rounded[key]


def _usual_reason(kept: Sequence[KeptNode]) -> str:
    """Return why most products stay as they are."""
    if not kept:
        return "it has no products"
    (reason, count), *_ = Counter(one.reason for one in kept).most_common()
    return f"of {len(kept)} products {count} stay because {reason}"


def _obstacle(node: ir.Node, place: WeightedProduct | str | None) -> str:
    """Return why a product stays in f32; empty: it need not."""
    if node.op_type in _OTHERS:
        return f"for CPUs, {' and '.join(_TAKEN[:2])} become bf16, and {node.op_type} does not"
    if place is None:
        return "it multiplies by no constant weights"
    if isinstance(place, str):
        return place
    tensor = place.weights.const_value
    if tensor is None:
        return "its weights are computed"
    rows, columns = tensor.shape.numpy()
    if rows * columns <= FEWEST_WEIGHTS:
        return f"its weights are few ({rows}×{columns})"
    if (columns if place.transposed else rows) % 2:
        return "it sums an odd number of terms, and bf16 are multiplied in pairs"
    return ""


def _cast_before(reader: ir.Node, value: ir.Value, wanted: ir.DataType, name: str) -> ir.Value:
    made = ir.node("Cast", [value], attributes={"to": int(wanted)}, name=name)
    result = made.outputs[0]
    result.name, result.type, result.shape = name, ir.TensorType(wanted), value.shape
    graph = reader.graph
    assert graph is not None
    graph.insert_before(reader, made)
    return result
