"""Make a predicted change for real and measure it, on ONNX Runtime's own graph of the model."""

from __future__ import annotations

import contextlib
import dataclasses
import datetime as dt
import json
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from burnish.analyze.breakdown import median_interval
from burnish.analyze.scenario import Action, Scenario
from burnish.analyze.selector import Selector, select
from burnish.analyze.whatif import Checked, Outcome
from burnish.bench.run import bench
from burnish.bench.subject import BenchOptions, BenchSubject
from burnish.core import files
from burnish.core.errors import BurnishError, MissingCapabilityError
from burnish.engines import isolated
from burnish.engines import onnxruntime_executed as executed
from burnish.engines.base import EngineOptions, GraphLevel
from burnish.engines.onnxruntime_quantize import quantize_nodes
from burnish.feeds.feed import Feeds
from burnish.infer.graph_of import graph_of
from burnish.process.scratch import scratch
from burnish.rewrite.drop import without_nodes
from burnish.rewrite.fusions import FUSIONS
from burnish.rewrite.options import OptimizeOptions
from burnish.rewrite.pipeline import optimize
from burnish.store import onnx_files
from burnish.store.history import History
from burnish.store.stored import StoredModel
from burnish.study.observed import completed
from burnish.study.timeline import Recorded, TimelineRequest, undisturbed
from burnish.timing.turns import Turns, flat
from burnish.version import __version__

HISTORY = "whatif-history.jsonl"
ENGINE = "onnxruntime-cpu"
_PATIENCE = 4
"""How many times as long as asked to go on where others disturb."""
_QUANTIZABLE = ("MatMul", "Gemm", "FusedMatMul", "Conv")


@dataclass(frozen=True, slots=True)
class CheckOptions:
    """How thoroughly to measure."""

    bench: BenchOptions = field(default_factory=lambda: BenchOptions(rounds=3, budget_s=20.0))
    """In fresh processes, with a verdict."""
    alternating_s: float | None = None
    """Not so: a few calls in turn in one process, for so long, and without a verdict."""
    exact_within: float = 0.05
    """How wide the interval of what is so measured may be, if that can be had."""
    history: Path | None = None
    """Where predicted and measured go, a line each; None: nowhere."""


@dataclass(frozen=True, slots=True)
class _Made:
    """A change that was made: what to measure, before and after."""

    before: Path
    after: Path
    level: GraphLevel = "off"
    """At which both are opened: the 8-bit form needs the engine to put its steps together."""


class Checks:
    """The graph that is executed, kept while its changes are measured one by one."""

    def __init__(self, request: TimelineRequest, found: Recorded, options: CheckOptions) -> None:
        assert request.model is not None
        if request.engine != ENGINE:
            raise MissingCapabilityError(
                f"changes can be made and measured on {ENGINE} only, not on {request.engine}",
                hint=f"predict for that engine instead: --measure --engine {ENGINE}",
            )
        self._model, self._request, self._found = request.model, request, found
        self._options = options
        self._exit = contextlib.ExitStack()
        self._folder = Path()
        self.notes: tuple[str, ...] = ()

    def __enter__(self) -> Self:
        self._folder = self._exit.enter_context(scratch("whatif"))
        executed.save(self._model, self._request.options, self._folder / "executed.onnx")
        return self

    def __exit__(self, *_: object) -> None:
        self._exit.close()

    def check(self, scenario: Scenario, predicted: Outcome) -> Outcome:
        """Return the prediction with what was measured, or with a note why nothing was."""
        try:
            checked = self._measure(scenario, self._make(scenario))
        except BurnishError as error:
            note = f"not checked: {error.problem}"
            return dataclasses.replace(predicted, notes=(*predicted.notes, note))
        outcome = dataclasses.replace(predicted, checked=checked)
        if self._options.history is None or checked is None:
            return outcome
        try:
            remember(self._options.history, self._found.label, outcome)
        except (BurnishError, OSError, UnicodeDecodeError) as error:
            note = f"not remembered for later: {error}"
            return dataclasses.replace(outcome, notes=(*outcome.notes, note))
        return outcome

    def _make(self, scenario: Scenario) -> _Made:
        kinds = {action.do for action in scenario.actions}
        if len(kinds) == 1 and (made := _MAKERS.get(next(iter(kinds)))) is not None:
            return made(self, scenario.actions)
        raise MissingCapabilityError(
            f"{' and '.join(sorted(kinds))} cannot be made in a model, only predicted",
            hint="measure one of: --remove, --fuse, --cast WHAT=i8",
        )

    def _events(self, action: Action) -> tuple[str, ...]:
        """Return the nodes of the executed graph that an action is about."""
        scene = self._found.setting.scene
        places = sorted({p for one in action.select for p in select(one, scene)})
        return tuple(scene.graph.events[place].name for place in places)

    def _removed(self, actions: Sequence[Action]) -> _Made:
        before = self._folder / "executed.onnx"
        names = {name for action in actions for name in self._events(action)}
        model = onnx_files.read(before)
        assert self._found.feeds is not None
        feeds = self._found.feeds
        shapes = {name: array.shape for name, array in feeds.arrays.items()}
        known = graph_of(model, feeds.bindings, shapes=shapes)
        graph = completed(known, StoredModel(before, "executed"), feeds)
        return self._written(before, without_nodes(model, names, graph))

    def _quantized(self, actions: Sequence[Action]) -> _Made:
        before, after = self._folder / "executed.onnx", self._folder / "changed.onnx"
        if any(action.by != "i8" for action in actions):
            raise MissingCapabilityError(
                "only i8 can be made of single nodes", hint="measure --cast WHAT=i8"
            )
        names = [name for action in actions for name in self._events(action)]
        types = {node.name: node.op_type for node in onnx_files.read(before).graph}
        wrong = next((name for name in names if types.get(name) not in _QUANTIZABLE), None)
        if wrong is not None:
            raise MissingCapabilityError(
                f"{types.get(wrong)} {wrong!r} has no 8-bit form",
                hint=f"select one of {', '.join(_QUANTIZABLE)}",
            )
        quantize_nodes(before, after, names)
        return _Made(before, after, level="extended")

    def _fused(self, actions: Sequence[Action]) -> _Made:
        """Let the rules that fuse exactly the selected nodes do it, and nothing else."""
        source = onnx_files.read(self._folder / "executed.onnx")
        wanted = {frozenset(self._events(action)) for action in actions}
        names = {name for one in wanted for name in one}
        fusions = optimize(source).report.fusions
        fitting = {f.rule for f in fusions if frozenset(f.replaced) & names}
        timed = {self._found.setting.graph.events[p].name for p in self._found.setting.graph.work}
        result = optimize(source, OptimizeOptions(only=tuple(sorted(fitting))))
        made = {frozenset(f.replaced) & timed for f in result.report.fusions}
        if not fitting or made != wanted:
            raise MissingCapabilityError(
                "no rule fuses exactly the selected nodes",
                hint="name a rule, and all its places are taken: --apply RULE",
            )
        rules = tuple(rule.name for rule in FUSIONS)
        plain = optimize(source, OptimizeOptions(disable=rules))
        before = self._folder / "before.onnx"
        onnx_files.write(plain.model, before, history=History("", ()))
        return self._written(before, result.model)

    def _written(self, before: Path, model: object) -> _Made:
        after = self._folder / "changed.onnx"
        onnx_files.write(model, after, history=History("", ()))  # type: ignore[arg-type]
        return _Made(before, after)

    def _measure(self, scenario: Scenario, made: _Made) -> Checked | None:
        options = dataclasses.replace(self._request.options, graph_level=made.level)
        files_of = {"before": made.before, "after": made.after}
        subjects = [_subject(label, path, options) for label, path in files_of.items()]
        feeds = self._found.feeds
        assert feeds is not None
        action = "; ".join(map(str, scenario.actions))
        if self._options.alternating_s is not None:
            before_s, ratios = _in_turns(subjects, feeds, self._options)
            ratio = statistics.median(ratios)
            return Checked(
                action, before_s, before_s / ratio, verdict="", between=median_interval(ratios)
            )
        measured = bench(subjects, feeds, self._options.bench)
        failure = next((one.failure for one in measured.measurements if one.failure), None)
        comparison = measured.comparisons[0]
        if failure is not None or comparison.ratio is None:
            self.notes += (f"{scenario.name}: {failure or comparison.reason}",)
            return None
        before, after = (measured.measurement(label).samples_s for label in files_of)
        verdict = comparison.verdict.value
        return Checked(action, undisturbed(before), undisturbed(after), verdict, comparison.reason)


_MAKERS: Mapping[str, Callable[[Checks, Sequence[Action]], _Made]] = {
    "remove": Checks._removed, "precision": Checks._quantized, "fuse": Checks._fused,
}  # fmt: skip


def _in_turns(
    subjects: Sequence[BenchSubject], feeds: Feeds, options: CheckOptions
) -> tuple[float, list[float]]:
    """Return an undisturbed call of the first, and by round how many times faster the second is.

    A few calls of each in turn, until the median of these is known as exactly as asked, or for
    several times as long as asked; the least disturbed call of each round counts.
    """
    assert options.alternating_s is not None
    ratios, firsts = list[float](), list[float]()
    with contextlib.ExitStack() as stack:
        opened = [isolated.open_session(one.engine, one.model, one.options) for one in subjects]
        sessions = [stack.enter_context(session) for session in opened]
        turns = Turns(rounds=10, calls=6, settling=2, for_s=options.alternating_s)
        for _ in range(_PATIENCE):
            arrays = [feeds.arrays] * len(sessions)
            before, after = isolated.take_rounds(sessions, arrays, turns)
            firsts += flat(before)
            ratios += [min(one) / min(other) for one, other in zip(before, after, strict=True)]
            low, high = median_interval(ratios)
            if high / low - 1 <= options.exact_within:
                break
    return undisturbed(firsts), ratios


def _subject(label: str, path: Path, options: EngineOptions) -> BenchSubject:
    return BenchSubject(label, StoredModel(path, label), ENGINE, options)


def remember(history: Path, label: str, outcome: Outcome) -> None:
    """Add a line with what was predicted and what was measured."""
    assert outcome.checked is not None
    line = {
        "when": dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
        "burnish": __version__,
        "model": label,
        "scenario": outcome.scenario,
        "actions": list(outcome.actions),
        "predicted": outcome.gain,
        "measured": outcome.checked.ratio,
        "error": outcome.error,
        "verdict": outcome.checked.verdict,
    }
    before = history.read_text(encoding="utf-8") if history.is_file() else ""
    files.write_text(history, f"{before}{json.dumps(line, ensure_ascii=False)}\n")


def fusion_scenario(
    model: StoredModel, rule: str, options: EngineOptions, found: Recorded
) -> Scenario:
    """Return what a rule would do to the graph that is executed: each place as one fusion."""
    with scratch("whatif") as folder:
        path = folder / "executed.onnx"
        executed.save(model, options, path)
        result = optimize(onnx_files.read(path), OptimizeOptions(only=(rule,)))
    graph = found.setting.graph
    timed = {graph.events[place].name for place in graph.work}
    sites = [[name for name in f.replaced if name in timed] for f in result.report.fusions]
    actions = [Action("fuse", tuple(Selector("name", n) for n in s)) for s in sites if len(s) > 1]
    if not actions:
        raise MissingCapabilityError(
            f"{rule} finds nothing to fuse in the graph that {ENGINE} executes",
            hint="the engine may have fused it already; try --graph-level basic",
        )
    return Scenario(f"apply {rule}", tuple(actions))
