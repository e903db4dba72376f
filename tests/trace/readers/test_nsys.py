"""Exports of Nsight Systems: both schemas, ranges, graphs, and what is not there."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from burnish.core.errors import ModelError
from burnish.store.graph import GraphNode, GraphRecord
from burnish.trace.attribute import attribute
from burnish.trace.events import Span, Trace
from burnish.trace.formats import read_any
from burnish.trace.readers.nsys import read

PROCESS = 5 << 24
THREAD = PROCESS | 3
STRINGS = {1: "cudaLaunchKernel_v7000", 2: "void saxpy(int)", 3: "the_add", 4: "cudaGraphLaunch",
           5: "cudaDeviceSynchronize_v3020"}  # fmt: skip

Rows = Sequence[Mapping[str, object]]


def exported(folder: Path, tables: Mapping[str, Rows], *, meta: str = "META_DATA_EXPORT") -> Path:
    path = folder / "report.sqlite"
    strings = [{"id": key, "value": value} for key, value in STRINGS.items()]
    version = [{"name": "EXPORT_SCHEMA_VERSION", "value": "3.13.2"}]
    with sqlite3.connect(path) as database:
        for name, rows in {"StringIds": strings, meta: version, **tables}.items():
            columns = list(rows[0])
            database.execute(f"CREATE TABLE {name} ({', '.join(columns)})")
            marks = ", ".join("?" * len(columns))
            for row in rows:
                database.execute(f"INSERT INTO {name} VALUES ({marks})", list(row.values()))
    database.close()
    return path


def call(start: int, correlation: int, *, name: int = 1, thread: int = THREAD) -> dict[str, object]:
    return {"start": start, "end": start + 10, "globalTid": thread, "correlationId": correlation,
            "nameId": name}  # fmt: skip


def kernel(start: int, correlation: int, *, process: int = PROCESS) -> dict[str, object]:
    return {"start": start, "end": start + 100, "deviceId": 0, "streamId": 7,
            "correlationId": correlation, "globalPid": process, "demangledName": 2}  # fmt: skip


def range_(start: int, end: int | None, **name: object) -> dict[str, object]:
    return {"start": start, "end": end, "eventType": 59, "globalTid": THREAD,
            "text": name.get("text"), "textId": name.get("text_id")}  # fmt: skip


def named(trace: Trace, name: str) -> Span:
    return next(span for span in trace.spans if span.name == name)


@pytest.mark.parametrize("meta", ["META_DATA_EXPORT", "EXPORT_META_DATA"])
def test_a_kernel_is_led_to_its_call_in_its_own_process(tmp_path: Path, meta: str) -> None:
    tables = {
        "CUPTI_ACTIVITY_KIND_RUNTIME": [call(0, 8), call(5, 8, thread=(6 << 24) | 1)],
        "CUPTI_ACTIVITY_KIND_KERNEL": [kernel(50, 8)],
    }
    trace = read_any(exported(tmp_path, tables, meta=meta))
    saxpy = named(trace, "void saxpy(int)")
    assert saxpy.cause is not None
    assert trace.spans[saxpy.cause].track == "thread 5/3"
    assert saxpy.duration_s == pytest.approx(100e-9)
    assert (trace.source, trace.runs, trace.notes) == ("nsys export, schema 3.13.2", 1, ())


@pytest.mark.parametrize("name", [{"text": "the_add"}, {"text_id": 3}])
def test_the_range_around_a_launch_names_the_node(tmp_path: Path, name: dict[str, object]) -> None:
    tables = {
        "CUPTI_ACTIVITY_KIND_RUNTIME": [call(10, 8)],
        "CUPTI_ACTIVITY_KIND_KERNEL": [kernel(50, 8)],
        "NVTX_EVENTS": [
            range_(0, 40, text="outer"),
            range_(5, 30, **name),
            range_(6, None, **name),
        ],
    }
    node = GraphNode("the_add", "Add", "", (), ())
    graph = GraphRecord("g", (node,), (), (), {}, frozenset())
    found = attribute(read(exported(tmp_path, tables)), graph)
    saxpy = named(found, "void saxpy(int)")
    assert (saxpy.nodes, saxpy.confidence) == (("the_add",), "exact")


def test_graphs_are_counted_as_work_and_told(tmp_path: Path) -> None:
    graph = {**kernel(50, 8), "graphId": 1}
    tables = {
        "CUPTI_ACTIVITY_KIND_RUNTIME": [call(0, 8, name=4)],
        "CUPTI_ACTIVITY_KIND_GRAPH_TRACE": [graph, {**graph, "start": 500, "end": 600}],
    }
    trace = read(exported(tmp_path, tables))
    assert sum(span.category == "kernel" for span in trace.spans) == 2
    assert trace.notes == (
        (
            "2 CUDA graphs shown whole, without kernels: record again with nsys profile"
            " --cuda-graph-trace=node"
        ),
    )


def test_copies_tell_their_bytes_and_direction(tmp_path: Path) -> None:
    copy = {**kernel(50, 8), "bytes": 64, "copyKind": 1}
    trace = read(exported(tmp_path, {"CUPTI_ACTIVITY_KIND_MEMCPY": [copy]}))
    assert named(trace, "Memcpy HtoD").attributes == {"bytes": 64}


def test_an_export_without_device_work_says_how_to_record_some(tmp_path: Path) -> None:
    trace = read(exported(tmp_path, {"NVTX_EVENTS": [range_(0, 9, text="a")]}))
    assert trace.notes == (
        "the file holds no work of a device: record with nsys profile --trace=cuda",
    )


def test_a_damaged_database_is_an_error_to_act_on(tmp_path: Path) -> None:
    path = tmp_path / "report.sqlite"
    path.write_bytes(b"SQLite format 3\x00" + b"\xff" * 4096)
    with pytest.raises(ModelError, match="cannot be read as an export of Nsight Systems") as caught:
        read_any(path)
    assert caught.value.hint == "export it again: nsys export --type sqlite REPORT.nsys-rep"


def test_the_sample_of_the_older_schema(shared: Path) -> None:
    trace = read_any(shared / "data/traces/nsys_saxpy.sqlite")
    kernels = [span for span in trace.spans if span.category == "kernel"]
    assert trace.source == "nsys export, schema 2.9.1"
    assert len(kernels) == 5
    assert sum(span.category == "copy" for span in trace.spans) == 15
    for span in kernels:
        around, at = [], span.cause
        while at is not None:
            around.append(trace.spans[at].name)
            at = trace.spans[at].parent
        assert around[-1] == "saxpy"


KERNEL = {
    "start": 30, "end": 70, "deviceId": 0, "streamId": 7, "correlationId": 1,
    "globalPid": PROCESS, "demangledName": 2,
}  # fmt: skip
KERNELS = "CUPTI_ACTIVITY_KIND_KERNEL"


@pytest.mark.parametrize("column", ["start", "end", "deviceId", "streamId"])
@pytest.mark.parametrize("value", [None, "x", b"\xff", 1.5])
def test_a_row_that_makes_no_sense_is_left_out_and_counted(
    tmp_path: Path, column: str, value: object
) -> None:
    trace = read(exported(tmp_path, {KERNELS: [KERNEL, {**KERNEL, column: value}]}))
    assert [span.category for span in trace.spans].count("kernel") == 1
    assert trace.notes[0] == (
        f"1 row of {KERNELS} cannot be read and left out: {column} is {value!r}"
    )


@pytest.mark.parametrize("column", ["start", "end", "deviceId", "streamId"])
def test_a_table_without_a_column_that_it_needs(tmp_path: Path, column: str) -> None:
    row = {key: value for key, value in KERNEL.items() if key != column}
    trace = read(exported(tmp_path, {KERNELS: [row]}))
    assert trace.notes[0] == f"1 row of {KERNELS} cannot be read and left out: {column} is None"


@pytest.mark.parametrize("column", ["correlationId", "globalPid", "demangledName"])
def test_a_kernel_without_what_leads_to_its_launch_stays(tmp_path: Path, column: str) -> None:
    row = {key: value for key, value in KERNEL.items() if key != column}
    trace = read(exported(tmp_path, {KERNELS: [row]}))
    assert [span.category for span in trace.spans].count("kernel") == 1


def test_a_view_that_counts_for_ever_is_ended(tmp_path: Path) -> None:
    path = exported(tmp_path, {})
    columns = ", ".join(f"x AS {name}" for name in KERNEL)
    with sqlite3.connect(path) as database:
        database.execute(
            f"CREATE VIEW {KERNELS} AS WITH RECURSIVE n(x) AS"
            f" (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x > 0) SELECT {columns} FROM n"
            " WHERE x < 0"
        )
    database.close()
    with pytest.raises(ModelError, match=r"cannot be read as an export .* \(interrupted\)"):
        read(path)


@pytest.mark.parametrize(("written", "told"), [(7, 7), (0xFFFFFFFF, None), (-1, None)])
def test_a_wait_tells_its_stream_or_that_it_is_for_all(
    tmp_path: Path, written: int, told: int | None
) -> None:
    wait = {**kernel(5, 9), "streamId": written, "syncType": 4}
    tables = {
        "CUPTI_ACTIVITY_KIND_RUNTIME": [call(0, 8), call(4, 9, name=5)],
        "CUPTI_ACTIVITY_KIND_KERNEL": [kernel(50, 8)],
        "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION": [wait],
    }
    trace = read(exported(tmp_path, tables))
    assert named(trace, "Context Sync").stream == told
    assert named(trace, "cudaDeviceSynchronize").category == "sync"


def test_the_ranges_of_onnxruntime_tell_nodes_and_inferences(tmp_path: Path) -> None:
    tables = {
        "CUPTI_ACTIVITY_KIND_RUNTIME": [call(10, 8), call(110, 9)],
        "CUPTI_ACTIVITY_KIND_KERNEL": [kernel(50, 8), kernel(150, 9)],
        "NVTX_EVENTS": [
            range_(0, 90, text="Batch-0 Forward"),
            range_(5, 30, text="Add.7(/layer.0/Add (copy))"),
            range_(100, 190, text="Batch-1 Forward"),
            range_(105, 130, text="MatMul.8()"),
        ],
    }
    trace = read(exported(tmp_path, tables))
    work = [span for span in trace.spans if span.category == "kernel"]
    assert [(span.node, span.op_type, span.run) for span in work] == [
        ("/layer.0/Add (copy)", "Add", 0),
        ("MatMul_8", "MatMul", 1),
    ]
    assert trace.runs == 2


def test_a_range_with_a_plain_name_gives_its_kernels_the_operator_of_the_node(
    tmp_path: Path,
) -> None:
    tables = {
        "CUPTI_ACTIVITY_KIND_RUNTIME": [call(10, 8)],
        "CUPTI_ACTIVITY_KIND_KERNEL": [kernel(50, 8)],
        "NVTX_EVENTS": [range_(5, 30, text="the_add")],
    }
    graph = GraphRecord("g", (GraphNode("the_add", "Add", "", (), ()),), (), (), {}, frozenset())
    found = attribute(read(exported(tmp_path, tables)), graph)
    assert named(found, "void saxpy(int)").op_type == "Add"


def test_a_database_of_another_program_is_told_so(tmp_path: Path) -> None:
    path = tmp_path / "rocpd.db"
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE rocpd_op (id, start, end)")
    database.close()
    with pytest.raises(ModelError, match=r"another program .* \(it holds rocpd_op\)") as caught:
        read(path)
    assert "nsys export" in caught.value.hint
