"""Layer normalisation fuses in every spelling, and nothing else does."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
import onnx_ir as ir
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from burnish.rewrite.options import OptimizeOptions
from burnish.rewrite.pipeline import optimize
from rewriting import Graph, Operand, checked, op_types, samples

Body = Callable[[Graph, ir.Value], ir.Value]
SCALE = samples(8, seed=1)
BIAS = samples(8, seed=2)
FEEDS = {"x": samples(2, 4, 8)}


def build(
    body: Body, *, opset: int = 17, dtype: ir.DataType = ir.DataType.FLOAT,
    shape: tuple[int | str, ...] | None = ("batch", 4, 8),
) -> ir.Model:  # fmt: skip
    graph = Graph(opset=opset, dtype=dtype)
    return graph.model(body(graph, graph.input("x", shape)))


def mean(g: Graph, x: ir.Value, *, axes: Sequence[int] = (-1,), keepdims: int = 1) -> ir.Value:
    if g.opset >= 18:
        return g.op("ReduceMean", x, np.array(axes, np.int64), keepdims=keepdims)
    return g.op("ReduceMean", x, axes=list(axes), keepdims=keepdims)


def centred(g: Graph, x: ir.Value, **options: object) -> ir.Value:
    return g.op("Sub", x, mean(g, x, **options))


def deviation(g: Graph, d: ir.Value, *, epsilon: float = 1e-5, **options: object) -> ir.Value:
    return g.op("Sqrt", g.op("Add", mean(g, g.op("Pow", d, 2.0), **options), epsilon))


def affine(
    g: Graph, y: ir.Value, scale: npt.ArrayLike = SCALE, bias: npt.ArrayLike = BIAS
) -> ir.Value:
    return g.op("Add", g.op("Mul", y, scale), bias)


def plain(g: Graph, x: ir.Value, **options: object) -> ir.Value:
    d = centred(g, x, **options)
    return affine(g, g.op("Div", d, deviation(g, d, **options)))


def tensorflow(g: Graph, x: ir.Value) -> ir.Value:
    m = mean(g, x)
    d = g.op("Sub", x, m)
    shifted = g.op("Add", mean(g, g.op("Mul", d, d)), 1e-5)
    factor = g.op("Mul", g.op("Reciprocal", g.op("Sqrt", shifted)), SCALE)
    offset = g.op("Sub", BIAS, g.op("Mul", m, factor))
    return g.op("Add", g.op("Mul", x, factor), offset)


def squared_by_mul(g: Graph, x: ir.Value) -> ir.Value:
    d = centred(g, x)
    root = g.op("Sqrt", g.op("Add", 1e-5, mean(g, g.op("Mul", d, d))))
    return affine(g, g.op("Div", d, root))


def duplicated(g: Graph, x: ir.Value) -> ir.Value:
    return affine(g, g.op("Div", centred(g, x), deviation(g, centred(g, x))))


def reciprocal(g: Graph, x: ir.Value) -> ir.Value:
    d = centred(g, x)
    return affine(g, g.op("Mul", g.op("Reciprocal", deviation(g, d)), d))


def one_over(g: Graph, x: ir.Value) -> ir.Value:
    d = centred(g, x)
    return affine(g, g.op("Mul", d, g.op("Div", 1.0, deviation(g, d))))


def power(g: Graph, x: ir.Value) -> ir.Value:
    d = centred(g, x)
    shifted = g.op("Add", mean(g, g.op("Pow", d, 2.0)), 1e-5)
    return affine(g, g.op("Mul", d, g.op("Pow", shifted, -0.5)))


def half_power(g: Graph, x: ir.Value) -> ir.Value:
    d = centred(g, x)
    shifted = g.op("Add", mean(g, g.op("Pow", d, 2.0)), 1e-5)
    return affine(g, g.op("Div", d, g.op("Pow", shifted, 0.5)))


def added_negative(g: Graph, x: ir.Value) -> ir.Value:
    d = g.op("Add", g.op("Neg", mean(g, x)), x)
    return affine(g, g.op("Div", d, deviation(g, d)))


def mirrored(g: Graph, x: ir.Value) -> ir.Value:
    d = g.op("Sub", mean(g, x), x)
    return affine(g, g.op("Neg", g.op("Div", d, deviation(g, d))))


def scaled_first(g: Graph, x: ir.Value) -> ir.Value:
    d = centred(g, x)
    return g.op("Add", BIAS, g.op("Div", g.op("Mul", SCALE, d), deviation(g, d)))


def squeezed(g: Graph, x: ir.Value) -> ir.Value:
    m = g.op("Unsqueeze", mean(g, x, keepdims=0), np.array([2]))
    d = g.op("Sub", x, m)
    return affine(g, g.op("Div", d, deviation(g, d)))


SPELLINGS: dict[str, Body] = {
    "TorchScript": plain,
    "TensorFlow": tensorflow,
    "square by Mul": squared_by_mul,
    "centred twice": duplicated,
    "Reciprocal": reciprocal,
    "one over the deviation": one_over,
    "power -0.5": power,
    "power 0.5": half_power,
    "mean negated and added": added_negative,
    "mean minus x": mirrored,
    "scale before the division": scaled_first,
    "mean squeezed and unsqueezed": squeezed,
    "positive axis": lambda g, x: plain(g, x, axes=(2,)),
    "epsilon of 1e-3": lambda g, x: affine(
        g, g.op("Div", centred(g, x), deviation(g, centred(g, x), epsilon=1e-3))
    ),
    "scale and bias of rank 3": lambda g, x: affine(
        g, g.op("Div", centred(g, x), deviation(g, centred(g, x))),
        SCALE.reshape(1, 1, 8), BIAS.reshape(1, 8),
    ),
    "epsilon of rank 1": lambda g, x: affine(g, g.op(
        "Div", centred(g, x),
        g.op("Sqrt", g.op("Add", mean(g, g.op("Pow", centred(g, x), [2.0])), [1e-5])),
    )),
}  # fmt: skip


@pytest.mark.parametrize("opset", [17, 18])
@pytest.mark.parametrize("spelling", SPELLINGS)
def test_every_spelling_fuses(spelling: str, opset: int) -> None:
    result = checked(build(SPELLINGS[spelling], opset=opset), FEEDS)
    assert op_types(result.model) == ["LayerNormalization"]
    assert result.report.misses == ()


def test_epsilon_and_axis_are_read_from_the_graph() -> None:
    model = optimize(build(lambda g, x: plain(g, x, axes=(-1,)))).model
    node = model.graph.node(0)
    assert node.attributes["axis"].as_int() == -1
    assert node.attributes["epsilon"].as_float() == pytest.approx(1e-5)


def normalised(g: Graph, x: ir.Value, **options: object) -> ir.Value:
    d = centred(g, x, **options)
    return g.op("Div", d, deviation(g, d, **options))


def test_without_scale_and_bias_ones_are_made() -> None:
    result = checked(build(normalised), FEEDS)
    assert op_types(result.model) == ["LayerNormalization"]
    scale = result.model.graph.node(0).inputs[1]
    assert scale is not None
    assert scale.const_value is not None
    assert scale.const_value.numpy().tolist() == [1.0] * 8


@pytest.mark.parametrize(("scale", "bias", "inputs"), [
    (SCALE, np.zeros(8), 2), (np.ones(8), BIAS, 3), (np.full(8, 2.0), np.full(8, 0.5), 3),
    (3.0, 0.25, 3),
])  # fmt: skip
def test_uniform_parameters_are_folded_in(
    scale: npt.ArrayLike, bias: npt.ArrayLike, inputs: int
) -> None:
    model = build(lambda g, x: affine(g, normalised(g, x), scale, bias))
    result = checked(model, FEEDS)
    assert op_types(result.model) == ["LayerNormalization"]
    assert len(result.model.graph.node(0).inputs) == inputs


def test_several_trailing_axes_are_normalised_together() -> None:
    scale, bias = samples(4, 8, seed=3), samples(4, 8, seed=4)
    model = build(lambda g, x: affine(g, normalised(g, x, axes=(1, 2)), scale, bias))
    result = checked(model, FEEDS)
    assert op_types(result.model) == ["LayerNormalization"]
    assert result.model.graph.node(0).attributes["axis"].as_int() == -2


def test_scale_of_another_shape_stays_outside() -> None:
    model = build(lambda g, x: affine(g, normalised(g, x), samples(4, 8, seed=3), BIAS))
    result = checked(model, FEEDS)
    assert op_types(result.model) == ["LayerNormalization", "Mul", "Add"]


def test_scale_that_adds_an_axis_stays_outside() -> None:
    model = build(lambda g, x: g.op("Mul", normalised(g, x), SCALE.reshape(1, 1, 1, 8)))
    result = checked(model, FEEDS)
    assert op_types(result.model) == ["LayerNormalization", "Mul"]


def test_a_square_that_adds_an_axis_is_no_candidate() -> None:
    def body(g: Graph, x: ir.Value) -> ir.Value:
        d = centred(g, x)
        square = g.op("Pow", d, np.full((1, 1, 1, 1), 2.0))
        return g.op("Div", d, g.op("Sqrt", g.op("Add", mean(g, square), 1e-5)))

    assert "LayerNormalization" not in op_types(checked(build(body), FEEDS).model)


IMAGES = {"x": samples(2, 6, 3, 5)}
IMAGE = ("batch", 6, 3, 5)


@pytest.mark.parametrize("shape", [(6, 1, 1), (1, 6, 1, 1)])
def test_channels_are_normalised_on_the_last_axis_with_their_own_bias(
    shape: tuple[int, ...],
) -> None:
    scale, bias = samples(*shape, seed=1), samples(*shape, seed=2)
    model = build(lambda g, x: affine(g, normalised(g, x, axes=(1,)), scale, bias), shape=IMAGE)
    result = checked(model, IMAGES)
    assert op_types(result.model) == ["Transpose", "LayerNormalization", "Transpose"]
    assert result.report.misses == ()


def test_channels_without_scale_and_bias_fuse_as_well() -> None:
    result = checked(build(lambda g, x: normalised(g, x, axes=(1,)), shape=IMAGE), IMAGES)
    assert op_types(result.model) == ["Transpose", "LayerNormalization", "Transpose"]


def test_a_scale_over_positions_stays_outside_of_channels() -> None:
    model = build(
        lambda g, x: g.op("Mul", normalised(g, x, axes=(1,)), samples(5, seed=1)), shape=IMAGE
    )
    result = checked(model, IMAGES)
    assert op_types(result.model) == ["Transpose", "LayerNormalization", "Transpose", "Mul"]


def test_rows_of_an_image_are_no_channels() -> None:
    result = checked(build(lambda g, x: normalised(g, x, axes=(2,)), shape=IMAGE), IMAGES)
    assert "LayerNormalization" not in op_types(result.model)
    assert [miss.reason for miss in result.report.misses] == [
        "ReduceMean 'reducemean_0' averages over axes (2,) of 4, expected the last ones"
    ]


@pytest.mark.parametrize("shape", [("batch", 6, 3, 5), ("batch", 6, "height", "width")])
def test_positions_with_parameters_for_each_channel_are_an_instance_norm(
    shape: tuple[int | str, ...],
) -> None:
    scale, bias = samples(6, 1, 1, seed=1), samples(6, 1, 1, seed=2)
    model = build(lambda g, x: affine(g, normalised(g, x, axes=(2, 3)), scale, bias), shape=shape)
    result = checked(model, IMAGES)
    assert op_types(result.model) == ["InstanceNormalization"]


def test_positions_with_parameters_for_each_position_are_a_layer_norm() -> None:
    scale, bias = samples(3, 5, seed=1), samples(3, 5, seed=2)
    model = build(lambda g, x: affine(g, normalised(g, x, axes=(2, 3)), scale, bias), shape=IMAGE)
    assert op_types(checked(model, IMAGES).model) == ["LayerNormalization"]


def test_a_residual_is_not_taken_for_a_bias() -> None:
    model = build(lambda g, x: g.op("Add", g.op("Mul", normalised(g, x), SCALE), x))
    result = checked(model, FEEDS)
    assert op_types(result.model) == ["LayerNormalization", "Add"]


def test_two_scales_for_one_normalisation_share_it() -> None:
    graph = Graph()
    x = graph.input("x", ["batch", 4, 8])
    y = normalised(graph, x)
    result = checked(graph.model(affine(graph, y), graph.op("Mul", y, BIAS)), FEEDS)
    assert sorted(op_types(result.model)) == ["Add", "LayerNormalization", "Mul", "Mul"]


def test_a_mean_that_others_read_is_kept() -> None:
    graph = Graph()
    x = graph.input("x", ["batch", 4, 8])
    m = mean(graph, x)
    d = graph.op("Sub", x, m)
    y = affine(graph, graph.op("Div", d, deviation(graph, d)))
    result = checked(graph.model(y, graph.op("Exp", m)), FEEDS)
    assert sorted(op_types(result.model)) == ["Exp", "LayerNormalization", "ReduceMean"]


def test_half_precision_inside_single_becomes_one_half_precision_node() -> None:
    def body(g: Graph, x: ir.Value) -> ir.Value:
        g.dtype = ir.DataType.FLOAT
        y = normalised(g, g.op("Cast", x, to=ir.DataType.FLOAT))
        g.dtype = ir.DataType.FLOAT16
        half = g.op("Cast", y, to=ir.DataType.FLOAT16)
        return affine(g, half, SCALE.astype(np.float16), BIAS.astype(np.float16))

    model = build(body, dtype=ir.DataType.FLOAT16)
    result = checked(model, {"x": FEEDS["x"].astype(np.float16)}, tolerance=4e-3)
    assert op_types(result.model) == ["LayerNormalization"]


def test_parameters_in_single_precision_keep_the_casts_outside() -> None:
    def body(g: Graph, x: ir.Value) -> ir.Value:
        g.dtype = ir.DataType.FLOAT
        y = affine(g, normalised(g, g.op("Cast", x, to=ir.DataType.FLOAT)))
        g.dtype = ir.DataType.FLOAT16
        return g.op("Cast", y, to=ir.DataType.FLOAT16)

    model = build(body, dtype=ir.DataType.FLOAT16)
    result = checked(model, {"x": FEEDS["x"].astype(np.float16)}, tolerance=4e-3)
    assert op_types(result.model) == ["Cast", "LayerNormalization", "Cast"]


@pytest.mark.parametrize("opset", [11, 13, 14])
def test_an_older_opset_is_raised_where_nothing_changes_by_that(opset: int) -> None:
    def body(g: Graph, x: ir.Value) -> ir.Value:
        return g.op("Softmax", plain(g, x), axis=2)

    result = checked(build(body, opset=opset), FEEDS)
    assert op_types(result.model) == ["LayerNormalization", "Softmax"]
    assert result.model.opset_imports[""] == 17
    assert result.report.notes == (f"the opset was raised from {opset} to 17",)


def test_an_opset_that_may_not_be_raised_is_said() -> None:
    result = optimize(build(plain, opset=14), OptimizeOptions(raise_opset=False))
    assert [miss.reason for miss in result.report.misses] == [
        (
            "LayerNormalization for 'reducemean_3' needs opset 17: the model declares opset 14,"
            " and raising it was not allowed"
        )
    ]
    assert [miss.remedy for miss in result.report.misses] == [
        "export the model with opset 17 or later"
    ]


def test_an_opset_that_cannot_be_raised_is_said() -> None:
    def body(g: Graph, x: ir.Value) -> ir.Value:
        return g.op("Softmax", plain(g, x), axis=1)

    result = checked(build(body, opset=12), FEEDS)
    assert [miss.reason for miss in result.report.misses] == [
        (
            "LayerNormalization for 'reducemean_3' needs opset 17: the model declares opset 12,"
            " and Softmax 'softmax_9' over axis 1 means something else from opset 13 on"
        )
    ]


def unbiased(g: Graph, x: ir.Value) -> ir.Value:
    d = centred(g, x)
    variance = g.op("Mul", mean(g, g.op("Pow", d, 2.0)), 8 / 7)
    return affine(g, g.op("Div", d, g.op("Sqrt", g.op("Add", variance, 1e-5))))


def epsilon_outside(g: Graph, x: ir.Value) -> ir.Value:
    d = centred(g, x)
    root = g.op("Sqrt", mean(g, g.op("Pow", d, 2.0)))
    return affine(g, g.op("Div", d, g.op("Add", root, 1e-5)))


def other_x(g: Graph, x: ir.Value) -> ir.Value:
    d = g.op("Sub", g.op("Relu", x), mean(g, x))
    return affine(g, g.op("Div", d, deviation(g, d)))


def other_axes(g: Graph, x: ir.Value) -> ir.Value:
    d = centred(g, x, axes=(1,))
    return affine(g, g.op("Div", d, deviation(g, d)))


def variance_squeezed(g: Graph, x: ir.Value) -> ir.Value:
    d = centred(g, x)
    variance = mean(g, g.op("Pow", d, 2.0), keepdims=0)
    root = g.op("Sqrt", g.op("Add", variance, 1e-5))
    return g.op("Div", d, g.op("Unsqueeze", root, np.array([2])))


def divided_by_variance(g: Graph, x: ir.Value) -> ir.Value:
    d = centred(g, x)
    return affine(g, g.op("Div", d, g.op("Add", mean(g, g.op("Pow", d, 2.0)), 1e-5)))


def not_centred(g: Graph, x: ir.Value) -> ir.Value:
    d = centred(g, x)
    return affine(g, g.op("Div", x, deviation(g, d)))


def variance_turned(g: Graph, x: ir.Value) -> ir.Value:
    """As ONNX Runtime leaves it where it moves a Transpose towards the outputs."""
    inner = centred(g, x)
    variance = g.op("ReduceMean", g.op("Mul", inner, inner), axes=[-1])
    root = g.op("Sqrt", g.op("Add", g.op("Transpose", variance, perm=[1, 0, 2]), 1e-5))
    return affine(g, g.op("Div", g.op("Transpose", inner, perm=[1, 0, 2]), root))


NEAR_MISSES: dict[str, tuple[Body, str]] = {
    "a variance whose axes are moved": (
        variance_turned,
        ("Transpose 'transpose_4' rearranges the variance in 'reducemean_3' before an epsilon is"
        " added, expected it behind the normalisation"),
    ),
    "axis 1": (
        lambda g, x: affine(g, normalised(g, x, axes=(1,))),
        "ReduceMean 'reducemean_0' averages over axes (1,) of 3, expected the last ones",
    ),
    "axes 0 and 2": (
        lambda g, x: affine(g, normalised(g, x, axes=(0, 2))),
        "ReduceMean 'reducemean_0' averages over axes (0, 2) of 3, expected the last ones",
    ),
    "two kinds of axes": (
        other_axes,
        "ReduceMean 'reducemean_0' averages over axes (1,) of 3, expected the last ones",
    ),
    "variance of n - 1": (
        unbiased,
        ("the variance in 'reducemean_3' is scaled: 'v5_0' = 1.14286·variance + 1e-05,"
        " expected 1·variance + epsilon"),
    ),
    "epsilon after the root": (
        epsilon_outside,
        "no positive epsilon is added to the variance in 'reducemean_3' before its root",
    ),
    "negative epsilon": (
        lambda g, x: affine(
            g, g.op("Div", centred(g, x), deviation(g, centred(g, x), epsilon=-1e-9))
        ),
        "no positive epsilon is added to the variance in 'reducemean_5' before its root",
    ),
    "another value centred": (
        other_x,
        ("ReduceMean 'reducemean_4' averages the square of -1·mean(x) + 1·v0_0 (x is 'x'),"
        " expected x - mean(x)"),
    ),
    "variance without keepdims": (
        variance_squeezed,
        "ReduceMean 'reducemean_3' has keepdims = 0, expected 1",
    ),
    "divided by the variance": (
        divided_by_variance,
        ("the variance in 'reducemean_3' leads to 'out0' ="
        " -1·c2·mean·s^-1 + 1·c2·s^-1·x + 1·c3 (s is 'v4_0'),"
        " expected x·s^-0.5 - mean·s^-0.5"),
    ),
    "x itself divided": (
        not_centred,
        ("the variance in 'reducemean_3' leads to 'out0' = 1·c2·s^-0.5·x + 1·c3 (s is 'v4_0'),"
        " expected x·s^-0.5 - mean·s^-0.5"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", NEAR_MISSES)
def test_near_misses_stay_and_say_why(name: str) -> None:
    body, reason = NEAR_MISSES[name]
    feeds = {"x": samples(2, 4, 8)}
    if name == "negative epsilon":
        feeds = {"x": feeds["x"] * 100}
    result = checked(build(body), feeds)
    assert "LayerNormalization" not in op_types(result.model)
    assert [miss.reason for miss in result.report.misses] == [reason]
    assert all(miss.remedy for miss in result.report.misses)


def test_a_mean_without_keepdims_that_happens_to_broadcast_stays() -> None:
    def body(g: Graph, x: ir.Value) -> ir.Value:
        d = centred(g, x, keepdims=0)
        return affine(g, g.op("Div", d, deviation(g, d, keepdims=0)))

    result = checked(build(body, shape=(8, 8)), {"x": samples(8, 8)})
    assert [miss.reason for miss in result.report.misses] == [
        "ReduceMean 'reducemean_0' has keepdims = 0, expected 1"
    ]


def test_root_mean_square_normalisation_is_no_candidate() -> None:
    def body(g: Graph, x: ir.Value) -> ir.Value:
        return g.op("Mul", g.op("Div", x, deviation(g, x)), SCALE)

    result = checked(build(body), FEEDS)
    assert result.report.misses == ()


def test_a_variance_that_others_read_stays_and_says_who() -> None:
    graph = Graph()
    x = graph.input("x", ["batch", 4, 8])
    d = centred(graph, x)
    root = deviation(graph, d)
    y = affine(graph, graph.op("Div", d, root))
    result = checked(graph.model(y, graph.op("Exp", root)), FEEDS)
    assert [miss.reason for miss in result.report.misses] == [
        "ReduceMean 'reducemean_3' must stay: the value 'v5_0' in between is also read by 'exp_9'"
    ]


def test_double_precision_stays() -> None:
    model = build(plain, dtype=ir.DataType.DOUBLE)
    result = optimize(model)
    assert "LayerNormalization" not in op_types(result.model)
    assert result.report.misses[0].reason.endswith("expected that of 'x', DOUBLE, and not f64")


def test_a_last_axis_of_unknown_size_stays() -> None:
    model = build(normalised, shape=("batch", 4, "width"))
    result = checked(model, FEEDS)
    assert [miss.reason for miss in result.report.misses] == [
        "the sizes of the normalised axes of 'out0' are ('width',), expected known numbers"
    ]


def test_an_unknown_rank_stays() -> None:
    result = checked(build(normalised, shape=None), FEEDS)
    assert [miss.reason for miss in result.report.misses] == [
        "the rank of 'x' is not known, so neither are the axes of 'reducemean_0'"
    ]


@st.composite
def spellings(draw: st.DrawFn) -> ir.Model:
    """Return a layer normalisation in a random spelling."""
    flip = draw(st.booleans())
    g = Graph(opset=draw(st.sampled_from([17, 18, 20])))
    x = g.input("x", ["batch", 4, 8])

    def swapped(op_type: str, *operands: Operand) -> ir.Value:
        return g.op(op_type, *draw(st.permutations(operands)))

    m = mean(g, x, axes=draw(st.sampled_from([(-1,), (2,)])))
    d = g.op("Sub", m, x) if flip else g.op("Sub", x, m)
    square = g.op("Pow", d, 2.0) if draw(st.booleans()) else g.op("Mul", d, d)
    shifted = swapped("Add", mean(g, square), draw(st.sampled_from([1e-5, [1e-6], 1e-3])))
    how = draw(st.sampled_from(["Div", "Reciprocal", "Pow"]))
    if how == "Pow":
        inverse = g.op("Pow", shifted, -0.5)
    elif how == "Reciprocal":
        inverse = g.op("Reciprocal", g.op("Sqrt", shifted))
    else:
        inverse = g.op("Div", 1.0, g.op("Sqrt", shifted))
    scaled = swapped("Mul", inverse, SCALE)
    if flip:
        scaled = g.op("Neg", scaled)
    if draw(st.booleans()) and not flip:
        offset = g.op("Sub", BIAS, swapped("Mul", m, scaled))
        return g.model(swapped("Add", swapped("Mul", x, scaled), offset))
    return g.model(swapped("Add", swapped("Mul", d, scaled), BIAS))


@settings(max_examples=60, deadline=None)
@given(spellings())
def test_random_spellings_fuse(model: ir.Model) -> None:
    result = checked(model, FEEDS)
    assert op_types(result.model) == ["LayerNormalization"]


def test_several_sites_without_names_fuse() -> None:
    graph = Graph()
    x = graph.input("x", ["batch", 4, 8])
    y = normalised(graph, graph.op("Exp", normalised(graph, x)))
    model = graph.model(y)
    for node in model.graph:
        node.name = ""
    result = checked(model, FEEDS)
    assert op_types(result.model) == ["LayerNormalization", "Exp", "LayerNormalization"]
