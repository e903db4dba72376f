"""GELU fuses in every spelling, and nothing else does."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import onnx_ir as ir
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from burnish.rewrite.options import OptimizeOptions
from burnish.rewrite.pipeline import optimize
from rewriting import SQRT2, Graph, checked, op_types, samples

Body = Callable[[Graph, ir.Value], ir.Value]
K = math.sqrt(2 / math.pi)


def build(body: Body, *, opset: int = 17, dtype: ir.DataType = ir.DataType.FLOAT) -> ir.Model:
    graph = Graph(opset=opset, dtype=dtype)
    x = graph.input("x", ["batch", 4, 8])
    return graph.model(body(graph, x))


def erf(g: Graph, x: ir.Value) -> ir.Value:
    return g.op("Erf", g.op("Div", x, SQRT2))


def cube(g: Graph, x: ir.Value) -> ir.Value:
    return g.op("Pow", x, 3.0)


def tanh(g: Graph, x: ir.Value) -> ir.Value:
    inner = g.op("Add", x, g.op("Mul", cube(g, x), 0.044715))
    return g.op("Tanh", g.op("Mul", inner, K))


def outer(g: Graph, x: ir.Value, curve: ir.Value) -> ir.Value:
    return g.op("Mul", g.op("Mul", x, g.op("Add", curve, 1.0)), 0.5)


ERF_SPELLINGS: dict[str, Body] = {
    "half last": lambda g, x: outer(g, x, erf(g, x)),
    "half first": lambda g, x: g.op(
        "Mul", 0.5, g.op("Mul", x, g.op("Add", erf(g, x), 1.0))
    ),
    "half on x": lambda g, x: g.op("Mul", g.op("Mul", 0.5, x), g.op("Add", 1.0, erf(g, x))),
    "half on the bracket": lambda g, x: g.op(
        "Mul", g.op("Mul", g.op("Add", 1.0, erf(g, x)), 0.5), x
    ),
    "halved by Div": lambda g, x: g.op(
        "Div", g.op("Mul", g.op("Add", erf(g, x), 1.0), x), 2.0
    ),
    "product with root of a half": lambda g, x: outer(
        g, x, g.op("Erf", g.op("Mul", x, math.sqrt(0.5)))
    ),
    "rounded to 0.7071": lambda g, x: outer(g, x, g.op("Erf", g.op("Mul", 0.7071, x))),
    "constants of rank 1": lambda g, x: g.op(
        "Mul",
        g.op("Mul", x, g.op("Add", g.op("Erf", g.op("Div", x, [SQRT2])), [1.0])),
        [0.5],
    ),
    "constants of rank 3": lambda g, x: g.op(
        "Mul",
        g.op("Mul", x, g.op("Add", g.op("Erf", g.op("Div", x, [[[SQRT2]]])), [[[1.0]]])),
        [[[0.5]]],
    ),
    "square root as a node": lambda g, x: outer(
        g, x, g.op("Erf", g.op("Div", x, g.op("Sqrt", 2.0)))
    ),
    "one minus erf of -x": lambda g, x: g.op(
        "Mul", g.op("Mul", x, 0.5),
        g.op("Sub", 1.0, g.op("Erf", g.op("Div", g.op("Neg", x), SQRT2))),
    ),
    "expanded": lambda g, x: g.op(
        "Add", g.op("Mul", x, 0.5), g.op("Mul", g.op("Mul", x, 0.5), erf(g, x))
    ),
    "normal distribution": lambda g, x: g.op(
        "Mul", x, g.op("Add", g.op("Mul", erf(g, x), 0.5), 0.5)
    ),
    "reciprocal constant": lambda g, x: outer(
        g, x, g.op("Erf", g.op("Mul", x, g.op("Reciprocal", SQRT2)))
    ),
    "uniform vector": lambda g, x: g.op(
        "Mul", g.op("Mul", x, g.op("Add", erf(g, x), np.ones(8))), np.full(8, 0.5)
    ),
}  # fmt: skip

TANH_SPELLINGS: dict[str, Body] = {
    "cube by Pow": lambda g, x: outer(g, x, tanh(g, x)),
    "cube by products": lambda g, x: outer(
        g, x,
        g.op("Tanh", g.op("Mul", K, g.op(
            "Add", x, g.op("Mul", g.op("Mul", g.op("Mul", x, x), x), 0.044715)))),
    ),
    "x factored out": lambda g, x: outer(
        g, x,
        g.op("Tanh", g.op("Mul", g.op("Mul", x, K), g.op(
            "Add", g.op("Mul", g.op("Mul", x, x), 0.044715), 1.0))),
    ),
    "constant inside": lambda g, x: outer(
        g, x,
        g.op("Tanh", g.op("Add", g.op("Mul", x, K), g.op("Mul", cube(g, x), 0.044715 * K))),
    ),
    "half on x": lambda g, x: g.op(
        "Mul", g.op("Mul", x, 0.5), g.op("Add", 1.0, tanh(g, x))
    ),
    "half on the bracket": lambda g, x: g.op(
        "Mul", x, g.op("Mul", g.op("Add", 1.0, tanh(g, x)), 0.5)
    ),
    "cube on the constant": lambda g, x: outer(
        g, x,
        g.op("Tanh", g.op("Mul", g.op("Add", g.op("Mul", g.op("Mul", x, 0.044715), g.op(
            "Mul", x, x)), x), K)),
    ),
    "Pow with an integer": lambda g, x: outer(
        g, x,
        g.op("Tanh", g.op("Mul", K, g.op("Add", g.op("Mul", 0.044715, g.op(
            "Pow", x, np.int64(3))), x))),
    ),
}  # fmt: skip


@pytest.mark.parametrize("spelling", ERF_SPELLINGS)
def test_every_spelling_with_erf_fuses(spelling: str) -> None:
    result = checked(build(ERF_SPELLINGS[spelling]), {"x": samples(2, 4, 8)})
    assert op_types(result.model) == ["Gelu"]
    assert result.model.graph.node(0).domain == "com.microsoft"
    assert [fusion.op_type for fusion in result.report.fusions] == ["com.microsoft::Gelu"]


@pytest.mark.parametrize("spelling", TANH_SPELLINGS)
def test_every_spelling_with_tanh_fuses(spelling: str) -> None:
    result = checked(build(TANH_SPELLINGS[spelling]), {"x": samples(2, 4, 8)})
    assert op_types(result.model) == ["FastGelu"]


@pytest.mark.parametrize(("body", "approximate"), [
    (ERF_SPELLINGS["half last"], None), (TANH_SPELLINGS["cube by Pow"], "tanh"),
])  # fmt: skip
def test_from_opset_20_on_the_standard_operator_is_used(
    body: Body, approximate: str | None
) -> None:
    result = checked(build(body, opset=20), {"x": samples(2, 4, 8)})
    node = result.model.graph.node(0)
    assert (node.op_type, node.domain) == ("Gelu", "")
    assert node.attributes.get_string("approximate", None) == approximate
    assert "com.microsoft" not in result.model.opset_imports


def test_half_precision_constants_fuse() -> None:
    model = build(TANH_SPELLINGS["cube by Pow"], dtype=ir.DataType.FLOAT16)
    assert op_types(optimize(model).model) == ["FastGelu"]


def test_x_that_is_a_sum_or_a_product_fuses() -> None:
    def body(g: Graph, x: ir.Value) -> ir.Value:
        biased = g.op("Add", g.op("Mul", x, g.op("Sigmoid", x)), np.arange(8.0))
        return outer(g, biased, erf(g, biased))

    result = checked(build(body), {"x": samples(2, 4, 8)}, only=("gelu",))
    assert op_types(result.model) == ["Sigmoid", "Mul", "Add", "Gelu"]


def test_casts_around_it_stay_around_it() -> None:
    def body(g: Graph, x: ir.Value) -> ir.Value:
        wide = g.op("Cast", x, to=ir.DataType.FLOAT)
        g.dtype = ir.DataType.FLOAT
        y = outer(g, wide, erf(g, wide))
        g.dtype = ir.DataType.FLOAT16
        return g.op("Cast", y, to=ir.DataType.FLOAT16)

    feeds = {"x": samples(2, 4, 8, dtype=np.float16)}
    result = checked(build(body, dtype=ir.DataType.FLOAT16), feeds, tolerance=1e-3)
    assert op_types(result.model) == ["Cast", "Gelu", "Cast"]


def test_a_shared_scaled_input_is_kept_for_its_other_reader() -> None:
    graph = Graph()
    x = graph.input("x", ["batch", 4, 8])
    scaled = graph.op("Div", x, SQRT2)
    y = outer(graph, x, graph.op("Erf", scaled))
    result = checked(graph.model(y, graph.op("Relu", scaled)), {"x": samples(2, 4, 8)})
    assert sorted(op_types(result.model)) == ["Div", "Gelu", "Relu"]
    assert result.report.fusions[0].replaced == ("erf_1", "add_2", "mul_3", "mul_4")


def test_inside_a_branch_it_fuses_too() -> None:
    inner = Graph()
    inner.opset = 17
    outer_graph = Graph()
    x = outer_graph.input("x", ["batch", 4, 8])
    flag = outer_graph.input("flag", [], ir.DataType.BOOL)
    y = outer(inner, x, erf(inner, x))
    y.name = "then_out"
    branch = ir.Graph([], [y], nodes=inner.nodes, initializers=inner.initializers, name="then")
    other = ir.node("Identity", [x], name="same")
    other.outputs[0].name = "else_out"
    otherwise = ir.Graph([], [other.outputs[0]], nodes=[other], name="else")
    chosen = outer_graph.op("If", flag, then_branch=branch, else_branch=otherwise)
    model = outer_graph.model(chosen)
    for flag_value in (True, False):
        feeds = {"x": samples(2, 4, 8), "flag": np.array(flag_value)}
        result = checked(model, feeds)
    body = result.model.graph.node(0).attributes["then_branch"].as_graph()
    assert [node.op_type for node in body] == ["Gelu"]


NEAR_MISSES: dict[str, tuple[Body, str]] = {
    "1.5 for the root of 2": (
        lambda g, x: outer(g, x, g.op("Erf", g.op("Div", x, 1.5))),
        "Erf 'erf_1' is applied to 0.666667·x (x is 'x'), expected 0.707107·x",
    ),
    "2 for 1": (
        lambda g, x: g.op("Mul", g.op("Mul", x, g.op("Add", erf(g, x), 2.0)), 0.5),
        "Erf 'erf_1' leads to 'out0' = 0.5·erf·x + 1·x, expected 0.5·erf·x + 0.5·x",
    ),
    "another value outside": (
        lambda g, x: outer(g, g.op("Relu", x), erf(g, x)),
        ("Erf 'erf_2' leads to 'v4_0' = 1·erf·v0_0 + 1·v0_0,"
        " expected 0.5·erf·x + 0.5·x"),
    ),
    "erf of a sum": (
        lambda g, x: g.op("Erf", g.op("Add", g.op("Relu", x), g.op("Sigmoid", x))),
        "Erf 'erf_3' is applied to 1·x (x is 'v2_0'), expected 0.707107·x",
    ),
    "nothing outside": (
        erf,
        "Erf 'erf_1' leads to nothing that could be GELU, expected 0.5·erf·x + 0.5·x",
    ),
    "wrong cubic constant": (
        lambda g, x: outer(g, x, g.op("Tanh", g.op("Mul", g.op(
            "Add", x, g.op("Mul", cube(g, x), 0.05)), K))),
        ("Tanh 'tanh_4' is applied to 0.0398942·x^3 + 0.797885·x (x is 'x'),"
        " expected 0.0356774·x^3 + 0.797885·x"),
    ),
    "wrong linear constant": (
        lambda g, x: outer(g, x, g.op("Tanh", g.op("Mul", g.op(
            "Add", x, g.op("Mul", cube(g, x), 0.044715)), 0.8))),
        ("Tanh 'tanh_4' is applied to 0.035772·x^3 + 0.8·x (x is 'x'),"
        " expected 0.0356774·x^3 + 0.797885·x"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("factor", [0.25, -3.0, [[[[0.5]]]], np.arange(8.0)])
def test_multiples_fuse_and_are_multiplied(factor: npt.ArrayLike) -> None:
    model = build(lambda g, x: g.op("Mul", g.op("Mul", x, g.op("Add", erf(g, x), 1.0)), factor))
    result = checked(model, {"x": samples(2, 4, 8)})
    assert "Gelu" in op_types(result.model)
    assert "Erf" not in op_types(result.model)


@pytest.mark.parametrize("name", NEAR_MISSES)
def test_near_misses_stay_and_say_why(name: str) -> None:
    body, reason = NEAR_MISSES[name]
    result = checked(build(body), {"x": samples(2, 4, 8)})
    assert not {"Gelu", "FastGelu"} & set(op_types(result.model))
    assert [miss.reason for miss in result.report.misses] == [reason]
    assert result.report.misses[0].remedy


def test_erf_that_others_read_stays_and_says_who() -> None:
    graph = Graph()
    x = graph.input("x", ["batch", 4, 8])
    curve = erf(graph, x)
    y = outer(graph, x, curve)
    result = checked(graph.model(y, graph.op("Relu", curve)), {"x": samples(2, 4, 8)})
    assert [miss.reason for miss in result.report.misses] == [
        "Erf 'erf_1' must stay: the value 'v1_0' in between is also read by 'relu_5'"
    ]


def test_a_value_in_between_that_is_an_output_is_kept() -> None:
    graph = Graph()
    x = graph.input("x", ["batch", 4, 8])
    curve = graph.op("Add", erf(graph, x), 1.0)
    y = graph.op("Mul", graph.op("Mul", x, curve), 0.5)
    result = checked(graph.model(y, curve), {"x": samples(2, 4, 8)})
    assert [miss.reason for miss in result.report.misses] == [
        "Erf 'erf_1' must stay: the value 'out1' in between is also an output of the graph"
    ]


def test_an_ordinary_tanh_or_a_logistic_is_no_candidate() -> None:
    graph = Graph()
    x = graph.input("x", ["batch", 4, 8])
    result = checked(
        graph.model(graph.op("Tanh", graph.op("Mul", x, 2.0))), {"x": samples(2, 4, 8)}
    )
    assert result.report.misses == ()


def test_an_overridable_default_is_no_constant() -> None:
    graph = Graph()
    x = graph.input("x", ["batch", 4, 8])
    half = graph.constant(0.5, "half")
    y = graph.op("Mul", graph.op("Mul", x, graph.op("Add", erf(graph, x), 1.0)), half)
    model = graph.model(y)
    model.graph.inputs.append(half)
    assert op_types(optimize(model).model) == ["Gelu", "Mul", "Mul"]


def _factors(draw: st.DrawFn, g: Graph, parts: list[ir.Value | float]) -> ir.Value:
    """Multiply parts in a random order and grouping, by Mul or by Div with the inverse."""
    rest = draw(st.permutations(parts))
    while len(rest) > 1:
        left, right, *others = rest
        if isinstance(left, float) and isinstance(right, float):
            rest = [left * right, *others]
            continue
        if isinstance(right, float) and draw(st.booleans()):
            joined = g.op("Div", left, 1 / right)
        else:
            shape = draw(st.sampled_from([(), (1,), (1, 1)]))
            operands = [
                np.full(shape, part) if isinstance(part, float) else part for part in (left, right)
            ]
            joined = g.op("Mul", *operands)
        rest = draw(st.permutations([joined, *others]))
    assert isinstance(rest[0], ir.Value)
    return rest[0]


def _sum(draw: st.DrawFn, g: Graph, left: ir.Value, right: ir.Value | float) -> ir.Value:
    operands = draw(st.permutations([left, right]))
    if isinstance(right, float) and draw(st.booleans()):
        return g.op("Sub", left, -right)
    return g.op("Add", *operands)


@st.composite
def spellings(draw: st.DrawFn) -> ir.Model:
    """Return GELU in a random spelling."""
    g = Graph()
    x = g.input("x", ["batch", 4, 8])
    if draw(st.booleans()):
        argument = _factors(draw, g, [x, math.sqrt(0.5)])
        curve = g.op("Erf", argument)
    else:
        third = cube(g, x) if draw(st.booleans()) else _factors(draw, g, [x, x, x])
        inner = _sum(draw, g, x, _factors(draw, g, [third, 0.044715]))
        curve = g.op("Tanh", _factors(draw, g, [inner, K]))
    if draw(st.booleans()):
        y = _factors(draw, g, [x, 0.5, _sum(draw, g, curve, 1.0)])
    else:
        y = _factors(draw, g, [x, _sum(draw, g, _factors(draw, g, [curve, 0.5]), 0.5)])
    return g.model(y)


@settings(max_examples=60, deadline=None)
def spelled(g: Graph, x: ir.Value) -> ir.Value:
    return outer(g, x, erf(g, x))


@pytest.mark.parametrize(("opset", "ops", "domain", "declared"), [
    (17, "auto", "com.microsoft", 17), (17, "contrib", "com.microsoft", 17),
    (17, "standard", "", 20),
    (20, "auto", "", 20), (20, "contrib", "com.microsoft", 20), (20, "standard", "", 20),
])  # fmt: skip
def test_the_operator_is_of_the_kind_that_is_wanted(
    opset: int, ops: str, domain: str, declared: int
) -> None:
    result = checked(build(spelled, opset=opset), {"x": samples(2, 4, 8)}, ops=ops)
    assert op_types(result.model) == ["Gelu"]
    assert result.model.graph.node(0).domain == domain
    assert result.model.opset_imports[""] == declared


def test_an_opset_that_may_not_be_raised_is_said() -> None:
    options = OptimizeOptions(ops="standard", raise_opset=False)
    result = optimize(build(spelled), options)
    assert [miss.reason for miss in result.report.misses] == [
        (
            "Gelu for Erf 'erf_1' needs opset 20: the model declares opset 17, and raising it was"
            " not allowed"
        )
    ]


@given(spellings())
def test_random_spellings_fuse(model: ir.Model) -> None:
    result = checked(model, {"x": samples(2, 4, 8)})
    assert len(op_types(result.model)) == 1
