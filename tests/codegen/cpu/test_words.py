from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from numpy.typing import DTypeLike

from burnish.codegen.cpu.intrinsics import needed
from burnish.codegen.cpu.kernel import Kernel, generate
from burnish.codegen.cpu.target import InstructionSet, available, by_name, detect
from burnish.core.array_types import array_type
from burnish.core.arrays import Array
from burnish.tile.connect import grouped, wiring
from burnish.tile.expr import Accumulated, Argument, Expr, call, cast
from burnish.tile.graph import Read, TensorType, TileGraph
from burnish.tile.index import Axis, at
from burnish.tile.schedule import Schedule
from burnish.tile.semantics import NestBuilder, Reduction, axes_for
from codegen.cpu.calling import aligned, load_kernel

BEST = detect()
TARGETS = list(dict.fromkeys([(each.name, each.dot) for each in (BEST, *available())]))
"""Every target that runs here, and the best with what it has for bytes."""
TARGETS_BF16 = list(dict.fromkeys([(each.name, each.dot_bf16) for each in (BEST, *available())]))
"""The same for bf16."""


def target_of(name: str, dot: str) -> InstructionSet:
    return BEST if dot not in ("dot4", "dot2") else by_name(name)


def wide(position: int, dtype: str) -> Expr:
    return cast(Argument(position, dtype), "i32")


def byte_product(
    rows: int, weights: Array, *, first: str = "u8", swapped: bool = False, result: str = "i32"
) -> TileGraph:
    """Return `x[rows, terms] @ weights[terms, columns]` of bytes, in 32 bits."""
    terms, columns = weights.shape
    types = {"x": TensorType(first, (rows, terms)), "w": TensorType("i8", weights.shape)}
    builder = NestBuilder(types, {"w": weights})
    i, j = axes_for((rows, columns))
    k = Axis("k", terms)
    reads = [Read("x", (at(i), at(k))), Read("w", (at(k), at(j)))]
    factors = [wide(0, first), wide(1, "i8")]
    body = call("multiply", *(reversed(factors) if swapped else factors))
    finish = None if result == "i32" else cast(Accumulated("i32"), result)
    builder.add("y", (i, j), reads, body, Reduction((k,), "sum", finish))
    return TileGraph(builder.tensors, ("x",), ("y",), tuple(builder.ops), builder.constants)


def kernel_of(graph: TileGraph, tile: tuple[int, int], target: InstructionSet) -> Kernel:
    return generate(grouped(wiring(graph), [0]), Schedule(tile), graph, target)


def product_by(
    kernel: Kernel, x: Array, weights: Array, target: InstructionSet, kind: DTypeLike = np.int32
) -> Array:
    found = np.full((len(x), weights.shape[1]), 123456789, kind)
    given_arrays = {"x": with_slack(x), "w": with_slack(weights), "y": found}
    load_kernel(kernel, target).bound(given_arrays).run()
    return found


def with_slack(array: Array) -> Array:
    """Return a copy with bytes behind it, as a plan's buffers have: kernels may read them."""
    copy = aligned(array.nbytes)[: array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


SIZES = st.tuples(st.integers(1, 19), st.integers(1, 40), st.integers(1, 70))


@pytest.mark.parametrize(("name", "dot"), TARGETS)
@given(sizes=SIZES, tile=st.tuples(st.integers(1, 19), st.integers(1, 70)), seed=st.integers(0, 9))
@example(sizes=(13, 32, 48), tile=(13, 48), seed=0)
@example(sizes=(2, 40, 1), tile=(2, 1), seed=0)
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
def test_products_of_bytes_are_exact_whatever_their_sizes(
    name: str, dot: str, sizes: tuple[int, int, int], tile: tuple[int, int], seed: int
) -> None:
    rows, terms, columns = sizes
    rng, target = np.random.default_rng(seed), target_of(name, dot)
    weights = rng.integers(-128, 128, (terms, columns), dtype=np.int8)
    x = rng.integers(0, 256, (rows, terms), dtype=np.uint8)
    within = (min(tile[0], rows), min(tile[1], columns))
    kernel = kernel_of(byte_product(rows, weights), within, target)
    assert (product_by(kernel, x, weights, target) == x.astype(int) @ weights.astype(int)).all()


@pytest.mark.parametrize(("name", "dot"), TARGETS)
@pytest.mark.parametrize("least", [-128, 127])
def test_no_sum_of_the_largest_products_is_cut_short(name: str, dot: str, least: int) -> None:
    target = target_of(name, dot)
    weights = np.full((64, 32), least, np.int8)
    x = np.full((3, 64), 255, np.uint8)
    kernel = kernel_of(byte_product(3, weights), (3, 32), target)
    assert (product_by(kernel, x, weights, target) == 64 * 255 * least).all()


def test_the_order_of_factors_does_not_matter() -> None:
    rng, target = np.random.default_rng(0), detect()
    weights = rng.integers(-128, 128, (16, 32), dtype=np.int8)
    x = rng.integers(0, 256, (5, 16), dtype=np.uint8)
    kernel = kernel_of(byte_product(5, weights, swapped=True), (5, 32), target)
    assert "dot4" in kernel.ir_text
    assert (product_by(kernel, x, weights, target) == x.astype(int) @ weights.astype(int)).all()


@pytest.mark.parametrize(
    ("terms", "first"), [(15, "u8"), (16, "i8")], ids=["terms are left over", "both are signed"]
)
def test_what_does_not_come_in_fours_is_summed_one_by_one(terms: int, first: str) -> None:
    rng = np.random.default_rng(0)
    weights = rng.integers(-128, 128, (terms, 32), dtype=np.int8)
    kernel = kernel_of(byte_product(5, weights, first=first), (5, 32), detect())
    assert "dot4" not in kernel.ir_text


def test_a_target_that_is_named_takes_no_instructions_beyond_its_own() -> None:
    weights = np.zeros((16, 32), np.int8)
    for target in available():
        kernel = kernel_of(byte_product(5, weights), (5, 32), by_name(target.name))
        assert "burnish.dot4.i32" in kernel.ir_text
    vnni = replace(by_name("avx512"), dot="dot4_vnni")
    assert "burnish.dot4_vnni.i32.16" in kernel_of(byte_product(5, weights), (5, 32), vnni).ir_text


@pytest.mark.skipif(BEST.dot == "dot4", reason="no instruction for bytes here")
def test_half_vectors_have_instructions_of_their_own() -> None:
    rng = np.random.default_rng(0)
    weights = rng.integers(-128, 128, (16, 32), dtype=np.int8)
    x = rng.integers(0, 256, (5, 16), dtype=np.uint8)
    graph = byte_product(5, weights, result="i64")
    kernel = kernel_of(graph, (5, 32), BEST)
    assert f"burnish.{BEST.dot}.i32.{BEST.lanes // 2}" in kernel.ir_text
    found = product_by(kernel, x, weights, BEST, np.int64)
    assert (found == x.astype(int) @ weights.astype(int)).all()


BF16 = array_type("bf16")


def half_product(
    rows: int, weights: Array, *, swapped: bool = False, result: str = "f32"
) -> TileGraph:
    """Return `x[rows, terms] @ weights[terms, columns]` of bf16, summed in f32."""
    terms, columns = weights.shape
    types = {"x": TensorType("bf16", (rows, terms)), "w": TensorType("bf16", weights.shape)}
    builder = NestBuilder(types, {"w": weights})
    i, j = axes_for((rows, columns))
    k = Axis("k", terms)
    reads = [Read("x", (at(i), at(k))), Read("w", (at(k), at(j)))]
    factors = [cast(Argument(position, "bf16"), "f32") for position in (0, 1)]
    body = call("multiply", *(reversed(factors) if swapped else factors))
    finish = None if result == "f32" else cast(Accumulated("f32"), result)
    builder.add("y", (i, j), reads, body, Reduction((k,), "sum", finish))
    return TileGraph(builder.tensors, ("x",), ("y",), tuple(builder.ops), builder.constants)


def numbers(shape: tuple[int, int], seed: int) -> Array:
    return np.asarray(np.random.default_rng(seed).standard_normal(shape).astype(BF16))


def near(found: Array, x: Array, weights: Array) -> bool:
    """Say whether sums are right but for roundings of f32."""
    a, b = x.astype(np.float64), weights.astype(np.float64)
    slack = 2.0**-22 * len(b) * (abs(a) @ abs(b))
    return bool((abs(found - a @ b) <= slack).all())


@pytest.mark.parametrize(("name", "dot"), TARGETS_BF16)
@given(sizes=SIZES, tile=st.tuples(st.integers(1, 19), st.integers(1, 70)), seed=st.integers(0, 9))
@example(sizes=(13, 32, 48), tile=(13, 48), seed=0)
@example(sizes=(2, 40, 1), tile=(2, 1), seed=0)
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
def test_products_of_bf16_are_summed_in_f32_whatever_their_sizes(
    name: str, dot: str, sizes: tuple[int, int, int], tile: tuple[int, int], seed: int
) -> None:
    rows, terms, columns = sizes
    target = target_of(name, dot)
    x, weights = numbers((rows, terms), seed), numbers((terms, columns), seed + 100)
    within = (min(tile[0], rows), min(tile[1], columns))
    kernel = kernel_of(half_product(rows, weights), within, target)
    assert near(product_by(kernel, x, weights, target, np.float32), x, weights)


@pytest.mark.parametrize(("name", "dot"), TARGETS_BF16)
@pytest.mark.parametrize(("result", "lanes"), [("f32", 1), ("f64", 2)])
def test_two_bf16_are_multiplied_at_a_step_in_any_order(
    name: str, dot: str, result: str, lanes: int
) -> None:
    target = target_of(name, dot)
    x, weights = numbers((5, 16), 0), numbers((16, 32), 1)
    for swapped in (False, True):
        graph = half_product(5, weights, swapped=swapped, result=result)
        kernel = kernel_of(graph, (5, 32), target)
        assert f"burnish.{dot}.f32.{target.lanes // lanes}" in kernel.ir_text
        assert kernel.packed[next(iter(kernel.packed))].nbytes == weights.nbytes
        assert near(product_by(kernel, x, weights, target, array_type(result)), x, weights)


def test_an_odd_number_of_bf16_is_summed_one_by_one() -> None:
    kernel = kernel_of(half_product(5, numbers((15, 32), 0)), (5, 32), BEST)
    assert "dot2" not in kernel.ir_text


@pytest.mark.parametrize(("name", "dot"), TARGETS_BF16)
def test_what_is_no_number_stays_none_in_products_of_bf16(name: str, dot: str) -> None:
    target = target_of(name, dot)
    x, weights = numbers((3, 16), 0), numbers((16, 32), 1)
    x[0, 3], x[1, 4] = np.nan, np.inf
    kernel = kernel_of(half_product(3, weights), (3, 32), target)
    found = product_by(kernel, x, weights, target, np.float32)
    assert np.isnan(found[0]).all()
    assert np.isinf(found[1]).all()
    assert np.isfinite(found[2]).all()


def test_only_kernels_with_products_of_bf16_need_instructions_for_them() -> None:
    full = replace(by_name("avx512"), dot_bf16="dot2_bf16")
    weights = numbers((16, 32), 0)
    kernel = kernel_of(half_product(5, weights), (5, 32), full)
    assert needed(kernel.ir_text) == ("avx512bf16",)
    other = kernel_of(byte_product(5, np.zeros((16, 32), np.int8)), (5, 32), full)
    assert needed(other.ir_text) == ()


@pytest.mark.parametrize(("name", "dot"), TARGETS)
@pytest.mark.parametrize("channels", [8, 6])
def test_convolutions_of_bytes_multiply_channels_by_fours(
    name: str, dot: str, channels: int
) -> None:
    rng, target = np.random.default_rng(0), target_of(name, dot)
    weights = rng.integers(-128, 128, (32, channels, 3, 2), dtype=np.int8)
    x = rng.integers(0, 256, (channels, 7, 6), dtype=np.uint8)
    types = {"x": TensorType("u8", x.shape), "w": TensorType("i8", weights.shape)}
    builder = NestBuilder(types, {"w": weights})
    m, i, j = axes_for((32, 5, 5))
    c, t, u = Axis("c", channels), Axis("t", 3), Axis("u", 2)
    reads = [
        Read("x", (at(c), at(i) + at(t), at(j) + at(u))),
        Read("w", (at(m), at(c), at(t), at(u))),
    ]
    body = call("multiply", wide(0, "u8"), wide(1, "i8"))
    builder.add("y", (m, i, j), reads, body, Reduction((c, t, u), "sum"))
    graph = TileGraph(builder.tensors, ("x",), ("y",), tuple(builder.ops), builder.constants)
    kernel = generate(
        grouped(wiring(graph), [0]), Schedule((32, 3, 5)), graph, target, layouts={"x": (1, 2, 0)}
    )
    assert ("dot4" in kernel.ir_text) == (channels == 8)
    found = np.zeros((32, 5, 5), np.int32)
    arrays = {"x": with_slack(x.transpose(1, 2, 0)), "w": with_slack(weights), "y": found}
    load_kernel(kernel, target).bound(arrays).run()
    seen = np.lib.stride_tricks.sliding_window_view(x.astype(int), (3, 2), (1, 2))
    assert (found == np.einsum("cijtu,mctu->mij", seen, weights.astype(int))).all()
