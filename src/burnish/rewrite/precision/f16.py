"""The same graph with its f32 tensors as f16, but those that must not be.

Values that a node in f32 and a node in f16 share pass a Cast once, however many read them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
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
from burnish.rewrite.precision.f16_plan import Reasons, kept_nodes
from burnish.rewrite.precision.f16_types import NARROW, WIDE, Signature, is_wide, signature

LARGEST = 65504.0
"""The largest finite number of f16."""
_EAGER_BYTES = 1 << 20
"""Larger weights are converted when they are written, one at a time."""
_PIECE = 1 << 20
_TYPED_BY = {
    "Cast": "to", "RandomNormal": "dtype", "RandomUniform": "dtype",
    "HannWindow": "output_datatype", "HammingWindow": "output_datatype",
    "BlackmanWindow": "output_datatype", "MelWeightMatrix": "output_datatype",
}  # fmt: skip
"""Operators whose attribute says what they give; but for Cast's, it is f32 where it is missing."""


def narrowed(tensor: ir.TensorProtocol) -> Array | ir.LazyTensor:
    """Return a tensor in f16; finite numbers beyond its range become its ends."""
    if tensor.nbytes <= _EAGER_BYTES:
        return _in_f16(tensor.numpy())
    shape = ir.Shape(tensor.shape.numpy())
    return ir.LazyTensor(lambda: ir.Tensor(_in_f16(tensor.numpy())), dtype=NARROW, shape=shape)


def clipping_notes(name: str, tensor: ir.TensorProtocol) -> Iterator[str]:
    """Yield what must be known of a constant that f16 cannot hold."""
    flat = tensor.numpy().reshape(-1)
    pieces = (flat[start : start + _PIECE] for start in range(0, flat.size, _PIECE))
    if any(bool((np.isfinite(piece) & (np.abs(piece) > LARGEST)).any()) for piece in pieces):
        yield (
            f"the constant {name!r} has numbers beyond {LARGEST:,.0f}, where f16 ends;"
            " they became its ends"
        )


def convert_attributes(node: ir.Node) -> Iterator[str]:
    """Make a node say f16 where it says f32; yield what must be known of that."""
    if is_standard(node, "Constant"):
        tensor = constant_tensor(node.outputs[0])
        if tensor is not None:
            node.attributes.clear()
            yield from _set_value(node, tensor)
        return
    if is_standard(node, "ConstantOfShape"):
        given = node.attributes.get("value")
        zero = ir.Tensor(np.zeros(1, np.float32))
        yield from _set_value(node, zero if given is None else given.as_tensor())
        return
    named = _TYPED_BY.get(node.op_type)
    if named is not None:
        node.attributes[named] = ir.AttrInt64(named, int(NARROW))
    elif "dtype" in node.attributes and node.attributes["dtype"].value == WIDE:
        node.attributes["dtype"] = ir.AttrInt64("dtype", int(NARROW))


def _set_value(node: ir.Node, tensor: ir.TensorProtocol) -> Iterator[str]:
    node.attributes["value"] = ir.AttrTensor("value", ir.Tensor(_in_f16(tensor.numpy())))
    yield from clipping_notes(node.outputs[0].name or "", tensor)


def _in_f16(array: Array) -> Array:
    clipped = np.where(np.isfinite(array), np.clip(array, -LARGEST, LARGEST), array)
    return np.ascontiguousarray(clipped.astype(np.float16))


@dataclass(frozen=True, slots=True)
class Kept:
    """A node that was left in f32."""

    node: str
    op_type: str
    reason: str


@dataclass(frozen=True, slots=True)
class Halved:
    """A model in f16, and what is not."""

    model: ir.Model
    kept: tuple[Kept, ...]
    notes: tuple[str, ...]


def in_f16(
    model: ir.Model, *, target: Target = "cpu", edges: Edges = "convert", keep: Collection[str] = ()
) -> Halved:
    """Return a copy in which every f32 tensor is f16, where that is safe and runs.

    With `edges` kept, inputs and outputs stay f32, with casts behind and before them. `keep` names
    operators and nodes that stay in f32. Constants beyond the range of f16 become its ends.
    """
    _require_flat(model)
    copy = model.clone()
    InferShapes()(copy)
    reasons = kept_nodes(copy, target, keep)
    work = _Narrowing(copy, reasons)
    if not work.converts_anything():
        raise ModelError(
            "nothing in the model can become f16: it computes nothing in f32 that may be",
            hint="leave -p fp16 away",
        )
    work.convert_inputs(edges)
    for node in tuple(copy.graph):
        work.convert(node)
    work.convert_outputs(edges)
    work.drop_unread()
    FixNames()(copy)
    kept = (Kept(node.name or "", node.op_type, reason) for node, reason in reasons.items())
    return Halved(copy, tuple(kept), tuple(dict.fromkeys(work.notes)))


def _require_flat(model: ir.Model) -> None:
    if model.functions:
        raise ModelError(
            "functions cannot be brought to f16: only what the graph itself holds can be",
            hint="leave --keep-functions away",
        )


class _Narrowing:
    """A model on its way to f16."""

    def __init__(self, model: ir.Model, reasons: Reasons) -> None:
        self.model = model
        self.reasons = reasons
        self.notes: list[str] = []
        graph = model.graph
        made = (value for node in graph for value in node.outputs)
        self._wide = {
            value
            for value in (*graph.inputs, *graph.initializers.values(), *made)
            if is_wide(value)
        }
        """What was f32; other values are none of this conversion's business."""
        self._twins: dict[ir.Value, ir.Value] = {}
        """Values in the other one of the two types."""

    def signature(self, node: ir.Node) -> Signature | None:
        """Return where a node takes f16; None: nowhere, it is kept."""
        if node in self.reasons:
            return None
        return signature(node, opsets.declared(self.model))

    def converts_anything(self) -> bool:
        """Return whether any node will compute in f16."""
        found = ((node, self.signature(node)) for node in self.model.graph)
        return any(known is not None and known.takes_half(node) for node, known in found)

    def convert_inputs(self, edges: Edges) -> None:
        """Bring the model's inputs to f16, unless they are kept."""
        for value in self.model.graph.inputs:
            if value not in self._wide or edges == "keep":
                continue
            if value.is_initializer():
                self.notes.append(f"the input {value.name!r} has a default, and stays f32")
            else:
                value.type = ir.TensorType(NARROW)

    def convert(self, node: ir.Node) -> None:
        """Bring one node to f16, as far as it may be; all that it reads has been before."""
        known = self.signature(node)
        for position, value in enumerate(node.inputs):
            wanted = NARROW if known is not None and known.inputs(position) else WIDE
            if value in self._wide and value.dtype != wanted:
                node.replace_input_with(position, self._in(value, wanted))
        for body in walk.bodies(node):
            self._widen_captured(body)
        if known is None:
            return
        for position, output in enumerate(node.outputs):
            if output in self._wide and known.outputs(position):
                output.type = ir.TensorType(NARROW)
        if any(value.dtype == NARROW for value in node.outputs):
            self.notes.extend(convert_attributes(node))

    def convert_outputs(self, edges: Edges) -> None:
        """Give the model's outputs their types, under their names."""
        wanted = WIDE if edges == "keep" else NARROW
        graph = self.model.graph
        for index, value in enumerate(graph.outputs):
            if value not in self._wide or value.dtype == wanted or value.is_initializer():
                continue
            made = _cast_node(value, wanted)
            name = value.name or ""
            value.name, made.name, made.outputs[0].name = f"{name}/inner", f"{name}/Cast", name
            graph.append(made)
            graph.outputs[index] = made.outputs[0]

    def drop_unread(self) -> None:
        """Remove weights that are only read in f16 now."""
        graph = self.model.graph
        for name, value in tuple(graph.initializers.items()):
            bound = value.is_graph_input() or value.is_graph_output()
            if value in self._twins and not value.uses() and not bound:
                del graph.initializers[name]

    def _widen_captured(self, body: ir.Graph) -> None:
        """Give the nodes of a body f32, which they read from outside, again."""
        for node in body:
            for position, value in enumerate(node.inputs):
                if value in self._wide and value.dtype == NARROW:
                    node.replace_input_with(position, self._in(value, WIDE))
            for inner in walk.bodies(node):
                self._widen_captured(inner)

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
        self.notes.extend(clipping_notes(value.name or "", tensor))
        name = f"{value.name}/f16"
        return edit.add_initializer(self.model.graph, name, narrowed(tensor))

    def _cast(self, value: ir.Value, wanted: ir.DataType) -> ir.Value:
        made = _cast_node(value, wanted)
        graph, producer = self.model.graph, value.producer()
        made.name = made.outputs[0].name = f"{value.name}/{'f16' if wanted == NARROW else 'f32'}"
        if producer is None:
            graph.insert_before(graph[0], made)
        else:
            graph.insert_after(producer, made)
        return made.outputs[0]


def _cast_node(value: ir.Value, wanted: ir.DataType) -> ir.Node:
    made = ir.node("Cast", [value], attributes={"to": int(wanted)})
    made.outputs[0].type, made.outputs[0].shape = ir.TensorType(wanted), value.shape
    return made
