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
from kineto_events import kernel, launch, op, written

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


TRACE = (
    '{"schemaVersion": 1, "traceEvents": ['
    '{"ph":"X","cat":"cpu_op","name":"aten::erf","pid":1,"tid":1,"ts":0,"dur":9},'
    '{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":2,"dur":3,'
    '"args":{"correlation":4}},'
    '{"ph":"X","cat":"kernel","name":"erf_kernel","pid":0,"tid":7,"ts":20,"dur":5,'
    '"args":{"correlation":4,"device":0,"stream":7}},'
    '{"ph":"X","cat":"kernel","name":"stray","pid":0,"tid":7,"ts":60,"dur":1,'
    '"args":{"correlation":9,"device":0,"stream":7}}]}'
)


def test_a_recording_made_elsewhere_is_led_back_to_the_models_nodes(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "trace.json"
    path.write_text(TRACE)
    assert run(["profile", str(model), "--trace", str(path), "--by", "node"]) == 0
    told = capsys.readouterr().out
    assert "tiny on torch profiler, 41.0 µs a run" in told
    assert "the_erf" in told
    assert "83.3 % of 6.00 µs of work is led back to the model's nodes: 83.3 % by what" in told
    assert "1 span unattributed" in told
    assert "Note: 1 of 2 kernels and copies have no launch in the trace" in told


def test_small_rows_and_gaps_can_be_left_out(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "trace.json"
    path.write_text(TRACE)
    arguments = ["profile", str(model), "--trace", str(path), "--by", "kernel"]
    assert run([*arguments, "--threshold", "20", "--kernel-time-only"]) == 0
    told = capsys.readouterr().out
    assert "6.00 µs of work" in told
    assert "erf_kernel" in told
    assert "stray" not in told
    assert "between nodes" not in told


def test_a_library_of_ones_own_is_used(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trace, groups = tmp_path / "trace.json", tmp_path / "mine.toml"
    trace.write_text(TRACE)
    groups.write_text('[[group]]\nname = "mine"\nkernel = "stray"\nnodes = ["Mul"]\n')
    arguments = ["profile", str(model), "--trace", str(trace), "--by", "node"]
    assert run([*arguments, "--groups", str(groups)]) == 0
    told = capsys.readouterr().out
    assert "the_mul" in told
    assert "16.7 % by what such work usually is" in told


def test_recordings_are_looked_at_alone_and_against_each_other(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = []
    for label, length in (("one", 50), ("two", 90)):
        (tmp_path / label).mkdir()
        events = [op("aten::add", 0, 9), launch(2, 1), kernel("gemm", 20, length, 1)]
        path = written(tmp_path / label, *events).rename(tmp_path / f"{label}.json")
        paths.append(str(path))
    assert run(["profile", paths[0]]) == 0
    told = capsys.readouterr().out
    assert told.startswith("The GPU is busy")
    assert f"next: burnish whatif {paths[0]} --sweep" in told
    assert run(["profile", *paths, "--by", "kernel"]) == 0
    assert "From one.json to two.json" in capsys.readouterr().out


def test_a_recording_and_a_model_side_by_side_are_no_request(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path, launch(2, 1), kernel("k", 20, 5, 1))
    assert run(["profile", str(path), str(model)]) == 2
    told = capsys.readouterr().err
    assert f"{path} is a recording, and not all of {path}, {model} are" in told
    assert f"burnish profile MODEL --trace {path}; or recordings alone" in told


def test_the_ranks_of_a_folder_are_a_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for rank, length in enumerate([70, 10]):
        events = [launch(1, 1), kernel("ncclDevKernel_AllReduce", 10, length, 1)]
        written(tmp_path, *events).rename(tmp_path / f"rank{rank}.json")
    assert run(["profile", str(tmp_path)]) == 0
    told = capsys.readouterr().out
    assert "The others wait for rank1.json, up to 60.0 µs an inference." in told
    assert f"next: burnish whatif {tmp_path / 'rank1.json'} --sweep" in told
    assert run(["profile", str(tmp_path), str(tmp_path / "rank0.json")]) == 2
    told = capsys.readouterr().err
    assert f"{tmp_path} holds the ranks of one run, which are set against nothing else" in told
    assert f"give it alone: burnish profile {tmp_path}" in told


def test_a_recording_is_not_read_twice(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, launch(2, 1), kernel("k", 20, 5, 1))
    assert run(["profile", str(path), "--trace", "other.json"]) == 2
    told = capsys.readouterr().err
    assert f"{path} is a recording, and so is --trace other.json" in told
    assert "give the model of one: burnish profile MODEL --trace other.json" in told


def test_what_a_profile_says_first_is_what_holds_the_model_back(
    model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["profile", str(model), "--shape", "batch=4", "--threads", "1", "--runs", "3"]) == 0
    told = capsys.readouterr().out
    table = told.index("tiny on onnxruntime-cpu")
    assert 0 < told.index(" an inference, at work ") < table
    assert "±" in told[table:]
