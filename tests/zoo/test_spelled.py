"""The graphs that are written here have the forms of other exporters, and PyTorch's numbers."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import onnxruntime
import pytest

from burnish.store import onnx_files
from burnish.store.history import History
from burnish.zoo.entry import MODELS, NetworkOptions
from burnish.zoo.factory import build

pytestmark = [pytest.mark.torch, pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


def _written(name: str, path: Path) -> Counter[str]:
    built = build(name, NetworkOptions(small=True))
    spelling = MODELS[name].spelling
    assert spelling is not None
    model = spelling.write(built)
    onnx_files.write(model, path, history=History("", ()))
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    for inputs in (built.inputs, built.second_inputs):
        found = session.run(None, {key: tensor.numpy() for key, tensor in inputs.items()})
        for array, expected in zip(found, built.module(**inputs), strict=True):
            np.testing.assert_allclose(array, expected.detach().numpy(), atol=2e-5, rtol=1e-4)
    return Counter(node.op_type for node in model.graph)


def test_tf2onnx_has_its_norm_its_gelu_and_shapes_in_int32(tmp_path: Path) -> None:
    operators = _written("bert_tf", tmp_path / "m.onnx")
    assert operators["Reciprocal"] == 5
    assert operators["Tanh"] == 3
    assert operators["OneHot"] == 1
    assert operators["GlobalAveragePool"] == 2
    assert operators["ReduceMean"] == 8
    assert operators["Squeeze"] == 4
    assert not operators["Erf"]
    assert not operators["LayerNormalization"]


def test_keras2onnx_has_its_einsums_and_computes_a_root(tmp_path: Path) -> None:
    operators = _written("bert_keras", tmp_path / "m.onnx")
    assert operators["Einsum"] == 10
    assert operators["Erf"] == 2
    assert operators["Sqrt"] == 7
    assert not operators["OneHot"]
