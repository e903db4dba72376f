"""Say what a model is, and what a store holds."""

from __future__ import annotations

from pathlib import Path

import onnx_ir as ir

from burnish.core.errors import ModelError
from burnish.store import external_data, history, layout, onnx_files, operators
from burnish.store.stored import StoredModel
from burnish.store.summary import ModelSummary, StoreEntry, StoreListing


def summarize(stored: StoredModel) -> ModelSummary:
    """Return what a model is; its weights are counted, not read."""
    model = onnx_files.read(stored.onnx)
    interface = onnx_files.interface(model)
    data_files = external_data.files(model)
    weights = _distinct_weights(model)
    return ModelSummary(
        label=stored.label,
        path=stored.onnx,
        file_bytes=_size_bytes((stored.onnx, *data_files)),
        data_files=tuple(file.name for file in data_files),
        inputs=interface.inputs,
        outputs=interface.outputs,
        ir_version=model.ir_version,
        opsets={domain or "ai.onnx": v for domain, v in sorted(model.opset_imports.items())},
        producer=f"{model.producer_name or ''} {model.producer_version or ''}".strip(),
        parameters=sum(tensor.size for tensor in weights),
        parameter_bytes=sum(tensor.nbytes for tensor in weights),
        operators=operators.counts(model),
        unknown=operators.unknown_operators(model),
        data_sets=stored.data_sets,
        history=history.read(model),
    )


def list_store(store: Path) -> StoreListing:
    """Return what a store holds; a model that cannot be read is listed with the reason."""
    return StoreListing(store, tuple(_entry(model) for model in layout.listing(store)))


def _entry(stored: StoredModel) -> StoreEntry:
    problem, size_bytes = None, stored.onnx.stat().st_size
    interface = onnx_files.Interface((), ())
    try:
        model = onnx_files.read(stored.onnx)
        interface = onnx_files.interface(model)
        size_bytes = _size_bytes((stored.onnx, *external_data.files(model)))
    except ModelError as error:
        problem = error.problem
    return StoreEntry(
        name=stored.name,
        variant=stored.variant or "",
        path=stored.onnx,
        file_bytes=size_bytes,
        inputs=interface.inputs,
        data_sets=len(stored.data_sets),
        problem=problem,
    )


def _distinct_weights(model: ir.Model) -> list[ir.TensorProtocol]:
    """Return all initializers but text, each tensor once."""
    tensors = {
        id(value.const_value): value.const_value
        for graph in model.graphs()
        for value in graph.initializers.values()
        if value.const_value is not None and value.const_value.dtype is not ir.DataType.STRING
    }
    return list(tensors.values())


def _size_bytes(files: tuple[Path, ...]) -> int:
    return sum(file.stat().st_size for file in files)
