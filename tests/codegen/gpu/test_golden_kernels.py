"""The text of small Triton kernels, and what they take of a Hopper: changes are seen in review."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path

import pytest

from burnish.codegen.gpu import ahead
from burnish.codegen.gpu.kernel import GpuTarget, emit
from burnish.codegen.gpu.launch import Launch
from burnish.core.errors import ModelError
from burnish.tile.group import Group
from burnish.tile.schedule import Schedule
from codegen.gpu.interpreting import compiled, fitted_for
from codegen.gpu.models import graph_of

KERNELS = {
    "each": {"m": 128},
    "softmax": {"m": 2},
    "layer_norm": {"m": 2},
    "sum_of_rows": {"m": 4},
    "product": {"m": 32, "n": 32, "k": 32},
    "single_precision": {"m": 16, "n": 16, "k": 32},
    "normed_product": {"m": 16, "n": 32, "k": 64},
    "perceptron": {"m": 64, "n": 16, "k": 32},
    "attention": {"m": 32, "n": 16, "k": 32},
    "convolution": {"m": 32, "n": 32, "k": 16},
    "depthwise": {"m": 128, "across": 2, "down": 2},
    "largest": {"m": 32},
    "moved": {"m": 64},
}
"""A dozen kinds, each with its blocks."""


def launch_of(name: str, **device: bool) -> Launch:
    """Return a whole model as one kernel."""
    graph = graph_of(name)
    schedule = Schedule((), settings=KERNELS[name])
    target = GpuTarget(**device)
    (launch,) = emit(Group(graph.ops, graph.outputs), schedule, graph, target)
    return launch


@pytest.mark.parametrize("name", KERNELS)
def test_kernels_are_written_as_they_were(name: str, golden: Callable[..., None]) -> None:
    launch = launch_of(name)
    assert launch.source == launch_of(name).source
    golden(launch.source, suffix="py.txt")


def test_the_tanh_of_the_device_serves_results_of_16_bits_only_where_asked_for() -> None:
    assert "tl.erf(" in launch_of("each").source
    near = launch_of("each", own_functions=True, rounds_late=True).source
    assert "tanh.approx.f32" in near
    assert "tl.erf(" not in near


@pytest.mark.slow
@pytest.mark.torch
def test_kernels_take_of_a_hopper_what_they_took(golden: Callable[..., None]) -> None:
    rows = []
    for name in KERNELS:
        made = compiled(launch_of(name), 90)
        assert made.cubin.startswith(b"\x7fELF")
        rows.append(
            f"{name}: {made.registers} registers, {made.stack_bytes} bytes of stack, "
            f"{made.shared_bytes} bytes of shared memory"
        )
    golden("\n".join(rows) + "\n", suffix="txt")


@pytest.mark.slow
@pytest.mark.torch
def test_loads_run_ahead_as_far_as_shared_memory_allows() -> None:
    graph = graph_of("large_product")
    blocks = {"m": 128, "n": 128, "k": 128, "warps": 8, "stages": 9}
    (launch,) = emit(Group(graph.ops, graph.outputs), Schedule((), settings=blocks), graph)
    assert launch.stages * 2 * 128 * 128 * 2 <= 232_448
    greedy = dataclasses.replace(launch, stages=6)
    fits, made = fitted_for(greedy, 90)
    assert fits.stages < 6
    assert made.shared_bytes <= 232_448


def test_a_kernel_that_no_card_has_room_for_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def compile_large(launch: Launch, capability: int, folder: Path) -> ahead.CompiledKernel:
        return ahead.CompiledKernel(launch.name, b"", 300_000, capability, len(str(folder)))

    monkeypatch.setattr(ahead, "compile_for", compile_large)
    launch = launch_of("product")
    text = f"{launch.name} needs 300,000 bytes of shared memory, and sm_90 has 232,448"
    with pytest.raises(ModelError, match=text) as caught:
        ahead.fitted(launch, 90, tmp_path)
    assert "ONNX Runtime" in caught.value.hint
