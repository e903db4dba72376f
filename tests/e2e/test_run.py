"""The main job, on the bundled model."""

from __future__ import annotations

import html
import json
import shutil
from pathlib import Path

import jsonschema
import onnx
import pytest

from burnish.cli.reference import document_types
from burnish.core import records
from chromium import browser, executable
from e2e.conftest import Burnish, command

pytestmark = pytest.mark.slow

QUICK = ("--engine", "onnxruntime-cpu", "--rounds", "1", "--budget", "2")
MODEL = "bert-mini_torchscript_optimized.onnx"


@pytest.fixture(scope="module")
def ran(example: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder that one run wrote; whoever changes something changes a copy."""
    folder = tmp_path_factory.mktemp("ran")
    done = command(folder, "run", example, "-o", "out", *QUICK)
    assert done.returncode == 0, done.stderr
    assert "same results" in done.stdout
    return folder / "out"


def test_a_run_writes_the_report_the_result_and_the_model(ran: Path) -> None:
    written = {path.name for path in ran.iterdir() if path.is_file()}
    assert written == {"report.html", "explore.html", "result.json", MODEL}
    operators = {node.op_type for node in onnx.load(ran / MODEL).graph.node}
    assert {"LayerNormalization", "BiasGelu", "Attention"} <= operators
    assert not {"Erf", "Softmax"} & operators
    ((kind, schema),) = document_types("run")
    result = json.loads((ran / "result.json").read_text())
    jsonschema.validate(result, records.json_schema(kind, schema=schema))
    assert result["parity"]["passed"]
    (_, last) = (one["diagnosis"]["sentence"] for one in result["profile"])
    # the page begins it with a capital letter
    assert last[1:] in html.unescape((ran / "report.html").read_text())


def test_an_interrupted_run_goes_on_where_it_was(
    burnish: Burnish, ran: Path, example: Path, tmp_path: Path
) -> None:
    shutil.copytree(ran, tmp_path / "out")
    (tmp_path / "out" / "steps" / "profile.json").unlink()
    again = burnish("run", example, "-o", "out", "--json", *QUICK)
    resumed = {step["name"]: step["resumed"] for step in json.loads(again.stdout)["steps"]}
    assert resumed == {"optimize": True, "bench": True, "profile": False}


def test_a_model_that_was_changed_meanwhile_is_made_again(
    burnish: Burnish, ran: Path, example: Path, tmp_path: Path
) -> None:
    shutil.copytree(ran, tmp_path / "out")
    model = tmp_path / "out" / MODEL
    good = model.read_bytes()
    model.write_bytes(good[:1000])
    again = burnish("run", example, "-o", "out", "--json", *QUICK)
    resumed = {step["name"]: step["resumed"] for step in json.loads(again.stdout)["steps"]}
    assert not resumed["optimize"]
    assert model.read_bytes() == good


@pytest.mark.browser
@pytest.mark.skipif(executable() is None, reason="chromium is not installed")
def test_the_report_of_a_real_run_opens_without_a_complaint_or_a_request(ran: Path) -> None:
    page = ran / "report.html"
    with browser() as tab:
        tab.open(page, width=1280, scheme="light")
        assert tab.complaints == []
        assert [url for url in tab.requested if not url.startswith("data:")] == [page.as_uri()]
        assert "bert-mini" in tab.value("document.body.innerText")
