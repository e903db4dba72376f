"""Predict what changes do to a model's latency, make them, measure them: how far off is it?

Runs ONNX Runtime on the CPU over several models; every action is predicted from one profile and
then measured, before and after in turn. Counted are actions whose measured effect is at least
10 %: predicting that nothing changes is right for all others. What was measured less exactly than
to 5 %, or while the model itself took a tenth more or less than when it was recorded, shows
nothing of the prediction: its row says so, and does not count. Fails above a median absolute error
of 5 %, if one is off by more than 20 %, if fewer than nine of ten lie between what was said, or
with fewer than twenty such actions.
"""

from __future__ import annotations

import argparse
import math
import statistics
import tempfile
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from burnish.analyze import whatif as analysis
from burnish.analyze.scenario import Action, Scenario
from burnish.analyze.selector import Selector
from burnish.analyze.whatif import Outcome
from burnish.bench.probe import probe_cpu, toml_of
from burnish.core import units
from burnish.core.errors import MissingCapabilityError
from burnish.engines.base import EngineOptions, GraphLevel
from burnish.store import layout
from burnish.store.stored import StoredModel
from burnish.study.timeline import Recorded, TimelineRequest, recorded
from burnish.study.type_factors import with_type_factors
from burnish.study.whatif_check import CheckOptions, Checks, fusion_scenario

ALLOWED, WORST, BETWEEN = 0.05, 0.20, 0.9
EFFECT, FEWEST = 0.10, 20
EXACT, MOVED, TRIES = 0.05, 0.10, 3
ROOT = Path(__file__).parents[1]
_PRODUCTS = ("MatMul", "Gemm")


@dataclass(frozen=True, slots=True)
class Case:
    """A model, and what the engine may rewrite before anything is changed."""

    name: str
    layers: int | None = None
    sequence: int | None = None
    small: bool = False
    opset: int = 17
    graph_level: GraphLevel = "all"
    rules: tuple[str, ...] = ()
    """Fusion rules to apply; these need a graph level at which the engine does not fuse."""


CASES = (
    Case("bert-mini"),
    Case("distilbert", layers=1, sequence=16),
    Case("electra", layers=2, sequence=32),
    Case("gpt2-model", layers=1, sequence=16),
    Case("vit-s32", layers=2),
    Case("mobilenet-v2", small=True, graph_level="extended"),
    Case("resnet18", small=True, graph_level="extended"),
    Case("distilbert", layers=1, sequence=32, opset=16, graph_level="basic",
         rules=("layer-norm", "gelu")),
    Case("vit-s32", layers=2, opset=16, graph_level="basic", rules=("layer-norm", "gelu")),
)  # fmt: skip
"""Inferences of a few milliseconds: longer ones are always disturbed where others work too.

The convolutional ones stop at the level before ONNX Runtime's own layout of images: a node in
that layout has channels in blocks, and nothing outside of it can stand in for one.
"""


def main() -> int:
    """Run all cases, print a row per action and the error of all; fail if it is too large."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=2.0, help="for each measurement")
    parser.add_argument("--only", default="", help="cases whose name contains this")
    asked = parser.parse_args()
    began = time.monotonic()
    found: list[tuple[str, Outcome]] = []
    with tempfile.TemporaryDirectory(prefix="burnish-whatif-bench-") as name:
        folder = Path(name)
        (folder / "cpu.toml").write_text(toml_of(probe_cpu()))
        for number, case in enumerate(CASES):
            if asked.only in case.name:
                model = written(case, folder / f"{number}")
                found += [shown(case, one) for one in outcomes(case, model, folder, asked.seconds)]
    return summary(found, time.monotonic() - began)


def written(case: Case, folder: Path) -> StoredModel:
    """Return the model of a case: from the examples, else exported with random weights."""
    example = ROOT / "examples" / case.name / "dynamo" / f"{case.name}_dynamo.onnx"
    if example.is_file():
        return layout.stored(example)
    import torch

    from burnish.zoo.entry import MODELS, NetworkOptions

    choice = {"layers": case.layers, "sequence": case.sequence}
    built = MODELS[case.name].build(NetworkOptions(**choice, batch=1, small=case.small))
    folder.mkdir()
    path = folder / f"{case.name}.onnx"
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            built.module, tuple(built.inputs.values()), path, dynamo=False,
            opset_version=case.opset, input_names=list(built.inputs),
            output_names=list(built.output_names),
        )  # fmt: skip
    return StoredModel(path, case.name)


def outcomes(case: Case, model: StoredModel, folder: Path, seconds: float) -> Iterator[Outcome]:
    """Yield each action of a case, predicted and measured.

    Each is recorded anew, so that what is predicted is of the machine's speed of that minute; up
    to three times, if it changed until the measurement was made.
    """
    request = TimelineRequest(
        model=model,
        # one thread: on a machine that others use too, two of them wait for each other
        options=EngineOptions(threads=1, graph_level=case.graph_level),
        hw=str(folder / "cpu.toml"),
    )
    for scenario in tuple(scenarios(case, model, request, recorded(request))):
        for _ in range(TRIES):
            one = tried(scenario, request, CheckOptions(alternating_s=seconds, exact_within=EXACT))
            if one.checked is None or not not_shown(one):
                break
        yield one


def tried(scenario: Scenario, request: TimelineRequest, options: CheckOptions) -> Outcome:
    """Return one action, recorded, predicted, made and measured, in this order."""
    found = with_type_factors(recorded(request), (scenario,), threads=1)
    predicted = analysis.outcome(scenario, found.setting)
    with Checks(request, found, options) as checks:
        return checks.check(scenario, predicted)


def scenarios(
    case: Case, model: StoredModel, request: TimelineRequest, found: Recorded
) -> Iterator[Scenario]:
    """Yield the actions of a case: fusions where it has rules, else removals and int8."""
    for rule in case.rules:
        try:
            yield fusion_scenario(model, rule, request.options, found)
        except MissingCapabilityError as error:
            print(f"{case.name}: {error.problem}", flush=True)
    if case.rules:
        return
    rows = sorted(analysis.sweep(found.setting), key=lambda row: -row.seconds_s)
    for row in rows[:3]:
        yield Scenario(f"all {row.op_type}", (Action("remove", (Selector("op", row.op_type),)),))
    for name in longest(found, count=2):
        yield Scenario("longest", (Action("remove", (Selector("name", name),)),))
    products = longest(found, count=99, only=_PRODUCTS)
    if products:
        yield int8("int8 longest", products[:1])
        yield int8("int8 all products", products)


def int8(name: str, nodes: Sequence[str]) -> Scenario:
    """Return the change of some products to 8-bit integers."""
    return Scenario(name, (Action("precision", tuple(Selector("name", n) for n in nodes), "i8"),))


def longest(found: Recorded, *, count: int, only: Sequence[str] = ()) -> list[str]:
    """Return the nodes that take longest; products only if they have constant weights."""
    setting = found.setting
    record = setting.scene.record
    assert record is not None
    events = [setting.graph.events[place] for place in setting.graph.work]
    if only:
        weighted = {node.name for node in record.nodes if set(node.inputs[1:2]) & record.constants}
        events = [e for e in events if e.op_type in only and set(e.nodes) & weighted]
    ranked = sorted(events, key=lambda event: -event.duration_s)
    return [event.name for event in ranked[:count]]


def shown(case: Case, outcome: Outcome) -> tuple[str, Outcome]:
    """Print one action and return it."""
    label = f"{case.name} ({case.graph_level})"
    if outcome.checked is None or outcome.error is None:
        print(f"{label:22} {outcome.scenario:26} {'; '.join(outcome.notes)}", flush=True)
    else:
        low, high = outcome.checked.between or (math.nan, math.nan)
        print(
            f"{label:22} {outcome.scenario:26} {units.seconds(outcome.checked.baseline_s):>8}  "
            f"predicted {outcome.gain:.3f}×  measured {outcome.checked.ratio:.3f}× "
            f"({low:.3f} – {high:.3f})  error {100 * outcome.error:+.1f} %  {_where(outcome)}"
            f"{not_shown(outcome)}",
            flush=True,
        )
    return case.name, outcome


def not_shown(outcome: Outcome) -> str:
    """Return why a measurement tells nothing of the prediction; empty: it does."""
    checked = outcome.checked
    if checked is None or checked.between is None:
        return "  not shown: not measured"
    low, high = checked.between
    if high / low - 1 > EXACT:
        return f"  not shown: measured to {units.share(high / low - 1)} only"
    if abs(checked.baseline_s / outcome.baseline_s - 1) > MOVED:
        return f"  not shown: recorded when it took {units.seconds(outcome.baseline_s)}"
    return ""


def _where(outcome: Outcome) -> str:
    said = " – ".join(map(units.ratio, outcome.gains or ()))
    return f"{'in' if outcome.is_as_believed else 'NOT in'} {said}"


def summary(found: Sequence[tuple[str, Outcome]], elapsed_s: float) -> int:
    """Print the error over all actions with an effect; return 1 if it is too large."""
    measured = [(name, one) for name, one in found if one.checked and one.error is not None]
    checked = [(name, one) for name, one in measured if not not_shown(one)]
    telling = [(n, one) for n, one in checked if one.checked and has_effect(one.checked.ratio)]
    if not telling:
        print("nothing with an effect could be checked")
        return 1
    errors = sorted(abs(one.error) for _, one in telling if one.error is not None)
    middle, worst = statistics.median(errors), errors[-1]
    # what one would say who knows nothing: that nothing changes
    idle = statistics.median(abs(one.checked.ratio - 1) for _, one in telling if one.checked)
    inside = statistics.mean(bool(one.is_as_believed) for _, one in telling)
    print(
        f"{len(telling)} of {len(checked)} actions on {len({name for name, _ in telling})} models "
        f"change the total by {units.share(EFFECT)} or more: median absolute error "
        f"{units.share(middle)} (allowed {units.share(ALLOWED)}), the worst {units.share(worst)} "
        f"(allowed {units.share(WORST)}); {units.share(inside)} lie between what was said "
        f"(at least {units.share(BETWEEN)}); predicting no change would be off by "
        f"{units.share(idle)}; {len(measured) - len(checked)} not shown; took {elapsed_s:.0f} s"
    )
    few = len(telling) < FEWEST
    return int(middle > ALLOWED or worst > WORST or inside < BETWEEN or few)


def has_effect(ratio: float) -> bool:
    """Return whether a change made the whole faster or slower by enough to tell."""
    return max(ratio, 1 / ratio) >= 1 + EFFECT


if __name__ == "__main__":
    raise SystemExit(main())
