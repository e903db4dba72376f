from __future__ import annotations

import onnx_ir as ir

from burnish.rewrite.options import OptimizeOptions
from burnish.rewrite.pipeline import RewriteResult, optimize
from burnish.rewrite.rule import Builder, Match, Rule
from burnish.study import trial
from burnish.study.trial import cost_check
from rewriting import Graph


def slower(match: Match, builder: Builder) -> ir.Value:
    return builder.node("LeakyRelu", [match.values["x"]], like=match.output)


def find(node: ir.Node, _facts: object) -> Match | None:
    return Match((node,), node.outputs[0], {"x": node.inputs[0]})


RULE = Rule("mine", "a --> b", frozenset({"Relu"}), find, slower)


def rewritten(monkeypatch: object, ratio: float) -> RewriteResult:
    monkeypatch.setattr(trial, "ratio", lambda *_: ratio)  # type: ignore[attr-defined]
    graph = Graph()
    model = graph.model(graph.op("Relu", graph.input("x", ["n", "s", 8])))
    with cost_check("cpu", {"s": 16}) as check:
        return optimize(model, OptimizeOptions(only=("mine",)), check=check, user_rules=(RULE,))


def test_a_fusion_that_is_slower_here_is_refused(monkeypatch: object) -> None:
    (miss,) = rewritten(monkeypatch, 1.5).report.misses
    assert miss.reason.startswith("measured here, ")
    assert miss.reason.endswith("takes 1.5x the time fused")
    assert miss.remedy == "fuse in spite of that: --cost off"


def test_a_fusion_within_the_noise_is_kept(monkeypatch: object) -> None:
    assert rewritten(monkeypatch, 1.05).report.fusion_counts == {"mine": 1}


def test_what_cannot_be_timed_is_kept() -> None:
    def replace(match: Match, builder: Builder) -> ir.Value:
        x = match.values["x"]
        return builder.node("NoSuchOperator", [x], like=match.output, domain="com.microsoft")

    graph = Graph()
    model = graph.model(graph.op("Relu", graph.input("x", ["n", 8])))
    mine = Rule("mine", "a --> b", frozenset({"Relu"}), find, replace)
    with cost_check("cpu", {}) as check:
        result = optimize(model, OptimizeOptions(only=("mine",)), check=check, user_rules=(mine,))
    assert result.report.fusion_counts == {"mine": 1}


def test_what_is_timed_runs_in_the_engines_process() -> None:
    graph = Graph()
    model = graph.model(graph.op("Relu", graph.input("x", ["n", 8])))
    with cost_check("cpu", {}) as check:
        optimize(model, OptimizeOptions(only=("mine",)), check=check, user_rules=(RULE,))
    (ratio,) = check.ratios.values()
    assert ratio is not None
    assert ratio > 0
