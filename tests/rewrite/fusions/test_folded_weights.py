"""What follows a convolution is folded into its weights, which are computed late."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir
import pytest

from burnish.rewrite.pipeline import optimize
from rewriting import Graph, checked, op_types, samples

FEEDS = {"x": samples(2, 3, 6, 6)}


def batch_norm(g: Graph, y: ir.Value, channels: int = 4, **options: object) -> ir.Value:
    variance = np.abs(samples(channels, seed=5)) + 0.1
    parameters = [samples(channels, seed=seed) for seed in (2, 3, 4)]
    return g.op("BatchNormalization", y, *parameters, variance, epsilon=1e-3, **options)


def conv(g: Graph, x: ir.Value, *, bias: bool = True, op_type: str = "Conv") -> ir.Value:
    shape = (4, 3, 3, 3) if op_type == "Conv" else (3, 4, 3, 3)
    extra = (samples(4, seed=7),) if bias else ()
    return g.op(op_type, x, samples(*shape, seed=6), *extra, pads=[1, 1, 1, 1])


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("op_type", ["Conv", "ConvTranspose"])
def test_a_batch_norm_is_folded_into_a_convolution(op_type: str, bias: bool) -> None:
    graph = Graph()
    x = graph.input("x", ["batch", 3, 6, 6])
    model = graph.model(batch_norm(graph, conv(graph, x, bias=bias, op_type=op_type)))
    result = checked(model, FEEDS)
    assert op_types(result.model) == [op_type]
    assert result.model.graph.node(0).attributes["pads"].as_ints() == (1, 1, 1, 1)


@pytest.mark.parametrize("transposed", [0, 1])
def test_a_batch_norm_is_folded_into_a_gemm(transposed: int) -> None:
    graph = Graph()
    x = graph.input("x", ["batch", 3])
    weight = samples(*((4, 3) if transposed else (3, 4)), seed=6)
    y = graph.op("Gemm", x, weight, samples(4, seed=7), transB=transposed, alpha=0.5)
    result = checked(graph.model(batch_norm(graph, y)), {"x": samples(5, 3)})
    assert op_types(result.model) == ["Gemm"]


def test_a_batch_norm_behind_a_product_makes_a_gemm() -> None:
    graph = Graph()
    x = graph.input("x", ["batch", 3])
    y = graph.op("MatMul", x, samples(3, 4, seed=6))
    result = checked(graph.model(batch_norm(graph, y)), {"x": samples(5, 3)})
    assert op_types(result.model) == ["Gemm"]


@pytest.mark.parametrize(("scale", "bias"), [
    (samples(4, 1, 1, seed=8), samples(1, 4, 1, 1, seed=9)), (samples(4, 1, 1, seed=8), None),
    (None, samples(4, 1, 1, seed=9)), (2.0, 0.5),
])  # fmt: skip
def test_a_scale_and_a_bias_per_channel_are_folded(scale: object, bias: object) -> None:
    graph = Graph()
    y = conv(graph, graph.input("x", ["batch", 3, 6, 6]))
    y = y if scale is None else graph.op("Mul", scale, y)
    y = y if bias is None else graph.op("Add", y, bias)
    result = checked(graph.model(y), FEEDS)
    assert op_types(result.model) == ["Conv"]


@pytest.mark.parametrize("other", [samples(6, seed=8), samples(1, 1, 6, 6, seed=8)])
def test_what_varies_over_positions_stays(other: object) -> None:
    graph = Graph()
    y = conv(graph, graph.input("x", ["batch", 3, 6, 6]))
    result = checked(graph.model(graph.op("Mul", y, other)), FEEDS)
    assert op_types(result.model) == ["Conv", "Mul"]


def test_a_residual_is_no_bias() -> None:
    graph = Graph()
    x = graph.input("x", ["batch", 4, 6, 6])
    y = graph.op("Conv", x, samples(4, 4, 1, 1, seed=6))
    result = checked(graph.model(graph.op("Add", y, x)), {"x": samples(2, 4, 6, 6)})
    assert op_types(result.model) == ["Conv", "Add"]


def test_new_weights_are_not_computed_before_they_are_read() -> None:
    graph = Graph()
    x = graph.input("x", ["batch", 3, 6, 6])
    model = graph.model(batch_norm(graph, conv(graph, x)))
    weight = optimize(model).model.graph.node(0).inputs[1]
    assert weight is not None
    assert isinstance(weight.const_value, ir.LazyTensor)
    assert weight.const_value.shape == ir.Shape([4, 3, 3, 3])


def test_weights_that_two_convolutions_share_are_kept_for_the_other() -> None:
    graph = Graph()
    x = graph.input("x", ["batch", 3, 6, 6])
    weight = graph.constant(samples(4, 3, 3, 3, seed=6), "w")
    first = batch_norm(graph, graph.op("Conv", x, weight))
    second = graph.op("Relu", graph.op("Conv", x, weight, pads=[1, 1, 1, 1]))
    result = checked(graph.model(first, second), FEEDS)
    assert sorted(op_types(result.model)) == ["Conv", "Conv", "Relu"]


def test_a_convolution_that_others_read_stays_and_says_why() -> None:
    graph = Graph()
    y = conv(graph, graph.input("x", ["batch", 3, 6, 6]))
    result = checked(graph.model(batch_norm(graph, y), graph.op("Relu", y)), FEEDS)
    assert sorted(op_types(result.model)) == ["BatchNormalization", "Conv", "Relu"]
    assert [miss.reason for miss in result.report.misses] == [
        "Conv 'conv_0' in front of BatchNormalization 'batchnormalization_1' is also read elsewhere"
    ]


def test_parameters_that_are_inputs_stay_and_say_why() -> None:
    graph = Graph()
    x, scale = graph.input("x", ["batch", 3, 6, 6]), graph.input("s", [4])
    rest = [samples(4, seed=3), samples(4, seed=4), np.ones(4)]
    y = graph.op("BatchNormalization", conv(graph, x), scale, *rest)
    result = checked(graph.model(y), {**FEEDS, "s": samples(4)})
    assert [miss.reason for miss in result.report.misses] == [
        (
            "the parameters of BatchNormalization 'batchnormalization_1' are not constants of 4"
            " numbers"
        )
    ]


def test_training_mode_stays_and_says_why() -> None:
    graph = Graph()
    y = conv(graph, graph.input("x", ["batch", 3, 6, 6]))
    parameters = [samples(4, seed=seed) for seed in (2, 3, 4)]
    outputs = graph.ops(
        "BatchNormalization", y, *parameters, np.ones(4), outputs=3, training_mode=1
    )
    result = optimize(graph.model(*outputs))
    assert [miss.reason for miss in result.report.misses] == [
        "BatchNormalization 'batchnormalization_1' is in training mode, expected inference"
    ]
