from __future__ import annotations

from pathlib import Path

import onnx
import pytest

from burnish.engines import isolated, loading
from burnish.engines.base import EngineOptions
from burnish.engines.loading import highest_level, is_large, refusal
from burnish.parity.subject import JudgedSubject
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


def test_large_models_are_judged_without_copies_of_their_weights(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = _model(tmp_path / "fine.onnx", "y = Tanh(x)")
    asked: list[EngineOptions] = []

    def opened(_engine: str, _model: StoredModel, options: EngineOptions) -> None:
        asked.append(options)

    monkeypatch.setattr(isolated, "open_session", opened)
    JudgedSubject(model).open()
    (tmp_path / "fine.data").write_bytes(bytes(1 << 20))
    monkeypatch.setattr(loading, "_LARGE_BYTES", 1 << 20)
    JudgedSubject(model).open()
    assert [options.frugal for options in asked] == [False, True]
    assert not is_large(StoredModel(tmp_path / "gone.onnx", "gone"))
