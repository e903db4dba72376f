from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from burnish.core.arrays import Array
from burnish.core.errors import ModelError
from tile.one_node import assert_as_runtime, judged, lowered, numbers, one_node
from tile.operands import UNTIMED, tensor

OPERATORS = [
    "ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2",
    "ReduceSumSquare", "ReduceLogSum", "ReduceLogSumExp",
]  # fmt: skip


@st.composite
def reductions(
    draw: st.DrawFn, dtypes: tuple[str, ...], least_size: int = 1
) -> tuple[Array, list[int], int]:
    x = draw(tensor(dtypes, least_dims=1, least_size=least_size))
    axes = draw(st.sets(st.integers(0, x.ndim - 1), min_size=1))
    signs = [axis - x.ndim if draw(st.booleans()) else axis for axis in sorted(axes)]
    return x, signs, draw(st.integers(0, 1))


@UNTIMED
@given(drawn=reductions(("float32", "float64")), op_type=st.sampled_from(OPERATORS))
def test_reductions_of_floats(drawn: tuple[Array, list[int], int], op_type: str) -> None:
    x, axes, keepdims = drawn
    x = np.abs(x) if op_type == "ReduceLogSum" else x
    model = one_node(op_type, {"x": x}, {"axes": np.array(axes)}, keepdims=keepdims)
    assert_as_runtime(model, {"x": x}, rtol=1e-4, atol=1e-5)


@UNTIMED
@given(drawn=reductions(("int32", "int64")), op_type=st.sampled_from(OPERATORS[:8]))
def test_reductions_of_integers_stop_at_the_limits(
    drawn: tuple[Array, list[int], int], op_type: str
) -> None:
    x, axes, keepdims = drawn
    model = one_node(op_type, {"x": x}, {"axes": np.array(axes)}, keepdims=keepdims)
    # above 2**53 the runtime's sums, which are of doubles, depend on their order, and what is left
    # of large numbers that cancel is as far off as they are
    doubles = np.abs(x.astype(np.float64)).sum() * np.finfo(np.float64).eps * x.size
    atol = doubles if op_type in ("ReduceSum", "ReduceMean") else 0
    assert_as_runtime(model, {"x": x}, rtol=1e-15 * x.size, atol=atol)


@UNTIMED
@given(rows=arrays(np.int64, (3, 5), elements=st.integers(-4, 4)), dtype=st.sampled_from("il"))
def test_whole_numbers_have_exponentials_of_zero_and_one(rows: Array, dtype: str) -> None:
    """The runtime cuts each to a whole number: what is below the maximum adds nothing."""
    inputs = {"x": rows.astype(dtype)}
    assert_as_runtime(one_node("ReduceLogSumExp", inputs, {"axes": np.array([1])}), inputs)


@UNTIMED
@given(
    drawn=reductions(("int8", "uint8", "bool")), op_type=st.sampled_from(["ReduceMax", "ReduceMin"])
)
def test_extremes_of_small_types(drawn: tuple[Array, list[int], int], op_type: str) -> None:
    x, axes, keepdims = drawn
    model = one_node(op_type, {"x": x}, {"axes": np.array(axes)}, keepdims=keepdims)
    assert_as_runtime(model, {"x": x})


@pytest.mark.parametrize("op_type", ["ReduceSum", "ReduceMean", "ReduceL2", "ReduceLogSumExp"])
def test_half_precision_is_summed_in_f32(op_type: str) -> None:
    inputs = {"x": np.full((1, 4096), 1.0, np.float16)}
    model = one_node(op_type, inputs, {"axes": np.array([1])})
    expected = {"ReduceSum": 4096, "ReduceMean": 1, "ReduceL2": 64, "ReduceLogSumExp": 9.3177662}
    found = judged(model, inputs)["out"]
    assert found.dtype == np.float16
    np.testing.assert_allclose(found.item(), expected[op_type], rtol=1e-3)


@pytest.mark.parametrize("op_type", OPERATORS)
def test_axes_are_an_attribute_before_opset_13_or_18(op_type: str) -> None:
    inputs = {"x": np.abs(numbers((2, 3, 4)))}
    model = one_node(op_type, inputs, opset=11, axes=[-1, 0], keepdims=0)
    assert_as_runtime(model, inputs, rtol=1e-5)


@pytest.mark.parametrize("op_type", OPERATORS)
def test_without_axes_everything_is_reduced(op_type: str) -> None:
    inputs = {"x": np.abs(numbers((2, 3)))}
    assert_as_runtime(one_node(op_type, inputs), inputs)
    held = {"axes": np.zeros(0, np.int64)}
    assert_as_runtime(one_node(op_type, inputs, held), inputs)


def test_without_axes_nothing_is_reduced_where_the_node_says_so() -> None:
    inputs = {"x": numbers((2, 3))}
    assert_as_runtime(one_node("ReduceSum", inputs, noop_with_empty_axes=1), inputs)


@pytest.mark.parametrize(
    ("op_type", "expected"),
    [
        ("ReduceSum", 0.0), ("ReduceProd", 1.0), ("ReduceMax", -np.inf), ("ReduceMin", np.inf),
        ("ReduceL1", 0.0), ("ReduceL2", 0.0), ("ReduceLogSum", -np.inf),
        ("ReduceLogSumExp", -np.inf),
    ],
)  # fmt: skip
def test_nothing_is_reduced_to_what_changes_nothing(op_type: str, expected: float) -> None:
    inputs = {"x": numbers((2, 0, 3))}
    found = judged(one_node(op_type, inputs, {"axes": np.array([1])}, keepdims=0), inputs)["out"]
    np.testing.assert_array_equal(found, np.full((2, 3), expected, np.float32))


def test_a_reduction_over_one_element_is_no_reduction() -> None:
    inputs = {"x": numbers((2, 1, 3))}
    (nest,) = lowered(one_node("ReduceSum", inputs, {"axes": np.array([1])})).ops
    assert nest.combine is None


def test_log_sum_exp_does_not_overflow() -> None:
    inputs = {"x": np.array([[1000.0, 1000.0], [-np.inf, -np.inf], [np.inf, 0]], np.float32)}
    model = one_node("ReduceLogSumExp", inputs, {"axes": np.array([1])})
    assert_as_runtime(model, inputs)


def test_nan_is_the_greatest_and_the_least() -> None:
    """The runtime keeps NaN only in the first place; here it is kept wherever it is."""
    inputs = {"x": np.array([[1, np.nan, 2]], np.float32)}
    for op_type in ("ReduceMax", "ReduceMin"):
        assert np.isnan(judged(one_node(op_type, inputs), inputs)["out"]).all()


def test_axes_that_are_not_known_are_named() -> None:
    inputs = {"x": numbers((2, 3)), "axes": np.array([1])}
    with pytest.raises(ModelError, match="which axes it reduces is not a constant"):
        lowered(one_node("ReduceSum", inputs))


@UNTIMED
@given(
    x=tensor(("float32", "float64", "int8", "int32", "int64"), least_dims=1, least_size=1),
    op_type=st.sampled_from(["ArgMax", "ArgMin"]),
    keepdims=st.integers(0, 1),
    last=st.integers(0, 1),
    data=st.data(),
)
def test_positions_of_extremes(
    x: Array, op_type: str, keepdims: int, last: int, data: st.DataObject
) -> None:
    axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
    attributes = {"axis": axis, "keepdims": keepdims, "select_last_index": last}
    assert_as_runtime(one_node(op_type, {"x": x}, results=["int64"], **attributes), {"x": x})


@UNTIMED
@given(x=tensor(("float32",), least_dims=1, least_size=2))
def test_the_first_nan_is_the_extreme(x: Array) -> None:
    assume(x.size > 2)
    x = x.copy()
    x[..., 1] = np.nan
    for op_type in ("ArgMax", "ArgMin"):
        found = judged(one_node(op_type, {"x": x}, results=["int64"], axis=-1), {"x": x})["out"]
        assert (found == 1).all()


def test_a_position_among_nothing_is_left() -> None:
    model = one_node("ArgMax", {"x": numbers((2, 0))}, results=["int64"], axis=1)
    with pytest.raises(ModelError, match="it looks for a position among no elements"):
        lowered(model)


def test_an_axis_outside_is_named() -> None:
    model = one_node("ArgMax", {"x": numbers((2, 3))}, results=["int64"], axis=5)
    with pytest.raises(ModelError, match="the axis 5 is outside of 2 dimensions"):
        lowered(model)


@pytest.mark.parametrize("exclusive", [0, 1])
@pytest.mark.parametrize("reverse", [0, 1])
@pytest.mark.parametrize("shape", [(5,), (2, 3), (2, 1, 3), (0, 3)])
def test_running_sums(shape: tuple[int, ...], exclusive: int, reverse: int) -> None:
    inputs = {"x": numbers(shape)}
    for axis in range(-1, len(shape)):
        held = {"axis": np.array(axis, np.int64)}
        model = one_node("CumSum", inputs, held, exclusive=exclusive, reverse=reverse)
        assert_as_runtime(model, inputs)


def test_a_long_running_sum_is_left() -> None:
    model = one_node("CumSum", {"x": numbers((2000,))}, {"axis": np.array(0)})
    with pytest.raises(ModelError, match="a running sum over 2000 elements"):
        lowered(model)


def test_a_running_sum_along_an_unknown_axis_is_left() -> None:
    model = one_node("CumSum", {"x": numbers((5,)), "axis": np.array(0)})
    with pytest.raises(ModelError, match="its axis is not a constant"):
        lowered(model)
