from __future__ import annotations

import numpy as np
import onnx
import onnx_ir as ir
import pytest

from burnish.feeds.distinguish import Suspicions
from burnish.parity.structure import Structure, compare_structure

HEAD = '<ir_version: 10, opset_import: ["" : 20]>'
PLAIN = (
    "g (float[n, 4] x) => (float[n, 4] y) <float[4] w = {1, 2, 3, 4}> { a = Mul(x, w) y = Exp(a) }"
)


def model(text: str) -> ir.Model:
    return ir.serde.deserialize_model(onnx.parser.parse_model(f"{HEAD} {text}"))


def compared(one: str, two: str) -> Structure:
    return compare_structure((model(one), model(two)), {"y": "y", "z": "z"})


@pytest.mark.parametrize(
    "same",
    [
        PLAIN,
        PLAIN.replace("a = Mul(x, w) y = Exp(a)", "b = Mul(w, x) y = Exp(b)"),
        PLAIN.replace("w", "weights"),
        PLAIN.replace("y = Exp(a)", "c = Identity(a) y = Exp(c)"),
        PLAIN.replace("y = Exp(a)", "d = Neg(x) y = Exp(a)"),
    ],
)
def test_what_is_computed_in_the_same_way_is_the_same(same: str) -> None:
    assert compared(PLAIN, same).same == {"y"}


@pytest.mark.parametrize(
    "other",
    [
        PLAIN.replace("Exp", "Neg"),
        PLAIN.replace("3, 4}", "3, 5}"),
        PLAIN.replace("Mul(x, w)", "Sub(x, w)"),
        PLAIN.replace("y = Exp(a)", "y = Softmax<axis = 0>(a)"),
        PLAIN.replace("x)", "z)").replace("Mul(x", "Mul(z"),
    ],
)
def test_anything_else_is_not(other: str) -> None:
    assert compared(PLAIN, other).same == frozenset()


def test_the_order_of_operands_counts_where_it_matters() -> None:
    one = "g (float[4] x, float[4] w) => (float[4] y) { y = Sub(x, w) }"
    assert not compared(one, one.replace("Sub(x, w)", "Sub(w, x)")).same


def test_bodies_count() -> None:
    one = """g (bool c, float[4] x) => (float[4] y) {
        y = If (c) <then_branch = t () => (float[4] a) { a = Exp(x) },
                    else_branch = e () => (float[4] b) { b = Neg(x) }> }"""
    assert compared(one, one).same == {"y"}
    assert not compared(one, one.replace("Neg", "Abs")).same


def test_outputs_that_depend_on_no_input_are_known() -> None:
    text = """g (float[4] x) => (float[4] y, int64[1] z)
        <int64[1] k = {4}> { y = Exp(x) z = Neg(k) }"""
    assert compared(text, text).constant == {"z"}


def test_equal_graphs_give_no_clues() -> None:
    assert compared(PLAIN, PLAIN).clues == Suspicions()


def test_numbers_in_what_differs_come_first_then_those_on_the_way() -> None:
    text = """g (float[n, 4] x) => (float[n, 4] y) <float near = {1.5}, float far = {9.25}>
        { a = Add(x, far) b = Clip(a) y = Mul(b, near) }"""
    other = text.replace("near = {1.5}", "near = {1.75}")
    assert compared(text, other).clues.reals == (1.75, 9.25, 1.5)


def test_sizes_in_conditions_are_clues_although_only_the_branch_differs() -> None:
    text = """g (float[n, 4] x) => (float[n, 4] y) <int64[1] many = {20}> {
        s = Shape<start = 0, end = 1>(x) c = Greater(s, many)
        y = If (c) <then_branch = t () => (float[n, 4] a) { a = Exp(x) },
                    else_branch = e () => (float[n, 4] b) { b = Neg(x) }> }"""
    assert 20 in compared(text, text.replace("Exp", "Abs")).clues.integers


def test_rows_that_differ_in_tables_of_one_name_are_clues() -> None:
    def table(row: int) -> ir.Model:
        values = np.zeros((50, 3), np.float32)
        values[row] = 1
        text = "g (int64[n] i) => (float[n, 3] y) { y = Gather(t, i) }"
        proto = onnx.parser.parse_model(f"{HEAD} {text}")
        proto.graph.initializer.append(onnx.numpy_helper.from_array(values, "t"))
        return ir.serde.deserialize_model(proto)

    assert compare_structure((table(7), table(33)), {"y": "y"}).clues.rows == (7, 33)


def test_a_number_that_one_stores_and_the_other_computes_is_lost() -> None:
    computed = """g (float[n, 4] x) => (float[n, 4] y) <float seven = {7}>
        { s = Sqrt(seven) y = Mul(x, s) }"""
    stored = "g (float[n, 4] x) => (float[n, 4] y) <float s = {2.6457512}> { y = Mul(x, s) }"
    found = compared(computed, stored)
    assert (found.lost, found.new) == ({"seven", "s"}, {"s"})
    assert compared(computed, computed).lost == frozenset()
