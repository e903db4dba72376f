"""Benchmarks whose calls write whole texts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnx.parser
import pytest

from burnish.core.errors import CheckFailedError
from burnish.study import bench as benching
from burnish.study.requests.judging import BenchCommand
from engines.test_generation import DECODER, WIDTH, WORDS

PLAIN = """
<ir_version: 8, opset_import: ["": 18]>
g (float[batch, 4] x) => (float[batch, 4] y) { y = Neg(x) }
"""


def _asked(tmp_path: Path, path: Path, *generate: int) -> BenchCommand:
    return BenchCommand(
        str(path), engine="onnxruntime-cpu", batch=2, past_length=3, generate=generate, rounds=1,
        blocks=1, ledger=tmp_path / "l.sqlite",
    )  # fmt: skip


def test_steps_and_texts_are_rows_of_their_own_and_throughput_counts_tokens(
    tmp_path: Path,
) -> None:
    dice, model = np.random.default_rng(3), onnx.parser.parse_model(DECODER)
    for name, shape in (("table", (WORDS, WIDTH)), ("out", (WIDTH, WORDS)), ("scale", (WIDTH,))):
        array = dice.normal(size=shape).astype(np.float32)
        model.graph.initializer.append(onnx.numpy_helper.from_array(array, name))
    onnx.save(model, tmp_path / "decoder.onnx")
    report = benching.answer(_asked(tmp_path, tmp_path / "decoder.onnx", 0, 8))
    step, text = report.measurements
    assert (step.status, text.status) == ("ok", "ok")
    assert (step.bindings["generate"], text.bindings["generate"]) == (0, 8)
    assert (step.items_per_call, text.items_per_call) == (2, 16)
    assert (step.batch, text.batch) == (2, 2)
    assert text.subject.endswith("generate=8")
    assert all(mark.passed for mark in report.parity.values())
    again = benching.answer(_asked(tmp_path, tmp_path / "decoder.onnx", 0, 8))
    assert again.measurements == report.measurements, "texts have cells of their own"


def test_a_model_that_cannot_go_on_has_a_row_that_says_so(tmp_path: Path) -> None:
    onnx.save(onnx.parser.parse_model(PLAIN), tmp_path / "plain.onnx")
    request = _asked(tmp_path, tmp_path / "plain.onnx", 8)
    report = benching.answer(request)
    (row,) = report.measurements
    assert row.status == "unsupported"
    assert row.failure is not None
    assert "it is no decoder that can go on from what it computed: it takes x" in row.failure
    with pytest.raises(CheckFailedError, match="could not be measured"):
        benching.require(request, report)
