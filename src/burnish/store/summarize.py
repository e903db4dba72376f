"""Say what a model is, and what a store holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import onnx_ir as ir

from burnish.core.errors import ModelError
from burnish.store import external_data, history, layout, onnx_files
from burnish.store.operator_rules import is_defined
from burnish.store.stored import StoredModel
from burnish.store.summary import ModelSummary, StoreEntry, StoreListing, UnknownOperator

_ONNX_DOMAINS = frozenset({"", "ai.onnx", "ai.onnx.ml", "ai.onnx.training"})
_ONNX_RUNTIME_DOMAINS = frozenset(
    {"com.microsoft", "com.microsoft.nchwc", "com.ms.internal.nhwc", "ai.onnx.preview.training"}
)
"""Operators that ONNX Runtime brings along; which of them exist depends on its build."""


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
        operators=counts(model),
        unknown=unknown_operators(model),
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


def counts(model: ir.Model) -> dict[str, int]:
    """Return how many nodes each operator has, most frequent first; other domains are named."""
    names = (
        f"{node.domain}.{node.op_type}" if node.domain else node.op_type
        for node, _ in _nodes(model)
    )
    return dict(sorted(Counter(names).items(), key=lambda item: (-item[1], item[0])))


def unknown_operators(model: ir.Model) -> tuple[UnknownOperator, ...]:
    """Return the nodes whose operator neither ONNX nor ONNX Runtime nor the model defines."""
    return tuple(
        UnknownOperator(node.name or "", node.op_type, node.domain)
        for node, opsets in _nodes(model)
        if node.op_identifier() not in model.functions and not _is_known(node, opsets)
    )


def _is_known(node: ir.Node, opsets: dict[str, int]) -> bool:
    if node.domain in _ONNX_RUNTIME_DOMAINS:
        return True
    if node.domain not in _ONNX_DOMAINS:
        return False
    domain = "" if node.domain == "ai.onnx" else node.domain
    opset = opsets.get(domain) or opsets.get(node.domain) or 1
    return is_defined(node.op_type, opset, domain)


def _nodes(model: ir.Model) -> Iterator[tuple[ir.Node, dict[str, int]]]:
    """Yield every node of the model with the opsets that apply to it."""
    for node in model.graph.all_nodes():
        yield node, model.opset_imports
    for function in model.functions.values():
        for node in function.all_nodes():
            yield node, {**model.opset_imports, **function.opset_imports}
