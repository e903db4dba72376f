from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from burnish.core.errors import ModelError
from burnish.engines.base import ENGINES, EngineOptions
from burnish.parity.exposed import Exposed, _can_be_written
from burnish.store.stored import StoredModel

TEXT = """<ir_version: 10, opset_import: ["" : 20]>
    g (float[n, 32] x) => (float[n, 32] y) { a = MatMul(x, w)  b = Neg(a)  y = Relu(b) }"""


@pytest.fixture(params=[True, False], ids=["external", "inside"])
def stored(request: pytest.FixtureRequest, tmp_path: Path) -> StoredModel:
    model = onnx.parser.parse_model(TEXT)
    weight = np.full((32, 32), 0.5, np.float32)
    model.graph.initializer.append(numpy_helper.from_array(weight, "w"))
    path = tmp_path / "models" / "model.onnx"
    path.parent.mkdir()
    onnx.save(model, path, save_as_external_data=request.param, location="w", size_threshold=0)
    return StoredModel(path, "model")


def test_any_value_can_be_asked_for_again_and_again(stored: StoredModel, tmp_path: Path) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    before = sorted(stored.onnx.parent.iterdir())
    exposed = Exposed(stored, folder)
    feeds = {"x": np.ones((2, 32), np.float32)}
    for names in (["b"], ["a", "y"], ["y"]):
        with exposed.giving(names) as model:
            assert model.onnx.suffix != ".onnx"
            assert model.onnx.stat().st_size < 1000
            with ENGINES["onnxruntime-cpu"].open(model, EngineOptions()) as session:
                outputs = session.run(feeds)
        assert list(outputs) == names
        assert not model.onnx.exists()
    assert float(outputs["y"][0, 0]) == 0.0
    assert sorted(stored.onnx.parent.iterdir()) == before


def test_the_files_are_gone_after_a_failure(stored: StoredModel, tmp_path: Path) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    before = sorted(stored.onnx.parent.iterdir())
    with pytest.raises(ValueError, match="inside"), Exposed(stored, folder).giving(["a"]):
        raise ValueError("inside")
    assert sorted(stored.onnx.parent.iterdir()) == before


def test_a_folder_that_cannot_be_written_is_noticed(tmp_path: Path) -> None:
    assert _can_be_written(tmp_path)
    assert not _can_be_written(tmp_path / "missing")


def test_an_error_names_the_model_that_was_given(stored: StoredModel, tmp_path: Path) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    with pytest.raises(ModelError) as caught, Exposed(stored, folder).giving(["a"]) as model:
        raise ModelError(f"{model.onnx}: no kernel", hint=f"burnish model show {model.onnx}")
    assert caught.value.problem == f"{stored.onnx}: no kernel"
    assert caught.value.hint == f"burnish model show {stored.onnx}"
