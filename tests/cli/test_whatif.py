from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import onnx
import pytest
from onnx import parser

from burnish.analyze.whatif import SCHEMA, WhatIfReport
from burnish.cli.main import run
from burnish.core import records
from burnish.core.errors import CheckFailedError
from kineto_events import kernel, launch, op, written

MODEL = """
<ir_version: 8, opset_import: ["" : 18]>
tiny (float[batch, 64] x) => (float[batch, 64] y) {
    [the_add] shifted = Add(x, x)
    [the_erf] curved = Erf(shifted)
    [the_mul] y = Mul(curved, x)
}
"""


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("BURNISH_CACHE", str(tmp_path / "cache"))
    path = tmp_path / "tiny.onnx"
    onnx.save(parser.parse_model(MODEL), path)
    return str(path)


def test_a_change_is_shown_with_its_gain_and_ceiling(
    model: str, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["--scale", "Erf=4", "--sweep", "--shape", "batch=64", "--threads", "1"]
    assert run(["whatif", model, *asked]) == 0
    told = capsys.readouterr().out
    for text in ("wall, unprofiled", "sum of nodes", "scale Erf 4.00×", "ceiling", "its limit"):
        assert text in told


def test_json_follows_the_schema_and_the_simulated_timeline_is_written(
    model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "after.json"
    asked = ["--remove", "the_erf", "--threads", "1", "--json", "--trace-out", str(target)]
    assert run(["whatif", model, *asked]) == 0
    document = json.loads(capsys.readouterr().out)
    jsonschema.validate(document, records.json_schema(WhatIfReport, schema=SCHEMA))
    (outcome,) = document["outcomes"]
    assert outcome["events"] == 1
    assert outcome["wall_s"] < outcome["baseline_s"]
    names = {event["name"] for event in json.loads(target.read_text())["traceEvents"]}
    assert {"the_add", "the_mul"} <= names


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([], "nothing is asked about"),
        (["--scale", "Erff=2"], "the nearest: Erf"),
        (["--scale", "Erf"], "is not WHAT=VALUE"),
        (["--cuda-graph"], "all of this ran on the host"),
        (["--hw", "nothing", "--sweep"], "unknown device 'nothing'"),
        (["--apply", "layer-norm", "--sweep"], "finds nothing to fuse"),
    ],
)
def test_requests_that_make_no_sense_say_what_to_write(
    model: str, options: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["whatif", model, *options]) in (2, 4)
    assert said in capsys.readouterr().err


def test_a_recorded_timeline_cannot_be_checked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trace = tmp_path / "trace.json"
    trace.write_text("[]")
    assert run(["whatif", str(trace), "--scale", "a=2", "--measure"]) == 2
    assert "a recorded timeline cannot be changed" in capsys.readouterr().err


@pytest.mark.slow
def test_a_checked_change_is_measured_and_remembered(
    model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["--remove", "Erf", "--measure", "--shape", "batch=256", "--threads", "1", "--json"]
    # on a busy machine a change of microseconds may be found to differ from what was said
    assert run(["whatif", model, *asked]) in (0, CheckFailedError.exit_code)
    (outcome,) = json.loads(capsys.readouterr().out)["outcomes"]
    assert outcome["checked"]["measured_s"] > 0
    (line,) = (tmp_path / "cache" / "whatif-history.jsonl").read_text().splitlines()
    assert json.loads(line)["actions"] == ["remove Erf"]


def test_the_published_example_gives_what_it_should(
    shared: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = shared / "data" / "traces"
    asked = [
        "--model", str(folder / "bert-mini_layer.onnx"), "--scale", "top:1=inf",
        "--scenario", str(folder / "speedups.json"),
        "--groups", str(folder / "operationsAndGroups.xml"),
    ]  # fmt: skip
    assert run(["whatif", str(folder / "trace_dense_layer.json"), *asked]) == 0
    told = capsys.readouterr().out
    for text in ("3.22 ms", "98.0 µs", "79.0 µs", "1.005×", "1.181×", "id:2"):
        assert text in told
    assert f"next: burnish advise {folder / 'bert-mini_layer.onnx'}" in told


def test_a_recording_under_any_name_is_asked_about_without_a_model(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    events = [op("aten::mm", 0, 9), launch(2, 1), kernel("gemm", 20, 50, 1)]
    path = written(tmp_path, *events).rename(tmp_path / "recorded.pt.trace")
    assert run(["whatif", str(path), "--scale", "kernel:gemm=2"]) == 0
    told = capsys.readouterr().out
    assert "busy after" in told
    assert f"next: burnish profile {path} --by kernel" in told


def test_a_change_that_cannot_be_measured_is_no_success(
    model: str, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["--scale", "Erf=4", "--measure", "--shape", "batch=64", "--threads", "1"]
    assert run(["whatif", model, *asked]) == 1
    told = capsys.readouterr()
    assert "scale Erf 4.00×" in told.out
    assert "1 of 1 scenario could not be measured: as asked: not checked: scale cannot" in told.err
