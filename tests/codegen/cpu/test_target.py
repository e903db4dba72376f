"""Targets: found by name, and the fastest that this machine can run."""

from __future__ import annotations

import platform
from collections.abc import Iterator

import llvmlite.binding as llvm
import pytest

from burnish.codegen.cpu import target
from burnish.codegen.cpu.target import TARGETS, available, by_name, detect
from burnish.core.errors import MissingCapabilityError, UsageError
from burnish.hw.detect import Cpu


@pytest.fixture(autouse=True)
def looked_up_anew() -> Iterator[None]:
    available.cache_clear()
    yield
    available.cache_clear()


def pretend(monkeypatch: pytest.MonkeyPatch, machine: str, features: tuple[str, ...]) -> None:
    monkeypatch.setattr(platform, "machine", lambda: machine)
    monkeypatch.setattr(platform, "processor", lambda: "a processor")
    present = dict.fromkeys(features, True)
    monkeypatch.setattr(llvm, "get_host_cpu_features", lambda: present)


@pytest.mark.parametrize("name", TARGETS)
def test_the_fastest_with_all_features_is_detected(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pretend(monkeypatch, TARGETS[name].family, TARGETS[name].required)
    assert detect() == by_name(name)


def test_one_missing_feature_is_enough_to_step_down(monkeypatch: pytest.MonkeyPatch) -> None:
    features = tuple(set(TARGETS["avx512"].required) - {"avx512dq"})
    pretend(monkeypatch, "x86_64", features)
    assert [each.name for each in available()] == ["avx2", "portable"]


@pytest.mark.parametrize("machine", ["aarch64", "arm64"])
@pytest.mark.parametrize(
    ("flags", "dot"),
    [
        ((), "dot4"),
        (("asimd", "asimddp"), "dot4_sdot"),
        (("i8mm",), "dot4_usdot"),
        (("asimddp", "i8mm", "avx512_vnni"), "dot4_usdot"),
    ],
)
def test_arm_has_neon_and_multiplies_bytes_as_well_as_it_can(
    machine: str, flags: tuple[str, ...], dot: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pretend(monkeypatch, machine, ())
    monkeypatch.setattr(target, "cpu", lambda: Cpu("a processor", 1, None, None, flags))
    assert (detect().name, detect().dot, detect().dot_bf16) == ("neon", dot, "dot2")
    assert available() == (TARGETS["neon"],)
    assert [each.name for each in TARGETS.values() if each.is_foreign] == [
        "avx512", "avx2", "portable"
    ]  # fmt: skip


def test_other_processors_run_portable_code(monkeypatch: pytest.MonkeyPatch) -> None:
    pretend(monkeypatch, "riscv64", ())
    assert detect() == by_name("portable")
    assert (detect().cpu, detect().family) == ("generic", "riscv64")
    assert not detect().is_foreign
    assert by_name("neon").is_foreign


def test_portable_code_for_x86_is_foreign_to_arm(monkeypatch: pytest.MonkeyPatch) -> None:
    pretend(monkeypatch, "aarch64", ())
    assert by_name("portable") == TARGETS["portable"]
    assert by_name("portable").is_foreign


def test_a_processor_with_nothing_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    pretend(monkeypatch, "x86_64", ())
    with pytest.raises(MissingCapabilityError) as caught:
        detect()
    expected = "this processor (a processor) lacks SSE4.2, which generated kernels need at least"
    assert caught.value.problem == expected
    assert "--engine onnxruntime-cpu" in caught.value.hint


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(UsageError, match="'sse9' is not a CPU target") as caught:
        by_name("sse9")
    assert caught.value.hint == "there are: avx2, avx512, neon, portable"


def test_this_machine_runs_what_it_detects() -> None:
    assert detect() in available()
    assert target.by_name(detect().name) == detect()
