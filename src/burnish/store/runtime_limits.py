"""The newest IR version and opset that the installed ONNX Runtime accepts, found by asking it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import onnx
from onnx import helper

ALWAYS_ACCEPTED_IR = 10
ALWAYS_ACCEPTED_OPSET = 21
"""What every ONNX Runtime takes that burnish supports; only above these is it asked."""


@dataclass(frozen=True, slots=True)
class RuntimeLimits:
    """The newest versions that a runtime loads."""

    ir_version: int
    opset: int
    runtime: str
    """Name and version, for instance `ONNX Runtime 1.31.1`."""


@cache
def installed() -> RuntimeLimits:
    """Return the limits of the ONNX Runtime in this environment, from trying one-node models."""
    import onnxruntime

    ir_version = ALWAYS_ACCEPTED_IR
    while _loads(ir_version + 1, ALWAYS_ACCEPTED_OPSET):
        ir_version += 1
    opset = ALWAYS_ACCEPTED_OPSET
    while opset < onnx.defs.onnx_opset_version() and _loads(ir_version, opset + 1):
        opset += 1
    return RuntimeLimits(ir_version, opset, f"ONNX Runtime {onnxruntime.__version__}")


def _loads(ir_version: int, opset: int) -> bool:
    import onnxruntime
    from onnxruntime.capi import onnxruntime_pybind11_state as refusals

    x, y = (helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [1]) for name in "xy")
    graph = helper.make_graph([helper.make_node("Identity", ["x"], ["y"])], "probe", [x], [y])
    model = helper.make_model(
        graph, ir_version=ir_version, opset_imports=[helper.make_opsetid("", opset)]
    )
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    try:
        onnxruntime.InferenceSession(
            model.SerializeToString(), options, providers=["CPUExecutionProvider"]
        )
    except (refusals.Fail, refusals.InvalidGraph, refusals.NotImplemented, RuntimeError):
        return False
    return True
