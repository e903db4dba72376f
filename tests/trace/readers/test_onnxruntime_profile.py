from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from burnish.core.errors import ModelError
from burnish.trace.events import Span, Trace
from burnish.trace.readers import onnxruntime_profile

PROVIDER = "CPUExecutionProvider"


def event(cat: str, name: str, ts: int, dur: int, **args: str) -> str:
    facts = json.dumps(args, separators=(",", " : "))
    return (
        f'{{"cat" : "{cat}","pid" :7,"tid" :7,"dur" :{dur},"ts" :{ts},"ph" : "X",'
        f'"name" :"{name}","args" : {facts}}}'
    )


def node(name: str, ts: int, dur: int, op: str = "Add", provider: str = PROVIDER) -> str:
    return event("Node", f"{name}_kernel_time", ts, dur, op_name=op, provider=provider)


def run(ts: int, dur: int) -> str:
    return event("Session", "model_run", ts, dur)


def profile(folder: Path, *events: str) -> Path:
    path = folder / "profile.json"
    path.write_text("[\n" + ",\n".join(events) + "\n]\n")
    return path


def nodes(trace: Trace) -> list[Span]:
    return [span for span in trace.spans if span.category == "node"]


def test_a_node_event_becomes_a_span_with_its_operator_and_provider(tmp_path: Path) -> None:
    trace = onnxruntime_profile.read(profile(tmp_path, node("a/b", 10, 5, "Mul"), run(8, 20)))
    (span,) = nodes(trace)
    assert (span.name, span.node, span.op_type) == ("a/b", "a/b", "Mul")
    assert (span.provider, span.track, span.run) == (PROVIDER, "thread 7", 0)
    assert (span.start_s, span.duration_s) == (pytest.approx(1e-5), pytest.approx(5e-6))
    assert (trace.runs, trace.notes) == (1, ())


def test_every_span_knows_its_inference(tmp_path: Path) -> None:
    path = profile(
        tmp_path,
        event("Session", "session_initialization", 0, 9),
        *(node("first", 11, 3), node("second", 15, 3), run(10, 10)),
        *(node("first", 31, 3), run(30, 10)),
    )
    trace = onnxruntime_profile.read(path)
    assert [(span.name, span.run) for span in trace.spans] == [
        ("session_initialization", -1),
        ("model_run", 0),
        ("first", 0),
        ("second", 0),
        ("model_run", 1),
        ("first", 1),
    ]


def test_fences_of_old_versions_are_not_nodes(tmp_path: Path) -> None:
    path = profile(
        tmp_path,
        event("Node", "a_fence_before", 1, 0, op_name="Add"),
        node("a", 2, 3),
        event("Node", "a_fence_after", 5, 0, op_name="Add"),
        run(0, 9),
    )
    trace = onnxruntime_profile.read(path)
    assert [span.name for span in nodes(trace)] == ["a"]
    assert trace.source == "onnxruntime profile (1.20 or older)"


def test_kernels_belong_to_the_node_that_launched_them(tmp_path: Path) -> None:
    path = profile(
        tmp_path,
        node("a", 2, 3, provider="CUDAExecutionProvider"),
        event("Kernel", "gemm", 3, 1, stream="4", op_name="MatMul", parent_name="a_kernel_time"),
        event("Kernel", "MemcpyHostToDevice", 4, 1, stream="4"),
        run(0, 9),
    )
    trace = onnxruntime_profile.read(path)
    kernel, copy = (span for span in trace.spans if span.track == "stream 4")
    assert (kernel.category, kernel.node, kernel.op_type) == ("kernel", "a", "MatMul")
    assert (copy.category, copy.node) == ("copy", None)
    assert trace.notes == ()


def test_launch_times_are_not_sold_as_device_time(tmp_path: Path) -> None:
    path = profile(tmp_path, node("a", 2, 3, provider="CUDAExecutionProvider"), run(0, 9))
    assert onnxruntime_profile.read(path).notes == (
        (
            "times of CUDAExecutionProvider nodes are how long the host took to launch them, not"
            " device time: this build of ONNX Runtime records no kernels"
        ),
    )


@pytest.mark.parametrize(
    "name", ['q"uote', "back\\slash", "tab\tbed", "line\nbreak", '","args" : {']
)
def test_unescaped_names_are_read_literally(tmp_path: Path, name: str) -> None:
    trace = onnxruntime_profile.read(profile(tmp_path, node(name, 2, 3), run(0, 9)))
    assert [(span.node, span.op_type, span.run) for span in nodes(trace)] == [(name, "Add", 0)]


def test_mending_is_noted(tmp_path: Path) -> None:
    path = profile(tmp_path, node('q"uote', 2, 1), node("a\\tb", 4, 1), run(0, 9))
    trace = onnxruntime_profile.read(path)
    assert [span.node for span in nodes(trace)] == ['q"uote', "a\\tb"]
    assert trace.notes == (
        (
            "names in the file are not escaped, as ONNX Runtime up to 1.30 writes them"
            " (invalid JSON): they were read literally"
        ),
    )


def test_a_file_cut_off_in_an_event_gives_what_is_whole(tmp_path: Path) -> None:
    path = profile(tmp_path, node("a", 2, 3), run(0, 9), node("b", 12, 3), run(10, 9))
    text = path.read_text()
    path.write_text(text[: text.index("b_kernel_time") + 4])
    trace = onnxruntime_profile.read(path)
    assert [span.name for span in nodes(trace)] == ["a"]
    assert trace.runs == 1
    size = len(path.read_text())
    assert trace.notes == (
        (
            f"the file ends early, at character {size:,} in line 4: 2 events before that were read,"
            " later ones are missing"
        ),
    )


def test_a_file_cut_off_between_events_keeps_escaped_names(tmp_path: Path) -> None:
    path = profile(tmp_path, node('q\\"uote', 2, 3), run(0, 9), node("b", 12, 3))
    path.write_text(path.read_text().removesuffix("\n]\n"))
    trace = onnxruntime_profile.read(path)
    assert [(span.name, span.run) for span in nodes(trace)] == [('q"uote', 0), ("b", -1)]
    assert [note.split(",")[0] for note in trace.notes] == [
        "the file ends early",
        "1 node span of unfinished or overlapping runs left out",
    ]


def test_an_event_that_makes_no_sense_is_counted(tmp_path: Path) -> None:
    damaged = '{"cat" : "Node","dur" :x,"ph" : "X","name" :"b","args" : {}}'
    trace = onnxruntime_profile.read(profile(tmp_path, node("a", 2, 3), damaged, run(0, 9)))
    assert [span.name for span in nodes(trace)] == ["a"]
    assert trace.notes[-1] == "1 event cannot be read and left out"


def test_nothing_readable_is_an_error_with_the_position(tmp_path: Path) -> None:
    path = tmp_path / "profile.json"
    path.write_text('[\n{"cat" : "Node","pid"')
    with pytest.raises(ModelError) as caught:
        onnxruntime_profile.read(path)
    assert caught.value.problem.startswith(
        f"{path}: nothing in it can be read as a profile; it stops making sense at line 2, column"
    )
    assert caught.value.hint.startswith("record it again with burnish profile MODEL")


def test_json_that_is_no_list_of_events_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "profile.json"
    path.write_text('{"cat" : "Node"}')
    with pytest.raises(ModelError, match="is not an ONNX Runtime profile"):
        onnxruntime_profile.read(path)


def test_the_silent_limit_on_events_is_noted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(onnxruntime_profile, "EVENT_LIMIT", 2)
    trace = onnxruntime_profile.read(profile(tmp_path, node("a", 2, 3), run(0, 9)))
    assert trace.notes == (
        "ONNX Runtime stops recording after 2 events: later runs are missing; record fewer runs",
    )


def test_concurrent_inferences_take_the_spans_of_their_own_thread(tmp_path: Path) -> None:
    other = node("b", 3, 2).replace('"tid" :7', '"tid" :8')
    other_run = run(1, 9).replace('"tid" :7', '"tid" :8')
    trace = onnxruntime_profile.read(
        profile(tmp_path, node("a", 2, 3), run(0, 9), other, other_run)
    )
    assert {span.name: span.run for span in nodes(trace)} == {"a": 0, "b": 1}


@pytest.mark.parametrize(
    ("file", "runs", "nodes_a_run", "source"),
    [
        ("ort1.15.1_bert-mini_cpu.json", 2, 115, "onnxruntime profile (1.20 or older)"),
        ("ort1.31.1_bert-mini_cpu.json", 3, 54, "onnxruntime profile (1.27 or newer)"),
        ("ort1.30.0_bad_escape.json", 1, 2, "onnxruntime profile (1.27 or newer)"),
        ("ort1.31.1_bert_cuda.json.gz", 4, 431, "onnxruntime profile (1.27 or newer)"),
    ],
)
def test_recorded_profiles_of_several_versions_are_read(
    shared: Path, file: str, runs: int, nodes_a_run: int, source: str
) -> None:
    trace = onnxruntime_profile.read(shared / "data" / "traces" / file)
    assert (trace.runs, trace.source) == (runs, source)
    assert [sum(s.run == n for s in nodes(trace)) for n in range(runs)] == [nodes_a_run] * runs


def test_the_recorded_profile_with_unescaped_names_keeps_both_nodes(shared: Path) -> None:
    trace = onnxruntime_profile.read(shared / "data" / "traces" / "ort1.30.0_bad_escape.json")
    assert [span.node for span in nodes(trace)] == ['layer"q\\uote/Add', "a\tb"]


def test_a_gzip_file_that_was_cut_off_gives_what_can_be_unpacked(
    shared: Path, tmp_path: Path
) -> None:
    packed = (shared / "data" / "traces" / "ort1.31.1_bert_cuda.json.gz").read_bytes()
    path = tmp_path / "cut.json.gz"
    path.write_bytes(packed[: len(packed) // 2])
    trace = onnxruntime_profile.read(path)
    assert 0 < trace.runs < 4
    assert trace.notes[0] == f"the gzip file ends early, after {len(packed) // 2:,} bytes"


def test_a_packed_profile_reads_like_the_plain_one(tmp_path: Path) -> None:
    path = profile(tmp_path, node("a", 2, 3), run(0, 9))
    packed = tmp_path / "packed.json.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert onnxruntime_profile.read(packed) == onnxruntime_profile.read(path)


@pytest.mark.parametrize(
    "odd",
    [
        '{"cat" : "Node","ts" : "a","dur" : 1}',
        '{"cat" : "Node","ts" : [],"dur" : 1}',
        '{"cat" : "Node","ts" : NaN,"dur" : 1}',
        '{"cat" : "Node","ts" : 1,"dur" : -1}',
        '{"cat" : "Node","ts" : 1,"dur" : 1,"args" : "x"}',
    ],
)
def test_an_event_that_makes_no_sense_is_left_out_and_counted(tmp_path: Path, odd: str) -> None:
    trace = onnxruntime_profile.read(profile(tmp_path, run(0, 100), node("a", 10, 20), odd))
    assert [span.name for span in nodes(trace)] == ["a"]
    assert trace.notes[0].startswith("1 event cannot be read and left out, the first event 3: its ")


@pytest.mark.parametrize("value", ["[" * 10_000, "9" * 5000])
def test_what_no_parser_takes_is_left_out(tmp_path: Path, value: str) -> None:
    odd = f'{{"cat" : "Node","ts" : {value}}}'
    trace = onnxruntime_profile.read(profile(tmp_path, run(0, 100), node("a", 10, 20), odd))
    assert [span.name for span in nodes(trace)] == ["a"]
    assert trace.notes


def test_a_provider_that_is_no_text_is_none(tmp_path: Path) -> None:
    text = node("a", 10, 20).replace(f'"{PROVIDER}"', "7")
    (only,) = nodes(onnxruntime_profile.read(profile(tmp_path, run(0, 100), text)))
    assert only.provider is None


def test_a_file_of_lists_only_is_no_profile(tmp_path: Path) -> None:
    path = tmp_path / "p.json"
    path.write_text("[" * 100_000)
    with pytest.raises(ModelError) as caught:
        onnxruntime_profile.read(path)
    assert "a place that is not known (it is nested too deeply)" in caught.value.problem


def test_of_several_sessions_in_one_file_the_last_is_read(tmp_path: Path) -> None:
    first = [event("Session", "session_initialization", 0, 5), node("a", 10, 2), run(10, 5)]
    second = [event("Session", "session_initialization", 20, 5), node("b", 30, 3), run(30, 5)]
    trace = onnxruntime_profile.read(profile(tmp_path, *first, *second))
    assert [span.node for span in nodes(trace)] == ["b"]
    assert trace.runs == 1
    assert "the file holds 2 sessions, one after the other: the last is read" in trace.notes
