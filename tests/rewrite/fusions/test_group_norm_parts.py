"""GroupNormalization is written as its faster parts where it has no kernel."""

from __future__ import annotations

import onnx_ir as ir
import pytest

from rewriting import Graph, checked, op_types, samples

SCALE, BIAS = samples(8, seed=1), samples(8, seed=2)
FEEDS = {"x": samples(2, 8, 3, 3)}
PARTS = ["Reshape", "InstanceNormalization", "Reshape", "Mul", "Add"]


def build(*, opset: int = 21, batch: int | str = "batch", scale: object = SCALE) -> ir.Model:
    graph = Graph(opset=opset)
    x = graph.input("x", [batch, 8, 3, 3])
    scale = graph.input("scale", [8]) if scale is None else scale
    y = graph.op("GroupNormalization", x, scale, BIAS, num_groups=4, epsilon=1e-4)
    return graph.model(y)


def test_the_parts_compute_the_same_for_any_batch() -> None:
    result = checked(build(), FEEDS)
    assert [kind for kind in op_types(result.model) if kind != "Shape"] == PARTS


def test_a_known_shape_is_a_constant() -> None:
    assert op_types(checked(build(batch=2), FEEDS).model) == PARTS


@pytest.mark.parametrize("options", [{"ops": "standard"}, {"cost": "off"}])
def test_it_stays_where_standard_operators_or_no_costs_are_asked_for(
    options: dict[str, str],
) -> None:
    assert op_types(checked(build(), FEEDS, **options).model) == ["GroupNormalization"]


def test_a_scale_that_is_computed_keeps_it_and_says_why() -> None:
    result = checked(build(scale=None), {**FEEDS, "scale": SCALE})
    assert op_types(result.model) == ["GroupNormalization"]
    assert [miss.reason for miss in result.report.misses] == [
        (
            "GroupNormalization 'groupnormalization_0' stays, though its definition is slow: the"
            " rank of 'x' or the elements of its scale or bias are not known"
        )
    ]
