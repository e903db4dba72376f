"""What a cubin tells of its kernel is what those who wrote it say."""

from __future__ import annotations

import dataclasses
import re
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from burnish.cuda.cubin import NotACubinError, code_findings, facts
from burnish.cuda.kernel import ARCHITECTURES, BuiltCubin, capability_of
from triton_kernels import built


@pytest.fixture(scope="module", params=ARCHITECTURES)
def compiled(request: pytest.FixtureRequest) -> BuiltCubin:
    return built("spilling", request.param)


def test_registers_and_frame_are_those_that_nvidias_own_tool_reads(
    compiled: BuiltCubin, tmp_path: Path
) -> None:
    triton = pytest.importorskip("triton")
    path = tmp_path / "kernel.cubin"
    path.write_bytes(compiled.code)
    tool = Path(triton.__file__).parent / "backends/nvidia/bin/cuobjdump"
    said = subprocess.run([tool, "-res-usage", path], capture_output=True, text=True, check=True)
    told = re.search(r"REG:(\d+) STACK:(\d+)", said.stdout)
    assert told is not None
    found = facts(compiled.code)
    assert (found.registers, found.frame_bytes) == (int(told[1]), int(told[2]))


def test_the_rest_is_what_was_compiled(compiled: BuiltCubin) -> None:
    found = facts(compiled.code)
    assert found.capability == capability_of(compiled.kernel.architecture)
    assert found.entry == "spilling"
    assert found.parameter_bytes == (8,) * (2 + compiled.kernel.trailing)
    assert found.threads == 32
    assert found.frame_bytes > 0
    assert found.toolkit is not None
    assert found.toolkit >= (12, 0)


@pytest.mark.parametrize("content", [b"", b"\x7fELF", b"nothing" * 100])
def test_what_is_no_cubin_is_said_to_be_none(content: bytes) -> None:
    with pytest.raises(NotACubinError, match="is no"):
        facts(content)


@settings(deadline=None)
@given(st.data())
def test_a_damaged_cubin_never_crashes(data: st.DataObject) -> None:
    code = bytearray(built("double", "sm_90").code)
    for _ in range(data.draw(st.integers(1, 8))):
        code[data.draw(st.integers(0, len(code) - 1))] = data.draw(st.integers(0, 255))
    cut = bytes(code[: data.draw(st.integers(0, len(code)))])
    with suppress(NotACubinError):
        facts(cut)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"entry": "triple"}, "its kernel: double, and its table says triple"),
        ({"trailing": 1}, "its parameters: (8, 8, 8, 8), and its table says (8, 8, 8)"),
        ({"warps": 8}, "its threads: 128, and its table says 256"),
    ],
)
def test_a_cubin_that_is_another_one_is_found(change: dict[str, Any], problem: str) -> None:
    found = built("double", "sm_90")
    assert not list(code_findings(found.kernel, found.code))
    other = dataclasses.replace(found.kernel, **change)
    assert problem in list(code_findings(other, found.code))


def test_what_is_no_cubin_is_found() -> None:
    assert list(code_findings(built("double", "sm_90").kernel, b"nothing"))
