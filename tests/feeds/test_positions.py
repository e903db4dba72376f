from __future__ import annotations

import numpy as np
import onnx
import onnx_ir as ir
import pytest

from burnish.feeds.make import longest_sequence, make

BODY = """
    zero = Constant<value_int = 0>()
    one = Constant<value_int = 1>()
    axis = Constant<value_int = 1>()
    axes = Constant<value_ints = [1]>()
    start = Constant<value_ints = [0]>()
    shape = Shape(input_ids)
    length = Gather<axis = 0>(shape, one)
    end = Gather<axis = 0>(shape, axes)
    {}
"""
RANGE = "p = Range(zero, length, one) y = Gather(table, p)"
SHIFTED_RANGE = "r = Range(zero, length, one) p = Add(r, two) y = Gather(table, p)"
COUNTED_TOKENS = """
    tokens = Greater(input_ids, zero) whole = Cast<to = 7>(tokens) c = CumSum(whole, axis)
    m = Mul(c, whole) p = Add(m, one) y = Gather(table, p)
"""
CUT_BUFFER = "p = Slice(buffer, start, end, axes) y = Gather(table, p)"
CUT_TABLE = """
    all = Constant<value_ints = [-1]>() both = Concat<axis = 0>(end, all) zeros = Sub(both, both)
    y = Slice(table, zeros, both)
"""
CUT_COLUMNS = "y = Slice(table, start, end, axes)"
CUT_BY_NUMBERS = "y = Slice(table, start, axes)"
RELATIVE = """
    r = Range(zero, length, one) column = Unsqueeze(r, axes) d = Sub(r, column)
    a = Abs(d) y = Gather(table, a)
"""
DIFFERENCE = """
    r = Range(zero, length, one) column = Unsqueeze(r, axes) d = Sub(r, column)
    y = Gather(table, d)
"""


def model_from(body: str) -> ir.Model:
    text = f"""
    <ir_version: 10, opset_import: ["" : 20]>
    g (int64[batch, sequence] input_ids) => (float[n] y)
    <int64 two = {{2}}>
    {{ {BODY.format(body)} }}
    """
    model = ir.from_proto(onnx.parser.parse_model(text))
    arrays = {"table": np.zeros((64, 2), np.float32), "buffer": np.arange(50).reshape(1, 50)}
    for node in model.graph:
        for index, value in enumerate(node.inputs):
            if value is not None and value.name in arrays:
                tensor = ir.tensor(arrays[value.name], name=value.name)
                constant = ir.Value(
                    name=value.name, const_value=tensor, type=ir.TensorType(tensor.dtype),
                    shape=tensor.shape,
                )  # fmt: skip
                model.graph.register_initializer(constant)
                node.replace_input_with(index, constant)
    return model


@pytest.mark.parametrize(
    ("body", "longest"),
    [(RANGE, 64), (SHIFTED_RANGE, 62), (COUNTED_TOKENS, 62), (CUT_BUFFER, 50), (CUT_TABLE, 64)],
)
def test_tables_of_positions_limit_the_sequence(body: str, longest: int) -> None:
    assert longest_sequence(model_from(body)) == longest


@pytest.mark.parametrize(
    "body",
    [RELATIVE, DIFFERENCE, CUT_COLUMNS, CUT_BY_NUMBERS, "y = Gather(table, input_ids)"],
)
def test_other_tables_do_not(body: str) -> None:
    assert longest_sequence(model_from(body)) is None


def test_a_default_sequence_is_as_long_as_there_are_positions() -> None:
    feeds = make(model_from(RANGE), bindings={})
    assert feeds.arrays["input_ids"].shape == (1, 64)
    assert "sequence is 64, as the model has 64 positions" in feeds.notes


def test_a_sequence_that_is_asked_for_stays() -> None:
    feeds = make(model_from(RANGE), bindings={"sequence": 100})
    assert feeds.arrays["input_ids"].shape == (1, 100)
