"""Residual sums join the normalisation after them where that pays, and stay apart elsewhere."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import onnx_ir as ir
import pytest

from burnish.rewrite.options import OptimizeOptions
from burnish.rewrite.pipeline import optimize
from rewriting import Graph, checked, op_types, run, samples

SCALE, BIAS = samples(8, seed=1), samples(8, seed=2)
FEEDS = {"a": samples(2, 4, 8), "b": samples(2, 4, 8, seed=5)}
SHAPE: tuple[int | str, ...] = ("batch", "length", 8)
OFF = {"only": ("skip-norm", "residual-sum"), "cost": "off"}

Norm = Callable[[Graph, ir.Value], ir.Value]


def layer_norm(g: Graph, x: ir.Value, **options: object) -> ir.Value:
    return g.op("LayerNormalization", x, SCALE, BIAS, **{"epsilon": 1e-5, **options})


def rms_norm(g: Graph, x: ir.Value) -> ir.Value:
    return g.op("SimplifiedLayerNormalization", x, SCALE, axis=-1, epsilon=1e-6)


def build(
    norm: Norm, *, add: str = "Add", first: tuple[int | str, ...] = SHAPE,
    second: tuple[int | str, ...] = SHAPE, sum_is_read: bool = False, swapped: bool = False,
) -> ir.Model:  # fmt: skip
    graph = Graph()
    a, b = graph.input("a", first), graph.input("b", second)
    total = graph.op(add, *((b, a) if swapped else (a, b)))
    if not sum_is_read:
        return graph.model(norm(graph, total))
    other = graph.op("Relu", total)
    return graph.model(norm(graph, total), other)


@pytest.mark.parametrize("add", ["Add", "Sum"])
@pytest.mark.parametrize("swapped", [False, True])
def test_a_sum_joins_the_layer_norm_if_cost_does_not_matter(add: str, swapped: bool) -> None:
    result = checked(build(layer_norm, add=add, swapped=swapped), FEEDS, **OFF)
    assert op_types(result.model) == ["SkipLayerNormalization"]


def test_on_a_cpu_a_layer_norm_stays_apart_and_the_runtime_leaves_it_apart() -> None:
    result = checked(build(layer_norm), FEEDS)
    assert op_types(result.model) == ["Sum", "LayerNormalization"]
    assert [miss.rule for miss in result.report.misses] == ["skip-norm"]
    assert "SkipLayerNormalization takes" in result.report.misses[0].reason
    assert result.report.misses[0].remedy == "fuse in spite of that: --cost off"
    assert len(result.report.notes) == 1
    assert result.report.notes[0].startswith(
        "residual sums in front of a normalisation are written as Sum:"
    )


@pytest.mark.parametrize("bias", [False, True])
def test_the_runtime_does_not_fuse_what_was_left_apart(bias: bool, tmp_path: object) -> None:
    import onnxruntime

    def fused(model: ir.Model) -> bool:
        options = onnxruntime.SessionOptions()
        options.optimized_model_filepath = f"{tmp_path}/optimized.onnx"
        proto = ir.serde.serialize_model(model)
        onnxruntime.InferenceSession(proto.SerializeToString(), options)
        kinds = op_types(ir.load(f"{tmp_path}/optimized.onnx"))
        return "SkipLayerNormalization" in kinds

    graph = Graph()
    a, b = graph.input("a", (2, 4, 8)), graph.input("b", (2, 4, 8))
    inner = graph.op("MatMul", a, samples(8, 8, seed=9))
    inner = graph.op("Add", inner, BIAS) if bias else inner
    model = graph.model(layer_norm(graph, graph.op("Add", inner, b)))
    assert fused(model)
    assert not fused(optimize(model).model)


def test_on_cuda_a_layer_norm_is_fused() -> None:
    result = optimize(build(layer_norm), OptimizeOptions(target="cuda"))
    assert op_types(result.model) == ["SkipLayerNormalization"]


def test_on_a_cpu_an_rms_norm_stays_apart_as_it_is() -> None:
    result = checked(build(rms_norm), FEEDS)
    assert op_types(result.model) == ["Add", "SimplifiedLayerNormalization"]
    assert "SkipSimplifiedLayerNormalization takes" in result.report.misses[0].reason


def test_a_sum_that_others_read_is_not_fused_by_the_runtime_and_stays() -> None:
    result = checked(build(layer_norm, sum_is_read=True), FEEDS)
    assert sorted(op_types(result.model)) == ["Add", "LayerNormalization", "Relu"]


@pytest.mark.parametrize("norm", [layer_norm, rms_norm])
def test_the_sum_joins_either_norm_if_cost_does_not_matter(norm: Norm) -> None:
    assert len(checked(build(norm), FEEDS, **OFF).model.graph) == 1


@pytest.mark.parametrize("norm", [layer_norm, rms_norm])
def test_a_sum_that_others_read_is_the_fourth_output(norm: Norm) -> None:
    model = build(norm, sum_is_read=True)
    result = checked(model, FEEDS, **OFF)
    assert sorted(op_types(result.model))[0] == "Relu"
    assert len(result.model.graph) == 2
    node = next(node for node in result.model.graph if node.op_type != "Relu")
    assert len(node.outputs) == 4
    for expected, found in zip(run(model, FEEDS), run(result.model, FEEDS), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


def test_a_sum_that_is_an_output_of_the_graph_keeps_its_name() -> None:
    graph = Graph()
    a, b = graph.input("a", SHAPE), graph.input("b", SHAPE)
    total = graph.op("Add", a, b)
    result = checked(graph.model(total, layer_norm(graph, total)), FEEDS, **OFF)
    assert op_types(result.model) == ["SkipLayerNormalization"]
    assert [value.name for value in result.model.graph.outputs] == ["out0", "out1"]


def test_without_bias_the_layer_norm_fuses_as_well() -> None:
    def norm(g: Graph, x: ir.Value) -> ir.Value:
        return g.op("LayerNormalization", x, SCALE)

    assert op_types(checked(build(norm), FEEDS, **OFF).model) == ["SkipLayerNormalization"]


@pytest.mark.parametrize("second", [(1, "length", 8), ("length", 8)])
def test_a_skip_that_is_repeated_over_the_batch_fuses(second: tuple[int | str, ...]) -> None:
    shape = tuple({"length": 4}.get(size, size) for size in second)  # type: ignore[call-overload]
    feeds = {"a": FEEDS["a"], "b": samples(*shape, seed=5)}
    result = checked(build(layer_norm, second=second), feeds, **OFF)
    assert op_types(result.model) == ["SkipLayerNormalization"]


def first_axis(g: Graph, x: ir.Value) -> ir.Value:
    scale, bias = samples(4, 8, seed=1), samples(4, 8, seed=2)
    return g.op("LayerNormalization", x, scale, bias, axis=1)


NEAR_MISSES: dict[str, tuple[ir.Model, str]] = {
    "other lengths": (
        build(layer_norm, second=("batch", "other", 8)),
        (
            "Add 'add_0' adds ['batch', 'length', 8] and ['batch', 'other', 8],"
            " expected two equal shapes of 3 axes for 'layernormalization_1'"
        ),
    ),
    "four axes": (
        build(layer_norm, first=(2, 1, 4, 8), second=(2, 1, 4, 8)),
        (
            "Add 'add_0' adds [2, 1, 4, 8] and [2, 1, 4, 8],"
            " expected two equal shapes of 3 axes for 'layernormalization_1'"
        ),
    ),
    "two normalised axes": (
        build(first_axis, first=(2, 4, 8), second=(2, 4, 8)),
        (
            "LayerNormalization 'layernormalization_1' normalises from axis 1 of 3 on,"
            " expected the last one only"
        ),
    ),
}


@pytest.mark.parametrize("name", NEAR_MISSES)
def test_near_misses_stay_and_say_why(name: str) -> None:
    model, reason = NEAR_MISSES[name]
    sizes = {"batch": 2, "length": 4, "other": 4}
    feeds = {
        value.name: samples(*(sizes.get(str(dim), dim) for dim in value.shape), seed=3)  # type: ignore[arg-type]
        for value in model.graph.inputs
    }
    result = checked(model, feeds, **OFF)
    assert op_types(result.model)[0] == "Add"
    assert [miss.reason for miss in result.report.misses] == [reason]


def test_a_mean_that_is_read_keeps_the_layer_norm() -> None:
    graph = Graph()
    a, b = graph.input("a", SHAPE), graph.input("b", SHAPE)
    y, mean = graph.ops("LayerNormalization", graph.op("Add", a, b), SCALE, outputs=2)
    result = checked(graph.model(y, mean), FEEDS, **OFF)
    assert [miss.reason for miss in result.report.misses] == [
        (
            "the mean or deviation that LayerNormalization 'layernormalization_1' gives is read,"
            " expected only its result"
        )
    ]


def test_a_computed_scale_and_a_sum_that_others_read_stay() -> None:
    graph = Graph()
    a, b = graph.input("a", SHAPE), graph.input("b", SHAPE)
    scale = graph.op("Relu", graph.input("s", [8]))
    total = graph.op("Add", a, b)
    y = graph.op("LayerNormalization", total, scale)
    result = checked(graph.model(y, graph.op("Exp", total)), {**FEEDS, "s": SCALE}, **OFF)
    assert [miss.reason for miss in result.report.misses] == [
        (
            "the scale 'v0_0' of 'layernormalization_2' is computed, expected a constant, because"
            " 'v1_0' is read before it"
        )
    ]


def test_a_bias_is_no_residual() -> None:
    graph = Graph()
    total = graph.op("Add", graph.input("a", SHAPE), BIAS)
    result = checked(graph.model(layer_norm(graph, total)), {"a": FEEDS["a"]}, **OFF)
    assert op_types(result.model) == ["Add", "LayerNormalization"]
    assert result.report.misses == ()


def test_a_scale_of_three_axes_stays_and_says_why() -> None:
    graph = Graph()
    total = graph.op("Add", graph.input("a", SHAPE), graph.input("b", SHAPE))
    y = graph.op("LayerNormalization", total, SCALE.reshape(1, 1, 8))
    result = optimize(graph.model(y), OptimizeOptions(cost="off"))
    assert op_types(result.model) == ["Add", "LayerNormalization"]
    assert [miss.reason for miss in result.report.misses] == [
        (
            "the parameter 'c0' of 'layernormalization_1' has shape [1, 1, 8], expected one axis"
            " of known size"
        )
    ]
