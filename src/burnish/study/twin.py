"""A stand-in for a model that ONNX Runtime's CPU provider has no kernels for."""

from __future__ import annotations

from pathlib import Path

import ml_dtypes
import numpy as np

from burnish.core.arrays import Arrays
from burnish.rewrite.precision.widen import in_f32
from burnish.store import datasets, layout, onnx_files
from burnish.store.datasets import DataSet
from burnish.store.history import History
from burnish.store.stored import StoredModel

NOTE = (
    "ONNX Runtime's CPU provider has no bf16: the same graph was compared with its tensors in f32"
)


def widened(model: StoredModel, folder: Path) -> StoredModel:
    """Write the model and its recorded data with f32 in place of bf16; return that."""
    source = onnx_files.read(model.onnx)
    target = folder / model.onnx.name
    onnx_files.write(in_f32(source), target, history=History("", ()))
    before, after = onnx_files.interface(source), onnx_files.interface(onnx_files.read(target))
    for data_set in model.data_sets:
        found = datasets.read(data_set, before)
        wide = DataSet(_in_f32(found.inputs), _in_f32(found.outputs))
        datasets.write(folder / data_set.name, wide, after)
    return layout.stored(target)


def _in_f32(arrays: Arrays) -> Arrays:
    return {
        name: array.astype(np.float32) if array.dtype == ml_dtypes.bfloat16 else array
        for name, array in arrays.items()
    }
