from __future__ import annotations

from pathlib import Path

import onnx

from burnish.engines.loading import highest_level, refusal
from burnish.store.layout import stored
from burnish.store.stored import StoredModel

HEAD = '<ir_version: 10, opset_import: ["": 17, "nobody": 1]>'
JUDGE = "onnxruntime-cpu"


def _model(path: Path, body: str) -> StoredModel:
    text = f"{HEAD} g (float[2] x) => (float[2] y) {{ {body} }}"
    onnx.save(onnx.parser.parse_model(text), path)
    return stored(path)


def test_what_loads_at_every_level_is_not_refused(tmp_path: Path) -> None:
    model = _model(tmp_path / "fine.onnx", "y = Tanh(x)")
    assert refusal(JUDGE, model, model) == ""
    assert highest_level(JUDGE, model) == "all"


def test_what_does_not_load_is_said_with_the_level_and_the_reason(tmp_path: Path) -> None:
    fine = _model(tmp_path / "fine.onnx", "y = Tanh(x)")
    odd = _model(tmp_path / "odd.onnx", "y = nobody.Knows(x)")
    found = refusal(JUDGE, odd, fine)
    assert found.startswith("onnxruntime-cpu does not load it at level all (odd.onnx: operator ")
    assert highest_level(JUDGE, odd) is None


def test_what_the_original_does_not_do_either_is_no_refusal(tmp_path: Path) -> None:
    odd = _model(tmp_path / "odd.onnx", "y = nobody.Knows(x)")
    assert refusal(JUDGE, odd, odd) == ""
