"""Give a model an IR version and an opset that the installed ONNX Runtime accepts."""

from __future__ import annotations

from collections.abc import Callable

import onnx
import onnx_ir as ir
from onnx import version_converter

from burnish.core.errors import ModelError
from burnish.store import runtime_limits
from burnish.store.runtime_limits import ALWAYS_ACCEPTED_IR, ALWAYS_ACCEPTED_OPSET, RuntimeLimits

_SEPARATE_INITIALIZERS_IR = 4
"""Before this IR version every initializer had to be an input as well."""
_FUNCTIONS_IR = 8
_SMALL_BYTES = 1024
"""Initializers up to this size stay visible to the converter, which may need their values."""


def fitted(
    model: ir.Model, ask: Callable[[], RuntimeLimits] = runtime_limits.installed
) -> ir.Model:
    """Return a copy of `model` in versions that the runtime accepts; `ask` only if need be."""
    work = model.clone()
    work.ir_version = max(
        work.ir_version, _FUNCTIONS_IR if work.functions else _SEPARATE_INITIALIZERS_IR
    )
    if work.ir_version > ALWAYS_ACCEPTED_IR:
        work.ir_version = min(work.ir_version, ask().ir_version)
    if _opset(work) > ALWAYS_ACCEPTED_OPSET and _opset(work) > ask().opset:
        return _lowered(work, ask())
    return work


def _lowered(model: ir.Model, limits: RuntimeLimits) -> ir.Model:
    if not _changed_operators(model, limits.opset):
        return _restamped(model, limits.opset)
    try:
        return _converted(model, limits.opset)
    except (RuntimeError, ValueError) as error:
        raise ModelError(
            f"the model has opset {_opset(model)}, {limits.runtime} takes up to {limits.opset}, and"
            f" {', '.join(_changed_operators(model, limits.opset))} cannot be converted down"
            f" ({_first_line(error)})",
            hint=f"export it again with opset {limits.opset}, or: pip install -U onnxruntime",
        ) from error


def _changed_operators(model: ir.Model, opset: int) -> list[str]:
    """Return the operators whose meaning at the model's opset is newer than `opset`."""
    nodes = [*model.graph.all_nodes()]
    for function in model.functions.values():
        nodes += function.all_nodes()
    return sorted({n.op_type for n in nodes if not n.domain and _since(n, model) > opset})


def _since(node: ir.Node, model: ir.Model) -> int:
    opset = _opset(model)
    if not onnx.defs.has(node.op_type, opset, ""):
        return opset
    return int(onnx.defs.get_schema(node.op_type, opset, "").since_version)


def _restamped(model: ir.Model, opset: int) -> ir.Model:
    model.graph.opset_imports[""] = opset
    for function in model.functions.values():
        if function.opset_imports.get("", 0) > opset:
            function.opset_imports[""] = opset
    return model


def _converted(model: ir.Model, opset: int) -> ir.Model:
    """Return the model as ONNX's own converter writes it; large weights do not pass through it."""
    if model.functions:
        raise ValueError("ONNX's version converter drops model-local functions")
    weights = {}
    for name, value in list(model.graph.initializers.items()):
        tensor = value.const_value
        if tensor is not None and tensor.nbytes > _SMALL_BYTES:
            weights[name] = tensor
            del model.graph.initializers[name]
            value.shape, value.dtype = ir.Shape(tensor.shape.numpy()), tensor.dtype
            model.graph.inputs.append(value)
    converted = ir.serde.deserialize_model(
        version_converter.convert_version(ir.to_proto(model), opset)
    )
    for value in list(converted.graph.inputs):
        if value.name in weights:
            converted.graph.inputs.remove(value)
            value.const_value = weights[value.name]
            converted.graph.register_initializer(value)
    converted.ir_version = model.ir_version
    return converted


def _opset(model: ir.Model) -> int:
    return model.opset_imports.get("", 0)


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]
