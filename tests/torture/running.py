"""Run a model on ONNX Runtime, and say how far apart two runs are."""

from __future__ import annotations

import functools
from typing import Literal

import numpy as np
import onnx

from burnish.core.arrays import Array, Arrays

Level = Literal["off", "basic", "extended", "all"]


def outputs_of(model: onnx.ModelProto, inputs: Arrays, level: Level = "off") -> dict[str, Array]:
    """Return what a model gives, in its own order, with the engine's rewriting at `level`."""
    import onnxruntime

    levels = onnxruntime.GraphOptimizationLevel
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    options.graph_optimization_level = {
        "off": levels.ORT_DISABLE_ALL,
        "basic": levels.ORT_ENABLE_BASIC,
        "extended": levels.ORT_ENABLE_EXTENDED,
        "all": levels.ORT_ENABLE_ALL,
    }[level]
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    taken = {each.name for each in session.get_inputs()}
    names = [each.name for each in session.get_outputs()]
    given = session.run(names, {name: array for name, array in inputs.items() if name in taken})
    return dict(zip(names, given, strict=True))


def deviation(reference: dict[str, Array], candidate: dict[str, Array]) -> float:
    """Return the largest difference between two runs, in root mean squares of each output.

    Outputs are compared by name and by place: callers read them either way. More of them behind
    those that were there are no difference. Another shape, type,
    NaN or infinity is an infinite difference, as is any difference between integers.
    """
    if len(reference) > len(candidate):
        return np.inf
    by_place = zip(reference.values(), candidate.values(), strict=False)
    by_name = ((array, candidate.get(name)) for name, array in reference.items())
    return max((_apart(a, b) for a, b in (*by_place, *by_name)), default=0.0)


def _apart(reference: Array, candidate: Array | None) -> float:
    if candidate is None or reference.shape != candidate.shape:
        return np.inf
    if reference.dtype != candidate.dtype:
        return np.inf
    if reference.dtype.kind not in "fc":
        return 0.0 if np.array_equal(reference, candidate) else np.inf
    a, b = reference.astype(np.float64), candidate.astype(np.float64)
    finite = np.isfinite(a)
    if not np.array_equal(finite, np.isfinite(b)) or not _same(a[~finite], b[~finite]):
        return np.inf
    a, b = a[finite], b[finite]
    if np.array_equal(a, b):
        return 0.0
    scale = float(np.sqrt(np.mean(a * a)))
    # 1e-30: nothing a user calls a result is smaller, and it keeps 0/0 out
    return float(np.max(np.abs(a - b)) / max(scale, 1e-30))


def _same(a: Array, b: Array) -> bool:
    return bool(np.array_equal(a, b, equal_nan=True))


@functools.cache
def installed(package: str) -> bool:
    """Return whether a package can be imported."""
    import importlib.util

    return importlib.util.find_spec(package) is not None
