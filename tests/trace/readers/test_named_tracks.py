"""Chrome traces of JAX, TensorFlow and Ascend: what ran where stands in the names of tracks."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from burnish.core.errors import ModelError
from burnish.trace.events import Trace
from burnish.trace.formats import read_any
from burnish.trace.readers.named_tracks import read

Event = dict[str, Any]


def process(number: int, name: str) -> Event:
    return {"ph": "M", "pid": number, "name": "process_name", "args": {"name": name}}


def thread(number: int, of: int, name: str) -> Event:
    told = {"name": name}
    return {"ph": "M", "pid": of, "tid": number, "name": "thread_name", "args": told}


def took(name: str, ts: float, dur: float, *, of: int, on: int, **args: object) -> Event:
    return {"ph": "X", "pid": of, "tid": on, "ts": ts, "dur": dur, "name": name, "args": args}


def recorded(folder: Path, *events: Event) -> Trace:
    path = folder / "host.trace.json.gz"
    whole = {"displayTimeUnit": "ns", "traceEvents": [*events, {}]}  # as XLA ends its list
    path.write_bytes(gzip.compress(json.dumps(whole).encode()))
    return read_any(path)


def work(found: Trace) -> list[tuple[str, str, int]]:
    """Return what was done: its name, its category and its inference."""
    kinds = ("kernel", "copy", "node")
    return [(s.name, s.category, s.run) for s in found.spans if s.category in kinds]


def test_streams_of_a_gpu_are_work_and_lines_that_repeat_them_are_not(tmp_path: Path) -> None:
    found = recorded(
        tmp_path,
        process(1, "/device:GPU:3"), thread(13, 1, "Stream #13(Compute)"), thread(15, 1, "XLA Ops"),
        thread(16, 1, "Steps"), process(701, "/host:CPU"), thread(5, 701, "python"),
        took("0", 0, 50, of=1, on=16), took("1", 60, 50, of=1, on=16),
        took("gemm.3", 1, 30, of=1, on=13), took("gemm.3", 1, 30, of=1, on=15),
        took("MemcpyD2D", 70, 5, of=1, on=13), took("PjitFunction(f)", 0, 9, of=701, on=5),
    )  # fmt: skip
    assert work(found) == [("gemm.3", "kernel", 0), ("MemcpyD2D", "copy", 1)]
    (gemm,) = (s for s in found.spans if s.name == "gemm.3")
    assert (gemm.device, gemm.stream, gemm.op_type, gemm.duration_s) == (3, 13, "gemm", 30e-6)
    assert found.source == "chrome trace (/device:GPU:3)"


def test_operators_of_a_tpu_are_its_work(tmp_path: Path) -> None:
    found = recorded(
        tmp_path,
        process(3, "/device:TPU:0"), thread(2, 3, "XLA Modules"), thread(3, 3, "XLA Ops"),
        took("jit_f", 0, 90, of=3, on=2), took("fusion.1", 0, 40, of=3, on=3),
    )  # fmt: skip
    assert work(found) == [("fusion.1", "kernel", 0)]


def test_operators_of_a_host_are_told_by_what_xla_says_of_them(tmp_path: Path) -> None:
    found = recorded(
        tmp_path,
        process(701, "/host:CPU"), thread(5, 701, "python"), thread(6, 701, "tf_XLAEigen"),
        took("train", 0, 90, of=701, on=5, step_num="4"),
        took("dot.1", 2, 40, of=701, on=6, hlo_op="dot.1"), took("wait", 50, 9, of=701, on=6),
    )  # fmt: skip
    assert work(found) == [("dot.1", "node", 0)]
    assert found.runs == 1


def test_of_tensorflows_timeline_kernels_and_copies_count_once(tmp_path: Path) -> None:
    names = ("/job:a/task:0/device:GPU:0 Compute", "/device:GPU:0/stream:all Compute",
             "/device:GPU:0/stream:7 Compute", "/device:GPU:0/memcpy Compute")  # fmt: skip
    found = recorded(
        tmp_path,
        *(process(number, name) for number, name in enumerate(names)),
        took("MatMul", 0, 9, of=0, on=0, op="MatMul"),
        took("MatMul", 5, 40, of=1, on=0), took("MatMul", 5, 40, of=2, on=0),
        took("Copy", 50, 4, of=3, on=0),
    )  # fmt: skip
    assert work(found) == [("MatMul", "kernel", 0), ("Copy", "copy", 0)]


def test_tensorflows_operators_on_a_host_are_nodes(tmp_path: Path) -> None:
    name = "/job:localhost/replica:0/task:0/device:CPU:0 Compute"
    found = recorded(tmp_path, process(1, name), took("MatMul", 0, 9, of=1, on=0))
    assert work(found) == [("MatMul", "node", 0)]


def test_a_list_with_times_as_text_is_read_as_ascend_writes_it(tmp_path: Path) -> None:
    path = tmp_path / "trace_view.json"
    done = took("MatMul", 0, 30.5, of=1, on=3)
    events = [process(1, "Ascend Hardware"), thread(3, 1, "Stream 3"), {**done, "ts": "17.125"}]
    path.write_text(json.dumps(events))
    assert work(read_any(path)) == [("MatMul", "kernel", 0)]


def test_a_timeline_without_work_says_where_it_is(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="holds no work of a device") as caught:
        recorded(tmp_path, process(701, "/host:CPU"), took("f", 0, 9, of=701, on=5))
    assert ".xplane.pb" in caught.value.hint


def test_an_event_without_a_length_is_left_out_and_told(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    endless = took("b", 9, 9, of=3, on=3)
    del endless["dur"]
    tracks = [process(3, "/device:TPU:0"), thread(3, 3, "XLA Ops")]
    path.write_text(json.dumps([*tracks, took("a", 0, 9, of=3, on=3), endless]))
    found = read(path)
    assert work(found) == [("a", "kernel", 0)]
    assert "it has no dur" in found.notes[0]
