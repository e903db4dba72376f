from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx_ir as ir
import pytest

from burnish.core.errors import UsageError
from burnish.store.stored import StoredModel
from burnish.study.variant import require_apart, share_data_sets, target_of


def test_a_stored_model_has_a_place_for_its_variant(tmp_path: Path) -> None:
    model = StoredModel(tmp_path / "bert" / "dynamo" / "bert_dynamo.onnx", "bert", "dynamo")
    folder = tmp_path / "bert" / "dynamo_optimized"
    assert target_of(model) == folder / "bert_dynamo_optimized.onnx"


def test_that_of_a_file_outside_a_store_is_beside_it() -> None:
    found = target_of(StoredModel(Path("there/model.onnx"), "model"))
    assert found == Path("there/model_optimized.onnx")


def test_data_sets_that_are_there_are_not_touched(tmp_path: Path) -> None:
    source, target = tmp_path / "a" / "test_data_set_0", tmp_path / "b" / "test_data_set_0"
    for folder, text in ((source, "new"), (target, "old")):
        folder.mkdir(parents=True)
        (folder / "input_0.pb").write_text(text)
    model = StoredModel(tmp_path / "a" / "m.onnx", "m", data_sets=(source,))
    share_data_sets(model, tmp_path / "b" / "m.onnx")
    assert (target / "input_0.pb").read_text() == "old"


def test_data_is_copied_where_it_cannot_be_linked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError("another file system")

    monkeypatch.setattr("os.link", refuse)
    source = tmp_path / "a" / "test_data_set_0"
    source.mkdir(parents=True)
    (source / "input_0.pb").write_text("data")
    model = StoredModel(tmp_path / "a" / "m.onnx", "m", data_sets=(source,))
    share_data_sets(model, tmp_path / "b" / "m.onnx")
    assert (tmp_path / "b" / "test_data_set_0" / "input_0.pb").read_text() == "data"


def test_a_model_never_replaces_the_weights_it_is_made_from(tmp_path: Path) -> None:
    tensor = ir.tensor(np.arange(64, dtype=np.float32), name="w")
    weights = ir.Value(name="w", const_value=tensor)
    output = ir.Node("", "Neg", [weights]).outputs[0]
    graph = ir.Graph([], [output], nodes=[output.producer()], initializers=[weights],
                     opset_imports={"": 17})  # fmt: skip
    ir.save(ir.Model(graph, ir_version=9), tmp_path / "m.onnx", external_data="w.bin",
            size_threshold_bytes=0)  # fmt: skip
    model = StoredModel(tmp_path / "m.onnx", "m")
    with pytest.raises(UsageError, match=r"a file of m\.onnx.s weights itself") as caught:
        require_apart(model, tmp_path / "w.bin")
    assert caught.value.hint == f"choose another place: -o {tmp_path / 'w_new.bin'}"
    require_apart(model, tmp_path / "other.onnx")
