"""BERT as TensorFlow's exporters spell it fuses whole: every norm, activation and attention."""

from __future__ import annotations

from collections import Counter

import numpy as np
import onnx_ir as ir
import pytest

from burnish.rewrite.pipeline import optimize
from burnish.zoo.entry import MODELS, BuildOptions
from burnish.zoo.factory import build
from rewriting import assert_same_numbers

pytestmark = [pytest.mark.torch, pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


def _spelled(name: str) -> ir.Model:
    spelling = MODELS[name].spelling
    assert spelling is not None
    return spelling.write(build(name, BuildOptions(small=True)))


@pytest.mark.parametrize("name", ["bert_tf", "bert_keras"])
def test_all_norms_activations_and_attentions_fuse(name: str) -> None:
    model = _spelled(name)
    result = optimize(model)
    rules = Counter(fusion.rule for fusion in result.report.fusions)
    assert (rules["layer-norm"], rules["gelu"], rules["attention"]) == (5, 2, 2)
    for mask in ([1, 1, 1, 0, 0], [0, 0, 1, 1, 1], [1, 0, 1, 0, 1]):
        chance = np.random.default_rng(0)
        feeds = {
            "input_ids": chance.integers(0, 90, (2, 5)),
            "token_type_ids": chance.integers(0, 2, (2, 5)),
            "attention_mask": np.array([[1] * 5, mask]),
        }
        assert_same_numbers(model, result.model, feeds, tolerance=2e-5)
