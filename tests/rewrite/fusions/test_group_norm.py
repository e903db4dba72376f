"""Group normalisation becomes ONNX's own where that is asked for, and stays otherwise."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir
import pytest

from burnish.rewrite.options import OptimizeOptions
from burnish.rewrite.pipeline import optimize
from rewriting import Graph, checked, op_types, samples

FEEDS = {"x": samples(2, 8, 3, 3)}
STANDARD = {"ops": "standard"}
SCALE, BIAS = samples(8, 1, 1, seed=1), samples(8, 1, 1, seed=2)


def build(
    *, groups: int = 4, opset: int = 17, group_scale: float = 1.0, batch: int = 0,
    scale: object = SCALE, bias: object = BIAS, static: bool = False,
) -> ir.Model:  # fmt: skip
    graph = Graph(opset=opset)
    x = graph.input("x", [2 if static else "batch", 8, 3, 3])
    grouped = graph.op("Reshape", x, np.array([batch, groups, -1]))
    n = graph.op(
        "InstanceNormalization", grouped, np.full(groups, group_scale), np.zeros(groups),
        epsilon=1e-5,
    )  # fmt: skip
    y = graph.op("Reshape", n, graph.op("Shape", x))
    y = y if scale is None else graph.op("Mul", y, scale)
    y = y if bias is None else graph.op("Add", y, bias)
    return graph.model(y)


@pytest.mark.parametrize("opset", [17, 18, 21])
@pytest.mark.parametrize("groups", [1, 4, 8])
def test_groups_become_one_node(groups: int, opset: int) -> None:
    result = checked(build(groups=groups, opset=opset), FEEDS, **STANDARD)
    assert op_types(result.model) == ["GroupNormalization"]
    node = result.model.graph.node(0)
    assert node.attributes["num_groups"].as_int() == groups
    assert result.model.opset_imports[""] == 21


@pytest.mark.parametrize(("scale", "bias"), [
    (None, None), (SCALE, None), (None, BIAS), (SCALE.reshape(1, 8, 1, 1), 0.5), (2.0, BIAS),
])  # fmt: skip
def test_scale_and_bias_may_be_missing_or_plain_numbers(scale: object, bias: object) -> None:
    result = checked(build(scale=scale, bias=bias), FEEDS, **STANDARD)
    assert op_types(result.model) == ["GroupNormalization"]


def test_a_scale_over_positions_stays_outside() -> None:
    result = checked(build(scale=samples(3, seed=1)), FEEDS, **STANDARD)
    assert op_types(result.model) == ["GroupNormalization", "Mul", "Add"]


def test_the_faster_form_is_kept_by_default() -> None:
    result = checked(build(static=True), FEEDS)
    assert "GroupNormalization" not in op_types(result.model)
    assert [miss.reason for miss in result.report.misses] == [
        (
            "GroupNormalization for 'instancenormalization_1' has no kernel and runs as its"
            " definition, slower than InstanceNormalization as it is"
        )
    ]
    assert [miss.remedy for miss in result.report.misses] == [
        "fuse in spite of that: --ops standard"
    ]


def test_an_opset_that_may_not_be_raised_is_said() -> None:
    result = optimize(build(), OptimizeOptions(ops="standard", raise_opset=False))
    assert [miss.reason for miss in result.report.misses] == [
        (
            "GroupNormalization for 'instancenormalization_1' needs opset 21: the model declares"
            " opset 17, and raising it was not allowed"
        )
    ]


NEAR_MISSES = {
    "groups scaled": (
        build(group_scale=2.0),
        (
            "InstanceNormalization 'instancenormalization_1' scales or shifts its groups,"
            " expected a scale of 1 and a bias of 0 for each"
        ),
    ),
    "batches joined": (
        build(batch=1, groups=4, static=True),
        (
            "around InstanceNormalization 'instancenormalization_1' shapes are (2, 8, 3, 3),"
            " (1, 4, 36), (2, 8, 3, 3), expected the same batch throughout and the first shape"
            " again"
        ),
    ),
    "groups across channels": (
        build(groups=3, static=True),
        (
            "InstanceNormalization 'instancenormalization_1' has groups of (2, 3, 24) from"
            " (2, 8, 3, 3), expected known numbers of channels and of groups that divide them"
        ),
    ),
}


@pytest.mark.parametrize("name", NEAR_MISSES)
def test_near_misses_stay_and_say_why(name: str) -> None:
    model, reason = NEAR_MISSES[name]
    result = checked(model, FEEDS, **STANDARD)
    assert "GroupNormalization" not in op_types(result.model)
    assert [miss.reason for miss in result.report.misses] == [reason]


def test_an_instance_norm_alone_is_no_candidate() -> None:
    graph = Graph()
    x = graph.input("x", [2, 8, 3, 3])
    y = graph.op("InstanceNormalization", x, np.ones(8), np.zeros(8))
    assert optimize(graph.model(y)).report.misses == ()
