"""BERT as TensorFlow's exporters spell it fuses whole: every norm, activation and attention."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import onnx_ir as ir
import pytest

from burnish.rewrite.pipeline import RewriteResult, optimize
from burnish.store import datasets, onnx_files
from burnish.zoo.entry import MODELS, NetworkOptions
from burnish.zoo.factory import build
from rewriting import assert_same_numbers, run

EXPORTS = Path(__file__).parent / "tensorflow"
"""What benchmarks/tf_bert.py wrote with TensorFlow 2.21.0, Keras 3.15.1 and tf2onnx 1.17.0."""


def _assert_all_fused(result: RewriteResult) -> None:
    rules = Counter(fusion.rule for fusion in result.report.fusions)
    assert (rules["layer-norm"], rules["gelu"], rules["attention"]) == (5, 2, 2)


def _assert_same_under_all_masks(model: ir.Model, result: RewriteResult) -> None:
    kinds = {value.name: value.dtype for value in model.graph.inputs}
    for mask in ([1, 1, 1, 0, 0], [0, 0, 1, 1, 1], [1, 0, 1, 0, 1], [0, 0, 0, 0, 0]):
        chance = np.random.default_rng(0)
        feeds = {
            "input_ids": chance.integers(0, 40, (2, 5)),
            "token_type_ids": chance.integers(0, 2, (2, 5)),
            "attention_mask": np.array([[1] * 5, mask]),
        }
        typed = {name: array.astype(kinds[name].numpy()) for name, array in feeds.items()}
        assert_same_numbers(model, result.model, typed, tolerance=2e-5)


@pytest.mark.parametrize("name", ["tf_bert_google", "tf_bert_keras"])
def test_what_tf2onnx_writes_fuses_and_gives_what_tensorflow_gave(name: str) -> None:
    folder = EXPORTS / name / "tf2onnx"
    model = onnx_files.read(folder / f"{name}_tf2onnx.onnx")
    result = optimize(model)
    _assert_all_fused(result)
    _assert_same_under_all_masks(model, result)
    known = datasets.read(folder / "test_data_set_0", onnx_files.interface(model))
    for found, expected in zip(
        run(result.model, known.inputs), known.outputs.values(), strict=True
    ):
        np.testing.assert_allclose(found, expected, atol=2e-5)


@pytest.mark.torch
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["bert_tf", "bert_keras"])
def test_what_the_zoo_spells_fuses(name: str) -> None:
    spelling = MODELS[name].spelling
    assert spelling is not None
    model = spelling.write(build(name, NetworkOptions(small=True)))
    result = optimize(model)
    _assert_all_fused(result)
    _assert_same_under_all_masks(model, result)
