from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import onnx.parser
import onnx.shape_inference
import pytest

from burnish.core.arrays import Array
from burnish.feeds.feed import Feeds
from burnish.parity.verify import Effort, judge, verify, verify_recorded
from burnish.rewrite.precision.widen import rounding
from burnish.store import datasets, layout, onnx_files
from burnish.store.datasets import DataSet
from burnish.store.history import History
from burnish.store.stored import StoredModel
from burnish.study.rounding_drift import NOTE, rounded_run, within_roundings

CANCELLING = """
<ir_version: 8, opset_import: ["": 18]>
g (float16[n] x) => (float16[n] y)
{
    far = Constant <value: tensor = float16 {25552}> ()
    there = Add(x, far)
    y = Sub(there, far)
}
"""
"""The identity, by way of 1,000 (25552 as bits), where numbers of f16 are half a unit apart."""


def recorded(folder: Path, y: Callable[[Array], Array]) -> StoredModel:
    """Return the model beside what somebody computed."""
    path = folder / "cancelling.onnx"
    typed = onnx.shape_inference.infer_shapes(onnx.parser.parse_model(CANCELLING))
    onnx.save(typed, path)
    x = np.random.default_rng(0).normal(size=64).astype(np.float16) * np.float16(9)
    data = DataSet({"x": x}, {"y": y(x)})
    datasets.write(folder / "test_data_set_0", data, onnx_files.interface(onnx_files.read(path)))
    return layout.stored(path)


FAR = np.float16(1000)


@pytest.mark.parametrize(
    ("y", "passes"),
    [
        (lambda x: x + FAR - FAR, True),
        (lambda x: x * np.float16(2), False),
        (lambda x: -x, False),
    ],
    ids=["rounded", "doubled", "negated"],
)
def test_what_roundings_move_is_forgiven_and_what_is_wrong_is_not(
    tmp_path: Path, y: Callable[[Array], Array], passes: bool
) -> None:
    model = recorded(tmp_path, y)
    failed = verify_recorded(judge(model), model.data_sets)
    assert not failed.passed
    report = within_roundings(model, failed)
    assert report.passed == passes
    assert report.notes[-1] == NOTE
    assert [sample.label for sample in report.samples] == ["test_data_set_0"]


def test_a_rounded_run_rounds_each_value_to_16_bits(tmp_path: Path) -> None:
    model = recorded(tmp_path, lambda x: x)
    x = datasets.read(model.data_sets[0], onnx_files.interface(onnx_files.read(model.onnx))).inputs
    found = rounded_run(model, x)["y"]
    np.testing.assert_array_equal(found, x["x"] + FAR - FAR)


def test_a_model_without_16_bits_is_not_run_again(tmp_path: Path) -> None:
    path = tmp_path / "wide.onnx"
    onnx.save(onnx.parser.parse_model(CANCELLING.replace("float16", "float")), path)
    assert rounded_run(layout.stored(path), {"x": np.ones(2, np.float32)}) == {}


@pytest.mark.parametrize("wrong", ["", "x", "y"], ids=["rounded", "halved inputs", "doubled"])
def test_an_engine_that_rounds_each_value_is_held_to_what_roundings_do(
    tmp_path: Path, wrong: str
) -> None:
    model = recorded(tmp_path, lambda x: x)
    engine = dataclasses.replace(judge(model), runs=rounded_file(tmp_path, wrong))
    inputs = datasets.read(model.data_sets[0], onnx_files.interface(onnx_files.read(model.onnx)))
    feeds = Feeds(inputs.inputs, {"n": 64})
    # no time for what the model means: then only what was run can be compared
    report = verify(judge(model), engine, [feeds], effort=Effort(search=False, budget_s=0))
    assert report.passed == (not wrong)
    drifts = "y: the model itself drifts as far where each value is rounded to its 16 bits"
    assert (drifts in report.notes) == (not wrong)


def rounded_file(folder: Path, wrong: str) -> StoredModel:
    """Write a model that rounds each value as a device does, or one that is wrong besides."""
    text = CANCELLING
    if wrong == "x":
        text = text.replace("Add(x, far)", "Add(h, far)").replace("{\n", "{\n h = Mul(x, x)\n", 1)
    if wrong == "y":
        text = text.replace("y = Sub(there, far)", "z = Sub(there, far)\n y = Add(z, z)")
    typed = onnx.shape_inference.infer_shapes(onnx.parser.parse_model(text))
    onnx.save(typed, folder / "other.onnx")
    twin = rounding(onnx_files.read(folder / "other.onnx"))
    onnx_files.write(twin, folder / "twin.onnx", history=History("", ()))
    return layout.stored(folder / "twin.onnx")
