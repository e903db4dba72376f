"""Kernels of every kind, with their headers: a change of generated code is seen in review."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from burnish.codegen.cpu.backend import CpuBackend
from burnish.codegen.cpu.target import TARGETS
from burnish.codegen.pipeline import PlanOptions, plan, prepare
from burnish.codegen.schedule import Predicted
from burnish.tile.graph import TileGraph
from codegen.cpu.kinds import KINDS, WEIGHTS, built
from codegen.models import MACHINE, model

AVX2 = CpuBackend(TARGETS["avx2"], MACHINE, "a CPU")


@pytest.mark.parametrize("kind", KINDS)
def test_kernels_are_written_as_they_were(kind: str, golden: Callable[..., None]) -> None:
    found = built(kind, AVX2)
    assert not found.plan.ort_steps
    sources = [found.headers[name] + source for name, source in found.kernels.items()]
    golden("\n".join(sources), suffix="ll")
    assert built(kind, AVX2).kernels == found.kernels


class InBlocks(CpuBackend):
    """Computes every convolution that it can in blocks of 2×2, whatever that costs."""

    def _fastest(self, ways: Sequence[TileGraph]) -> int:
        return 1


def test_a_convolution_in_blocks_is_written_as_it_was(golden: Callable[..., None]) -> None:
    backend = InBlocks(TARGETS["avx2"], MACHINE, "a CPU")
    text = "blocks (float[1, 8, 6, 6] x) => (float[1, 8, 4, 4] y) { y = Conv(x, taps) }"
    given = prepare(model(text, {"taps": WEIGHTS["taps"]}), {})
    found = plan(given, PlanOptions(backend, Predicted(backend)))
    golden(
        "\n".join(found.headers[name] + found.kernels[name] for name in found.kernels), suffix="ll"
    )
    plain = plan(given, PlanOptions(backend.plain_sums(), Predicted(backend)))
    assert plain.kernels != found.kernels
    # the weights are there in one form only: taken apart, or as they were
    assert sum(array.size == 8 * 8 * 9 for array in plain.constants.values()) == 1
    assert not any(array.size == 8 * 8 * 9 for array in found.constants.values())


def test_kernels_that_differ_in_names_only_are_one() -> None:
    text = """twice (float[4, 3] x, float[4, 3] another) => (float[4, 3] y, float[4, 3] z)
    { a = Mul(x, x) y = Exp(a) b = Mul(another, another) z = Exp(b) }"""
    options = PlanOptions(AVX2, Predicted(AVX2, "element-wise"))
    found = plan(prepare(model(text), {}), options)
    assert len(found.plan.kernel_steps) == 2
    ((name, header),) = found.headers.items()
    assert set(found.kernels) == {name}
    assert "in0 = x: f32[4, 3]" in header


def test_a_price_changes_no_name() -> None:
    text = "kernel (float[64, 64] x) => (float[64, 64] y) { y = Exp(x) }"
    hw = replace(MACHINE.hw, launch_overhead_s=1e-3)
    slow = CpuBackend(TARGETS["avx2"], replace(MACHINE, hw=hw), "a CPU")
    found = [plan(prepare(model(text), {}), PlanOptions(b, Predicted(b))) for b in (AVX2, slow)]
    assert found[0].kernels == found[1].kernels
    assert found[0].headers != found[1].headers
