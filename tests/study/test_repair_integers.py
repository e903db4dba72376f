"""Planted channels that 8 bits cannot hold beside the others: what goes back to fp32, and why."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import onnx
import onnx_ir as ir
import pytest

import burnish
from burnish.core.errors import UsageError
from burnish.study.optimize_report import OptimizeReport, RewriteRejectedError
from rewriting import Graph, samples

WIDTH, LAYERS = 32, 10


def planted(*spoiled: int, width: int = WIDTH) -> ir.Model:
    """Return layers of products; before some of them one channel is far larger than the others."""
    g = Graph(opset=17)
    x = g.input("x", ["batch", width])
    y = x
    spread = np.ones(width, np.float32)
    spread[3] = 3e4
    for layer in range(LAYERS):
        weights = samples(width, width, seed=layer) / math.sqrt(width)
        given = y
        if layer in spoiled:  # the weights undo it: in f32 nothing is different
            given, weights = g.op("Mul", y, g.constant(spread)), weights / spread[:, None]
        more = g.op("Add", g.op("MatMul", given, weights), samples(width, seed=layer))
        y = g.op("Add", y, g.op("Tanh", more))
    y.shape = ir.Shape(["batch", width])
    return g.model(y)


def optimized(model: ir.Model, folder: Path, **asked: object) -> OptimizeReport:
    path = folder / "model.onnx"
    onnx.save(ir.serde.serialize_model(model), path)
    options = {
        "precision": "int8",
        "budget": 0.0,
        "shape": {"batch": 16},
        "max_error": 0.05,
        **asked,
    }
    return burnish.optimize(path, output=folder / "small.onnx", **options)


@pytest.mark.parametrize("spoiled", [(0,), (4,), (9,), (2, 7)])
@pytest.mark.parametrize("how", [{}, {"calibrate": "synthetic"}])
def test_what_8_bits_spoil_goes_back_and_nothing_else(
    spoiled: tuple[int, ...], how: dict[str, str], tmp_path: Path
) -> None:
    report = optimized(planted(*spoiled), tmp_path, **how)
    assert report.repair is not None
    assert len(report.repair.keep) == len(spoiled)
    assert report.repair.runs <= 2 * math.log2(LAYERS) + 5
    assert report.deviation is not None
    assert report.deviation.passed
    assert report.conversion is not None
    assert report.conversion.numbers is not None
    assert len(report.conversion.numbers.changed) == LAYERS - len(spoiled)
    reasons = [one.reason for one in report.conversion.numbers.kept]
    assert all("in int8 by itself, what it gives moves by" in reason for reason in reasons)


def test_a_model_that_is_near_enough_is_left_as_it_is(tmp_path: Path) -> None:
    assert optimized(planted(), tmp_path).repair is None


def test_what_would_have_to_stay_as_a_whole_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RewriteRejectedError, match="was not written: in int8") as caught:
        optimized(planted(*range(LAYERS)), tmp_path, max_error=1e-6)
    assert "--calibrate DATA --smooth 0.5" in caught.value.hint
    assert "--max-error" in caught.value.hint


def test_the_largest_weights_in_4_bits_go_back(tmp_path: Path) -> None:
    report = optimized(planted(5), tmp_path, precision="int4", max_error=0.1)
    assert report.repair is not None
    assert report.deviation is not None
    assert report.deviation.passed


def test_channels_made_even_need_no_repair(tmp_path: Path) -> None:
    data = tmp_path / "inputs.npz"
    np.savez(data, x=samples(512, WIDTH))
    report = optimized(planted(2, 7), tmp_path, calibrate=str(data), smooth=0.5)
    assert report.repair is None
    assert report.deviation is not None
    assert report.deviation.passed
    assert report.conversion is not None
    assert report.conversion.numbers is not None
    assert report.conversion.numbers.how.endswith(", smoothed")


@pytest.mark.parametrize(
    ("asked", "problem", "hint"),
    [
        ({"smooth": 0.5}, "--smooth needs to know how large each channel gets", "--calibrate DATA"),
        ({"smooth": 1.5, "calibrate": "synthetic"}, "is not a share above 0", "--smooth 0.5"),
        ({"smooth": 0.5, "precision": "int4"}, "--smooth says nothing without -p int8", "-p int8"),
    ],
)
def test_what_cannot_be_evened_out_is_refused_at_once(
    asked: dict[str, object], problem: str, hint: str, tmp_path: Path
) -> None:
    with pytest.raises(UsageError) as caught:
        optimized(planted(), tmp_path, **asked)
    assert problem in caught.value.problem
    assert hint in caught.value.hint
