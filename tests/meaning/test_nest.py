from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from burnish.core.arrays import Array
from burnish.meaning import nest
from burnish.meaning.contraction import factors_of
from burnish.meaning.nest import evaluate_nest, is_move
from burnish.meaning.numbers import Reals
from burnish.tile.expr import Argument, Constant, Guard, Inside, call, cast
from burnish.tile.graph import Read, TileGraph, TileOp
from burnish.tile.index import Axis, at, fetched, number
from burnish.tile.reference import evaluate_op
from tile.random_graphs import graphs
from tile_strategies import UNHURRIED

ROW, J, K = Axis("i", 3), Axis("j", 4), Axis("k", 5)
RANDOM = np.random.default_rng(0)
LEFT, RIGHT = RANDOM.standard_normal((3, 5)), RANDOM.standard_normal((5, 4))


def judged(op: TileOp, **values: Array) -> None:
    """Compare with the slow and obvious evaluation."""
    np.testing.assert_allclose(evaluate_nest(op, values, Reals()), evaluate_op(op, values))


def product(reads: tuple[Read, ...], **more: object) -> TileOp:
    body = call("multiply", Argument(0, "f64"), Argument(1, "f64"))
    return TileOp("y", (ROW, J), reads, body, (K,), "sum", **more)  # type: ignore[arg-type]


@UNHURRIED
@given(graphs(), st.sampled_from([1 << 22, 50]))
def test_any_graph_gives_what_the_obvious_evaluation_gives(
    case: tuple[TileGraph, dict[str, Array]], points: int
) -> None:
    graph, inputs = case
    slow: dict[str, Array] = {**graph.constants, **inputs}
    fast = dict(slow)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(nest, "POINTS_AT_ONCE", points)
        for op in graph.ops:
            slow[op.output] = evaluate_op(op, slow)
            fast[op.output] = np.asarray(evaluate_nest(op, fast, Reals()))
            np.testing.assert_array_equal(fast[op.output], slow[op.output])


def test_a_sum_of_products_is_a_matrix_product() -> None:
    op = product((Read("a", (at(ROW), at(K))), Read("b", (at(K), at(J)))))
    judged(op, a=LEFT, b=RIGHT)
    np.testing.assert_allclose(evaluate_nest(op, {"a": LEFT, "b": RIGHT}, Reals()), LEFT @ RIGHT)


def test_an_operand_that_lacks_the_summed_axis_is_counted_for_each_step() -> None:
    judged(product((Read("a", (at(ROW), at(K))), Read("b", (at(J),)))), a=LEFT, b=RANDOM.random(4))
    once = product((Read("a", (at(ROW),)), Read("b", (at(J),))))
    judged(once, a=RANDOM.random(3), b=RANDOM.random(4))


def test_windows_overlap_without_being_copied_first() -> None:
    reads = (Read("a", (at(ROW) + at(K),)), Read("b", (at(K), at(J))))
    judged(product(reads), a=RANDOM.standard_normal(7), b=RIGHT)


def test_the_expression_behind_a_sum_is_evaluated_once_for_each_element() -> None:
    reads = (Read("a", (at(ROW), at(K))), Read("b", (at(K), at(J))), Read("c", (at(J),)))
    from burnish.tile.expr import Accumulated

    finish = call("add", Accumulated("f64"), Argument(2, "f64"))
    judged(product(reads, finish=finish), a=LEFT, b=RIGHT, c=RANDOM.standard_normal(4))


def test_integers_are_multiplied_exactly_whatever_their_size() -> None:
    body = call("multiply", Argument(0, "i64"), Argument(1, "i64"))
    op = TileOp("y", (ROW,), (Read("a", (at(ROW), at(K))), Read("b", (at(K),))), body, (K,), "sum")
    small, large = np.arange(15).reshape(3, 5), np.full((3, 5), 2**40 + 1)
    for array in (small, large):
        judged(op, a=array, b=np.arange(1, 6))


def test_bytes_are_multiplied_as_words_and_as_matrices() -> None:
    body = call("multiply", cast(Argument(0, "u8"), "i32"), cast(Argument(1, "i8"), "i32"))
    op = TileOp(
        "y", (ROW, J), (Read("a", (at(ROW), at(K))), Read("b", (at(K), at(J)))), body, (K,), "sum"
    )
    assert factors_of(op) is not None
    left, right = np.full((3, 5), 255, np.uint8), np.full((5, 4), -128, np.int8)
    judged(op, a=left, b=right)
    assert int(np.asarray(evaluate_nest(op, {"a": left, "b": right}, Reals()))[0, 0]) == -163_200


def test_a_guard_on_several_axes_masks_single_elements() -> None:
    square = Axis("s", 4)
    below = Guard(at(J) - at(square), 0, 9)
    read = Read("a", (at(square), at(J)), (below,), -1.0)
    judged(TileOp("y", (square, J), (read,), Argument(0, "f64")), a=RANDOM.random((4, 4)))


def test_a_box_that_is_empty_leaves_what_stands_outside() -> None:
    read = Read("a", (at(J) - 9,), (Guard(at(J), 9, 12),), 7.0)
    judged(TileOp("y", (J,), (read,), Argument(0, "f64")), a=RANDOM.random(4))


def test_a_choice_by_position_evaluates_each_side_where_it_is_chosen() -> None:
    inside = Inside((Guard(at(J), 1, 3),))
    body = call("where", inside, call("exp", Argument(0, "f64")), Constant(2.0, "f64"))
    judged(TileOp("y", (ROW, J), (Read("a", (at(J),)),), body), a=RANDOM.random(4))


def test_an_index_is_read_from_a_tensor_and_may_count_from_the_end() -> None:
    read = Read("a", (fetched("p", (at(J),), 6),))
    places = np.array([0, -1, 5, -6])
    judged(TileOp("y", (J,), (read,), Argument(0, "f64")), a=RANDOM.random(6), p=places)


def test_a_scalar_fills_all_places() -> None:
    judged(TileOp("y", (ROW, J), (Read("a", ()),), Argument(0, "f64")), a=np.asarray(3.0))
    judged(TileOp("y", (ROW,), (Read("a", (number(2),)),), Argument(0, "f64")), a=np.arange(4.0))


def test_an_empty_output_is_empty() -> None:
    none = Axis("n", 0)
    op = TileOp("y", (none, J), (Read("a", (at(none), at(J))),), Argument(0, "f64"))
    assert np.shape(evaluate_nest(op, {"a": np.zeros((0, 4))}, Reals())) == (0, 4)


def test_nests_that_only_move_elements_are_known() -> None:
    moved = TileOp("y", (ROW, J), (Read("a", (at(J), at(ROW))),), Argument(0, "f64"))
    assert is_move(moved)
    assert not is_move(TileOp("y", (J,), (Read("a", (at(J),)),), call("exp", Argument(0, "f64"))))
    narrowed = TileOp("y", (J,), (Read("a", (at(J),)),), cast(Argument(0, "f64"), "f32"))
    assert not is_move(narrowed)
