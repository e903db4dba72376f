"""Root-mean-square normalisation fuses in every spelling, and nothing else does."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import onnx_ir as ir
import pytest

from burnish.rewrite.options import OptimizeOptions
from burnish.rewrite.pipeline import optimize
from rewriting import Graph, checked, op_types, samples

Body = Callable[[Graph, ir.Value], ir.Value]
SCALE = samples(8, seed=1)
FEEDS = {"x": samples(2, 4, 8)}


def build(
    body: Body, *, opset: int = 17, dtype: ir.DataType = ir.DataType.FLOAT,
    shape: tuple[int | str, ...] | None = ("batch", 4, 8),
) -> ir.Model:  # fmt: skip
    graph = Graph(opset=opset, dtype=dtype)
    return graph.model(body(graph, graph.input("x", shape)))


def mean_square(
    g: Graph, x: ir.Value, *, axis: int = -1, keepdims: int | None = 1, by_mul: bool = False
) -> ir.Value:
    square = g.op("Mul", x, x) if by_mul else g.op("Pow", x, 2.0)
    options = {} if keepdims is None else {"keepdims": keepdims}
    if g.opset >= 18:
        return g.op("ReduceMean", square, np.array([axis]), **options)
    return g.op("ReduceMean", square, axes=[axis], **options)


def shifted(g: Graph, x: ir.Value, *, epsilon: float = 1e-6, **options: object) -> ir.Value:
    return g.op("Add", mean_square(g, x, **options), epsilon)


def root(g: Graph, x: ir.Value, **options: object) -> ir.Value:
    return g.op("Sqrt", shifted(g, x, **options))


def plain(g: Graph, x: ir.Value, **options: object) -> ir.Value:
    return g.op("Mul", g.op("Div", x, root(g, x, **options)), SCALE)


SPELLINGS: dict[str, Body] = {
    "Div": plain,
    "one over the root": lambda g, x: g.op(
        "Mul", SCALE, g.op("Mul", x, g.op("Div", 1.0, root(g, x)))
    ),
    "Reciprocal": lambda g, x: g.op("Mul", g.op("Mul", x, g.op("Reciprocal", root(g, x))), SCALE),
    "Reciprocal first": lambda g, x: g.op(
        "Mul", SCALE, g.op("Mul", g.op("Reciprocal", root(g, x)), x)
    ),
    "square by Mul": lambda g, x: plain(g, x, by_mul=True),
    "keepdims by default": lambda g, x: plain(g, x, keepdims=None),
    "positive axis": lambda g, x: plain(g, x, axis=2),
    "power -0.5": lambda g, x: g.op("Mul", g.op("Mul", x, g.op("Pow", shifted(g, x), -0.5)), SCALE),
    "power 0.5": lambda g, x: g.op("Mul", g.op("Div", x, g.op("Pow", shifted(g, x), 0.5)), SCALE),
    "scale before the root": lambda g, x: g.op("Div", g.op("Mul", SCALE, x), root(g, x)),
    "scale over the root": lambda g, x: g.op("Mul", x, g.op("Div", SCALE, root(g, x))),
    "scale stored less one": lambda g, x: g.op(
        "Mul", g.op("Div", x, root(g, x)), g.op("Add", g.constant(SCALE - 1), 1.0)
    ),
    "epsilon of rank 1": lambda g, x: g.op(
        "Mul", g.op("Div", x, g.op("Sqrt", g.op("Add", [1e-6], mean_square(g, x)))), SCALE
    ),
    "no epsilon": lambda g, x: g.op(
        "Mul", g.op("Mul", x, g.op("Reciprocal", g.op("Sqrt", mean_square(g, x)))), SCALE
    ),
    "scale of rank 3": lambda g, x: g.op("Mul", g.op("Div", x, root(g, x)), SCALE.reshape(1, 1, 8)),
}


@pytest.mark.parametrize("opset", [17, 18])
@pytest.mark.parametrize("spelling", SPELLINGS)
def test_every_spelling_fuses(spelling: str, opset: int) -> None:
    result = checked(build(SPELLINGS[spelling], opset=opset), FEEDS)
    assert op_types(result.model) == ["SimplifiedLayerNormalization"]
    assert result.report.misses == ()


def test_epsilon_and_axis_are_read_from_the_graph() -> None:
    node = optimize(build(lambda g, x: plain(g, x, epsilon=3e-3))).model.graph.node(0)
    assert node.attributes["axis"].as_int() == -1
    assert node.attributes["epsilon"].as_float() == pytest.approx(3e-3)


def test_without_a_scale_ones_are_made() -> None:
    result = checked(build(lambda g, x: g.op("Div", x, root(g, x))), FEEDS)
    assert op_types(result.model) == ["SimplifiedLayerNormalization"]
    scale = result.model.graph.node(0).inputs[1]
    assert scale is not None
    assert scale.const_value is not None
    assert scale.const_value.numpy().tolist() == [1.0] * 8


def test_half_precision_with_single_inside_becomes_one_half_precision_node() -> None:
    def body(g: Graph, x: ir.Value) -> ir.Value:
        g.dtype = ir.DataType.FLOAT
        wide = g.op("Cast", x, to=ir.DataType.FLOAT)
        y = g.op("Cast", g.op("Div", wide, root(g, wide)), to=ir.DataType.FLOAT16)
        g.dtype = ir.DataType.FLOAT16
        return g.op("Mul", g.constant(SCALE.astype(np.float16)), y)

    model = build(body, dtype=ir.DataType.FLOAT16)
    result = checked(model, {"x": FEEDS["x"].astype(np.float16)}, tolerance=4e-3)
    assert op_types(result.model) == ["SimplifiedLayerNormalization"]


def test_a_scale_of_another_shape_stays_outside() -> None:
    def body(g: Graph, x: ir.Value) -> ir.Value:
        return g.op("Mul", g.op("Div", x, root(g, x)), samples(4, 8, seed=3))

    result = checked(build(body), FEEDS)
    assert op_types(result.model) == ["SimplifiedLayerNormalization", "Mul"]


def test_a_mean_square_that_others_read_is_said() -> None:
    graph = Graph()
    x = graph.input("x", ["batch", 4, 8])
    average = mean_square(graph, x)
    y = graph.op("Div", x, graph.op("Sqrt", graph.op("Add", average, 1e-6)))
    result = checked(graph.model(y, graph.op("Exp", average)), FEEDS)
    assert "SimplifiedLayerNormalization" not in op_types(result.model)
    assert [miss.reason for miss in result.report.misses] == [
        "ReduceMean 'reducemean_1' must stay: the value 'v1_0' in between is also read by 'exp_5'"
    ]


def test_two_norms_in_a_row_both_fuse() -> None:
    result = checked(build(lambda g, x: plain(g, plain(g, x))), FEEDS)
    assert op_types(result.model) == ["SimplifiedLayerNormalization"] * 2


def test_only_standard_operators_need_opset_23() -> None:
    result = optimize(build(plain), OptimizeOptions(ops="standard", raise_opset=False))
    assert [miss.reason for miss in result.report.misses] == [
        (
            "RMSNormalization for 'reducemean_1' needs opset 23: the model declares opset 17,"
            " and raising it was not allowed"
        )
    ]
    assert [miss.remedy for miss in result.report.misses] == [
        (
            "export the model with opset 23 or later, or allow ONNX Runtime's own operators:"
            " --ops auto"
        )
    ]


@pytest.mark.parametrize("opset", [17, 23])
def test_standard_operators_are_written_and_the_opset_raised_for_them(opset: int) -> None:
    result = checked(build(plain, opset=opset), FEEDS, ops="standard")
    assert op_types(result.model) == ["RMSNormalization"]


NEAR_MISSES: dict[str, tuple[Body, str]] = {
    "axis 1": (
        lambda g, x: g.op("Div", x, root(g, x, axis=1)),
        "ReduceMean 'reducemean_1' averages over axes (1,) of 3, expected the last ones",
    ),
    "epsilon after the root": (
        lambda g, x: g.op("Div", x, g.op("Add", g.op("Sqrt", mean_square(g, x)), 1e-6)),
        "no positive epsilon is added to the mean square in 'reducemean_1' before its root",
    ),
    "keepdims 0": (
        lambda g, x: g.op("Div", x, g.op("Unsqueeze", root(g, x, keepdims=0), np.array([2]))),
        "ReduceMean 'reducemean_1' has keepdims = 0, expected 1",
    ),
    "divided by the square": (
        lambda g, x: g.op("Div", x, shifted(g, x)),
        (
            "the mean square in 'reducemean_1' leads to 'out0' = 1·s^-1·x (s is 'v2_0'),"
            " expected x·s^-0.5"
        ),
    ),
    "another value divided": (
        lambda g, x: g.op("Div", g.op("Relu", x), root(g, x)),
        (
            "the mean square in 'reducemean_2' leads to 'v4_0' = 1·s^0.5 (s is 'v3_0'),"
            " expected x·s^-0.5"
        ),
    ),
}


@pytest.mark.parametrize("name", NEAR_MISSES)
def test_near_misses_stay_and_say_why(name: str) -> None:
    body, reason = NEAR_MISSES[name]
    result = checked(build(body), FEEDS)
    assert "SimplifiedLayerNormalization" not in op_types(result.model)
    assert [miss.reason for miss in result.report.misses] == [reason]


def test_an_average_of_squares_alone_is_no_candidate() -> None:
    result = optimize(build(mean_square))
    assert result.report.misses == ()


def test_an_unknown_rank_is_said() -> None:
    result = checked(build(plain, shape=None), FEEDS)
    assert [miss.reason for miss in result.report.misses] == [
        "the rank of 'x' is not known, so neither are the axes of 'reducemean_1'"
    ]
