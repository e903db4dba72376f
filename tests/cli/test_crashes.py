"""An engine that crashes or hangs is a row or an error; burnish itself never goes with it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx_ir as ir
import onnxruntime
import pytest

from burnish.cli.main import run
from burnish.engines import isolated
from burnish.process.child import ProcessLimits
from planting import plant
from rewriting import SQRT2, Graph

CRASHES = "onnxruntime-cpu crashes at level all, runs at level extended: SIGSEGV while running"


@pytest.fixture(autouse=True)
def _own_processes() -> Iterator[None]:
    yield
    isolated.end_all()


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """Return a model with a GELU in parts."""
    return write(tmp_path / "model.onnx")


def write(path: Path, *, one: float = 1.0) -> Path:
    graph = Graph(opset=20)
    x = graph.input("x", ["batch", 8])
    curve = graph.op("Erf", graph.op("Div", x, SQRT2))
    y = graph.op("Mul", graph.op("Mul", x, graph.op("Add", curve, one)), 0.5)
    y.shape = ir.Shape(["batch", 8])
    onnx.save(ir.serde.serialize_model(graph.model(y)), path)
    return path


def optimized(model: Path, *options: str) -> tuple[int, Path]:
    target = model.parent / "out.onnx"
    return run(["optimize", str(model), "-o", str(target), *options]), target


def operators(path: Path) -> list[str]:
    return [node.op_type for node in onnx.load(path).graph.node]


def shown(captured: Any) -> str:  # noqa: ANN401  (what was printed)
    return " ".join((captured.out + captured.err).split())


def test_verify_answers_no_and_names_level_and_signal(
    model: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code, target = optimized(model)
    assert code == 0
    plant(monkeypatch, "Gelu", "segv", levels=["all"])
    capsys.readouterr()
    assert run(["-q", "verify", str(model), str(target), "--json"]) == 1
    captured = capsys.readouterr()
    document = json.loads(captured.out)
    assert {sample["problem"] for sample in document["samples"]} == {f"{CRASHES} out"}
    assert document["crash"]["runs_at"] == "extended"
    assert "cannot run sample 1" in captured.err


def test_a_reference_that_crashes_is_an_error(
    model: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    plant(monkeypatch, "Erf", "segv")
    assert run(["verify", str(model)]) == 3
    problem = "onnxruntime-cpu crashes at level off: SIGSEGV while running model"
    assert f"burnish: {problem}\n  hint: it is the engine's fault" in capsys.readouterr().err


def test_a_hang_ends_the_command_and_says_what_hung(
    model: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    plant(monkeypatch, "Erf", "hang")
    monkeypatch.setattr(isolated, "ProcessLimits", lambda: ProcessLimits(answer_s=8.0))
    assert run(["verify", str(model)]) == 4
    assert (
        "burnish: onnxruntime-cpu hangs at level off while running model: gave no answer within "
        "8.00 s\n  hint: bind smaller sizes"
    ) in capsys.readouterr().err


def test_a_fusion_whose_part_crashes_is_undone_and_its_reason_is_a_row(
    model: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    plant(monkeypatch, "Gelu", "segv")
    code, target = optimized(model, "--json")
    assert code == 0
    assert "Gelu" not in operators(target)
    document = json.loads(capsys.readouterr().out)
    (miss,) = document["rewrite"]["misses"]
    assert miss["reason"].endswith(
        "only the original runs: it cannot be run on its own: onnxruntime-cpu crashes at level "
        "off: SIGSEGV while running this part"
    )
    assert document["check"]["undone"] == 1


def test_a_rule_with_which_the_whole_crashes_is_left_out(
    model: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    plant(monkeypatch, "Gelu", "segv", levels=["all"])
    code, target = optimized(model, "--json")
    assert code == 0
    assert "Gelu" not in operators(target)
    (miss,) = json.loads(capsys.readouterr().out)["rewrite"]["misses"]
    assert (miss["rule"], miss["reason"]) == ("gelu", f"with it, {CRASHES} out")
    assert miss["remedy"] == "none needed: gelu was left out"


@pytest.mark.parametrize("level", ["extended", "off"])
def test_a_rule_whose_result_does_not_load_at_every_level_is_left_out(
    model: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], level: str
) -> None:
    plant(monkeypatch, "Gelu", "refuse", at="open", levels=[level])
    code, target = optimized(model, "--no-trial", "--json")
    assert code == 0
    assert "Gelu" not in operators(target)
    (miss,) = json.loads(capsys.readouterr().out)["rewrite"]["misses"]
    found = f"with it, onnxruntime-cpu does not load it at level {level} ("
    assert miss["reason"].startswith(found)
    assert miss["remedy"] == "none needed: gelu was left out"


def test_a_crash_that_no_rule_makes_is_a_failed_check(
    model: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    plant(monkeypatch, "Cast", "segv", levels=["all"])
    (model.parent / "out.onnx").write_bytes(b"precious")
    graph = Graph(opset=20)
    rows = graph.op(
        "Gather", np.ones((3, 8), np.float32), graph.input("ids", ["batch"], ir.DataType.INT64)
    )
    onnx.save(ir.serde.serialize_model(graph.model(rows)), model)
    code, target = optimized(model, "--int32-inputs")
    assert code == 1
    assert target.read_bytes() == b"precious"
    said = shown(capsys.readouterr())
    assert (
        f"was not written: out on onnxruntime-cpu cannot run sample 1 (batch=1), {model.stem} on"
        in said
    )
    assert f"{CRASHES} out" in said
    assert "--only NAME,… names those to apply" in said


def test_where_the_original_crashes_too_both_are_compared_at_a_lower_level(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    plant(monkeypatch, "Erf", "segv", levels=["all", "extended"])
    code, target = optimized(write(tmp_path / "model.onnx", one=2.0), "--json")
    assert code == 0
    assert target.exists()
    parity = json.loads(capsys.readouterr().out)["parity"]
    assert parity["passed"]
    assert parity["crash"] is None
    (note,) = parity["notes"]
    assert note == (
        "of the original, too: onnxruntime-cpu crashes at level all, runs at level basic: SIGSEGV "
        "while running model; compared at level basic"
    )


def test_where_neither_loads_at_the_highest_level_both_are_compared_at_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    plant(monkeypatch, "Erf", "refuse", at="open", levels=["all"])
    code, target = optimized(write(tmp_path / "model.onnx", one=2.0), "--json")
    assert code == 0
    assert target.exists()
    notes = json.loads(capsys.readouterr().out)["parity"]["notes"]
    assert "neither it nor the original loads at a level above extended; compared at that" in notes


def test_a_benchmark_has_a_row_for_what_crashed_and_goes_on(
    model: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code, target = optimized(model)
    assert code == 0
    plant(monkeypatch, "Gelu", "segv")
    capsys.readouterr()
    options = ["--engine", "onnxruntime-cpu", "--rounds", "1", "--blocks", "1", "--no-verify"]
    run(["-q", "bench", str(model), str(target), *options, "--json"])
    first, second = json.loads(capsys.readouterr().out)["measurements"]
    assert first["failure"] is None
    assert second["failure"] == "the process ended by SIGSEGV during 'open'"


def test_a_profile_of_what_crashes_is_an_error(
    model: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    plant(monkeypatch, "Erf", "segv", at="open", levels=["all"])
    assert run(["profile", str(model)]) == 3
    assert f"burnish: {CRASHES.replace('running', 'loading')} model" in capsys.readouterr().err


HALF = """<ir_version: 10, opset_import: ["": 17]>
g (float16[n, 4] x) => (float16[n, 4] y) <float16[4] s = {1, 2, 3, 4}> {
    y = LayerNormalization(x, s, "")
}"""
"""A bias that is left out by an empty name: right by the standard, and the end of this version."""


@pytest.mark.skipif(onnxruntime.__version__ != "1.31.1", reason="a fault of this version alone")
def test_what_really_crashes_is_told_and_the_rewrite_avoids_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = tmp_path / "half.onnx"
    onnx.save(onnx.parser.parse_model(HALF), model)
    assert run(["verify", str(model)]) == 1
    told = "onnxruntime-cpu crashes at level all, runs at level basic: SIGSEGV while loading half"
    errors = capsys.readouterr().err
    assert told in errors
    assert f"hint: a rewrite may avoid it: burnish optimize {model} -o rewritten.onnx" in errors
    code, target = optimized(model)
    assert code == 0
    assert [len(node.input) for node in onnx.load(target).graph.node] == [2]
    assert run(["verify", str(model), str(target)]) == 0
