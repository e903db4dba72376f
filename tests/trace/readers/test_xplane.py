"""Profiles of XLA: planes of devices and of the host, streams or operators, and steps."""

from __future__ import annotations

from pathlib import Path

import pytest

from burnish.core.errors import ModelError
from burnish.trace.formats import read_any


def varint(value: int) -> bytes:
    found = bytearray()
    while True:
        found.append(value & 0x7F | (0x80 if value > 0x7F else 0))
        value >>= 7
        if not value:
            return bytes(found)


def number(field: int, value: int) -> bytes:
    return varint(field << 3) + varint(value)


def inside(field: int, data: bytes) -> bytes:
    return varint(field << 3 | 2) + varint(len(data)) + data


def plane(
    name: str, names: dict[int, str], *lines: bytes, statistics: dict[int, str] | None = None
) -> bytes:
    told = [
        inside(field, number(1, key) + inside(2, number(1, key) + inside(2, text.encode())))
        for field, named in ((4, names), (5, statistics or {}))
        for key, text in named.items()
    ]
    return inside(1, inside(2, name.encode()) + b"".join((*lines, *told)))


def line(name: str, begin_ns: int, *events: tuple[int, ...]) -> bytes:
    """Return a thread or stream: of each event its name, begin, length, and its statistics."""
    made = [
        inside(
            4,
            number(1, key) + number(2, at_ns * 1000) + number(3, long_ns * 1000)
            + b"".join(inside(4, number(1, one) + number(4, 1)) for one in statistics),
        )
        for key, at_ns, long_ns, *statistics in events
    ]  # fmt: skip
    return inside(3, inside(2, name.encode()) + number(3, begin_ns) + b"".join(made))


GPU = plane(
    "/device:GPU:0",
    {1: "gemm_fusion_dot.3", 2: "MemcpyH2D", 3: "step 7"},
    line("Stream #14(Compute)", 1000, (1, 50, 30), (1, 100, 30)),
    line("Stream #15(MemcpyH2D)", 1000, (2, 10, 20)),
    line("XLA Ops", 1000, (1, 50, 30)),
    line("Steps", 1000, (3, 0, 200)),
)
HOST = plane("/host:CPU", {1: "PjitFunction(f)"}, line("python", 1000, (1, 0, 150)))


def test_streams_are_read_and_what_sums_them_up_is_not(tmp_path: Path) -> None:
    path = tmp_path / "t.xplane.pb"
    path.write_bytes(GPU + HOST)
    trace = read_any(path)
    work = [span for span in trace.spans if span.category in ("kernel", "copy")]
    assert [(span.name, span.stream) for span in work] == [
        ("MemcpyH2D", 15), ("gemm_fusion_dot.3", 14), ("gemm_fusion_dot.3", 14),
    ]  # fmt: skip
    assert work[1].duration_s == pytest.approx(30e-9)
    assert work[1].op_type == "gemm_fusion_dot"
    assert (trace.source, trace.runs) == ("XLA profile (GPU:0)", 1)


def test_a_device_without_streams_has_its_operators(tmp_path: Path) -> None:
    path = tmp_path / "t.xplane.pb"
    ops = line("XLA Ops", 0, (1, 5, 3))
    path.write_bytes(plane("/device:TPU:1", {1: "%fusion.2"}, ops, line("XLA Modules", 0)))
    (span, *_) = read_any(path).spans
    assert (span.name, span.device, span.op_type) == ("%fusion.2", 1, "fusion")


@pytest.mark.parametrize("cut", [3, 40, 120])
def test_a_damaged_profile_is_an_error_to_act_on(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "t.xplane.pb"
    path.write_bytes(HOST[:-1] if cut == 3 else (GPU + HOST)[:-cut])
    with pytest.raises(ModelError, match="cannot be read as a profile of XLA") as caught:
        read_any(path)
    assert caught.value.hint == "copy it again from where jax.profiler wrote it"


CPU = plane(
    "/host:CPU",
    {1: "train", 2: "PjitFunction(<lambda>)", 3: "dot_fusion.1", 4: "end: dot_fusion.1",
     5: "ThreadPool::Await"},
    line("python", 0, (1, 0, 100, 7), (2, 1, 20), (1, 200, 100, 7), (2, 201, 20)),
    line("tf_XLAPjRtCpuClient/1", 0, (3, 10, 60, 8), (5, 30, 20), (4, 69, 1),
         (3, 210, 80, 8)),
    statistics={7: "step_num", 8: "hlo_op"},
)  # fmt: skip


def test_operators_of_a_cpu_are_told_from_what_its_threads_do_besides(tmp_path: Path) -> None:
    path = tmp_path / "t.xplane.pb"
    path.write_bytes(CPU)
    trace = read_any(path)
    work = [span for span in trace.spans if span.category == "node"]
    assert [(span.name, span.op_type, span.run) for span in work] == [
        ("dot_fusion.1", "dot_fusion", 0), ("dot_fusion.1", "dot_fusion", 1),
    ]  # fmt: skip
    assert [round(span.duration_s * 1e9) for span in work] == [60, 80]
    assert (trace.source, trace.runs) == ("XLA profile", 2)


def test_steps_that_the_program_marked_count_where_no_device_tells_any(tmp_path: Path) -> None:
    gpu = plane(
        "/device:GPU:0", {1: "gemm"}, line("Stream #14", 0, (1, 10, 30), (1, 210, 30))
    )  # fmt: skip
    path = tmp_path / "t.xplane.pb"
    for data, runs in ((gpu + CPU, 2), (GPU + CPU, 1)):
        path.write_bytes(data)
        assert read_any(path).runs == runs
