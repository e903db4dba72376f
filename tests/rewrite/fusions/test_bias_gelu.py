"""A bias joins the GELU behind it, and the exact GELU never becomes the approximate one."""

from __future__ import annotations

import onnx_ir as ir
import pytest

from burnish.rewrite.options import OptimizeOptions
from burnish.rewrite.pipeline import optimize
from rewriting import Graph, checked, op_types, samples

BIAS = samples(8, seed=1)
FEEDS = {"x": samples(2, 4, 8)}


def build(
    *, gelu: str = "none", swapped: bool = False, shape: tuple[int | str, ...] = ("batch", 4, 8),
    bias: object = BIAS, contrib: str = "",
) -> ir.Model:  # fmt: skip
    graph = Graph(opset=20)
    operands = (graph.input("x", shape), bias)
    total = graph.op("Add", *(operands[::-1] if swapped else operands))
    if contrib:
        return graph.model(graph.op(contrib, total, domain="com.microsoft"))
    return graph.model(graph.op("Gelu", total, approximate=gelu))


@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize(("options", "fused"), [
    ({"gelu": "none"}, "BiasGelu"), ({"gelu": "tanh"}, "FastGelu"),
    ({"contrib": "Gelu"}, "BiasGelu"), ({"contrib": "FastGelu"}, "FastGelu"),
])  # fmt: skip
def test_a_bias_joins_its_gelu(options: dict[str, str], fused: str, swapped: bool) -> None:
    result = checked(build(swapped=swapped, **options), FEEDS)
    assert op_types(result.model) == [fused]
    assert len(result.model.graph.node(0).inputs) == 2


@pytest.mark.parametrize("bias", [0.5, samples(4, 1, seed=1), samples(1, 8, seed=1)])
def test_what_is_no_bias_stays(bias: object) -> None:
    result = checked(build(bias=bias), FEEDS)
    assert op_types(result.model) == ["Add", "Gelu"]


def test_an_unknown_last_axis_may_be_stretched_and_stays() -> None:
    result = checked(build(shape=("batch", 4, "width")), {"x": samples(2, 4, 1)})
    assert op_types(result.model) == ["Add", "Gelu"]


def test_a_sum_that_others_read_stays_and_says_why() -> None:
    graph = Graph(opset=20)
    total = graph.op("Add", graph.input("x", ["batch", 4, 8]), BIAS)
    result = checked(graph.model(graph.op("Gelu", total), graph.op("Relu", total)), FEEDS)
    assert sorted(op_types(result.model)) == ["Add", "Gelu", "Relu"]
    assert [miss.reason for miss in result.report.misses] == [
        (
            "Add 'add_0' in front of Gelu 'gelu_1' must stay:"
            " the value 'v0_0' in between is also read by 'relu_2'"
        )
    ]


def test_only_standard_operators_keep_the_sum() -> None:
    result = optimize(build(), OptimizeOptions(ops="standard"))
    assert op_types(result.model) == ["Add", "Gelu"]
    assert [miss.remedy for miss in result.report.misses] == [
        "allow ONNX Runtime's own operators: --ops auto"
    ]
