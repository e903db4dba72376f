"""Where tensors get their channels innermost, and where they stay as they are."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from burnish.codegen.gpu.kernel import GpuTarget, emit
from burnish.codegen.gpu.layout import orders_of
from burnish.tile.graph import TileGraph
from burnish.tile.group import Group
from burnish.tile.reference import evaluate
from burnish.tile.schedule import Schedule
from codegen.gpu.interpreting import run_groups
from codegen.gpu.models import inputs_of, parsed

WEIGHTS = "float[8,4,3,3] w = {" + ", ".join(["0.5"] * 288) + "}"
POINT = "float[16,8,1,1] p = {" + ", ".join(["0.25"] * 128) + "}"
SCALE = "float[8] s = {" + ", ".join(["2"] * 8) + "}"


def orders(text: str) -> dict[str, tuple[int, ...]]:
    return orders_of(parsed(f"layout {text}"))


def test_what_lies_between_convolutions_has_channels_innermost() -> None:
    found = orders(f"""(float[2,4,9,9] x) => (float[2,16,7,7] y)
        <{WEIGHTS}, {POINT}> {{
        a = Conv(x, w)
        b = Sigmoid(a)
        y = Conv(b, p)
    }}""")
    assert {name: order for name, order in found.items() if name in "aby"} == {"b": (0, 2, 3, 1)}
    assert found["w"] == found["p"] == (2, 3, 1, 0)


def test_inputs_and_outputs_keep_their_order() -> None:
    found = orders(f"""(float[2,4,9,9] x) => (float[2,8,7,7] y) <{WEIGHTS}> {{
        y = Conv(x, w)
    }}""")
    assert set(found) == {"w"}


def test_a_tensor_that_has_channels_last_already_stays() -> None:
    found = orders(f"""(float[2,4,9,9] x) => (float[2,16,7,7] y)
        <{WEIGHTS}, {POINT}, {SCALE}> {{
        a = Conv(x, w)
        b = Transpose<perm=[0,2,3,1]>(a)
        c = LayerNormalization<axis=-1>(b, s)
        d = Transpose<perm=[0,3,1,2]>(c)
        y = Conv(d, p)
    }}""")
    assert found["a"] == (0, 2, 3, 1)
    assert not {"b", "c", "d"} & set(found)


def test_signals_are_laid_out_as_images_are() -> None:
    weights = "float[8,4,3] w = {" + ", ".join(["0.5"] * 96) + "}"
    found = orders(f"""(float[2,4,9] x) => (float[2,7,8] z) <{weights}> {{
        a = Conv(x, w)
        b = Softmax<axis=1>(a)
        z = Transpose<perm=[0,2,1]>(b)
    }}""")
    assert found["a"] == (0, 2, 1)
    assert found["w"] == (2, 1, 0)


def test_what_is_not_read_dimension_by_dimension_says_nothing() -> None:
    found = orders(f"""(float[2,4,9,9] x) => (float[2,392] z)
        <{WEIGHTS}, int64[2] n = {{2, 392}}> {{
        a = Conv(x, w)
        b = Reshape(a, n)
        z = Softmax<axis=1>(b)
    }}""")
    assert not any(len(order) == 2 for order in found.values())


def test_a_batch_of_products_with_a_constant_is_no_convolution() -> None:
    weights = "float[3,16,8] w = {" + ", ".join(["0.5"] * 384) + "}"
    found = orders(f"""(float[3,4,16] x) => (float[3,4,8] y) <{weights}> {{
        y = MatMul(x, w)
    }}""")
    assert not found


def test_a_constant_whose_columns_make_no_runs_has_its_terms_innermost() -> None:
    def order(terms: int, columns: int) -> tuple[int, ...] | None:
        numbers = ", ".join(["0.5"] * (terms * columns))
        return orders(f"""(float[4,{terms}] x) => (float[4,{columns}] y)
            <float[{terms},{columns}] w = {{{numbers}}}> {{ y = MatMul(x, w) }}""").get("w")

    assert order(16, 8) is None
    assert order(16, 7) == (1, 0)
    assert order(15, 7) is None


def test_a_convolution_with_odd_outputs_has_its_input_channels_innermost() -> None:
    weights = "float[7,8,3,3] w = {" + ", ".join(["0.5"] * 504) + "}"
    found = orders(f"""(float[2,8,9,9] x) => (float[2,7,7,7] y) <{weights}> {{
        y = Conv(x, w)
    }}""")
    assert found["w"] == (2, 3, 0, 1)


def test_weights_of_several_convolutions_lie_as_those_of_one() -> None:
    found = orders(f"""(float[2,8,9,9] x) => (float[2,16,9,9] y, float[2,16,9,9] z) <{POINT}> {{
        y = Conv(x, p) s = Sigmoid(x) z = Conv(s, p)
    }}""")
    assert found["p"] == (2, 3, 1, 0)


def test_weights_that_somebody_else_reads_stay() -> None:
    found = orders(f"""(float[2,8,9,9] x) => (float[2,16,9,9] y, float[16,8,1,1] z) <{POINT}> {{
        y = Conv(x, p) e = ReduceSum<keepdims=1>(x) z = Mul(p, e)
    }}""")
    assert "p" not in found


def test_heads_lie_side_by_side_for_the_product_that_sums_over_them() -> None:
    weights = "float[64,8] w = {" + ", ".join(["0.5"] * 512) + "}"
    found = orders(f"""(float[2,4,20,12] a, float[2,4,12,16] v) => (float[2,20,8] y) <{weights}> {{
        h = MatMul(a, v) t = Transpose<perm=[0,2,1,3]>(h)
        flat = Constant<value_ints=[2,20,64]>() r = Reshape(t, flat) y = MatMul(r, w)
    }}""")
    assert found == {"h": (0, 2, 1, 3)}


def test_heads_that_somebody_else_reads_stay() -> None:
    weights = "float[64,8] w = {" + ", ".join(["0.5"] * 512) + "}"
    found = orders(f"""(float[2,4,20,12] a, float[2,4,12,16] v)
        => (float[2,20,8] y, float[2,4,20,16] z) <{weights}> {{
        h = MatMul(a, v) t = Transpose<perm=[0,2,1,3]>(h) z = Softmax(h)
        flat = Constant<value_ints=[2,20,64]>() r = Reshape(t, flat) y = MatMul(r, w)
    }}""")
    assert not found


UP = "float[8,16,2,2] u = {" + ", ".join(f"{place % 19 / 8}" for place in range(512)) + "}"
WIDE = "float[8,16,3,3] v = {" + ", ".join(["0.5"] * 1152) + "}"


def test_transposed_convolutions_have_channels_innermost_too() -> None:
    graph = parsed(f"""layout (float[2,8,5,5] x) => (float[2,8,8,8] y) <{UP}, {WIDE}> {{
        a = ConvTranspose<strides=[2,2]>(x, u)
        y = Conv(a, v)
    }}""")
    found = orders_of(graph)
    (phases,) = (op for op in graph.ops if "u" in op.inputs)
    assert phases.shape == (2, 16, 5, 2, 5, 2)
    assert found[phases.output] == (0, 2, 3, 4, 5, 1)
    assert found["u"] == (2, 3, 1, 0)
    target = GpuTarget(orders=found)
    (launch,) = emit(Group((phases,), (phases.output,)), Schedule((), settings={}), graph, target)
    (store,) = (line for line in launch.source.splitlines() if "tl.store(" in line)
    assert "(n[None, :] % 32)" in store  # the channels of two neighbours, side by side


@pytest.mark.torch
def test_what_transposed_convolutions_give_is_what_the_judge_gives() -> None:
    graph = parsed(f"""layout (float[2,8,5,5] x) => (float[2,16,10,10] y) <{UP}> {{
        a = ConvTranspose<strides=[2,2]>(x, u)
        y = Relu(a)
    }}""")
    inputs = inputs_of(graph)
    groups = [(Group((op,), (op.output,)), {"m": 32, "n": 16, "k": 16}) for op in graph.ops]
    found = run_groups(graph, groups, inputs, orders_of(graph))["y"]
    np.testing.assert_allclose(found, evaluate(graph, inputs)["y"], rtol=1e-5, atol=1e-5)


def held(text: str, **shapes: tuple[int, ...]) -> TileGraph:
    """Return nests of f16 whose other inputs are constants of these shapes."""
    declared = ", ".join(f"float16[{','.join(map(str, s))}] {name}" for name, s in shapes.items())
    graph = parsed(f"layout {text.replace('HELD', declared)}")
    kept = tuple(name for name in graph.inputs if name not in shapes)
    constants = {name: np.ones(shape, np.float16) for name, shape in shapes.items()}
    return replace(graph, inputs=kept, constants={**graph.constants, **constants})


@pytest.mark.parametrize(
    ("rows", "terms", "order"), [(1, 64, (1, 0)), (1, 63, None), (1, 67, (1, 0)), (2, 64, None)]
)
def test_a_constant_that_a_single_row_multiplies_has_its_terms_innermost(
    rows: int, terms: int, order: tuple[int, ...] | None
) -> None:
    text = f"(float16[{rows},{terms}] x, HELD) => (float16[{rows},40] y) {{ y = MatMul(x, w) }}"
    assert orders_of(held(text, w=(terms, 40))).get("w") == order


def test_each_of_a_batch_of_single_rows_has_its_terms_innermost() -> None:
    text = "(float16[3,1,64] x, HELD) => (float16[3,1,24] y) { y = MatMul(x, w) }"
    assert orders_of(held(text, w=(3, 64, 24))) == {"w": (0, 2, 1)}


def test_weights_of_an_image_that_is_one_pixel_have_input_channels_innermost() -> None:
    text = "(float16[1,64,1,1] x, HELD) => (float16[1,24,1,1] y) { y = Conv(x, w) }"
    found = orders_of(held(text, w=(24, 64, 1, 1))).get("w", (0, 1, 2, 3))
    assert [dim for dim in found if dim < 2] == [0, 1]


@pytest.mark.parametrize(("other", "moves"), [(1, True), (8, False)])
def test_a_constant_of_several_readers_moves_if_all_of_them_want_it(
    other: int, moves: bool
) -> None:
    text = f"""(float16[1,64] x, float16[{other},64] z, HELD)
        => (float16[1,40] y, float16[{other},40] v) {{ y = MatMul(x, w) v = MatMul(z, w) }}"""
    assert ("w" in orders_of(held(text, w=(64, 40)))) is moves


def test_what_is_looked_up_row_by_row_and_multiplied_stays() -> None:
    text = """(float16[1,64] x, int64[2] i, HELD) => (float16[1,40] y, float16[2,40] v)
        { y = MatMul(x, w) v = Gather(w, i) }"""
    assert not orders_of(held(text, w=(64, 40)))


def test_bytes_of_weights_lie_as_the_weights_would() -> None:
    text = """(float16[1,128] x, HELD, int8[128,40] b) => (float16[1,40] y)
        { w = DequantizeLinear<axis=1>(b, s) y = MatMul(x, w) }"""
    graph = held(text, s=(40,))
    graph = replace(
        graph, inputs=("x",), constants={**graph.constants, "b": np.ones((128, 40), np.int8)}
    )
    assert orders_of(graph) == {"b": (1, 0), graph.ops[0].output: (1, 0)}
    given = replace(graph, inputs=("x", "b"), constants={"s": graph.constants["s"]})
    assert not orders_of(given)
