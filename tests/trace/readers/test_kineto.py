"""PyTorch's timelines: what launched what, which inference it is of, and what is missing."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from burnish.core.errors import ModelError
from burnish.trace.events import Span, Trace
from burnish.trace.formats import read_any
from burnish.trace.own_time import busy_seconds
from burnish.trace.readers.kineto import read
from kineto_events import event, kernel, launch, module, op, written

US = pytest.approx


def named(trace: Trace, name: str) -> Span:
    return next(span for span in trace.spans if span.name == name)


def launched_by(trace: Trace, name: str) -> list[str]:
    """Return the names around the launch of a kernel, innermost first."""
    at = named(trace, name).cause
    names = []
    while at is not None:
        names.append(trace.spans[at].name)
        at = trace.spans[at].parent
    return names


ONE_CALL = (
    module("Linear_0", 0, 100),
    op("aten::linear", 10, 80, [2, 3], [4, 3], [4]),
    op("aten::addmm", 20, 60, [4], [2, 3]),
    launch(30, 5),
    kernel("gemm", 200, 10, 5),
)


def test_a_kernel_is_led_to_its_launch_operator_and_module(tmp_path: Path) -> None:
    trace = read_any(written(tmp_path, *ONE_CALL))
    assert launched_by(trace, "gemm") == [
        "cudaLaunchKernel", "aten::addmm", "aten::linear", "Linear_0",
    ]  # fmt: skip
    gemm = named(trace, "gemm")
    assert (gemm.op_type, gemm.device, gemm.stream, gemm.track) == (
        "aten::addmm", 0, 7, "GPU 0 stream 7",
    )  # fmt: skip
    assert named(trace, "aten::linear").attributes == {"shapes": "2x3;4x3;4"}
    assert (trace.runs, trace.notes) == (1, ())


def test_without_steps_an_inference_lasts_from_the_first_kernel_to_the_last(tmp_path: Path) -> None:
    trace = read(written(tmp_path, *ONE_CALL, launch(60, 6), kernel("late", 300, 5, 6)))
    assert named(trace, "all that was recorded").duration_s == pytest.approx(105e-6)
    assert {span.run for span in trace.spans} == {0}


def test_a_step_is_an_inference_and_keeps_work_that_ends_after_it(tmp_path: Path) -> None:
    events = [
        event("user_annotation", "ProfilerStep#3", 0, 50),
        launch(10, 1), kernel("first", 20, 60, 1),
        event("user_annotation", "ProfilerStep#4", 50, 50),
        launch(60, 2), kernel("second", 90, 5, 2),
    ]  # fmt: skip
    trace = read(written(tmp_path, *events))
    assert trace.runs == 2
    assert (named(trace, "first").run, named(trace, "second").run) == (0, 1)
    assert named(trace, "ProfilerStep#3").end_s == pytest.approx(80e-6)


def test_two_devices_and_streams_are_tracks_of_their_own(tmp_path: Path) -> None:
    events = [launch(1, 1), launch(3, 2), launch(5, 3), kernel("a", 10, 5, 1, device=1),
              kernel("b", 10, 5, 2, device=1, stream=9), kernel("c", 10, 5, 3)]  # fmt: skip
    trace = read(written(tmp_path, *events))
    tracks = {span.track for span in trace.spans if span.category == "kernel"}
    assert tracks == {"GPU 1 stream 7", "GPU 1 stream 9", "GPU 0 stream 7"}


def test_process_0_does_not_make_a_device(tmp_path: Path) -> None:
    python = event("python_function", "nn.Module: Net_0", 0, 9, pid=0, tid=0)
    assert named(read(written(tmp_path, python, *ONE_CALL)), "Net_0").device is None


def test_external_ids_lead_nowhere(tmp_path: Path) -> None:
    wrong = op("aten::clamp", 0, 5, **{"External id": 5})
    right = (op("aten::add", 10, 20), launch(12, 5), kernel("k", 40, 2, 5, **{"External id": 5}))
    assert launched_by(read(written(tmp_path, wrong, *right)), "k") == [
        "cudaLaunchKernel", "aten::add",
    ]  # fmt: skip


def test_kernels_without_a_launch_are_kept_and_told(tmp_path: Path) -> None:
    trace = read(written(tmp_path, *ONE_CALL, kernel("orphan", 1, 3, 999)))
    assert named(trace, "orphan").cause is None
    assert trace.notes == (
        (
            "1 of 2 kernels and copies have no launch in the trace: they were launched before it"
            " began, or launches were not recorded"
        ),
    )


def test_kernels_of_a_cuda_graph_are_told(tmp_path: Path) -> None:
    graph = launch(1, 1, name="cudaGraphLaunch")
    trace = read(written(tmp_path, graph, kernel("a", 5, 1, 1), kernel("b", 7, 1, 1)))
    assert trace.notes == (
        "2 kernels ran in 1 CUDA graph, where nothing says which operator a kernel is of",
    )


def test_copies_waits_and_calls_that_launch_nothing_are_told_apart(tmp_path: Path) -> None:
    trace = read(
        written(
            tmp_path,
            launch(1, 1, name="cudaMemcpyAsync"),
            kernel("Memcpy HtoD", 5, 4, 1, cat="gpu_memcpy", bytes=64),
            launch(9, 2, name="cudaDeviceSynchronize"),
            launch(12, 3, name="cudaFuncGetAttributes"),
        )
    )
    categories = {span.name: span.category for span in trace.spans}
    assert categories["Memcpy HtoD"] == "copy"
    assert named(trace, "Memcpy HtoD").attributes == {"bytes": 64}
    assert categories["cudaMemcpyAsync"] == "launch"
    assert categories["cudaDeviceSynchronize"] == "sync"
    assert categories["cudaFuncGetAttributes"] == "other"


def test_nanoseconds_of_a_large_time_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    path.write_text(
        '{"traceEvents": [{"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,'
        '"ts":1713954880775517.123,"dur":0.007},{"ph":"X","cat":"cpu_op","name":"b","pid":1,'
        '"tid":1,"ts":1713954880775517.456,"dur":1}]}'
    )
    trace = read(path)
    assert named(trace, "b").start_s == pytest.approx(333e-9, abs=1e-12)
    assert named(trace, "a").duration_s == pytest.approx(7e-9)


def test_the_names_of_2021_are_known(tmp_path: Path) -> None:
    events = [event("Operator", "aten::add", 0, 9), event("Runtime", "cudaLaunchKernel", 1, 2,
              correlation=1), kernel("k", 20, 2, 1, cat="Kernel")]  # fmt: skip
    assert launched_by(read(written(tmp_path, *events)), "k") == ["cudaLaunchKernel", "aten::add"]


def test_the_steps_of_2021_are_inferences(tmp_path: Path) -> None:
    events = [event("Operator", "ProfilerStep#1", 0, 50), launch(10, 1), kernel("a", 20, 5, 1),
              event("Operator", "ProfilerStep#2", 50, 50), launch(60, 2), kernel("b", 70, 5, 2),
              ]  # fmt: skip
    trace = read(written(tmp_path, *events))
    assert (trace.runs, named(trace, "b").run) == (2, 1)


def test_a_last_step_that_is_nearly_empty_is_no_inference(tmp_path: Path) -> None:
    work = [each for n in range(20) for each in (launch(n * 4, n), kernel("k", 100 + n, 1, n))]
    steps = [event("user_annotation", "ProfilerStep#1", 0, 90),
             event("user_annotation", "ProfilerStep#2", 90, 9),
             launch(95, 99), kernel("late", 130, 1, 99)]  # fmt: skip
    trace = read(written(tmp_path, *work, *steps))
    assert (trace.runs, named(trace, "late").run) == (1, -1)
    assert named(trace, "ProfilerStep#2").category == "other"
    assert trace.notes[0].startswith("1 of 2 steps in the trace hold hardly any work")


def test_an_empty_trace_says_so(tmp_path: Path) -> None:
    trace = read_any(written(tmp_path))
    assert (trace.spans, trace.runs) == ((), 0)
    assert trace.notes == ("the trace holds no events with a duration",)


def test_a_packed_file_that_was_cut_gives_what_is_there(tmp_path: Path) -> None:
    whole = written(tmp_path, *(ONE_CALL * 200)).read_bytes()
    path = tmp_path / "cut.json.gz"
    path.write_bytes(gzip.compress(whole)[:-200])
    trace = read_any(path)
    assert trace.spans
    assert any("ends early" in note for note in trace.notes)


def test_the_predecessors_own_sample(shared: Path) -> None:
    trace = read_any(shared / "data/traces/trace_dense_layer.json")
    kernels = [span for span in trace.spans if span.category == "kernel"]
    assert len(kernels) == 19
    assert all(span.cause is not None for span in kernels)
    assert busy_seconds(kernels) == pytest.approx(98e-6)
    assert named(trace, "all that was recorded").duration_s == pytest.approx(3218e-6)
    assert trace.source == "torch profiler (NVIDIA GeForce RTX 3090)"


def test_a_sample_with_copies_and_several_streams(shared: Path) -> None:
    trace = read_any(shared / "data/traces/hta_simple_add.json.gz")
    work = [span for span in trace.spans if span.category in ("kernel", "copy")]
    assert len(work) == 98
    assert all(span.cause is not None for span in work)


@pytest.mark.parametrize(
    "odd",
    [
        {"ts": "soon"}, {"ts": None}, {"ts": []}, {"dur": -3}, {"dur": {}}, {"args": [1]},
        {"args": "x"}, {"ts": float("nan")}, {"ts": float("inf")}, {"ts": 10**400},
    ],
)  # fmt: skip
def test_an_event_that_makes_no_sense_is_left_out_and_counted(
    tmp_path: Path, odd: dict[str, object]
) -> None:
    broken = {**kernel("broken", 300, 10, 6), **odd}
    trace = read(written(tmp_path, *ONE_CALL, broken))
    assert named(trace, "gemm").duration_s == US(10e-6)
    assert "broken" not in [span.name for span in trace.spans]
    assert trace.notes[0].startswith("1 event cannot be read and left out, the first before char")


def test_events_in_events_without_end_are_left_out(tmp_path: Path) -> None:
    path = written(tmp_path, *ONE_CALL)
    path.write_text(
        path.read_text().replace('"traceEvents": [', f'"traceEvents": [{"[" * 10_000},')
    )
    trace = read(path)
    assert "(it is nested too deeply)" in trace.notes[0]


def test_numbers_of_thousands_of_digits_are_left_out(tmp_path: Path) -> None:
    path = written(tmp_path, *ONE_CALL)
    path.write_text(path.read_text().replace('"ts": 200', f'"ts": {"9" * 5000}'))
    assert any("Exceeds the limit (4300 digits)" in note for note in read(path).notes)


@pytest.mark.parametrize("devices", [3, "x", [1, None], [{"name": ["H200"]}], {}])
def test_devices_that_are_not_described(tmp_path: Path, devices: object) -> None:
    assert read(written(tmp_path, *ONE_CALL, deviceProperties=devices)).source.startswith("torch")


def test_shapes_and_numbers_of_any_type_do_no_harm(tmp_path: Path) -> None:
    odd = op("aten::mm", 150, 5, **{"Input Dims": 7, "correlation": float("inf")})
    assert named(read(written(tmp_path, *ONE_CALL, odd)), "aten::mm").attributes == {}


def test_a_timeline_of_another_program_is_told_from_an_empty_one(tmp_path: Path) -> None:
    other = [{"ph": "X", "name": "PjitFunction(f)", "pid": 1, "tid": 2, "ts": 1.0, "dur": 2.0}]
    path = written(tmp_path, *other)
    with pytest.raises(
        ModelError, match=r"none of its 1 event is of a kind that PyTorch's .* \(they are of ''\)"
    ) as caught:
        read(path)
    # what burnish itself wrote once is such a file: it would be sent round in a circle
    assert "what --trace-out wrote before it could be read back" in caught.value.hint


@pytest.mark.parametrize(
    ("work", "call"),
    [
        ("hpu_op", "cuda_runtime"), ("mtia_ccp_events", "mtia_runtime"),
        ("kernel", "privateuse1_runtime"), ("npu_task", "privateuse1_driver"),
    ],
)  # fmt: skip
def test_work_of_any_device_is_counted_and_led_to_its_launch(
    tmp_path: Path, work: str, call: str
) -> None:
    path = written(
        tmp_path,
        op("aten::mm", 0, 20),
        event(call, "launch", 5, 2, correlation=1),
        kernel("gemm", 30, 10, 1, cat=work),
        kernel("recorded", 45, 3, 9, cat="cuda_event"),
    )
    found = read_any(path)
    assert [s.name for s in found.spans if s.category == "kernel"] == ["gemm"]
    assert launched_by(found, "gemm") == ["launch", "aten::mm"]


def test_a_timeline_of_the_first_profiler_is_read(tmp_path: Path) -> None:
    events = [
        {"name": name, "ph": "X", "ts": ts, "dur": dur, "tid": 1, "pid": "CPU functions",
         "args": {}}
        for name, ts, dur in (("aten::linear", 1.5, 30.0), ("aten::addmm", 3.0, 25.0))
    ]  # fmt: skip
    path = tmp_path / "trace.json"
    path.write_text(json.dumps(events))
    found = read_any(path)
    assert [(s.name, s.category, s.parent) for s in found.spans[:2]] == [
        ("aten::linear", "node", None), ("aten::addmm", "node", 0),
    ]  # fmt: skip


def test_a_begin_and_its_end_are_one_event(tmp_path: Path) -> None:
    def mark(ph: str, name: str, ts: int) -> dict[str, object]:
        return {"ph": ph, "cat": "cpu_op", "name": name, "pid": 1, "tid": 1, "ts": ts}

    marks = [mark("B", "outer", 0), mark("B", "inner", 2), mark("E", "", 5), mark("E", "", 9)]
    found = read_any(written(tmp_path, *marks, mark("E", "of nothing", 12)))
    lengths = {s.name: s.duration_s for s in found.spans if s.category == "node"}
    assert lengths == pytest.approx({"outer": 9e-6, "inner": 3e-6})


def test_an_event_without_a_length_is_left_out_and_told(tmp_path: Path) -> None:
    endless = {name: value for name, value in op("aten::mm", 0, 20).items() if name != "dur"}
    found = read_any(written(tmp_path, op("aten::add", 0, 5), endless))
    assert [s.name for s in found.spans if s.category == "node"] == ["aten::add"]
    assert "it has no dur" in found.notes[0]


@pytest.mark.parametrize("value", ["NaN", "Infinity", "-Infinity", "soon"])
def test_a_time_that_is_no_number_is_left_out_even_as_text(tmp_path: Path, value: str) -> None:
    odd = {**op("aten::mm", 0, 20), "dur": value}
    found = read_any(written(tmp_path, op("aten::add", 0, 5), odd, odd, op("aten::sub", 9, 5)))
    assert [s.name for s in found.spans if s.category == "node"] == ["aten::add", "aten::sub"]
    assert "2 events cannot be read" in found.notes[0]


@pytest.mark.parametrize("packed", ["two members", "byte order mark"])
def test_what_packers_and_editors_add_is_passed_over(tmp_path: Path, packed: str) -> None:
    text = written(tmp_path, *ONE_CALL).read_bytes()
    path = tmp_path / "trace.json.gz"
    members = gzip.compress(text[:50]) + gzip.compress(text[50:])
    path.write_bytes(members if packed == "two members" else b"\xef\xbb\xbf" + text)
    assert launched_by(read_any(path), "gemm")[0] == "cudaLaunchKernel"


def test_a_list_of_events_alone_is_read_as_well(tmp_path: Path) -> None:
    whole = written(tmp_path, *ONE_CALL)
    alone = tmp_path / "list.json"
    alone.write_text(json.dumps(json.loads(whole.read_text())["traceEvents"]))
    assert read_any(alone).spans == read_any(whole).spans


def test_a_recording_that_does_the_same_several_times_asks_for_marks(tmp_path: Path) -> None:
    calls = [op("aten::addmm", 0, 10), op("aten::gelu", 20, 10)]
    later = [op("aten::addmm", 40, 10), op("aten::gelu", 60, 10)]
    (note,) = read(written(tmp_path, *calls, *later)).notes
    assert note.startswith("no inference is marked and all of it counts as one")
    assert "the same 2 times over" in note
    assert read(written(tmp_path, *calls)).notes == ()
    assert read(written(tmp_path, *calls, later[0])).notes == ()
