"""A compiled folder leads back to its model, or says why not."""

from __future__ import annotations

import json
from pathlib import Path

import onnx
import pytest

from burnish.core.errors import ModelError, UsageError
from burnish.store import layout, onnx_files
from burnish.store.compiled import is_compiled, require_outside, source_of


def folder(place: Path, text: str) -> Path:
    place.mkdir()
    (place / "plan.json").write_text(text)
    (place / "SHA256SUMS").write_text("")
    return place


def told(source: Path, key: str) -> str:
    return json.dumps({"about": {"source": str(source), "source_key": key}})


def saved(path: Path) -> Path:
    text = '<ir_version: 10, opset_import: ["": 21]> m (float[2] x) => (float[2] y) {y = Relu(x)}'
    path.write_bytes(onnx.parser.parse_model(text).SerializeToString())
    return path


def test_a_compiled_folder_means_its_model_and_itself(tmp_path: Path) -> None:
    source = saved(tmp_path / "m.onnx")
    made = folder(tmp_path / "c", told(source, onnx_files.content_key(source)))
    (made / "library_0.onnx").write_bytes(b"part")
    found = layout.resolve(str(made), tmp_path)
    assert (found.onnx, found.compiled, found.label) == (tmp_path / "m.onnx", made, "m")


def test_other_folders_are_not_compiled(tmp_path: Path) -> None:
    (tmp_path / "plan.json").write_text("{}")
    assert not is_compiled(tmp_path)


def test_a_model_that_is_gone_is_named(tmp_path: Path) -> None:
    made = folder(tmp_path / "c", told(Path("/gone/m.onnx"), "0"))
    with pytest.raises(UsageError, match=r"was compiled from /gone/m\.onnx, which is not") as found:
        source_of(made)
    assert found.value.hint == f"run it by itself: burnish exec {made} --data INPUTS.npz"


def test_a_model_that_has_changed_is_refused(tmp_path: Path) -> None:
    source = saved(tmp_path / "m.onnx")
    made = folder(tmp_path / "c", told(source, "0" * 64))
    with pytest.raises(ModelError, match=r"m\.onnx, which has changed since") as found:
        source_of(made)
    assert found.value.hint == f"compile it again: burnish compile {source} -o {made}"


@pytest.mark.parametrize("text", ["no JSON", "{}", '{"about": 3}'])
def test_a_plan_that_cannot_be_read_is_named(tmp_path: Path, text: str) -> None:
    made = folder(tmp_path / "c", text)
    with pytest.raises(ModelError, match=r"plan\.json: does not tell what it was compiled from"):
        source_of(made)


def test_nothing_else_is_written_into_a_compiled_folder(tmp_path: Path) -> None:
    compiled = folder(tmp_path / "c", "{}")
    for inside in (compiled / "y.npz", compiled / "deep" / "y.npz"):
        with pytest.raises(UsageError, match=r"y.npz: lies in .*, a compiled model") as caught:
            require_outside(inside)
        assert caught.value.hint == f"choose another place with -o: {tmp_path / 'y.npz'}"
    require_outside(compiled)
    require_outside(tmp_path / "y.npz")
    with pytest.raises(UsageError) as caught:
        require_outside(compiled / "my y.npz")
    assert caught.value.hint == f"choose another place with -o: '{tmp_path / 'my y.npz'}'"
