"""Targets: found by name, and the fastest that this machine can run."""

from __future__ import annotations

import platform
from collections.abc import Iterator

import llvmlite.binding as llvm
import pytest

from burnish.codegen.cpu import target
from burnish.codegen.cpu.target import TARGETS, available, by_name, detect
from burnish.core.errors import MissingCapabilityError, UsageError


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
    pretend(monkeypatch, "x86_64", TARGETS[name].required)
    assert detect() == by_name(name)


def test_one_missing_feature_is_enough_to_step_down(monkeypatch: pytest.MonkeyPatch) -> None:
    features = tuple(set(TARGETS["avx512"].required) - {"avx512dq"})
    pretend(monkeypatch, "x86_64", features)
    assert [each.name for each in available()] == ["avx2", "portable"]


def test_other_processors_run_portable_code(monkeypatch: pytest.MonkeyPatch) -> None:
    pretend(monkeypatch, "aarch64", ())
    assert detect() == by_name("portable")
    assert detect().cpu == "generic"


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
    assert caught.value.hint == "there are: avx2, avx512, portable"


def test_this_machine_runs_what_it_detects() -> None:
    assert detect() in available()
    assert target.by_name(detect().name) == detect()
