"""A compiled folder leads back to its model, or says why not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from burnish.core.errors import ModelError, UsageError
from burnish.store import layout
from burnish.store.compiled import is_compiled, source_of


def folder(place: Path, text: str) -> Path:
    place.mkdir()
    (place / "plan.json").write_text(text)
    (place / "SHA256SUMS").write_text("")
    return place


def test_a_compiled_folder_means_its_model_and_itself(tmp_path: Path) -> None:
    (tmp_path / "m.onnx").write_bytes(b"model")
    made = folder(tmp_path / "c", json.dumps({"about": {"source": str(tmp_path / "m.onnx")}}))
    (made / "library_0.onnx").write_bytes(b"part")
    found = layout.resolve(str(made), tmp_path)
    assert (found.onnx, found.compiled, found.label) == (tmp_path / "m.onnx", made, "m")


def test_other_folders_are_not_compiled(tmp_path: Path) -> None:
    (tmp_path / "plan.json").write_text("{}")
    assert not is_compiled(tmp_path)


def test_a_model_that_is_gone_is_named(tmp_path: Path) -> None:
    made = folder(tmp_path / "c", json.dumps({"about": {"source": "/gone/m.onnx"}}))
    with pytest.raises(UsageError, match=r"was compiled from /gone/m\.onnx, which is not") as found:
        source_of(made)
    assert found.value.hint == f"run it by itself: burnish exec {made} --input INPUTS.npz"


@pytest.mark.parametrize("text", ["no JSON", "{}", '{"about": 3}'])
def test_a_plan_that_cannot_be_read_is_named(tmp_path: Path, text: str) -> None:
    made = folder(tmp_path / "c", text)
    with pytest.raises(ModelError, match=r"plan\.json: does not tell what it was compiled from"):
        source_of(made)
