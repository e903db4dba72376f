"""What is converted for a benchmark is kept, and kept whole."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import onnx.parser
import pytest
from onnx import numpy_helper

from burnish.store import layout
from burnish.store.stored import StoredModel
from burnish.study import casting

WEIGHTS = ", ".join(["1", "0.5", "0.25", "-1"] * 16)
MODEL = f"""
<ir_version: 8, opset_import: ["": 18]>
g (float[batch, 8] x) => (float[batch, 8] y) <float[8, 8] w = {{{WEIGHTS}}}> {{ y = MatMul(x, w) }}
"""


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> StoredModel:
    monkeypatch.setenv("BURNISH_CACHE", str(tmp_path / "cache"))
    onnx.save(onnx.parser.parse_model(MODEL), tmp_path / "m.onnx")
    return layout.stored(tmp_path / "m.onnx")


def cut(place: Path) -> None:
    place.write_bytes(place.read_bytes()[: place.stat().st_size // 2])


def rescaled(place: Path) -> None:
    made = onnx.load(place)
    (scale,) = (one for one in made.graph.initializer if "scale" in one.name)
    wider = (numpy_helper.to_array(scale) * 1.1).astype(np.float32)
    scale.CopyFrom(numpy_helper.from_array(wider, scale.name))
    onnx.save(made, place)


def test_a_model_is_converted_once(model: StoredModel, monkeypatch: pytest.MonkeyPatch) -> None:
    first, _ = casting.cast(model, "onnxruntime-cpu", "i8")
    monkeypatch.setattr(casting, "convert", lambda *_, **__: pytest.fail("converted again"))
    second, _ = casting.cast(model, "onnxruntime-cpu", "i8")
    assert first == second


@pytest.mark.parametrize("damage", [cut, rescaled, Path.unlink])
@pytest.mark.parametrize("sealed", [True, False])
def test_what_is_damaged_in_the_cache_is_converted_anew(
    model: StoredModel, damage: Callable[[Path], None], sealed: bool
) -> None:
    first, _ = casting.cast(model, "onnxruntime-cpu", "i8")
    whole = first.onnx.read_bytes()
    damage(first.onnx)
    if not sealed:  # the command ended between the two
        (first.onnx.parent / casting._SEAL).unlink()
    again, _ = casting.cast(model, "onnxruntime-cpu", "i8")
    assert again == first
    assert again.onnx.read_bytes() == whole


def test_another_burnish_converts_for_itself(
    model: StoredModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, _ = casting.cast(model, "onnxruntime-cpu", "i8")
    monkeypatch.setattr(casting, "__version__", "99")
    assert casting.cast(model, "onnxruntime-cpu", "i8")[0].onnx != first.onnx


def test_what_int8_left_out_is_told_each_time(model: StoredModel, tmp_path: Path) -> None:
    assert casting.left_out(casting.cast(model, "onnxruntime-cpu", "i8")[0]) == ""
    text = f"""
<ir_version: 8, opset_import: ["": 18]>
g (float[1, 1, 8, 8] x) => (float[1, 1, 8, 8] y)
<float[1, 1, 1, 1] k = {{0.5}}, float[8, 8] w = {{{WEIGHTS}}}> {{ c = Conv(x, k) y = MatMul(c, w) }}
"""
    onnx.save(onnx.parser.parse_model(text), tmp_path / "c.onnx")
    conv = layout.stored(tmp_path / "c.onnx")
    for _ in range(2):  # made, and as it was kept
        made, _type = casting.cast(conv, "onnxruntime-cpu", "i8")
        assert casting.left_out(made).startswith(
            "1 of 2 nodes not in int8, as burnish optimize -p int8: Conv ×1 (convolutions gain"
        )
    assert casting.left_out(conv) == ""
