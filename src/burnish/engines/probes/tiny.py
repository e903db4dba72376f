"""A model small enough to try anything with: y = max(x · w + b, 0)."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

from burnish.core.arrays import Array
from burnish.store.stored import StoredModel, TorchSource

WEIGHT = np.array([[1, -2], [0.5, 4], [-1, 0.25]], np.float32)
BIAS = np.array([0.5, -0.5], np.float32)
INPUT = np.array([[1, 2, 3], [-1, 0.5, 2]], np.float32)
TOLERANCE = 1e-5
"""The sums have three terms of f32: whatever computes in f32 is nearer than this."""


def error_of(output: Array) -> float:
    """Return how far an output for `INPUT` is from what plain NumPy computes."""
    expected = np.maximum(INPUT @ WEIGHT + BIAS, 0)
    if output.shape != expected.shape:
        return math.inf
    return float(np.abs(output.astype(np.float64) - expected).max())


def write(folder: Path) -> StoredModel:
    """Write the model into a folder; it can also be built as a PyTorch module."""
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["xw"], name="product"),
        helper.make_node("Add", ["xw", "b"], ["z"], name="sum"),
        helper.make_node("Relu", ["z"], ["y"], name="relu"),
    ]
    weights = [numpy_helper.from_array(WEIGHT, "w"), numpy_helper.from_array(BIAS, "b")]
    x = helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, ["batch", 3])
    y = helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, ["batch", 2])
    model = helper.make_model(
        helper.make_graph(nodes, "tiny", [x], [y], weights),
        opset_imports=[helper.make_opsetid("", 17)],
        ir_version=8,
    )
    path = folder / "tiny.onnx"
    path.write_bytes(model.SerializeToString())
    source = TorchSource("function", f"{__file__}:module_and_inputs", {})
    return StoredModel(path, "tiny", torch=source, trusted=True)


def module_and_inputs() -> tuple[Any, dict[str, Any]]:
    """Return the same model as a PyTorch module of two layers, and an input."""
    import torch

    linear = torch.nn.Linear(3, 2)
    linear.load_state_dict({"weight": torch.tensor(WEIGHT.T), "bias": torch.tensor(BIAS)})
    return torch.nn.Sequential(linear, torch.nn.ReLU()).eval(), {"input": torch.tensor(INPUT)}
