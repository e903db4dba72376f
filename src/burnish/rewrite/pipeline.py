"""The one place where a model is rewritten."""

from __future__ import annotations

import gc
import logging
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import onnx_ir as ir

from burnish.core.errors import ModelError, UsageError
from burnish.core.nearest import suggestion
from burnish.infer import walk
from burnish.rewrite.facts import Facts
from burnish.rewrite.fusions import FUSIONS
from burnish.rewrite.match import Applied, Check, accept_all, apply_rules
from burnish.rewrite.options import OptimizeOptions
from burnish.rewrite.passes import STEPS, finishing, folding, inferring, preparing, tidying
from burnish.rewrite.passes.constants import LiftConstants
from burnish.rewrite.passes.counted import Counted, InPlacePass, step_name
from burnish.rewrite.passes.inline import InlineFunctions, kept_functions
from burnish.rewrite.result import Fusion, Miss, RewriteReport, StepCount
from burnish.rewrite.rule import Rule
from burnish.store import mending

logger = logging.getLogger(__name__)

Observer = Callable[[str, ir.Model], None]
"""Told after each step that changed something; it may look, and must not touch."""

DEFAULTS = OptimizeOptions()

_MOST_ROUNDS = 8
"""Rounds of tidying; each round but the last has changed something, and few models need four."""


@dataclass(frozen=True, slots=True)
class RewriteResult:
    """A new model, and what was done to get it."""

    model: ir.Model
    report: RewriteReport


def optimize(
    model: ir.Model,
    options: OptimizeOptions = DEFAULTS,
    *,
    observer: Observer = lambda _stage, _model: None,
    check: Check = accept_all,
    user_rules: tuple[Rule, ...] = (),
) -> RewriteResult:
    """Return a rewritten copy of a model; the argument is left untouched.

    The copy shares the weights of the original. Inputs and outputs keep their names, types and
    order. Optimising the result again changes nothing. A fusion to which `check` objects is not
    applied; rules of the user's own come first.
    """
    rules = _chosen_rules((*user_rules, *FUSIONS), options)
    with collector_paused():
        work = _Rewriting(_clone(model), options, observer, check)
        before = operators(work.model)
        calls = _whole_calls(work, tuple(rule for rule in rules if rule.calls))
        work.run(preparing(options))
        applied = _to_rest(work, tuple(rule for rule in rules if not rule.calls))
        work.run(finishing())
        after = operators(work.model)
        report = RewriteReport(
            fusions=tuple(work.fusions),
            misses=(*calls, *applied.misses),
            steps=tuple(StepCount(step, work.counts.get(step, 0)) for step in STEPS),
            nodes_before=sum(before.values()),
            nodes_after=sum(after.values()),
            operators_before=before,
            operators_after=after,
            notes=(
                *mending.notes(model),
                *dict.fromkeys(work.notes),
                *_kept_notes(work.model, options),
            ),
        )
    return RewriteResult(work.model, report)


def operators(model: ir.Model) -> dict[str, int]:
    """Return how often each operator occurs in a model and its bodies, by name."""
    counts = Counter([(node.domain, node.op_type) for node in walk.nodes(model)])
    named = {f"{domain}::{kind}" if domain else kind: n for (domain, kind), n in counts.items()}
    return dict(sorted(named.items()))


@dataclass(slots=True)
class _Rewriting:
    """A model being rewritten, and the account of it."""

    model: ir.Model
    options: OptimizeOptions
    observer: Observer
    check: Check
    counts: Counter[str] = field(default_factory=Counter)
    fusions: list[Fusion] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def run(self, steps: tuple[InPlacePass, ...]) -> int:
        """Run steps in order, but those that are disabled; return how much they changed."""
        total = 0
        for step in steps:
            name = step_name(type(step))
            if name in self.options.disable:
                continue
            result = step(self.model)
            count = result.count if isinstance(result, Counted) else int(result.modified)
            total += count
            self.counts[name] += count
            if count:
                self.observer(name, self.model)
        return total

    def apply(self, rules: tuple[Rule, ...], facts: Facts) -> Applied:
        """Apply fusion rules once."""
        applied = apply_rules(self.model, rules, facts, self.check)
        self.fusions.extend(applied.fusions)
        self.notes.extend(applied.notes)
        if applied.fusions:
            self.observer("fusions", self.model)
        return applied


def _whole_calls(work: _Rewriting, rules: tuple[Rule, ...]) -> tuple[Miss, ...]:
    """Apply the rules that replace calls of functions as a whole; return what they refused."""
    if not rules or not work.model.functions:
        return ()
    work.run(preparing(replace(work.options, keep_functions=True)))
    _state_results(work.model)
    facts = Facts(work.model, work.options)
    work.run(inferring(facts))
    return work.apply(rules, facts).misses


def _state_results(model: ir.Model) -> None:
    """Write down what calls give, which no operator's record tells: their bodies do."""
    plain = model.clone()
    for step in (InlineFunctions(), LiftConstants(), *inferring(Facts(plain))):
        step(plain)
    known = {value.name: value for node in plain.graph for value in node.outputs}
    for value in [value for node in model.graph for value in node.outputs]:
        found = known.get(value.name)
        if found is not None:
            value.type = value.type or found.type
            value.shape = value.shape or found.shape


def _to_rest(work: _Rewriting, rules: tuple[Rule, ...]) -> Applied:
    """Tidy and fuse in turn until neither changes anything; return the last round of fusing."""
    applied = Applied((), (), (), shapeless=True)
    for _ in range(_MOST_ROUNDS):
        facts = Facts(work.model, work.options)
        if applied.shapeless:
            work.run(inferring(facts))
        _tidy(work, facts)
        applied = work.apply(rules, facts)
        if not applied.fusions:
            return applied
    logger.warning("fusing did not come to rest in %d rounds", _MOST_ROUNDS)
    return applied


def _tidy(work: _Rewriting, facts: Facts) -> None:
    """Run the tidying steps until none changes anything; shapes only when folding gave news."""
    folded = 0
    for _ in range(_MOST_ROUNDS):
        if folded:
            work.run(inferring(facts))
        folded = work.run(folding(work.options, facts))
        if not work.run(tidying(facts)) + folded:
            return
    logger.warning("tidying did not come to rest in %d rounds", _MOST_ROUNDS)


def _chosen_rules(rules: tuple[Rule, ...], options: OptimizeOptions) -> tuple[Rule, ...]:
    names = [rule.name for rule in rules]
    for option, given, known in (
        ("--only", options.only, names),
        ("--disable", options.disable, [*names, *STEPS]),
    ):
        for name in given:
            if name not in known:
                raise UsageError(
                    f"{option}: there is no rule or step {name!r}", hint=suggestion(name, known)
                )
    return tuple(
        rule
        for rule in rules
        if rule.name not in options.disable and (not options.only or rule.name in options.only)
    )


def _clone(model: ir.Model) -> ir.Model:
    try:
        return model.clone()
    except (RuntimeError, ValueError) as error:
        raise ModelError(
            f"the graph {model.graph.name!r} cannot be followed: {error.__cause__ or error}",
            hint="check it with python -c 'import onnx; onnx.checker.check_model(\"MODEL\")'",
        ) from error


def _kept_notes(model: ir.Model, options: OptimizeOptions) -> Iterator[str]:
    if options.keep_functions:
        return
    for domain, name, _ in kept_functions(model):
        yield (
            f"the function {domain}::{name} was kept as it is: it needs other operator versions"
            " than the model, or takes a graph"
        )


@contextmanager
def collector_paused() -> Iterator[None]:
    """Keep the garbage collector from scanning a growing graph again and again."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
