"""Rewrite a model, and try each fusion before it is kept: is it right, and does it pay?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field

import onnx_ir as ir

from burnish.rewrite.facts import Facts
from burnish.rewrite.match import Check, Proposal
from burnish.rewrite.options import OptimizeOptions
from burnish.rewrite.pipeline import Observer, RewriteResult, optimize
from burnish.rewrite.rule import Refusal, Rule
from burnish.study.check import CheckReport, region_check
from burnish.study.measured_cost import cost_check


@dataclass(frozen=True, slots=True)
class FusionTrial:
    """How fusions are tried."""

    check: bool = True
    """Run each fusion, on a part of the graph of its own, against what it replaces."""
    rules: tuple[Rule, ...] = ()
    """Rules of the user's own, tried before all others."""
    bindings: Mapping[str, int] = field(default_factory=dict)
    """Sizes at which costs are measured; those that are not named are 1 (first axes) or 128."""
    observer: Observer = lambda _stage, _model: None
    """Told after each step that changed something."""


def tried(
    model: ir.Model, options: OptimizeOptions, trial: FusionTrial
) -> tuple[RewriteResult, CheckReport | None]:
    """Return the rewritten model, and how its fusions fared; None: they were not checked."""
    with ExitStack() as stack:
        right = stack.enter_context(region_check()) if trial.check else None
        pays = (
            stack.enter_context(cost_check(options.target, trial.bindings))
            if options.cost == "measured"
            else None
        )
        result = optimize(
            model,
            options,
            observer=trial.observer,
            check=_all_of([check for check in (right, pays) if check is not None]),
            user_rules=trial.rules,
        )
        return result, None if right is None else right.report


def _all_of(checks: Sequence[Check]) -> Check:
    def check(proposal: Proposal, facts: Facts) -> Refusal | None:
        objections = (one(proposal, facts) for one in checks)
        return next((objection for objection in objections if objection is not None), None)

    return check
