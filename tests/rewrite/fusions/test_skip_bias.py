"""The bias of a product joins the residual sum and normalisation behind it."""

from __future__ import annotations

import onnx_ir as ir
import pytest

from rewriting import Graph, checked, op_types, samples

WIDTH = 8
SCALE, SHIFT, BIAS = (samples(WIDTH, seed=seed) for seed in (1, 2, 3))
FEEDS = {"x": samples(2, 3, WIDTH), "skip": samples(2, 3, WIDTH, seed=4)}


def build(
    *,
    side: int = 0,
    simple: bool = False,
    shift: bool = True,
    outputs: int = 1,
    bias: object = BIAS,
) -> ir.Model:
    g = Graph()
    x, skip = (g.input(name, ["batch", "length", WIDTH]) for name in ("x", "skip"))
    total = g.op("Add", x, bias)
    operands = (total, skip) if side == 0 else (skip, total)
    kind = "SkipSimplifiedLayerNormalization" if simple else "SkipLayerNormalization"
    parameters = [SCALE] if simple or not shift else [SCALE, SHIFT]
    results = g.ops(kind, *operands, *parameters, domain="com.microsoft", outputs=outputs,
                    epsilon=1e-5)  # fmt: skip
    return g.model(results[0], *([results[3]] if outputs == 4 else []))


@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize("simple", [False, True])
@pytest.mark.parametrize("shift", [False, True])
@pytest.mark.parametrize("outputs", [1, 4])
def test_a_bias_joins(side: int, simple: bool, shift: bool, outputs: int) -> None:
    model = build(side=side, simple=simple, shift=shift, outputs=outputs)
    result = checked(model, FEEDS, cost="off")
    assert len(op_types(result.model)) == 1
    assert [fusion.rule for fusion in result.report.fusions] == ["skip-bias"]


@pytest.mark.parametrize("bias", [0.5, samples(3, 1, seed=5), samples(1, 1, WIDTH, seed=5)])
def test_what_is_no_bias_stays(bias: object) -> None:
    result = checked(build(bias=bias), FEEDS, cost="off")
    assert op_types(result.model) == ["Add", "SkipLayerNormalization"]
    assert result.report.misses == ()


def test_only_one_bias_can_join() -> None:
    g = Graph()
    parts = [g.op("Add", g.input(name, ["batch", "length", WIDTH]), BIAS) for name in FEEDS]
    last = g.op("SkipLayerNormalization", *parts, SCALE, SHIFT, domain="com.microsoft")
    result = checked(g.model(last), FEEDS, cost="off")
    assert op_types(result.model) == ["Add", "SkipLayerNormalization"]


def test_a_sum_that_others_read_stays_and_says_why() -> None:
    g = Graph()
    x, skip = (g.input(name, ["batch", "length", WIDTH]) for name in ("x", "skip"))
    total = g.op("Add", x, BIAS)
    last = g.op("SkipLayerNormalization", total, skip, SCALE, SHIFT, domain="com.microsoft")
    result = checked(g.model(last, g.op("Relu", total)), FEEDS, cost="off")
    (miss,) = result.report.misses
    assert miss.reason == (
        "Add 'add_0' must stay: the value 'v0_0' in between is also read by 'relu_2'"
    )
