from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from burnish.core.errors import ModelError
from tile.one_node import assert_as_runtime, judged, lowered, numbers, one_node


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ((3,), (3,)), ((3,), (3, 4)), ((2, 3), (3,)), ((2, 3), (3, 4)), ((5, 2, 3), (3, 4)),
        ((2, 3), (5, 3, 4)), ((5, 1, 2, 3), (6, 3, 4)), ((3,), (5, 3, 4)), ((5, 2, 3), (3,)),
        ((2, 0), (0, 4)), ((0, 3), (3, 4)), ((2, 1), (1, 4)), ((1, 3), (3, 1)),
    ],
)  # fmt: skip
def test_matmul_broadcasts_its_batches_and_takes_vectors(
    first: tuple[int, ...], second: tuple[int, ...]
) -> None:
    inputs = {"a": numbers(first), "b": numbers(second, seed=1)}
    assert_as_runtime(one_node("MatMul", inputs), inputs)


@pytest.mark.parametrize("dtype", ["float64", "int32", "int64", "uint32"])
def test_matmul_keeps_other_element_types_and_integers_wrap(dtype: str) -> None:
    inputs = {"a": numbers((4, 5), dtype) * 70000, "b": numbers((5, 3), dtype, 1) * 70000}
    inputs = {name: array.astype(dtype) for name, array in inputs.items()}
    assert_as_runtime(one_node("MatMul", inputs), inputs, rtol=1e-12)


def test_matmul_sums_half_precision_in_f32() -> None:
    inputs = {"a": np.full((1, 4096), 1.0, np.float16), "b": np.full((4096, 1), 0.25, np.float16)}
    found = judged(one_node("MatMul", inputs), inputs)["out"]
    assert found.dtype == np.float16
    assert found.item() == 1024


def test_a_contraction_has_its_data_first_and_no_guards() -> None:
    inputs = {"a": numbers((2, 3, 4)), "b": numbers((4, 5))}
    (nest,) = lowered(one_node("MatMul", inputs)).ops
    assert [read.tensor for read in nest.reads] == ["a", "b"]
    assert nest.combine == "sum"
    assert [axis.extent for axis in nest.reduced] == [4]


def test_a_product_over_one_element_is_no_reduction() -> None:
    inputs = {"a": numbers((2, 1)), "b": numbers((1, 5))}
    (nest,) = lowered(one_node("MatMul", inputs)).ops
    assert nest.reduced == ()


@settings(deadline=None)
@given(
    flags=st.tuples(*[st.integers(0, 1)] * 2),
    alpha=st.sampled_from([1.0, 0.5]),
    beta=st.sampled_from([0.0, 1.0, 2.0]),
    c=st.sampled_from([None, (), (1,), (4,), (3, 1), (1, 4), (3, 4)]),
)
def test_gemm_is_as_in_onnx_runtime(
    flags: tuple[int, ...], alpha: float, beta: float, c: tuple[int, ...] | None
) -> None:
    a, b = numbers((3, 5)), numbers((5, 4), seed=1)
    inputs = {"a": a.T.copy() if flags[0] else a, "b": b.T.copy() if flags[1] else b}
    if c is not None:
        inputs["c"] = numbers(c, seed=2)
    model = one_node("Gemm", inputs, transA=flags[0], transB=flags[1], alpha=alpha, beta=beta)
    assert_as_runtime(model, inputs)


@pytest.mark.parametrize("c", [(2, 4), (4, 4), (3, 3), (5,), (1, 1, 4)])
def test_a_gemm_adds_what_fits_its_product_and_nothing_else(c: tuple[int, ...]) -> None:
    inputs = {"a": numbers((3, 5)), "b": numbers((5, 4)), "c": numbers(c)}
    with pytest.raises(ModelError, match=r"it adds \[.*\] to a product of 3 rows of 4"):
        lowered(one_node("Gemm", inputs))


def test_an_integer_gemm_that_scales_is_refused() -> None:
    inputs = {"a": numbers((3, 5), "int32"), "b": numbers((5, 4), "int32")}
    with pytest.raises(ModelError, match=r"integers are scaled by 0\.5"):
        lowered(one_node("Gemm", inputs, alpha=0.5))


@settings(deadline=None)
@given(
    rank=st.integers(2, 4), flags=st.tuples(*[st.integers(0, 1)] * 4), alpha=st.sampled_from([1, 3])
)
def test_fused_matmul_is_as_in_onnx_runtime(
    rank: int, flags: tuple[int, ...], alpha: float
) -> None:
    trans_a, trans_b, batch_a, batch_b = flags
    if rank == 2:
        batch_a = batch_b = 0
    batch = (2, 3)[: rank - 2]
    inputs = {
        "a": numbers(_stored((*batch, 4, 5), trans_a, batch_a)),
        "b": numbers(_stored((*batch, 5, 6), trans_b, batch_b), seed=1),
    }
    model = one_node(
        "com.microsoft.FusedMatMul", inputs, transA=trans_a, transB=trans_b,
        transBatchA=batch_a, transBatchB=batch_b, alpha=float(alpha),
    )  # fmt: skip
    assert_as_runtime(model, inputs)


def test_a_fused_product_with_a_vector_is_refused() -> None:
    inputs = {"a": numbers((5,)), "b": numbers((5, 4))}
    with pytest.raises(ModelError, match="a vector is an operand"):
        lowered(one_node("com.microsoft.FusedMatMul", inputs))


def _stored(shape: tuple[int, ...], transposed: int, across_batch: int) -> tuple[int, ...]:
    """Return the shape in which matrices of `shape` are stored."""
    *batch, rows, columns = shape
    rows, columns = (columns, rows) if transposed else (rows, columns)
    return (rows, *batch, columns) if across_batch else (*batch, rows, columns)
