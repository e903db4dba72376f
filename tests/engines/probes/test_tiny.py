"""The tiny model computes what NumPy says, and a wrong result is seen."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import onnx
import onnx.reference
import pytest

from burnish.engines.probes import tiny


def test_the_model_agrees_with_numpy(tmp_path: Path) -> None:
    path = tiny.write(tmp_path).onnx
    onnx.checker.check_model(str(path))
    (found,) = onnx.reference.ReferenceEvaluator(str(path)).run(None, {"x": tiny.INPUT})
    assert tiny.error_of(found) <= tiny.TOLERANCE


def test_a_wrong_result_is_seen() -> None:
    assert tiny.error_of(np.zeros((2, 2), np.float32)) > tiny.TOLERANCE
    assert tiny.error_of(np.zeros((1, 2), np.float32)) == math.inf


@pytest.mark.torch
def test_the_module_agrees_with_numpy() -> None:
    pytest.importorskip("torch")
    module, inputs = tiny.module_and_inputs()
    found = module(**inputs).detach().numpy()
    assert tiny.error_of(found) <= tiny.TOLERANCE
