"""A convolution does the zero padding in front of it, and no other padding."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir
import pytest

from rewriting import Graph, checked, op_types, samples

FEEDS = {"x": samples(2, 3, 6, 6)}
AROUND = [0, 0, 1, 2, 0, 0, 3, 1]


def build(
    *, pads: list[int] = AROUND, value: object = 0.0, mode: str = "constant",
    axes: list[int] | None = None, **conv: object,
) -> ir.Model:  # fmt: skip
    graph = Graph(opset=18)
    x = graph.input("x", ["batch", 3, 6, 6])
    filling = value if mode == "constant" else None
    extra = () if axes is None else (np.array(axes),)
    padded = graph.op("Pad", x, np.array(pads), filling, *extra, mode=mode)
    return graph.model(graph.op("Conv", padded, samples(4, 3, 3, 3, seed=1), **conv))


@pytest.mark.parametrize(("options", "pads"), [
    ({}, (1, 2, 3, 1)), ({"value": None}, (1, 2, 3, 1)), ({"auto_pad": "VALID"}, (1, 2, 3, 1)),
    ({"pads_of_conv": [1, 1, 1, 1]}, (2, 3, 4, 2)), ({"pads": [1, 2], "axes": [-1]}, (0, 1, 0, 2)),
    ({"strides": [2, 2]}, (1, 2, 3, 1)),
])  # fmt: skip
def test_zeros_around_positions_join_the_convolution(
    options: dict[str, object], pads: tuple[int, ...]
) -> None:
    own = options.pop("pads_of_conv", None)
    model = build(**options)  # type: ignore[arg-type]
    if own is not None:
        model.graph.node(1).attributes["pads"] = ir.AttrInt64s("pads", own)  # type: ignore[arg-type]
    result = checked(model, FEEDS)
    assert op_types(result.model) == ["Conv"]
    assert result.model.graph.node(0).attributes["pads"].as_ints() == pads


def test_padding_by_nothing_goes() -> None:
    result = checked(build(pads=[0] * 8, mode="reflect"), FEEDS)
    assert op_types(result.model) == ["Conv"]
    assert result.report.fusions == ()


NEAR_MISSES = {
    "ones": (build(value=1.0), "Pad 'pad_0' fills with 1.0, expected 0, as Conv 'conv_1' does"),
    "reflected": (
        build(mode="reflect"),
        "Pad 'pad_0' fills with 'reflect', expected 0, as Conv 'conv_1' does",
    ),
    "cropped": (
        build(pads=[0, 0, -1, 1, 0, 0, 1, 1]),
        (
            "Pad 'pad_0' adds [0, 0, -1, 1, 0, 0, 1, 1], expected nothing around batch and"
            " channels, and nothing taken away"
        ),
    ),
    "batch padded": (
        build(pads=[1, 0, 1, 1, 0, 0, 1, 1]),
        (
            "Pad 'pad_0' adds [1, 0, 1, 1, 0, 0, 1, 1], expected nothing around batch and"
            " channels, and nothing taken away"
        ),
    ),
    "padded by rule": (
        build(auto_pad="SAME_UPPER"),
        "Conv 'conv_1' pads by 'SAME_UPPER', expected stated amounts",
    ),
}


@pytest.mark.parametrize("name", NEAR_MISSES)
def test_near_misses_stay_and_say_why(name: str) -> None:
    model, reason = NEAR_MISSES[name]
    result = checked(model, FEEDS)
    assert op_types(result.model) == ["Pad", "Conv"]
    assert [miss.reason for miss in result.report.misses] == [reason]


def test_padding_that_is_computed_stays_and_says_why() -> None:
    graph = Graph(opset=18)
    x, pads = graph.input("x", ["batch", 3, 6, 6]), graph.input("p", [8], ir.DataType.INT64)
    model = graph.model(graph.op("Conv", graph.op("Pad", x, pads), samples(4, 3, 3, 3, seed=1)))
    result = checked(model, {**FEEDS, "p": np.array(AROUND)})
    assert [miss.reason for miss in result.report.misses] == [
        "how much Pad 'pad_0' pads is computed when the model runs"
    ]


def test_padding_that_others_read_stays() -> None:
    graph = Graph(opset=18)
    padded = graph.op("Pad", graph.input("x", ["batch", 3, 6, 6]), np.array(AROUND))
    conv = graph.op("Conv", padded, samples(4, 3, 3, 3, seed=1))
    result = checked(graph.model(conv, graph.op("Relu", padded)), FEEDS)
    assert sorted(op_types(result.model)) == ["Conv", "Pad", "Relu"]
