"""Models are profiled on engines, or from recordings made elsewhere."""

from __future__ import annotations

import json
from pathlib import Path

import onnx
import pytest
from onnx import parser

from burnish.analyze.diagnosis import Diagnosis, Idle, Launches
from burnish.analyze.profile import SCHEMA, ProfileReport
from burnish.core import records
from burnish.core.errors import ModelError, UsageError
from burnish.report.table import Table
from burnish.store.stored import StoredModel
from burnish.study.profiling import answer, profiles
from burnish.study.recordings import (
    distributed,
    holds_recordings,
    is_timeline,
    require_model,
    timelines,
)
from burnish.study.requests.looking import ProfileCommand
from burnish.study.shown.diagnosis import first_lines, rank_lines
from kineto_events import event, kernel, launch, module, op, written

MODEL = """
<ir_version: 8, opset_import: ["" : 18]>
tiny (float[batch, 4] x, float[batch, 4] z) => (float[batch, 4] y, float[batch, 4] u) {
    shifted = Add(x, z)
    [the_relu] y = Relu(shifted)
    u = Sigmoid(shifted)
}
"""


@pytest.fixture
def model(tmp_path: Path) -> StoredModel:
    path = tmp_path / "tiny.onnx"
    onnx.save(parser.parse_model(MODEL), path)
    return StoredModel(path, "tiny")


def test_two_inputs_two_outputs_and_nameless_nodes_are_all_led_back(model: StoredModel) -> None:
    request = ProfileCommand(model, warmup=1, runs=2)
    found, (trace,) = profiles(request)
    (only,) = found.profiles
    assert only.coverage is not None
    assert only.coverage.share == 1.0
    assert only.diagnosis is not None
    assert only.diagnosis.wall_s > 0
    nodes = {node for span in trace.spans for node in span.nodes}
    assert nodes == {"Add_0", "the_relu", "Sigmoid_2"}


def test_one_model_twice_is_aligned_node_by_node(model: StoredModel) -> None:
    request = ProfileCommand([model, model], warmup=1, runs=2)
    found, traces = profiles(request)
    assert len(traces) == 2
    assert found.aligned is not None
    labels = {row.label for row in found.aligned.rows}
    assert labels == {"Add_0", "the_relu", "Sigmoid_2", "unattributed", "between nodes"}


def test_a_recording_is_read_instead_of_made(model: StoredModel, tmp_path: Path) -> None:
    events = [op("aten::relu", 0, 9, [2, 4]), launch(2, 1), kernel("k", 20, 5, 1, device=1)]
    request = ProfileCommand(model, trace=written(tmp_path, *events))
    found, (trace,) = profiles(request)
    assert found.profiles[0].plain_s is None
    assert found.profiles[0].by_origin.rows[0].label == "the_relu"
    assert any(span.device == 1 for span in trace.spans)


def test_an_empty_recording_says_what_to_do(model: StoredModel, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="the trace holds no complete inference") as caught:
        profiles(ProfileCommand(model, trace=written(tmp_path)))
    assert caught.value.hint == "record one with burnish profile MODEL --runs 10"


def test_a_recording_is_of_one_model(model: StoredModel, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        profiles(ProfileCommand([model, model], trace=written(tmp_path)))
    assert caught.value.problem == "--trace is of one model, and 2 are given"
    assert caught.value.hint == "give the MODEL that was traced"


def steps(*lengths: float, name: str = "gemm") -> list[dict[str, object]]:
    """Return inferences of one kernel each, with the modules around its launch."""
    events: list[dict[str, object]] = []
    for number, length in enumerate(lengths):
        at = number * 1000
        events += [
            event("user_annotation", f"ProfilerStep#{number}", at, 500),
            module("Net_0", at + 1, 90), module("Linear_0", at + 2, 80),
            op("aten::addmm", at + 3, 50), launch(at + 5, number),
            kernel(name, at + 20, length, number),
        ]  # fmt: skip
    return events


def test_a_recording_is_looked_at_without_a_model(tmp_path: Path) -> None:
    path = written(tmp_path, *steps(100, 102, 101), deviceProperties=[{"name": "NVIDIA H200"}])
    found, _ = timelines([path])
    (only,) = found.profiles
    assert only.coverage is None
    assert only.by_layer.rows[0].label == "Net_0/Linear_0"
    assert only.by_operator.rows[0].label == "aten::addmm"
    row = only.by_kernel.rows[0]
    assert (row.seconds_s, row.low_s, row.high_s) == pytest.approx((101e-6, 100e-6, 102e-6))
    assert only.diagnosis is not None
    assert only.diagnosis.holds == "launching"
    assert only.diagnosis.advice[0].command == f"burnish whatif {path} --cuda-graph"


def test_two_recordings_are_set_against_each_other_by_all_that_they_name(tmp_path: Path) -> None:
    paths = []
    for label, name, length in (("a", "gemm", 100), ("b", "nvjet", 60)):
        (tmp_path / label).mkdir()
        paths.append(written(tmp_path / label, *steps(length, length + 1, length + 2, name=name)))
    found, traces = timelines(paths)
    assert len(traces) == 2
    assert found.difference is not None
    assert (found.difference.baseline, found.difference.candidate) == tuple(map(str, paths))
    added = {row.label: row for row in found.difference.rows}["aten::addmm"]
    assert added.is_clear
    assert added.change_s == pytest.approx(-40e-6)
    assert found.by_kernel is not None
    fates = {row.label: row.fate for row in found.by_kernel.rows}
    assert (fates["gemm"], fates["nvjet"]) == ("vanishes", "appears")
    assert found.by_layer is not None


def test_what_changed_is_drawn_into_files(tmp_path: Path) -> None:
    paths = []
    for label, length, name in (("before", 100, "gemm"), ("after", 60, "fused")):
        (tmp_path / label).mkdir()
        paths.append(written(tmp_path / label, *steps(length, length + 1, length + 2, name=name)))
    page, drawing = tmp_path / "changes.html", tmp_path / "changes.svg"
    answer(ProfileCommand([str(path) for path in paths], output=[page, drawing]))
    assert "fused (" in page.read_text()
    assert "vanishes" in drawing.read_text()
    with pytest.raises(UsageError, match="-o draws what changed between two"):
        answer(ProfileCommand(str(paths[0]), output=page))


def test_a_recording_of_another_model_is_an_error_to_act_on(
    model: StoredModel, tmp_path: Path
) -> None:
    events = [op("aten::conv2d", 0, 9, [2, 4]), launch(2, 1), kernel("k", 20, 5, 1)]
    path = written(tmp_path, *events)
    with pytest.raises(ModelError, match="none of its work is of tiny") as caught:
        profiles(ProfileCommand(model, trace=path))
    assert caught.value.hint == (f"give the model that it is of, or none: burnish profile {path}")


def test_files_with_recordings_are_told_from_models(model: StoredModel, tmp_path: Path) -> None:
    assert is_timeline(str(written(tmp_path, *steps(5))))
    assert not is_timeline(str(model.onnx))
    assert not is_timeline("bert-base/f16")


def test_a_folder_of_recordings_is_the_ranks_of_one_run(tmp_path: Path) -> None:
    for rank, (before, waits) in enumerate([(40, 70), (100, 10)]):
        events = [
            launch(1, 1), kernel("gemm", 10, before, 1),
            launch(3, 2), kernel("ncclDevKernel_AllReduce", 10 + before, waits, 2, stream=9),
        ]  # fmt: skip
        written(tmp_path, *events).rename(tmp_path / f"rank{rank}.json")
    assert holds_recordings(str(tmp_path))
    found, _ = distributed(tmp_path)
    assert found.ranks is not None
    assert [rank.waiting_s for rank in found.ranks.ranks] == pytest.approx([60e-6, 0])
    assert found.profiles[0].label == "rank1.json"
    (tmp_path / "model.onnx").touch()
    assert not holds_recordings(str(tmp_path))


@pytest.mark.parametrize("command", ["graph", "advise"])
def test_a_recording_is_refused_where_its_model_is_wanted(tmp_path: Path, command: str) -> None:
    path = written(tmp_path, *steps(5))
    with pytest.raises(UsageError, match="is a recording, and burnish") as caught:
        require_model(str(path), command)
    assert f"burnish {'profile' if command == 'advise' else 'graph MODEL --trace'} {path}" in (
        caught.value.hint
    )


def test_how_work_got_to_a_device_is_told_as_far_as_it_was_recorded() -> None:
    told = [
        list(first_lines(diagnosis_of(calls)))[1]
        for calls in (Launches(3, None, None, None, 1.0), Launches(3, 1.0, 0.0, 2.0, 1.0))
    ]
    assert told[0].endswith("no launch was recorded that would tell why, 3 kernels and copies")
    assert told[1].endswith(
        "3 launches, begun before the call returned, queued 2.00 s where the stream was busy"
    )


def diagnosis_of(how: Launches) -> Diagnosis:
    return Diagnosis("unknown", "told", 1.0, 0.5, 0.0, Idle(0.5, 0.0, 0.0), how, (), {}, ())


def test_ranks_that_never_meet_are_not_said_to_wait(tmp_path: Path) -> None:
    for rank in range(2):
        written(tmp_path, launch(1, 1), kernel("gemm", 10, 40, 1)).rename(
            tmp_path / f"rank{rank}.json"
        )
    found = distributed(tmp_path)[0].ranks
    assert found is not None
    table, *lines = rank_lines(found)
    assert isinstance(table, Table)
    assert "No rank was seen to wait for another." in lines
    assert table.texts[0][3:6] == ("none", "none", "none")


def test_a_folder_with_one_recording_is_that_one(tmp_path: Path) -> None:
    written(tmp_path, *steps(5))
    assert holds_recordings(tmp_path)
    found, _ = distributed(tmp_path)
    assert found.ranks is None
    assert found.profiles[0].label == "trace.json"


def test_of_recordings_that_one_worker_made_the_last_is_read(tmp_path: Path) -> None:
    for number in (1763000000001, 1763000000002):
        name = f"host_12.{number}.pt.trace.json"
        written(tmp_path, *steps(5)).rename(tmp_path / name)
    (only,) = distributed(tmp_path)[0].profiles
    assert only.label == "host_12.1763000000002.pt.trace.json"
    assert only.notes[-1] == "the folder holds 2 recordings of one worker: the last is read"


def test_of_what_tensorboard_shows_the_last_run_is_read_and_each_host_once(tmp_path: Path) -> None:
    for run in ("2026_11_15", "2026_11_16"):
        folder = tmp_path / "plugins" / "profile" / run
        folder.mkdir(parents=True)
        for name in ("a.trace.json", f"{run}.json"):
            written(folder, *steps(5)).rename(folder / name)
        (folder / "a.xplane.pb").write_bytes(b"")
    (only,) = distributed(tmp_path)[0].profiles
    assert only.label == "2026_11_16.json"


def test_a_profile_of_a_device_without_its_kernels_says_so(tmp_path: Path) -> None:
    events = [
        {"cat": "Session", "pid": 1, "tid": 1, "dur": 90, "ts": 0, "ph": "X", "name": "model_run",
         "args": {}},
        {"cat": "Node", "pid": 1, "tid": 1, "dur": 40, "ts": 5, "ph": "X", "name": "a_kernel_time",
         "args": {"op_name": "Gemm", "provider": "CUDAExecutionProvider"}},
    ]  # fmt: skip
    path = tmp_path / "profile.json"
    path.write_text(json.dumps(events))
    (only,) = timelines([path])[0].profiles
    assert only.diagnosis is not None
    assert "whose work was not recorded" in only.diagnosis.sentence


def test_a_profile_with_diagnosis_and_ranks_is_read_back_from_its_document(tmp_path: Path) -> None:
    for rank in range(2):
        events = [launch(1, 1), kernel("ncclDevKernel_AllReduce", 10, 20 + rank, 1)]
        written(tmp_path, *events).rename(tmp_path / f"rank{rank}.json")
    found, _ = distributed(tmp_path)
    text = records.text_of(records.document(found, schema=SCHEMA))
    (tmp_path / "profile.json").write_text(text)
    assert records.read_document(ProfileReport, tmp_path / "profile.json", schema=SCHEMA) == found
