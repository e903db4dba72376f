from __future__ import annotations

import csv
import json
from pathlib import Path

import jsonschema
import numpy as np
import onnx
import onnx.parser
import pytest

from burnish.bench.ledger import Ledger
from burnish.cli.main import run
from burnish.codegen.backend import Backend, open_backend
from burnish.core import records
from burnish.core.errors import MissingCapabilityError
from burnish.report.study_page import SCHEMA, StudyReport
from burnish.study import planning

MODEL = """
<ir_version: 8, opset_import: ["": 18]>
g (float[batch, 4] x) => (float[batch, 4] y) { y = Neg(x) }
"""
STUDY = """
title = "Two engines"
engines = ["onnxruntime-cpu", "onnxruntime-cpu:off"]
batch = [1, 2]
rounds = 3
optimized = true
draw = ["batch"]
columns = ["onnxruntime"]
plans = ["cpu", "nvidia-a100"]
models = [{ path = "plain.onnx" }]
budget = "10s"
"""


def test_a_study_writes_tables_plots_and_a_page_and_goes_on_from_the_ledger(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    onnx.save(onnx.parser.parse_model(MODEL), tmp_path / "plain.onnx")
    (tmp_path / "s.toml").write_text(STUDY)
    book, out = Ledger(tmp_path / "l.sqlite"), tmp_path / "out"
    words = ["-q", "study", str(tmp_path / "s.toml"), "-o", str(out), "--ledger", str(book.path)]
    while len(book.rows()) < 8:
        before = len(book.rows())
        assert run([*words, "--json"]) == 0
        text = capsys.readouterr().out
        assert len(book.rows()) > before, "each time it goes on where the budget ended"
    document = json.loads(text)
    jsonschema.validate(document, records.json_schema(StudyReport, schema=SCHEMA))
    assert document["bench"]["rerun"] == document["command"]
    assert document["command"].startswith(f"burnish study {tmp_path / 's.toml'} ")
    assert {row.model for row in book.rows()} == {"plain", "plain_optimized"}
    # speed-ups are drawn where there was time for an interval of any
    assert {path.name for path in out.iterdir()} | {"speed-up.svg"} == {
        "rows.csv", "detail.csv", "result.csv", "fusion.csv", "report.md", "report.html",
        "result.json", "latency-batch.svg", "throughput-batch.svg", "speed-up.svg", "models",
        "steps", "plans.csv",
    }  # fmt: skip
    rows = list(csv.DictReader((out / "rows.csv").read_text().splitlines()))
    assert [row["engine"] for row in rows[:2]] == ["onnxruntime-cpu", "onnxruntime-cpu:off"]
    plans = list(csv.DictReader((out / "plans.csv").read_text().splitlines()))
    assert [(row["sizes"], row["device"], row["fusion"]) for row in plans] == [
        (f"batch={batch}", device, fusion)
        for batch in (1, 2)
        for device in ("cpu", "nvidia-a100")
        for fusion in ("none", "element-wise", "full")
    ]
    assert {(row["model"], row["kernels"], row["left_nodes"]) for row in plans} == {
        ("plain", "1", "0")
    }
    assert {(row["sizes"], row["intermediate_bytes"]) for row in plans} == {
        ("batch=1", "16"), ("batch=2", "32"),
    }  # fmt: skip
    assert "Plans, as predicted" in (out / "report.md").read_text()
    detail = list(csv.DictReader((out / "detail.csv").read_text().splitlines()))
    assert {row["optimizer"] for row in detail} == {"", "by_burnish"}


def test_a_device_that_nothing_can_be_planned_for_is_told_on_the_page_and_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refusing(device: str, threads: int) -> Backend:
        if device != "cpu":
            raise MissingCapabilityError("no triton", hint="pip install triton")
        return open_backend(device, threads)

    monkeypatch.setattr(planning, "open_backend", refusing)
    onnx.save(onnx.parser.parse_model(MODEL), tmp_path / "plain.onnx")
    (tmp_path / "s.toml").write_text(STUDY)
    words = ["study", str(tmp_path / "s.toml"), "-o", str(tmp_path / "out")]
    ledger = ["--ledger", str(tmp_path / "l.sqlite"), "--budget", "0s"]
    assert run(["-q", *words, *ledger]) == 0
    plans = list(csv.DictReader((tmp_path / "out" / "plans.csv").read_text().splitlines()))
    assert {row["device"] for row in plans} == {"cpu"}
    text = (tmp_path / "out" / "report.md").read_text()
    assert "- plans for nvidia-a100: no triton (pip install triton)" in text


DENSE = """
<ir_version: 8, opset_import: ["": 18]>
g (float[batch, 8] x) => (float[batch, 8] y)
{
    h = MatMul(x, w)
    r = Relu(h)
    y = MatMul(r, v)
}
"""


def test_what_is_left_of_a_pruned_model_has_rows_and_what_cannot_be_pruned_is_told(
    tmp_path: Path,
) -> None:
    model, dice = onnx.parser.parse_model(DENSE), np.random.default_rng(0)
    for name, shape in (("w", (8, 32)), ("v", (32, 8))):
        array = dice.normal(size=shape).astype(np.float32)
        model.graph.initializer.append(onnx.numpy_helper.from_array(array, name))
    onnx.save(model, tmp_path / "dense.onnx")
    plain = MODEL.replace(" x)", " a)").replace("(x)", "(a)").replace(" y", " b")
    onnx.save(onnx.parser.parse_model(plain), tmp_path / "plain.onnx")
    (tmp_path / "s.toml").write_text(
        'title = "t"\nengines = ["onnxruntime-cpu"]\npruned = 0.5\nrounds = 1\n'
        'models = [{ path = "dense.onnx" }, { path = "plain.onnx" }]\n'
    )
    out = tmp_path / "out"
    words = ["study", str(tmp_path / "s.toml"), "-o", str(out)]
    assert run(["-q", *words, "--ledger", str(tmp_path / "l.sqlite"), "--budget", "20s"]) == 0
    rows = list(csv.DictReader((out / "rows.csv").read_text().splitlines()))
    assert [row["model"] for row in rows] == ["dense", "dense_pruned", "plain"]
    assert "- plain, pruned: " in (out / "report.md").read_text()
