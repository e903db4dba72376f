from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnx_ir as ir
import pytest

from burnish.meaning.evaluate import Evaluator
from burnish.meaning.numbers import Reals
from torture.bases.kinds import cnn, transformer
from torture.spoiled import NAMES, asked_about
from torture.spoils import NothingToSpoilError, spoilt

KINDS = {kind.name: kind for kind in (cnn(), transformer())}
SELDOM = ("inputs below -5 5 % off", "inputs above 20 5 % off")
"""What shows only with inputs that are far out."""


@pytest.mark.parametrize("kind", KINDS)
def test_every_error_that_can_be_planted_is_one(kind: str) -> None:
    base, planted = KINDS[kind], 0
    right = Evaluator(ir.from_proto(base.model)).outputs(base.feeds, Reals())["y"].value
    for name in NAMES:
        try:
            model = spoilt(base.model, name)
        except NothingToSpoilError:
            continue
        planted += 1
        found = Evaluator(ir.from_proto(model)).outputs(base.feeds, Reals())["y"]
        moved = found.value.shape != right.shape or not np.array_equal(found.value, right)
        assert moved or found.dtype != "f32" or name in SELDOM, name
    assert planted >= 12


def test_verify_finds_them_and_not_the_model_itself(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    onnx.save(KINDS["CNN"].model, path)
    names = ("weight 1 % off", "pads shifted by one", "NaN in one element")
    found = [*asked_about(path, KINDS["CNN"].model, names=names, budget_s=2.0)]
    assert [each.error for each in found] == ["", *names]
    assert all(each.is_right for each in found)
