"""The same graph with its f32 tensors as fp16 or bf16, but those that must not be.

Values that a node in f32 and a node in fewer bits share pass a Cast once, however many read them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import onnx_ir as ir

from burnish.core.arrays import Array
from burnish.core.errors import ModelError
from burnish.infer import walk
from burnish.infer.constants import constant_tensor
from burnish.infer.walk import is_standard
from burnish.rewrite import edit, opsets
from burnish.rewrite.options import Edges, Target
from burnish.rewrite.passes.names import FixNames
from burnish.rewrite.passes.shapes import InferShapes
from burnish.rewrite.precision.half_plan import NOTHING_SEEN, Reasons, kept_nodes
from burnish.rewrite.precision.half_types import FP16, WIDE, Half, Signature, is_wide, signature
from burnish.rewrite.precision.report import ChangedNode, KeptNode

INNER = "/inner"
"""What the name of an output ends with before it is cast to f32."""
_EAGER_BYTES = 1 << 20
"""Larger weights are converted when they are written, one at a time."""
_PIECE = 1 << 20
_TYPED_BY = {
    "Cast": "to", "RandomNormal": "dtype", "RandomUniform": "dtype",
    "HannWindow": "output_datatype", "HammingWindow": "output_datatype",
    "BlackmanWindow": "output_datatype", "MelWeightMatrix": "output_datatype",
}  # fmt: skip
"""Operators whose attribute says what they give; but for Cast's, it is f32 where it is missing."""


def narrowed(tensor: ir.TensorProtocol, half: Half) -> Array | ir.LazyTensor:
    """Return a tensor in fewer bits; finite numbers beyond its range become its ends."""
    if tensor.nbytes <= _EAGER_BYTES:
        return _narrow(tensor.numpy(), half)
    shape = ir.Shape(tensor.shape.numpy())
    return ir.LazyTensor(lambda: _tensor(tensor, half), dtype=half.dtype, shape=shape)


def clipping_notes(name: str, tensor: ir.TensorProtocol, half: Half) -> Iterator[str]:
    """Yield what must be known of a constant that a type cannot hold."""
    flat = tensor.numpy().reshape(-1)
    pieces = (flat[start : start + _PIECE] for start in range(0, flat.size, _PIECE))
    if any(bool((np.isfinite(piece) & (np.abs(piece) > half.largest)).any()) for piece in pieces):
        yield (
            f"the constant {name!r} has numbers beyond {half.largest:,.7g}, where {half.name} ends;"
            " they became its ends"
        )


def convert_attributes(node: ir.Node, half: Half) -> Iterator[str]:
    """Make a node say the narrow type where it says f32; yield what must be known of that."""
    if is_standard(node, "Constant"):
        tensor = constant_tensor(node.outputs[0])
        if tensor is not None:
            node.attributes.clear()
            yield from _set_value(node, tensor, half)
        return
    if is_standard(node, "ConstantOfShape"):
        given = node.attributes.get("value")
        zero = ir.Tensor(np.zeros(1, np.float32))
        yield from _set_value(node, zero if given is None else given.as_tensor(), half)
        return
    named = _TYPED_BY.get(node.op_type)
    if named is not None:
        node.attributes[named] = ir.AttrInt64(named, int(half.dtype))
    elif "dtype" in node.attributes and node.attributes["dtype"].value == WIDE:
        node.attributes["dtype"] = ir.AttrInt64("dtype", int(half.dtype))


def _set_value(node: ir.Node, tensor: ir.TensorProtocol, half: Half) -> Iterator[str]:
    node.attributes["value"] = ir.AttrTensor("value", _tensor(tensor, half))
    yield from clipping_notes(node.outputs[0].name or "", tensor, half)


def _tensor(tensor: ir.TensorProtocol, half: Half) -> ir.Tensor[Array]:
    return ir.Tensor(_narrow(tensor.numpy(), half), dtype=half.dtype)


def _narrow(array: Array, half: Half) -> Array:
    largest = np.float32(half.largest)
    clipped = np.where(np.isfinite(array), np.clip(array, -largest, largest), array)
    return np.asarray(clipped, half.dtype.numpy(), order="C")  # a single number stays one


@dataclass(frozen=True, slots=True)
class Halved:
    """A model in 16 bits, and what is not."""

    model: ir.Model
    changed: tuple[ChangedNode, ...]
    kept: tuple[KeptNode, ...]
    notes: tuple[str, ...]


def in_half(
    model: ir.Model,
    half: Half = FP16,
    *,
    target: Target = "cpu",
    edges: Edges = "convert",
    keep: Collection[str] = (),
    magnitudes: Mapping[str, float] = NOTHING_SEEN,
) -> Halved:
    """Return a copy in which every f32 tensor has 16 bits, where that is safe and runs.

    With `edges` kept, inputs and outputs stay f32, with casts behind and before them. `keep` names
    operators, nodes and patterns that stay in f32; `magnitudes` are the largest that values had
    when the model ran, by name. Constants beyond the range become its ends.
    """
    copy = model.clone()
    InferShapes()(copy)
    reasons = kept_nodes(copy, half, target=target, keep=keep, magnitudes=magnitudes)
    work = _Narrowing(copy, reasons, half)
    if not work.converts_anything():
        raise ModelError(
            f"nothing in the model can become {half.name}: it computes nothing in f32 that may be",
            hint=f"leave -p {half.name} away",
        )
    work.convert_inputs(edges)
    work.changed.extend(filter(work.convert, tuple(copy.graph)))
    work.convert_outputs(edges)
    work.drop_unread()
    FixNames()(copy)
    kept = (KeptNode(node.name or "", node.op_type, reason) for node, reason in reasons.items())
    changed = (ChangedNode(node.name or "", node.op_type, node.op_type) for node in work.changed)
    return Halved(copy, tuple(changed), tuple(kept), tuple(dict.fromkeys(work.notes)))


class _Narrowing:
    """A model on its way to 16 bits."""

    def __init__(self, model: ir.Model, reasons: Reasons, half: Half) -> None:
        self.model = model
        self.half = half
        self._opset = opsets.declared(model)
        self.changed: list[ir.Node] = []
        """What computes in 16 bits by now."""
        self.reasons = reasons
        self.notes: list[str] = []
        self._wide = {
            value
            for graph in walk.graphs(model)
            for value in (*graph.inputs, *graph.initializers.values(), *_made(graph))
            if is_wide(value)
        }
        """What was f32; other values are none of this conversion's business."""
        self._twins: dict[ir.Value, ir.Value] = {}
        """Values in the other one of the two types."""

    def signature(self, node: ir.Node) -> Signature | None:
        """Return where a node takes fewer bits; None: nowhere, it is kept."""
        if node in self.reasons:
            return None
        return signature(node, self._opset, self.half)

    def converts_anything(self) -> bool:
        """Return whether any node will compute in 16 bits."""
        found = ((node, self.signature(node)) for node in walk.nodes(self.model))
        return any(known is not None and known.takes_half(node) for node, known in found)

    def convert_inputs(self, edges: Edges) -> None:
        """Bring the model's inputs to 16 bits, unless they are kept."""
        for value in self.model.graph.inputs:
            if value not in self._wide or edges == "keep":
                continue
            if value.is_initializer():
                self.notes.append(f"the input {value.name!r} has a default, and stays f32")
            else:
                value.type = ir.TensorType(self.half.dtype)

    def convert(self, node: ir.Node) -> bool:
        """Bring one node to 16 bits, as far as it may be; return whether it computes in them now.

        All that it reads has been brought there before.
        """
        known = self.signature(node)
        for position, value in enumerate(node.inputs):
            wanted = self.half.dtype if known is not None and known.inputs(position) else WIDE
            if value in self._wide and value.dtype != wanted:
                node.replace_input_with(position, self._in(value, wanted))
        for body in walk.bodies(node):
            self._convert_body(body)
        if known is None:
            return False
        for position, output in enumerate(node.outputs):
            if output in self._wide and known.outputs(position):
                output.type = ir.TensorType(self.half.dtype)
        if any(value.dtype == self.half.dtype for value in node.outputs):
            self.notes.extend(convert_attributes(node, self.half))
        return any(
            value is not None and value.dtype == self.half.dtype
            for value in (*node.inputs, *node.outputs)
        )

    def convert_outputs(self, edges: Edges) -> None:
        """Give the model's outputs their types, under their names."""
        wanted = WIDE if edges == "keep" else self.half.dtype
        graph = self.model.graph
        for index, value in enumerate(graph.outputs):
            if value not in self._wide or value.dtype == wanted or value.is_initializer():
                continue
            made = _cast_node(value, wanted)
            name = value.name or ""
            value.name, made.name, made.outputs[0].name = f"{name}{INNER}", f"{name}/Cast", name
            graph.append(made)
            graph.outputs[index] = made.outputs[0]

    def drop_unread(self) -> None:
        """Remove weights that are only read in 16 bits now."""
        graph = self.model.graph
        for name, value in tuple(graph.initializers.items()):
            bound = value.is_graph_input() or value.is_graph_output()
            if value in self._twins and not value.uses() and not bound:
                del graph.initializers[name]

    def _convert_body(self, body: ir.Graph) -> None:
        """Bring the nodes of a body to 16 bits; what it takes and gives stays as it is."""
        self.changed.extend(filter(self.convert, tuple(body)))
        for index, value in enumerate(body.outputs):
            if value in self._wide and value.dtype == self.half.dtype:
                made = _cast_node(value, WIDE)
                body.append(made)
                body.outputs[index] = made.outputs[0]

    def _in(self, value: ir.Value, wanted: ir.DataType) -> ir.Value:
        """Return a value in the other type: a converted constant, or a Cast behind it."""
        if value not in self._twins:
            constant = value.is_initializer() and not value.is_graph_input()
            made = self._constant(value) if constant else self._cast(value, wanted)
            self._twins[value] = made
        return self._twins[value]

    def _constant(self, value: ir.Value) -> ir.Value:
        tensor = value.const_value
        if tensor is None:
            raise ValueError(f"{value.name} has no content")
        self.notes.extend(clipping_notes(value.name or "", tensor, self.half))
        name = f"{value.name}/{self.half.name}"
        return edit.add_initializer(self.model.graph, name, narrowed(tensor, self.half))

    def _cast(self, value: ir.Value, wanted: ir.DataType) -> ir.Value:
        made = _cast_node(value, wanted)
        producer = value.producer()
        graph = value.graph or self.model.graph
        suffix = "fp32" if wanted == WIDE else self.half.name
        made.name = made.outputs[0].name = f"{value.name}/{suffix}"
        if producer is None:
            graph.insert_before(graph[0], made)
        else:
            graph.insert_after(producer, made)
        return made.outputs[0]


def _made(graph: ir.Graph) -> Iterator[ir.Value]:
    return (value for node in graph for value in node.outputs)


def _cast_node(value: ir.Value, wanted: ir.DataType) -> ir.Node:
    made = ir.node("Cast", [value], attributes={"to": int(wanted)})
    made.outputs[0].type, made.outputs[0].shape = ir.TensorType(wanted), value.shape
    return made
