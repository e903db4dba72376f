from __future__ import annotations

import onnx_ir as ir
import pytest

from burnish.rewrite.options import OptimizeOptions
from burnish.rewrite.rule import Builder, Match, Rule
from burnish.study import trial
from burnish.study.trial import FusionTrial, tried
from rewriting import Graph


def find(node: ir.Node, _facts: object) -> Match | None:
    return Match((node,), node.outputs[0], {"x": node.inputs[0]})


def same(match: Match, builder: Builder) -> ir.Value:
    return builder.node(
        "LeakyRelu", [match.values["x"]], like=match.output, attributes={"alpha": 0.0}
    )


MINE = Rule("mine", "a --> b", frozenset({"Relu"}), find, same)


def model() -> ir.Model:
    graph = Graph()
    return graph.model(graph.op("Relu", graph.input("x", ["n", 8])))


def test_fusions_are_checked_unless_told_otherwise() -> None:
    result, report = tried(model(), OptimizeOptions(), FusionTrial(rules=(MINE,)))
    assert result.report.fusion_counts == {"mine": 1}
    assert report is not None
    assert report.sites == 1
    assert tried(model(), OptimizeOptions(), FusionTrial(check=False))[1] is None


def test_a_fusion_must_be_right_and_pay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trial, "ratio", lambda *_: 2.0)
    options = OptimizeOptions(cost="measured")
    result, report = tried(model(), options, FusionTrial(rules=(MINE,)))
    assert result.report.fusions == ()
    assert "takes 2.0x the time" in result.report.misses[0].reason
    assert report is not None
    assert report.undone == 0
