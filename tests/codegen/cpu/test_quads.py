from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from burnish.codegen.cpu.kernel import Kernel, generate
from burnish.codegen.cpu.target import InstructionSet, available, by_name, detect
from burnish.core.arrays import Array
from burnish.tile.connect import grouped, wiring
from burnish.tile.expr import Argument, Expr, call, cast
from burnish.tile.graph import Read, TensorType, TileGraph
from burnish.tile.index import Axis, at
from burnish.tile.schedule import Schedule
from burnish.tile.semantics import NestBuilder, Reduction, axes_for
from codegen.cpu.calling import aligned, load_kernel

TARGETS = list(dict.fromkeys([(each.name, each.dot) for each in (detect(), *available())]))
"""Every target that runs here, and the best with what it has for bytes."""


def target_of(name: str, dot: str) -> InstructionSet:
    return detect() if dot != "dot4" else by_name(name)


def wide(position: int, dtype: str) -> Expr:
    return cast(Argument(position, dtype), "i32")


def byte_product(
    rows: int, weights: Array, *, first: str = "u8", swapped: bool = False
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
    builder.add("y", (i, j), reads, body, Reduction((k,), "sum"))
    return TileGraph(builder.tensors, ("x",), ("y",), tuple(builder.ops), builder.constants)


def kernel_of(graph: TileGraph, tile: tuple[int, int], target: InstructionSet) -> Kernel:
    return generate(grouped(wiring(graph), [0]), Schedule(tile), graph, target)


def product_by(kernel: Kernel, x: Array, weights: Array, target: InstructionSet) -> Array:
    found = np.full((len(x), weights.shape[1]), 123456789, np.int32)
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
