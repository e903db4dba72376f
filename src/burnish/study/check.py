"""Try every replacement, on a part of the graph of its own, against what it replaces."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import onnx_ir as ir

from burnish.core.errors import BurnishError
from burnish.engines.base import EngineOptions, Session
from burnish.engines.isolated import EngineCrashedError, EngineHungError, open_session
from burnish.engines.sizes import JUDGE
from burnish.infer.constants import constant_tensor
from burnish.process.child import ChildRefusedError
from burnish.process.scratch import scratch
from burnish.rewrite import extract
from burnish.rewrite.extract import Part, part
from burnish.rewrite.facts import Facts
from burnish.rewrite.match import Proposal
from burnish.rewrite.rule import Refusal
from burnish.store.stored import StoredModel
from burnish.study.check_feeds import CheckSample, may_be_empty, samples, whole_samples
from burnish.study.check_meaning import PartMeaning
from burnish.study.check_part import lighter, shrink, shrinking, size_names, tight, wide

_AS_WRITTEN = EngineOptions(threads=1, graph_level="off")
_MOST_BYTES = 1 << 28
"""A part with more weights than this is not tried on its own."""
_MOST_NODES = 3000
_WEIGHTS_BYTES = (1 << 16, 1 << 25)
"""Weights above these are left out of parts that begin at the inputs of the graph: first all that
are not settings, then those larger than any table of positions."""
_LIMIT_S = 60.0
"""Parts are small: one that takes longer than this hangs."""
_REMEDY = "none needed: the model was left as it is here; cut it out to report it: burnish distill"


@dataclass(frozen=True, slots=True)
class Unchecked:
    """A replacement that was applied although it could not be tried on its own."""

    rule: str
    node: str
    reason: str


@dataclass(frozen=True, slots=True)
class CheckReport:
    """How the replacements fared that were tried."""

    sites: int
    """Places where a rule wanted to fire."""
    distinct: int
    """Parts that were run: places of the same structure share one."""
    undone: int
    unchecked: tuple[Unchecked, ...]
    duration_s: float
    meant: int = 0
    """Parts whose meaning was compared in real numbers, apart from how an engine rounds."""
    proven: int = 0
    """Parts that are equal in a finite field, which is all but a proof for all inputs."""


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What trying one part gave; both empty: no difference was found."""

    difference: str = ""
    obstacle: str = ""
    measured: bool = True
    """False: the two were not compared, for the replacement does not run here."""
    meant: bool = field(default=False, compare=False)
    proven: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class _Trial:
    """A part, and how it is fed."""

    cut: Part
    is_whole: bool = False
    """Whether it begins at the inputs of the graph, and is fed by their names."""
    divisor: int = 1
    """By what the fixed sizes of its pictures are divided."""
    emptied: tuple[int, ...] = ()
    """The inputs that may mask whole rows."""

    @property
    def key(self) -> str:
        """Return what trials share that need not both be made."""
        way = f"{self.is_whole} {self.divisor} {self.emptied}"
        return f"{extract.structure(self.cut)} {way}"

    def samples(self, small: ir.Model) -> list[CheckSample]:
        """Return what the part is fed, which was cut out as `small`."""
        if self.is_whole:
            return list(whole_samples(self.cut, small))
        names = [self.cut.inputs[number].name or "" for number in self.emptied]
        return list(samples(self.cut, small, emptied=names))


@dataclass(slots=True)
class RegionCheck:
    """A check for `rewrite.optimize` that runs each replacement beside the original."""

    folder: Path
    sites: int = 0
    undone: int = 0
    duration_s: float = 0.0
    unchecked: dict[str, Unchecked] = field(default_factory=dict)
    outcomes: dict[str, _Outcome] = field(default_factory=dict)

    def __call__(self, proposal: Proposal, facts: Facts) -> Refusal | None:
        """Return how the two differ; None: they do not, or it could not be tried."""
        began = time.perf_counter()
        outcome = self._outcome(proposal, facts)
        if outcome.difference and facts.options.target != "cpu" and not outcome.measured:
            outcome = _Outcome(obstacle=outcome.difference)
        self.duration_s += time.perf_counter() - began
        self.sites += 1
        name = proposal.nodes[-1].name or ""
        if outcome.obstacle:
            self.unchecked[name] = Unchecked(proposal.rule, name, outcome.obstacle)
        if not outcome.difference:
            return None
        self.undone += 1
        output = proposal.match.output.name
        return Refusal(f"tried on its own, {output!r} differs: {outcome.difference}", _REMEDY)

    @property
    def report(self) -> CheckReport:
        """Return how all went."""
        return CheckReport(
            self.sites,
            len(self.outcomes),
            self.undone,
            tuple(self.unchecked.values()),
            self.duration_s,
            meant=sum(outcome.meant for outcome in self.outcomes.values()),
            proven=sum(outcome.proven for outcome in self.outcomes.values()),
        )

    def _outcome(self, proposal: Proposal, facts: Facts) -> _Outcome:
        """Try ever larger parts: what fails on its own may hold with what leads to it."""
        outcome = _Outcome(obstacle="it cannot be cut out")
        for trial in _trials(proposal, facts):
            tried = self._tried(trial, facts.model, len(proposal.values))
            if tried == _Outcome():
                return tried
            outcome = tried if tried.difference or not outcome.difference else outcome
        if outcome.obstacle and self._runs_without(proposal, facts):
            problem = f"only the original runs: {outcome.obstacle}"
            return _Outcome(difference=problem, measured=False)
        return outcome

    def _runs_without(self, proposal: Proposal, facts: Facts) -> bool:
        """Return whether the original can be run on its own, where the two together cannot."""
        return any(
            _run(dataclasses.replace(both, cut=original, emptied=()), facts.model, 0, self.folder)
            == _Outcome()
            for both in _trials(proposal, facts)
            for original in (part(proposal.match.outputs, (*both.cut.inputs, *both.cut.weights)),)
        )

    def _tried(self, trial: _Trial, model: ir.Model, count: int) -> _Outcome:
        key = trial.key
        if key not in self.outcomes:
            self.outcomes[key] = _run(trial, model, count, self.folder)
        return self.outcomes[key]


def _trials(proposal: Proposal, facts: Facts) -> Iterator[_Trial]:
    near = tight(proposal)
    cuts = [near]
    if near.weights and _bytes(near) <= _MOST_BYTES:
        # New constants may be computed from weights, which then cannot be made up.
        cuts.append(extract.with_weights(near))
    # Pictures come first in small: what then fails is tried in full, and what passes and should
    # not have is found where the whole model is judged.
    yield from (_near(cut, facts, by) for cut in cuts if (by := shrinking(cut)) > 1)
    yield _near(near, facts)
    yield _near(tight(proposal, size_names(facts.model)), facts)
    yield from (_near(cut, facts) for cut in cuts[1:])
    whole = wide(proposal)
    for limit in _WEIGHTS_BYTES if _bytes(whole) > extract.LARGE_BYTES else ():
        light = lighter(proposal, limit)
        if _bytes(light) <= _MOST_BYTES and len(light.nodes) <= _MOST_NODES:
            yield _Trial(light, is_whole=True)
    if _bytes(whole) <= _MOST_BYTES and len(whole.nodes) <= _MOST_NODES:
        yield _Trial(whole, is_whole=True)


def _near(cut: Part, facts: Facts, divisor: int = 1) -> _Trial:
    return _Trial(cut, divisor=divisor, emptied=may_be_empty(cut, facts))


def _bytes(cut: Part) -> int:
    tensors = [constant_tensor(value) for value in (*cut.weights, *cut.constants)]
    return sum(tensor.nbytes for tensor in tensors if tensor is not None)


@contextmanager
def region_check() -> Iterator[RegionCheck]:
    """Yield a check; its small files are gone afterwards."""
    with scratch("check") as folder:
        yield RegionCheck(folder)


def _run(trial: _Trial, model: ir.Model, count: int, folder: Path) -> _Outcome:
    """Return what running both ways of a part on all samples gives."""
    small = extract.as_model(trial.cut, model, "check")
    _rename(small)
    shrink(small, trial.cut, trial.divisor)
    path = folder / "part.onnx"
    path.write_bytes(ir.serde.serialize_model(small).SerializeToString())
    stored = StoredModel(path, "this part")
    names = [value.name or "" for value in small.graph.outputs]
    weights = [value.name or "" for value in trial.cut.weights]
    try:
        given = trial.samples(small)
        with PartMeaning(small, names[:count], names[-count:], weights) as meaning:
            if count and (difference := meaning.difference(given)):
                return _Outcome(difference=difference, meant=True)
            with open_session(JUDGE, stored, _AS_WRITTEN, limit_s=_LIMIT_S) as session:
                outcome = _compared(session, given, count, meaning)
            proven = bool(count) and bool(given) and meaning.is_proven(given)
            return dataclasses.replace(outcome, meant=meaning.is_known, proven=proven)
    except (BurnishError, ChildRefusedError, ValueError, KeyError, ZeroDivisionError) as error:
        return _Outcome(obstacle=f"it cannot be run on its own: {_first_line(error, path)}")


def _rename(model: ir.Model) -> None:
    """Give every node and every result a name of its own: new nodes may still share theirs."""
    for number, node in enumerate(model.graph):
        node.name = f"{number}: {node.name}"
        for index, value in enumerate(node.outputs):
            value.name = value.name and f"value_{number}_{index}"


def _compared(
    session: Session, given: Sequence[CheckSample], count: int, meaning: PartMeaning
) -> _Outcome:
    """Return how the first `count` results differ from the last; 0: whether any sample runs."""
    obstacle, ran = "", 0
    for number, sample in enumerate(given):
        try:
            results = session.run(sample.arrays)
        except (EngineCrashedError, EngineHungError):
            raise  # on one sample is too often
        except BurnishError as error:
            obstacle = obstacle or f"it cannot be run on its own: {_first_line(error)}"
            continue
        ran += 1
        difference = meaning.rounding(number, sample, results) if count else ""
        if difference:
            return _Outcome(difference=f"{difference} ({sample.title})")
    return _Outcome() if ran else _Outcome(obstacle=obstacle)


def _first_line(error: Exception, path: Path | None = None) -> str:
    """Return what an error says first; the file of a part is gone when somebody reads it."""
    text = str(error)
    for name in () if path is None else (str(path), path.name):
        text = text.replace(name, "the part")
    return text.splitlines()[0] if text else type(error).__name__
