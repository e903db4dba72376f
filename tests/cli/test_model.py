from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import jsonschema
import onnx
import onnx_ir as ir
import pytest

from burnish.cli.main import run
from burnish.core import records
from burnish.store import layout, onnx_files
from burnish.store.history import History, HistoryStep
from burnish.store.summary import SCHEMA, ModelSummary, StoreListing

TEXT = """
<ir_version: 10, opset_import: ["" : 20, "alien" : 3], producer_name: "me", producer_version: "2">
g (float[n, 3] x) => (float[n, 2] y)
<float[3, 2] weight = {1, 2, 3, 4, 5, 6}>
{ h = MatMul(x, weight) y = alien.Strange(h) }
"""


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = layout.place(Path("models"), "tiny", "dynamo")
    model = ir.from_proto(onnx.parser.parse_model(TEXT))
    model.graph[1].name = "odd_one"
    history = History("0123456789abcdef", (HistoryStep("fuse", "one gelu"),))
    onnx_files.write(model, path, history=history)
    return Path("models")


def test_show_says_what_the_model_is(
    store: Path, capsys: pytest.CaptureFixture[str], golden: Callable[..., None]
) -> None:
    assert run(["model", "show", "tiny"]) == 0
    golden(capsys.readouterr().out, suffix="txt")


def test_list_shows_every_model(
    store: Path, capsys: pytest.CaptureFixture[str], golden: Callable[..., None]
) -> None:
    assert run(["model", "list"]) == 0
    golden(capsys.readouterr().out, suffix="txt")


def test_an_empty_store_says_where_models_belong(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["model", "list", "--store", str(tmp_path)]) == 0
    assert "they belong in MODEL/VARIANT/MODEL_VARIANT.onnx" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "record"),
    [(["model", "show", "tiny/dynamo"], ModelSummary), (["model", "list"], StoreListing)],
)
def test_json_is_one_document_of_the_published_schema(
    store: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], record: type
) -> None:
    assert run([*arguments, "--json"]) == 0
    captured = capsys.readouterr()
    document = json.loads(captured.out)
    jsonschema.validate(document, records.json_schema(record, schema=SCHEMA))
    assert captured.err == ""


def test_a_missing_store_is_a_usage_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["model", "list", "--store", str(tmp_path / "none")]) == 2
    assert capsys.readouterr().err.endswith("hint: name the store with --store or BURNISH_STORE\n")


def test_a_damaged_model_is_a_model_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "m.onnx").write_bytes(b"PK\x03\x04")
    assert run(["model", "show", str(tmp_path / "m.onnx")]) == 3
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == (
        f"burnish: {tmp_path / 'm.onnx'}: is not an ONNX model; it starts like a zip archive"
        " (a PyTorch file?)\n  hint: export it to ONNX first\n"
    )
