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


def plane(name: str, names: dict[int, str], *lines: bytes) -> bytes:
    told = [
        inside(4, number(1, key) + inside(2, number(1, key) + inside(2, text.encode())))
        for key, text in names.items()
    ]
    return inside(1, inside(2, name.encode()) + b"".join((*lines, *told)))


def line(name: str, begin_ns: int, *events: tuple[int, int, int]) -> bytes:
    made = [
        inside(4, number(1, key) + number(2, at_ns * 1000) + number(3, long_ns * 1000))
        for key, at_ns, long_ns in events
    ]
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
