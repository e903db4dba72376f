"""Kernels of every kind, with their headers: a change of generated code is seen in review."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest

from burnish.codegen.cpu.backend import CpuBackend
from burnish.codegen.cpu.target import TARGETS
from burnish.codegen.pipeline import PlanOptions, plan, prepare
from burnish.codegen.place import BuiltPlan
from burnish.codegen.schedule import Predicted
from burnish.core.array_types import array_type
from burnish.tile.graph import TileGraph
from codegen.models import MACHINE, model, weights

AVX2 = CpuBackend(TARGETS["avx2"], MACHINE, "a CPU")

KINDS: Mapping[str, str] = {
    "element-wise": "(float[4, 20] x, float[20] z) => (float[4, 20] y)"
    " { s = Add(x, z) y = Tanh(s) }",
    "reduction": "(float[6, 32] x) => (float[6] y) <int64[1] last = {-1}>"
    " { y = ReduceSum<keepdims = 0>(x, last) }",
    "softmax": "(float[4, 24] x) => (float[4, 24] y) { y = Softmax(x) }",
    "layer norm": "(float[4, 16] x) => (float[4, 16] y) { y = LayerNormalization(x, gain, bias) }",
    "product with epilogue": "(float[2, 3] x) => (float[2, 16] y)"
    " { p = MatMul(x, weight) s = Add(p, bias) y = Relu(s) }",
    "attention": "(float[1, 2, 8] q, float[1, 4, 8] k, float[1, 4, 8] v) => (float[1, 2, 8] y)"
    " { t = Transpose<perm = [0, 2, 1]>(k) s = MatMul(q, t) p = Softmax(s) y = MatMul(p, v) }",
    "convolution": "(float[1, 2, 4, 9] x) => (float[1, 2, 3, 8] y) { y = Conv(x, filters) }",
    "depth-wise": "(float[1, 2, 3, 8] x) => (float[1, 2, 2, 8] y)"
    " { y = Conv<pads = [0, 0, 0, 1], group = 2>(x, depth) }",
    "pool": "(float[1, 2, 4, 16] x) => (float[1, 2, 2, 8] y)"
    " { y = MaxPool<kernel_shape = [2, 2], strides = [2, 2]>(x) }",
    "transpose": "(float[8, 16] x) => (float[16, 8] y) { y = Transpose<perm = [1, 0]>(x) }",
    "gather": "(int64[3] x) => (float[3, 16] y) { y = Gather(table, x) }",
    "quantised": "(float[4, 16] x) => (float[4, 16] y) <float scale = {0.1}, uint8 zero = {3}>"
    " { q = QuantizeLinear(x, scale, zero) y = DequantizeLinear(q, scale, zero) }",
    "product of bytes": "(uint8[2, 8] x, uint8 zero) => (int32[2, 16] y)"
    " { y = MatMulInteger(x, bytes, zero) }",
    "product of bf16": "(float[2, 8] x) => (float[2, 16] y)"
    " { h = Cast<to = 16>(x) p = MatMul(h, halves) y = Cast<to = 1>(p) }",
    "step of an LSTM": "(float[3, 1, 4] x) => (float[3, 1, 1, 8] y)"
    " { y = LSTM<hidden_size = 8>(x, inner, again) }",
    "concat and pad": "(float[2, 8] x, float[2, 8] z) => (float[2, 20] y)"
    " <int64[4] by = {0, 2, 0, 2}> { c = Concat<axis = 1>(x, z) y = Pad(c, by) }",
}

WEIGHTS = weights(
    ("weight", (3, 16)), ("bias", (16,)), ("gain", (16,)), ("filters", (2, 2, 2, 2)),
    ("depth", (2, 1, 2, 2)), ("table", (5, 16)), ("inner", (1, 32, 4)), ("again", (1, 32, 8)),
    ("taps", (8, 8, 3, 3)),
) | {
    "bytes": np.arange(-64, 64, dtype=np.int8).reshape(8, 16),
    "halves": np.arange(-64, 64).reshape(8, 16).astype(array_type("bf16")),
}  # fmt: skip


def built(kind: str) -> BuiltPlan:
    text = KINDS[kind]
    used = {name: array for name, array in WEIGHTS.items() if name in text}
    return plan(prepare(model(f"kernel {text}", used), {}), PlanOptions(AVX2, Predicted(AVX2)))


@pytest.mark.parametrize("kind", KINDS)
def test_kernels_are_written_as_they_were(kind: str, golden: Callable[..., None]) -> None:
    found = built(kind)
    assert not found.plan.ort_steps
    sources = [found.headers[name] + source for name, source in found.kernels.items()]
    golden("\n".join(sources), suffix="ll")
    assert built(kind).kernels == found.kernels


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
