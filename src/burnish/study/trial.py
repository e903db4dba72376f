"""Rewrite a model, and try each fusion before it is kept: is it right, and does it pay?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import onnx_ir as ir

from burnish.core.arrays import Arrays
from burnish.core.errors import BurnishError
from burnish.engines import isolated
from burnish.engines.base import EngineOptions
from burnish.feeds import dimension
from burnish.process.scratch import scratch
from burnish.rewrite import extract
from burnish.rewrite.costs import NOISE
from burnish.rewrite.extract import Part
from burnish.rewrite.facts import Facts
from burnish.rewrite.match import Check, Proposal
from burnish.rewrite.options import OptimizeOptions, Target
from burnish.rewrite.pipeline import Observer, RewriteResult, optimize
from burnish.rewrite.rule import Refusal, Rule
from burnish.store import onnx_files
from burnish.store.stored import StoredModel
from burnish.study.check import CheckReport, region_check
from burnish.study.check_feeds import CheckSample, filled
from burnish.study.check_part import tight
from burnish.timing.turns import Turns, ratio

_ENGINES: Mapping[Target, str] = {"cpu": "onnxruntime-cpu", "cuda": "onnxruntime-cuda"}
_TURNS = Turns(rounds=15)
_LONG_AXIS = 128


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


@dataclass(slots=True)
class CostCheck:
    """A check for `rewrite.optimize` that times each replacement against the original."""

    target: Target
    bindings: Mapping[str, int]
    folder: Path
    ratios: dict[str, float | None] = field(default_factory=dict)
    """Time of the replacement over that of the original, by structure; None: not measurable."""

    def __call__(self, proposal: Proposal, facts: Facts) -> Refusal | None:
        """Return by how much the replacement is slower; None: it is not, or cannot be timed."""
        both = tight(proposal)
        key = extract.structure(both)
        if key not in self.ratios:
            self.ratios[key] = self._ratio(proposal, both, facts.model)
        slower = self.ratios[key]
        if slower is None or slower < NOISE:
            return None
        return Refusal(
            f"measured here, {proposal.match.output.name!r} takes {slower:.1f}x the time fused",
            "fuse in spite of that: --cost off",
        )

    def _ratio(self, proposal: Proposal, both: Part, model: ir.Model) -> float | None:
        stops = (*both.inputs, *both.weights)
        before = extract.part(proposal.match.outputs, stops)
        after = extract.part(proposal.values, stops)
        whole = extract.as_model(both, model, "both")
        arrays = _feeds(both, whole, self.bindings)
        try:
            return self._timed((before, after), model, arrays)
        except BurnishError:
            return None

    def _timed(self, parts: tuple[Part, Part], model: ir.Model, arrays: Arrays) -> float:
        with ExitStack() as stack:
            sessions, feeds = [], []
            for number, cut in enumerate(parts):
                path = self.folder / f"{number}.onnx"
                small = extract.as_model(cut, model, "part")
                path.write_bytes(ir.serde.serialize_model(small).SerializeToString())
                stored = StoredModel(path, "this part")
                opened = isolated.open_session(_ENGINES[self.target], stored, EngineOptions())
                sessions.append(stack.enter_context(opened))
                names = [value.name or "" for value in small.graph.inputs]
                feeds.append({name: arrays[name] for name in names})
            return ratio(*isolated.take_turns(sessions, feeds, _TURNS))


@contextmanager
def cost_check(target: Target, bindings: Mapping[str, int]) -> Iterator[CostCheck]:
    """Yield a check; its small files are gone afterwards."""
    with scratch("cost") as folder:
        yield CostCheck(target, bindings, folder)


def _feeds(cut: Part, model: ir.Model, bindings: Mapping[str, int]) -> Arrays:
    """Return inputs at the asked sizes; else first axes have size 1, others 128."""
    specs = onnx_files.interface(model).inputs
    sizes: dict[str, int] = {}
    for spec in specs:
        for index, size in enumerate(spec.shape):
            for atom in dimension.atoms(size) if isinstance(size, str) else ():
                sizes.setdefault(atom, bindings.get(atom, _LONG_AXIS if index else 1))
    sample: CheckSample = filled(cut, specs, sizes, "plain", np.random.default_rng(0))
    return sample.arrays
