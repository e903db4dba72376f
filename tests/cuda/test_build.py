"""Kernels are compiled without a card; what fails or hangs is a reason, not the end."""

from __future__ import annotations

import dataclasses
import importlib.metadata
from pathlib import Path

import pytest

from burnish.core.errors import MissingCapabilityError
from burnish.cuda import build as building
from burnish.cuda.build import BuildOptions, build
from burnish.cuda.kernel import ARCHITECTURES, BuiltCubin, Failed, TritonSource
from triton_kernels import SOURCES

pytest.importorskip("triton")

DOUBLE = SOURCES["double"]
ENDLESS = """
import time

time.sleep(600)
"""
CRASH = """
import os, signal

os.kill(os.getpid(), signal.SIGSEGV)
"""


def with_text(text: str) -> TritonSource:
    return dataclasses.replace(DOUBLE, text=text)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_a_kernel_is_compiled_for_a_card_that_is_not_here(architecture: str) -> None:
    (found,) = build([DOUBLE], architecture)
    assert isinstance(found, BuiltCubin)
    kernel = found.kernel
    assert kernel.architecture.rstrip("a") == architecture
    assert (kernel.entry, kernel.pointers, kernel.warps) == ("double", ("f32", "f32"), 4)
    assert 0 < kernel.registers <= 255
    assert kernel.spilled_words == kernel.program_bytes == 0


def test_a_kernel_that_waits_for_those_ahead_is_known_as_such() -> None:
    found = build([DOUBLE, SOURCES["waiting"]], "sm_90")
    assert [isinstance(each, BuiltCubin) and each.kernel.early for each in found] == [False, True]


def test_each_failure_is_its_own() -> None:
    sources = [
        with_text(ENDLESS),
        with_text(CRASH),
        with_text(DOUBLE.text.replace("2 *", "2 @")),
        dataclasses.replace(DOUBLE, name="triple"),
        dataclasses.replace(DOUBLE, pointers=("f32",)),
        DOUBLE,
    ]
    *failed, good = build(sources, "sm_90", BuildOptions(limit_s=15.0, processes=2))
    assert isinstance(good, BuiltCubin)
    reasons = [each.reason for each in failed if isinstance(each, Failed)]
    assert reasons[0] == "the compiler gave no answer within 15.0 s"
    assert reasons[1] == "the compiler ended by SIGSEGV"
    assert reasons[2].startswith("CompilationError: at 3:24: AttributeError")
    assert reasons[3] == "ValueError: has no function 'triple'"
    assert reasons[4] == "ValueError: takes 2 parameters, not 1"


def test_nothing_is_compiled_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    options = BuildOptions(cache=tmp_path)
    first = build([DOUBLE, DOUBLE], "sm_90", options)
    assert first[0] == first[1]
    monkeypatch.setattr(
        building, "_compiled", lambda tasks, _options: dict.fromkeys(tasks, Failed("asked"))
    )
    assert build([DOUBLE], "sm_90", options) == first[:1]
    told = dataclasses.replace(DOUBLE, text=f"# of which model\n\n# and why\n{DOUBLE.text}")
    assert build([told], "sm_90", options) == first[:1]
    other = dataclasses.replace(DOUBLE, text=f"{DOUBLE.text}\n# and why\n")
    assert build([other], "sm_90", options) == [Failed("asked")]
    assert build([DOUBLE], "sm_80", options) == [Failed("asked")]
    assert build([dataclasses.replace(DOUBLE, stages=2)], "sm_90", options) == [Failed("asked")]


def test_what_is_damaged_in_the_cache_is_compiled_again(tmp_path: Path) -> None:
    options = BuildOptions(cache=tmp_path)
    first = build([DOUBLE], "sm_90", options)
    (cubin,) = tmp_path.glob("*.cubin")
    cubin.write_bytes(b"something else")
    assert build([DOUBLE], "sm_90", options) == first


def test_without_triton_the_error_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> str:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "version", missing)
    with pytest.raises(MissingCapabilityError, match="triton, which is not installed") as caught:
        build([DOUBLE], "sm_90")
    assert caught.value.hint == "pip install 'triton>=3.4'"
