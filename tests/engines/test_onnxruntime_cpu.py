"""The CPU engine tells what it does."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest

from burnish.core.errors import MissingCapabilityError
from burnish.engines.base import ENGINES, EngineOptions
from burnish.store.stored import StoredModel

Stored = Callable[..., StoredModel]

RELU = "(float[n] x) => (float[n] y) { [act] y = Relu(x) }"
HALF = "(float16[n] x) => (float16[n] y) { y = Relu(x) }"


def test_the_placement_counts_nodes_and_threads(stored: Stored) -> None:
    with ENGINES["onnxruntime-cpu"].open(stored(RELU), EngineOptions(threads=2)) as session:
        placement = session.placement
    assert placement.device == "cpu"
    assert placement.nodes_by_provider == {"CPUExecutionProvider": 1}
    assert placement.threads == 2
    assert placement.notes == ()


def test_the_engines_own_choice_of_threads_is_found_out(stored: Stored) -> None:
    with ENGINES["onnxruntime-cpu"].open(stored(RELU), EngineOptions()) as session:
        threads = session.placement.threads
    assert threads is not None
    assert threads >= 1


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="cores are not given out here")
def test_a_process_with_some_of_the_cores_keeps_to_them(stored: Stored) -> None:
    """ONNX Runtime by itself counts all cores, and binds threads to those of others."""
    given = os.sched_getaffinity(0)
    core = min(given)
    os.sched_setaffinity(0, {core})
    try:
        with ENGINES["onnxruntime-cpu"].open(stored(RELU), EngineOptions()) as session:
            threads = session.placement.threads
    finally:
        os.sched_setaffinity(0, given)
    assert threads == 1


def test_half_precision_says_what_runs_in_single(stored: Stored) -> None:
    with ENGINES["onnxruntime-cpu"].open(stored(HALF), EngineOptions()) as session:
        assert session.placement.precision == "f16"
        assert session.placement.notes == (
            "operators without a f16 kernel run in f32, between casts",
        )


def test_another_precision_than_the_models_is_refused(stored: Stored) -> None:
    with pytest.raises(MissingCapabilityError) as caught:
        ENGINES["onnxruntime-cpu"].open(stored(RELU), EngineOptions(precision="bf16"))
    assert caught.value.problem == "precision bf16 was asked for, the arithmetic is f32"
