from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import onnx
import pytest
from onnx import parser

from burnish.analyze.profile import SCHEMA, ProfileReport
from burnish.cli.main import run
from burnish.core import records

MODEL = """
<ir_version: 8, opset_import: ["" : 18]>
tiny (float[batch, 4] x) => (float[batch, 4] y) {
    [the_add] shifted = Add(x, x)
    [the_erf] curved = Erf(shifted)
    [the_mul] y = Mul(curved, x)
}
"""


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "tiny.onnx"
    onnx.save(parser.parse_model(MODEL), path)
    return path


def test_the_table_has_every_operator_and_what_is_between(
    model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["profile", str(model), "--runs", "3", "--threads", "1"]) == 0
    told = capsys.readouterr().out
    for row in ("Add", "Erf", "Mul", "unattributed", "between nodes"):
        assert row in told
    assert "Medians of 3 runs, node by node." in told
    assert "use burnish bench for latencies" in told


def test_by_node_gives_names_and_operators(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["profile", str(model), "--by", "node", "--top", "1", "--shape", "batch=2"]) == 0
    told = capsys.readouterr().out
    assert sum(name in told for name in ("the_add", "the_erf", "the_mul")) == 1
    assert "of work is led back to the model's nodes: 100.0 % by name." in told


def test_two_models_are_set_side_by_side(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["profile", str(model), str(model), "--runs", "2"]) == 0
    assert "From tiny on onnxruntime-cpu to tiny on onnxruntime-cpu" in capsys.readouterr().out


def test_json_is_one_document_with_every_row(
    model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["-q", "profile", str(model), "--json", "--top", "1"]) == 0
    told = capsys.readouterr()
    document = json.loads(told.out)
    jsonschema.validate(document, records.json_schema(ProfileReport, schema=SCHEMA))
    rows = document["profiles"][0]["by_operator"]["rows"]
    assert {row["label"] for row in rows} >= {"Add", "Erf", "Mul", "unattributed"}
    assert told.err == ""


def test_the_timeline_can_be_kept(model: Path, tmp_path: Path) -> None:
    target = tmp_path / "trace.json"
    assert run(["profile", str(model), "--runs", "2", "--trace-out", str(target)]) == 0
    events = json.loads(target.read_text())["traceEvents"]
    assert sum(event["name"] == "the_erf" for event in events) == 2


def test_one_file_cannot_hold_two_timelines(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = str(tmp_path / "trace.json")
    assert run(["profile", str(model), str(model), "--trace-out", target]) == 2
    assert capsys.readouterr().err == (
        "burnish: --trace-out takes one timeline, and 2 were asked for\n"
        "  hint: give one MODEL and one --engine\n"
    )


def test_an_unknown_engine_names_the_known_ones(
    model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["profile", str(model), "--engine", "onnxruntime-gpu"]) == 2
    assert "unknown engine 'onnxruntime-gpu'" in capsys.readouterr().err
