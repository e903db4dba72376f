"""Apply rules to a model: every anchor is looked at once, so time grows with the graph."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from dataclasses import dataclass

import onnx_ir as ir

from burnish.rewrite import edit
from burnish.rewrite.facts import Facts
from burnish.rewrite.region import removable
from burnish.rewrite.result import Fusion, Miss
from burnish.rewrite.rule import Builder, Match, Refusal, Rule

logger = logging.getLogger(__name__)

RULE_KEY = "burnish.rule"
REPLACED_KEY = "burnish.replaced"


@dataclass(frozen=True, slots=True)
class Applied:
    """What one round of rules did."""

    fusions: tuple[Fusion, ...]
    misses: tuple[Miss, ...]
    notes: tuple[str, ...]


def apply_rules(model: ir.Model, rules: Sequence[Rule], facts: Facts) -> Applied:
    """Rewrite a model with each rule in turn, at every place where it fires."""
    index = _nodes_by_operator(model)
    fusions: list[Fusion] = []
    refused: list[tuple[ir.Node, Miss]] = []
    notes: dict[str, None] = {}
    for rule in rules:
        anchors = [node for op_type in sorted(rule.anchors) for node in index.get(op_type, ())]
        for anchor in anchors:
            if anchor.graph is None:
                continue
            answer = rule.find(anchor, facts)
            if isinstance(answer, Refusal):
                refused.append((anchor, _miss(rule, anchor, answer)))
            elif answer is not None:
                builder = Builder(facts, answer, anchor)
                fusions.append(_apply(rule, answer, builder))
                notes.update(dict.fromkeys(builder.notes))
                for node in builder.nodes:
                    index.setdefault(node.op_type, []).append(node)
    misses = tuple(miss for anchor, miss in refused if anchor.graph is not None)
    return Applied(tuple(fusions), misses, tuple(notes))


def _nodes_by_operator(model: ir.Model) -> dict[str, list[ir.Node]]:
    index: dict[str, list[ir.Node]] = {}
    for graph in edit.graphs(model):
        for node in graph:
            index.setdefault(node.op_type, []).append(node)
    return index


def _miss(rule: Rule, anchor: ir.Node, refusal: Refusal) -> Miss:
    logger.debug("rule %s refused %s: %s", rule.name, anchor.name, refusal.reason)
    return Miss(rule.name, anchor.name or "", refusal.reason, refusal.remedy)


def _apply(rule: Rule, match: Match, builder: Builder) -> Fusion:
    producer = match.output.producer()
    value = rule.replace(match, builder)
    if not edit.redirect(match.output, value):
        raise ValueError(f"rule {rule.name} gave {value.name}, which cannot replace anything")
    doomed = removable(match.nodes, match.output)
    replaced = tuple(node.name or node.op_type for node in doomed)
    for node in builder.nodes:
        node.metadata_props.update({} if producer is None else producer.metadata_props)
        node.metadata_props[RULE_KEY] = rule.name
        node.metadata_props[REPLACED_KEY] = json.dumps(replaced)
    edit.remove(doomed)
    node = builder.nodes[-1]
    op_type = f"{node.domain}::{node.op_type}" if node.domain else node.op_type
    return Fusion(rule.name, node.name or "", op_type, replaced)
