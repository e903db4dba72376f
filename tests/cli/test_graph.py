from __future__ import annotations

import json
from pathlib import Path
from typing import get_args

import onnx
import pytest

from burnish.cli.commands import made
from burnish.cli.main import run
from burnish.report.graph import picture
from burnish.study.requests.looking import View
from kineto_events import kernel, launch, written

MODEL = """
<ir_version: 8, opset_import: ["" : 17]>
two (float[batch, 8] x, float[8, 8] w) => (float[batch, 8] y)
{
    p = MatMul (x, w)
    q = Relu (p)
    y = Add (p, q)
}
"""


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "two.onnx"
    onnx.save(onnx.parser.parse_model(MODEL), path)
    return path


def test_a_graph_is_drawn_without_times(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["graph", str(model), "-o", str(tmp_path / "two.svg")]) == 0
    told = capsys.readouterr()
    assert "two: 3 nodes, no times" in told.out
    assert told.out.endswith("--engine onnxruntime-cpu\n")
    assert (tmp_path / "two.svg").read_text().startswith("<svg")


def test_times_of_an_engine_go_into_all_files(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    targets = [tmp_path / f"two{ending}" for ending in (".html", ".csv", ".perfetto.json")]
    asked = [argument for target in targets for argument in ("-o", str(target))]
    options = ["--engine", "onnxruntime-cpu", "--scale", "MatMul=2", "--json"]
    assert run(["graph", str(model), *asked, *options]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["kind"] == "graph-report"
    assert [Path(file["path"]) for file in told["files"]] == targets
    assert told["nodes"] == 3
    assert told["coverage"] == 1.0
    assert told["after_wall_s"] <= told["wall_s"]
    assert all(target.stat().st_size > 100 for target in targets)


@pytest.mark.parametrize(
    ("options", "problem", "hint"),
    [
        (["-o", "a.png"], "a.png: its ending says no format", ".svg, .html"),
        (["-o", "a.svg", "--scale", "MatMul=2"], "a change needs times", "--engine"),
        (
            ["-o", "a.svg", "--engine", "onnxruntime-cpu", "--trace", "t.json"],
            "--engine and --trace both say where the times come from",
            "give one of them",
        ),
        (["-o", "a.perfetto.json"], "two has no times", "--engine onnxruntime-cpu"),
    ],
)
def test_a_request_that_cannot_be_met_says_why(
    model: Path, options: list[str], problem: str, hint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["graph", str(model), *options]) == 2
    told = capsys.readouterr().err
    assert problem in told
    assert hint in told


def test_nothing_is_written_when_one_file_cannot_be(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good, bad = tmp_path / "a.svg", tmp_path / "a.perfetto.json"
    assert run(["graph", str(model), "-o", str(good), "-o", str(bad)]) == 2
    assert not good.exists()
    assert "there is no timeline to write" in capsys.readouterr().err


def test_a_scenario_file_is_drawn_as_before_and_after(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scenario = tmp_path / "s.toml"
    scenario.write_text(
        '[[scenario]]\nname = "no product"\naction = [{do = "remove", select = ["MatMul"]}]\n'
    )
    options = ["--engine", "onnxruntime-cpu", "--scenario", str(scenario)]
    assert run(["graph", str(model), "-o", str(tmp_path / "a.svg"), *options]) == 0
    assert "after the change: " in capsys.readouterr().out
    assert "after no product" in (tmp_path / "a.svg").read_text()


def test_sizes_that_are_asked_for_are_drawn(model: Path, tmp_path: Path) -> None:
    assert run(["graph", str(model), "-o", str(tmp_path / "a.svg"), "--shape", "batch=3"]) == 0
    assert "f32[3, 8]" in (tmp_path / "a.svg").read_text()


def test_groups_of_ones_own_are_taken(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    events = [launch(2, 1), kernel("odd_kernel", 20, 5, 1)]
    trace, groups = written(tmp_path, *events), tmp_path / "mine.toml"
    groups.write_text('[[group]]\nname = "mine"\nkernel = "odd_kernel"\nnodes = ["Relu"]\n')
    asked = ["graph", str(model), "-o", str(tmp_path / "a.csv"), "--trace", str(trace)]
    assert run(asked) == 0
    without = (tmp_path / "a.csv").read_text()
    assert run([*asked, "--groups", str(groups)]) == 0
    assert (tmp_path / "a.csv").read_text() != without


def test_the_views_are_those_that_can_be_drawn() -> None:
    assert get_args(View) == picture.VIEWS


def test_help_names_every_format() -> None:
    from burnish.report.exports.by_suffix import WRITERS

    shown = next(option.help for option in made("graph").params if option.name == "output")
    assert all(ending in shown for ending in WRITERS)
