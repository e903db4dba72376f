"""Tensors in a file hold their numbers once, and those beside it are what the file says they are.

Readers differ in which of two they take: what one of them proves is not what another runs.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import onnx

from burnish.core.errors import ModelError

_HINT = "export the model again: its file contradicts itself"
_BLOCK = 1 << 20


def require_once(proto: onnx.ModelProto, path: Path) -> None:
    """Raise where a tensor's numbers lie in two places, or only in part in this file."""
    for tensor in _tensors(proto):
        filled = [name for name in _fields(tensor) if len(getattr(tensor, name))]
        if _is_beside(tensor):
            filled.insert(0, "a file beside it")
            _require_offset(tensor, path)
        about = f"{path}: tensor {tensor.name!r}"
        if len(filled) > 1:
            raise ModelError(
                f"{about} has its numbers twice: in {' and '.join(filled)}", hint=_HINT
            )
        if tensor.HasField("segment"):
            raise ModelError(f"{about} is a segment of a tensor only", hint=_HINT)


def require_checksums(proto: onnx.ModelProto, path: Path) -> None:
    """Raise where a file beside a model has not the SHA-1 that the model says it has."""
    said: dict[str, str] = {}
    for tensor in filter(_is_beside, _tensors(proto)):
        entries = {each.key: each.value for each in tensor.external_data}
        if entries.get("checksum"):
            said[entries.get("location", "")] = entries["checksum"]
    for location, checksum in said.items():
        if _sha1(path.absolute().parent / location) != checksum.lower():
            raise ModelError(
                f"{path}: {location} is not what it was when the model was written: its checksum is"
                " another",
                hint=f"copy {location} again from where the model came from",
            )


def _fields(tensor: onnx.TensorProto) -> Iterator[str]:
    """Yield where numbers of a tensor's type may lie; others are nobody's."""
    yield "raw_data"
    with suppress(KeyError):  # a type that this ONNX does not know is refused elsewhere
        yield onnx.helper.tensor_dtype_to_field(tensor.data_type)


def _require_offset(tensor: onnx.TensorProto, path: Path) -> None:
    for each in tensor.external_data:
        if each.key in ("offset", "length") and not each.value.strip().isdecimal():
            raise ModelError(
                f"{path}: tensor {tensor.name!r} lies beside it at the {each.key} {each.value!r},"
                " which is none",
                hint=_HINT,
            )


def _is_beside(tensor: onnx.TensorProto) -> bool:
    return bool(tensor.data_location == onnx.TensorProto.EXTERNAL)


def _sha1(file: Path) -> str:
    found = hashlib.sha1(usedforsecurity=False)
    with file.open("rb") as stream:
        while block := stream.read(_BLOCK):
            found.update(block)
    return found.hexdigest()


def _tensors(proto: onnx.ModelProto) -> Iterator[onnx.TensorProto]:
    yield from _of_graph(proto.graph)
    for function in proto.functions:
        for node in function.node:
            yield from _of_node(node)


def _of_graph(graph: onnx.GraphProto) -> Iterator[onnx.TensorProto]:
    yield from graph.initializer
    for sparse in graph.sparse_initializer:
        yield from (sparse.values, sparse.indices)
    for node in graph.node:
        yield from _of_node(node)


def _of_node(node: onnx.NodeProto) -> Iterator[onnx.TensorProto]:
    for attribute in node.attribute:
        if attribute.HasField("t"):
            yield attribute.t
        yield from attribute.tensors
        for graph in (*([attribute.g] if attribute.HasField("g") else []), *attribute.graphs):
            yield from _of_graph(graph)
