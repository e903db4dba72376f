"""Find the parts of a model that are worth a small model of their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import onnx_ir as ir

from burnish.core.errors import UsageError
from burnish.core.nearest import suggestion
from burnish.rewrite.extract import Part, reads
from burnish.rewrite.facts import Facts
from burnish.rewrite.fusions import FUSIONS
from burnish.rewrite.match import Proposal
from burnish.rewrite.options import OptimizeOptions
from burnish.rewrite.passes.shapes import InferShapes
from burnish.rewrite.pipeline import optimize
from burnish.rewrite.rule import Refusal, Rule
from burnish.store.inlining import inline
from burnish.study.check_part import around, original

_UP, _DOWN = 8, 4
"""How many steps before and after a node that was not fused are taken along."""


@dataclass(frozen=True, slots=True)
class Site:
    """A part of a graph, and why it was chosen."""

    node: str
    part: Part
    reason: str = ""
    """Why it was not fused."""


@dataclass(frozen=True, slots=True)
class FoundParts:
    """A model, and the parts of it that were looked for."""

    model: ir.Model
    sites: tuple[Site, ...]


def matched(model: ir.Model, rule: str, user_rules: tuple[Rule, ...] = ()) -> FoundParts:
    """Return every place where a rule fires, in a model in which all other rules have fired."""
    _refuse_unknown(rule, user_rules)
    others = OptimizeOptions(disable=(rule,))
    base = optimize(model, others, user_rules=user_rules).model
    recorder = _Recorder()
    optimize(base, OptimizeOptions(only=(rule,)), check=recorder, user_rules=user_rules)
    return FoundParts(base, tuple(recorder.sites))


def missed(model: ir.Model, rule: str, user_rules: tuple[Rule, ...] = ()) -> FoundParts:
    """Return what surrounds every node at which a rule refused to fire."""
    _refuse_unknown(rule, user_rules)
    result = optimize(model, user_rules=user_rules)
    by_name = {node.name: node for node in result.model.graph}
    sites = [
        Site(miss.node, around(_neighbours(by_name[miss.node]), result.model), miss.reason)
        for miss in result.report.misses
        if miss.rule == rule and miss.node in by_name
    ]
    return FoundParts(result.model, tuple(sites))


def called(model: ir.Model, name: str) -> FoundParts:
    """Return every call of the functions whose name contains `name`, wherever it is made."""
    wanted = {key for key in model.functions if name in key[1]}
    if not wanted:
        known = sorted({key[1] for key in model.functions})
        raise UsageError(
            f"no function of the model has {name!r} in its name",
            hint=suggestion(name, known) if known else "cut by --pattern: it has no functions",
        )
    copy = model.clone()
    inline(copy, lambda function: function.identifier() not in wanted)
    InferShapes()(copy)
    sites = [
        Site(node.name or "", around({node}, copy))
        for node in copy.graph
        if node.op_identifier() in wanted
    ]
    return FoundParts(copy, tuple(sites))


@dataclass(slots=True)
class _Recorder:
    """A check that lets nothing through, and keeps what was proposed."""

    sites: list[Site] = field(default_factory=list)

    def __call__(self, proposal: Proposal, facts: Facts) -> Refusal | None:
        """Keep the part that the replacement would stand for."""
        if proposal.match.output.graph is facts.model.graph:
            self.sites.append(Site(proposal.nodes[-1].name or "", original(proposal, facts.model)))
        return Refusal("recorded", "none")


def _refuse_unknown(rule: str, user_rules: Sequence[Rule]) -> None:
    known = [each.name for each in (*user_rules, *FUSIONS)]
    if rule not in known:
        raise UsageError(f"--pattern: there is no rule {rule!r}", hint=suggestion(rule, known))


def _neighbours(node: ir.Node) -> set[ir.Node]:
    found = {node}
    edge = {node}
    for _ in range(_UP):
        makers = {value.producer() for each in edge for value in reads(each)} - {None}
        edge = {maker for maker in makers if maker is not None} - found
        found |= edge
    edge = {node}
    for _ in range(_DOWN):
        readers = (use.node for each in edge for value in each.outputs for use in value.uses())
        edge = {reader for reader in readers if reader.graph is node.graph} - found
        found |= edge
    return found
