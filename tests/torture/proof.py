"""Prove a case: its witness shows a real difference; plain inputs, where so said, show none."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx

from burnish.core.arrays import Array, Arrays
from torture.case import Case
from torture.finding import Finding, Progress
from torture.hands import Hands, Outcome
from torture.running import Level, deviation, installed, outputs_of

_HEADROOM = 3
"""How many times a planted difference exceeds what the engine's own rewriting does."""
LIMIT_S = 240.0
"""How long one proof may take."""


def objection(case: Case) -> str:
    """Return why a case does not prove what it says; empty: it does."""
    reference, candidate = case.reference(), case.candidate()
    if case.engine:
        return _strays(case, reference)
    match case.expected:
        case "differs":
            return _differs(case, reference, candidate)
        case "equal":
            return _equal(case, reference, candidate)
        case "not shown":
            return _shows_nothing(case, reference, candidate)


def _differs(case: Case, reference: onnx.ModelProto, candidate: onnx.ModelProto) -> str:
    witness = case.witness()
    right = outputs_of(reference, witness)
    levels: tuple[Level, ...] = ("off",) if case.as_written else ("off", "all")
    shown = min(deviation(right, outputs_of(candidate, witness, level)) for level in levels)
    if shown < case.least:
        return f"the witness shows {shown:.1e} only, not {case.least:.1e}"
    noise = deviation(right, outputs_of(reference, witness, "all"))
    if shown < _HEADROOM * noise:
        return f"{shown:.1e} is not much more than the engine's own {noise:.1e}"
    plain = max(_plain(reference, candidate, each) for each in case.plain())
    if case.hidden and plain > case.least / 10:
        return f"plain inputs show it, too: {plain:.1e}"
    return ""


def _strays(case: Case, model: onnx.ModelProto) -> str:
    """Return whether the doctored engine never strays, fed everything twice."""
    from burnish.engines.base import ENGINES, EngineOptions
    from burnish.store.layout import stored

    fed = [*case.plain(), case.witness()] * 2
    with tempfile.TemporaryDirectory() as folder:
        onnx.save(model, path := Path(folder) / "model.onnx")
        with ENGINES[case.engine].open(stored(path), EngineOptions()) as session:
            apart = [deviation(outputs_of(model, each), session.run(each)) for each in fed]
    return "" if max(apart) >= case.least else "the engine never strays"


def _equal(case: Case, reference: onnx.ModelProto, candidate: onnx.ModelProto) -> str:
    for inputs in (case.witness(), *case.plain()):
        found = _plain(reference, candidate, inputs)
        if found > case.least:
            return f"the two are {found:.1e} apart, which is more than {case.least:.1e}"
    return ""


def _shows_nothing(case: Case, reference: onnx.ModelProto, candidate: onnx.ModelProto) -> str:
    for inputs in (case.witness(), *case.plain()):
        for model in (reference, candidate):
            for name, array in outputs_of(model, inputs).items():
                if not _is_blank(array):
                    return f"{name} tells something"
    return ""


def _plain(reference: onnx.ModelProto, candidate: onnx.ModelProto, inputs: Arrays) -> float:
    return deviation(outputs_of(reference, inputs), outputs_of(candidate, inputs))


def _is_blank(array: Array) -> bool:
    """Return whether an output is empty, or without a number, or one number everywhere."""
    finite = array[np.isfinite(array)]
    return finite.size == 0 or bool(np.all(finite == finite.flat[0]))


def run(names: Sequence[str], hands: Hands) -> list[Finding]:
    """Return a finding for each case that does not prove what it says."""
    progress = Progress("proofs", len(names))

    def told(outcome: Outcome[str]) -> None:
        progress.tell(1, _findings(outcome))

    pieces = [(name,) for name in names]
    outcomes = hands.spread(objection_to, pieces, limit_s=LIMIT_S, told=told)
    return [each for outcome in outcomes for each in _findings(outcome)]


def objection_to(name: str) -> str:
    """Return why the case of this name does not prove what it says; empty: it does."""
    from torture.judging import CASES

    case = CASES[name]
    return objection(case) if all(installed(package) for package in case.needs) else ""


def _findings(outcome: Outcome[str]) -> list[Finding]:
    (name,) = outcome.arguments
    problem = outcome.result
    return [Finding("unproved", name, problem)] if problem else outcome.trouble(name)


def command_line() -> int:
    """Prove the cases whose names fit; return 1 if one does not hold."""
    from torture.scoreboard import chosen

    with Hands(2) as hands:
        return min(1, len(run(chosen(sys.argv[1] if len(sys.argv) > 1 else "*"), hands)))


if __name__ == "__main__":
    from torture import proof  # by this name hands find what they are to do

    sys.exit(proof.command_line())
