"""What ONNX Runtime takes and ONNX IR does not: mended in the file's own form, before it is read.

Two Constant nodes of one name: the last one counts. Outputs that are maps, which scikit-learn's
classifiers give: their types are kept aside, as text, and put back when the model is written.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import onnx
import onnx_ir as ir

KEPT_TYPE = "burnish.kept_type"
"""Where the type of a value is kept that ONNX IR has no type for."""

_NOTES = "burnish.mended"
"""Where a model in memory keeps what was mended when it was read."""

Proto = Any
"""A protobuf message of onnx, which has no type information."""


def add_note(model: ir.Model, text: str) -> None:
    """Keep what was mended, for whoever tells of what was done to a model."""
    model.meta[_NOTES] = (*notes(model), text)


def notes(model: ir.Model) -> tuple[str, ...]:
    """Return what was mended when a model was read, each as a sentence."""
    return tuple(model.meta.get(_NOTES, ()))


def mend(graph: Proto) -> bool:
    """Change a graph and its inner ones so that ONNX IR can read them; return whether it did."""
    changed = _drop_repeated_constants(graph)
    for info in (*graph.input, *graph.output, *graph.value_info):
        if _has_map(info.type):
            kept = info.metadata_props.add()
            kept.key, kept.value = KEPT_TYPE, info.type.SerializeToString().hex()
            info.ClearField("type")
            changed = True
    return any([changed, *(mend(inner) for inner in _inner(graph))])


def restore(proto: onnx.ModelProto) -> None:
    """Put types back that were kept aside."""
    graph: Proto = proto.graph
    for info in (*graph.output, *graph.value_info):
        for place, entry in enumerate(info.metadata_props):
            if entry.key == KEPT_TYPE:
                info.type.ParseFromString(bytes.fromhex(entry.value))
                del info.metadata_props[place]
                break


def kept_element_type(value: ir.Value) -> ir.DataType | None:
    """Return the type of the numbers in a map or a sequence of maps; None: it is neither."""
    kept = value.metadata_props.get(KEPT_TYPE)
    if kept is None:
        return None
    inner: Proto = onnx.TypeProto.FromString(bytes.fromhex(kept))
    while not inner.HasField("tensor_type"):
        inner = (
            inner.map_type.value_type
            if inner.HasField("map_type")
            else inner.sequence_type.elem_type
        )
    return ir.DataType(inner.tensor_type.elem_type)


def state_output_types(model: ir.Model, proto: onnx.ModelProto) -> None:
    """Give outputs that state no type the one that ONNX infers for them."""
    untyped = {
        value.name: value
        for value in model.graph.outputs
        if value.type is None and KEPT_TYPE not in value.metadata_props
    }
    if not untyped or proto.ByteSize() >= _MOST_BYTES:
        return
    try:
        found: Proto = onnx.shape_inference.infer_shapes(proto).graph
    except (onnx.shape_inference.InferenceError, onnx.checker.ValidationError, ValueError):
        return
    for info in found.output:
        if info.name in untyped and info.type.HasField("tensor_type"):
            stated = ir.serde.deserialize_value_info_proto(info, None)
            untyped[info.name].type, untyped[info.name].shape = stated.type, stated.shape


_MOST_BYTES = 2**31 - 1
"""What inference takes as one message."""


def _drop_repeated_constants(graph: Proto) -> bool:
    last: dict[str, int] = {}
    repeated: list[int] = []
    for place, node in enumerate(graph.node):
        if node.op_type == "Constant" and len(node.output) == 1:
            if node.output[0] in last:
                repeated.append(last[node.output[0]])
            last[node.output[0]] = place
    for place in sorted(repeated, reverse=True):
        del graph.node[place]
    return bool(repeated)


def _has_map(kind: Proto) -> bool:
    if kind.HasField("sequence_type"):
        return _has_map(kind.sequence_type.elem_type)
    return bool(kind.HasField("map_type"))


def _inner(graph: Proto) -> Iterator[Proto]:
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                yield attribute.g
            yield from attribute.graphs
