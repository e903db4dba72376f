from __future__ import annotations

import numpy as np
import onnx
import onnx_ir as ir
import pytest

from burnish.feeds.tables import smallest_table


def model_from(body: str, tables: str = "float[50, 4] table", functions: str = "") -> ir.Model:
    """Return a model over `ids` whose tables, all zero, have the given types."""
    proto = onnx.parser.parse_model(
        '<ir_version: 10, opset_import: ["" : 20, "com.microsoft" : 1, "own" : 1]>'
        f" g (int64[n, s] ids, {tables}) => (float[n] y) {{ {body} }} {functions}"
    )
    model = ir.from_proto(proto)
    for value in list(model.graph.inputs)[1:]:
        assert value.shape is not None
        assert value.dtype is not None
        zeros = np.zeros(value.shape.numpy(), value.dtype.numpy())
        value.const_value = ir.tensor(zeros, name=value.name)
        model.graph.inputs.remove(value)
        model.graph.register_initializer(value)
    return model


def table_of(model: ir.Model) -> int | str | None:
    return smallest_table(model.graph.inputs[0], model)


@pytest.mark.parametrize(
    "body",
    [
        "y = Gather(table, ids)",
        "y = Gather<axis = 0>(table, ids)",
        "c = Cast<to = 6>(ids) y = Gather(table, c)",
        "shape = Constant<value_ints = [-1]>() r = Reshape(ids, shape) y = Gather(table, r)",
        "m = Less(ids, ids) w = Where(m, ids, ids) y = Gather(table, w)",
        "m = Less(ids, ids) w = Cast<to = 7>(m) p = Mul(ids, w) y = Gather(table, p)",
        "i = Identity(table) y = Gather(i, ids)",
        "t = Transpose<perm = [1, 0]>(table) u = Transpose<perm = [1, 0]>(t) y = Gather(u, ids)",
    ],
)
def test_the_table_is_found_through_what_carries_values(body: str) -> None:
    assert table_of(model_from(body)) == 50


@pytest.mark.parametrize(
    ("shape", "body", "rows"),
    [
        ("int64[n, 1]", "y = GatherND(table, ids)", 50),
        ("int64[n, 2]", "y = GatherND(table, ids)", 4),
        ("int64[n, k]", "y = GatherND(table, ids)", 50),
        ("int64[50, 3, 1]", "y = GatherND<batch_dims = 1>(table, ids)", 4),
        ("int64[n, 1]", "y = ScatterND(table, ids, new)", 50),
        ("int64[n, 4]", "y = ScatterElements<axis = 1>(table, ids, new)", 4),
        ("int64[n, 1099511627776]", "y = GatherND(table, ids)", 4),
    ],
)
def test_places_are_within_all_axes_that_they_pick_along(shape: str, body: str, rows: int) -> None:
    proto = onnx.parser.parse_model(
        '<ir_version: 10, opset_import: ["" : 20]>'
        f" g ({shape} ids, float[50, 4] table, float[n, 4] new) => (float[m] y) {{ {body} }}"
    )
    assert table_of(ir.from_proto(proto)) == rows


def test_boxes_say_which_picture_they_lie_in() -> None:
    proto = onnx.parser.parse_model(
        '<ir_version: 10, opset_import: ["" : 20]> g (int64[r] ids, float[b, 2, 8, 8] x, '
        "float[r, 4] boxes) => (float[r, 2, 1, 1] y) { y = RoiAlign(x, boxes, ids) }"
    )
    assert table_of(ir.from_proto(proto)) == "b"


@pytest.mark.parametrize(
    "body",
    [
        "y = Identity(ids)",
        "m = Mod(ids, ids) y = Gather(table, m)",
        "y = Cast<to = 1>(ids)",
        "m = Mul(ids, ids) y = Gather(table, m)",
    ],
)
def test_without_a_look_up_there_is_no_table(body: str) -> None:
    assert table_of(model_from(body)) is None


def test_another_axis_counts_its_own_size() -> None:
    assert table_of(model_from("y = Gather<axis = 1>(table, ids)")) == 4


def test_the_smallest_of_several_tables_counts() -> None:
    model = model_from(
        "a = Gather(table, ids) b = Gather(small, ids) y = Add(a, b)",
        "float[50, 4] table, float[7, 4] small",
    )
    assert table_of(model) == 7


@pytest.mark.parametrize(("operator", "rows"), [("Add", 48), ("Sub", 52)])
def test_a_constant_shift_is_taken_into_account(operator: str, rows: int) -> None:
    body = f"two = Constant<value_int = 2>() s = {operator}(ids, two) y = Gather(table, s)"
    assert table_of(model_from(body)) == rows


def test_counting_from_the_end_is_no_shift() -> None:
    body = """
        zero = Constant<value_int = 0>() all = Constant<value_int = 50>()
        below = Less(ids, zero) end = Add(ids, all) i = Where(below, end, ids)
        y = Gather(table, i)
    """
    assert table_of(model_from(body)) == 50


def test_one_hot_counts_its_depth() -> None:
    body = (
        "depth = Constant<value_int = 9>() values = Constant<value_ints = [0, 1]>()"
        " y = OneHot(ids, depth, values)"
    )
    assert table_of(model_from(body)) == 9


def test_fused_embeddings_have_a_table_for_each_input() -> None:
    model = model_from(
        "y = com.microsoft.EmbedLayerNormalization(ids, ids, words, positions, segments)",
        "float[50, 4] words, float[9, 4] positions, float[2, 4] segments",
    )
    assert table_of(model) == 2


def test_functions_are_followed_in_and_out() -> None:
    functions = (
        '<opset_import: ["" : 20], domain: "own"> same (a) => (b) { b = Identity(a) }'
        '<opset_import: ["" : 20], domain: "own"> embed (t, a) => (b) { b = Gather(t, a) }'
    )
    model = model_from("i = own.same(ids) y = own.embed(table, i)", functions=functions)
    assert table_of(model) == 50


def test_a_table_of_symbolic_size_is_named() -> None:
    text = """
    <ir_version: 10, opset_import: ["" : 20]>
    g (int64[n] index, float[s, 4] hidden) => (float[n, 4] y) { y = Gather(hidden, index) }
    """
    model = ir.from_proto(onnx.parser.parse_model(text))
    assert smallest_table(model.graph.inputs[0], model) == "s"


def test_calls_in_calls_go_as_deep_as_they_like() -> None:
    head = '<ir_version: 9, opset_import: ["" : 17, "my" : 1]>'
    imports = '<domain: "my", opset_import: ["" : 17, "my" : 1]>'
    first = f"{imports} f0 (t, i) => (b) {{ b = Gather(t, i) }}"
    rest = [f"{imports} f{n} (t, i) => (b) {{ b = my.f{n - 1}(t, i) }}" for n in range(1, 800)]
    graph = "g (int64[2] i) => (float[2] y) <float[3] t = {1, 2, 3}> { y = my.f799(t, i) }"
    proto = onnx.parser.parse_model(" ".join([head, graph, first, *rest]))
    model = ir.serde.deserialize_model(proto)
    assert smallest_table(model.graph.inputs[0], model) == 3
