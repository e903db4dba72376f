"""Apply rules to a model: every anchor is looked at once, so time grows with the graph."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import onnx_ir as ir

from burnish.infer import walk
from burnish.infer.constants import sizes
from burnish.rewrite import edit
from burnish.rewrite.facts import Facts
from burnish.rewrite.matched import removable
from burnish.rewrite.result import Fusion, Miss
from burnish.rewrite.rule import Builder, Match, Refusal, Rule

logger = logging.getLogger(__name__)

RULE_KEY = "burnish.rule"
REPLACED_KEY = "burnish.replaced"

_MOVING = frozenset(
    {"Cast", "Concat", "Equal", "Expand", "Gather", "ReduceMax", "Reshape", "Shape", "Slice",
     "Squeeze", "Transpose", "Unsqueeze", "Where"}
)  # fmt: skip
"""Operators that only bring values into place, or guard them: no fusion is called after one."""


@dataclass(frozen=True, slots=True)
class Applied:
    """What one round of rules did."""

    fusions: tuple[Fusion, ...]
    misses: tuple[Miss, ...]
    notes: tuple[str, ...]
    shapeless: bool = False
    """Whether new values have no shape yet."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """A replacement that stands in the graph beside what it would replace; none reads it yet."""

    rule: str
    match: Match
    nodes: tuple[ir.Node, ...]
    """The new nodes."""
    values: tuple[ir.Value, ...]
    """What they give, one for each output of the match."""
    copies: Mapping[ir.Node, ir.Node] = field(default_factory=dict)
    """New nodes that take the places of old ones, with those."""


Check = Callable[[Proposal, Facts], Refusal | None]
"""Has the last word on each replacement; it may look, and must not touch."""


def accept_all(_proposal: Proposal, _facts: Facts) -> Refusal | None:
    """Let every replacement through: the rules are sound by their own proofs."""
    return None


def apply_rules(
    model: ir.Model, rules: Sequence[Rule], facts: Facts, check: Check = accept_all
) -> Applied:
    """Rewrite a model with each rule in turn, at every place where it fires and `check` agrees."""
    index = _nodes_by_operator(model)
    fusions: list[Fusion] = []
    refused: list[tuple[ir.Node, Miss]] = []
    notes: dict[str, None] = {}
    made: list[ir.Node] = []
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
                proposal = _propose(rule, answer, builder)
                objection = check(proposal, facts)
                if objection is not None:
                    _withdraw(builder)
                    refused.append((anchor, _miss(rule, anchor, objection)))
                    continue
                fusions.append(_accept(proposal))
                made.extend(builder.nodes)
                notes.update(dict.fromkeys(builder.notes))
                for node in builder.nodes:
                    index.setdefault(node.op_type, []).append(node)
    misses = tuple(miss for anchor, miss in refused if anchor.graph is not None)
    return Applied(tuple(fusions), misses, tuple(notes), any(map(_is_shapeless, made)))


def _is_shapeless(node: ir.Node) -> bool:
    return any(value.name and None in (sizes(value) or (None,)) for value in node.outputs)


def _nodes_by_operator(model: ir.Model) -> dict[str, list[ir.Node]]:
    index: dict[str, list[ir.Node]] = {}
    for graph in walk.graphs(model):
        for node in graph:
            index.setdefault(node.op_type, []).append(node)
    return index


def _miss(rule: Rule, anchor: ir.Node, refusal: Refusal) -> Miss:
    logger.debug("rule %s refused %s: %s", rule.name, anchor.name, refusal.reason)
    return Miss(rule.name, anchor.name or "", refusal.reason, refusal.remedy)


def _propose(rule: Rule, match: Match, builder: Builder) -> Proposal:
    given = rule.replace(match, builder)
    values = given if isinstance(given, tuple) else (given,)
    return Proposal(rule.name, match, tuple(builder.nodes), values, dict(builder.copies))


def _withdraw(builder: Builder) -> None:
    """Take the nodes of a replacement out again; nobody reads them yet."""
    edit.remove(reversed(builder.nodes))
    for constant in builder.constants:
        if constant.graph is not None:
            del constant.graph.initializers[constant.name or ""]


def _accept(proposal: Proposal) -> Fusion:
    match = proposal.match
    producer = match.output.producer()
    for value, new in zip(match.outputs, proposal.values, strict=True):
        if not edit.redirect(value, new):
            raise ValueError(f"rule {proposal.rule} gave {new.name}, which replaces nothing")
    doomed = removable(match.nodes, *match.outputs)
    copied = set(proposal.copies.values())
    replaced = tuple(node.name or node.op_type for node in doomed if node not in copied)
    for node in proposal.nodes:
        if node in proposal.copies:
            node.metadata_props.update(proposal.copies[node].metadata_props)
            continue
        node.metadata_props.update({} if producer is None else producer.metadata_props)
        node.metadata_props[RULE_KEY] = proposal.rule
        node.metadata_props[REPLACED_KEY] = json.dumps(replaced)
    edit.remove(doomed)
    if match.scattered and proposal.nodes[0].graph is not None:
        proposal.nodes[0].graph.sort()
    for copy, old in proposal.copies.items():
        copy.name = old.name
    node = next(
        (n for n in reversed(proposal.nodes) if n.op_type not in _MOVING), proposal.nodes[-1]
    )
    op_type = f"{node.domain}::{node.op_type}" if node.domain else node.op_type
    return Fusion(proposal.rule, node.name or "", op_type, replaced)
