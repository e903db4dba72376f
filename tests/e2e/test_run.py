"""The main job, on the bundled model."""

from __future__ import annotations

import html
import json
from pathlib import Path

import jsonschema
import onnx
import pytest

from burnish.cli.reference import document_types
from burnish.core import records
from chromium import browser, executable
from e2e.conftest import Burnish

pytestmark = pytest.mark.slow

QUICK = ("--engine", "onnxruntime-cpu", "--rounds", "1", "--budget", "2")


def test_a_run_writes_the_report_the_result_and_the_model(
    burnish: Burnish, example: Path, tmp_path: Path
) -> None:
    done = burnish("run", example, "-o", "out", *QUICK)
    assert done.returncode == 0, done.stderr
    assert "same results" in done.stdout
    written = {path.name for path in (tmp_path / "out").iterdir() if path.is_file()}
    model = "bert-mini_torchscript_optimized.onnx"
    assert written == {"report.html", "explore.html", "result.json", model}
    operators = {node.op_type for node in onnx.load(tmp_path / "out" / model).graph.node}
    assert {"LayerNormalization", "BiasGelu", "Attention"} <= operators
    assert not {"Erf", "Softmax"} & operators
    ((kind, schema),) = document_types("run")
    result = json.loads((tmp_path / "out" / "result.json").read_text())
    jsonschema.validate(result, records.json_schema(kind, schema=schema))
    assert result["parity"]["passed"]
    (_, last) = (one["diagnosis"]["sentence"] for one in result["profile"])
    # the page begins it with a capital letter
    assert last[1:] in html.unescape((tmp_path / "out" / "report.html").read_text())


def test_an_interrupted_run_goes_on_where_it_was(
    burnish: Burnish, example: Path, tmp_path: Path
) -> None:
    assert burnish("run", example, "-o", "out", *QUICK).returncode == 0
    (tmp_path / "out" / "steps" / "profile.json").unlink()
    again = burnish("run", example, "-o", "out", "--json", *QUICK)
    resumed = {step["name"]: step["resumed"] for step in json.loads(again.stdout)["steps"]}
    assert resumed == {"optimize": True, "bench": True, "profile": False}


def test_a_model_that_was_changed_meanwhile_is_made_again(
    burnish: Burnish, example: Path, tmp_path: Path
) -> None:
    assert burnish("run", example, "-o", "out", *QUICK).returncode == 0
    model = tmp_path / "out" / "bert-mini_torchscript_optimized.onnx"
    good = model.read_bytes()
    model.write_bytes(good[:1000])
    again = burnish("run", example, "-o", "out", "--json", *QUICK)
    resumed = {step["name"]: step["resumed"] for step in json.loads(again.stdout)["steps"]}
    assert not resumed["optimize"]
    assert model.read_bytes() == good


@pytest.mark.browser
@pytest.mark.skipif(executable() is None, reason="chromium is not installed")
def test_the_report_of_a_real_run_opens_without_a_complaint_or_a_request(
    burnish: Burnish, example: Path, tmp_path: Path
) -> None:
    assert burnish("run", example, "-o", "out", *QUICK).returncode == 0
    page = tmp_path / "out" / "report.html"
    with browser() as tab:
        tab.open(page, width=1280, scheme="light")
        assert tab.complaints == []
        assert [url for url in tab.requested if not url.startswith("data:")] == [page.as_uri()]
        assert "bert-mini" in tab.value("document.body.innerText")
