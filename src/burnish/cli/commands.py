"""All commands: what may be asked, who answers, and how the answer is shown."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import click

from burnish.cli import output
from burnish.cli.progress import shown
from burnish.cli.request import command
from burnish.core.errors import CheckFailedError


@dataclass(frozen=True, slots=True)
class Entry:
    """One command. All is named `module:thing`, so that help imports only what it shows."""

    about: str
    """The line in the help of `burnish`."""
    request: str
    """The record whose fields are the options, in burnish.study.requests."""
    answer: str
    """The function that does it, in burnish.study."""
    lines: str
    """The function that shows the answer, in burnish.study.shown."""
    rows: str = ""
    """A second record of options, which only say how the answer is shown."""
    require: str = ""
    """The function that raises if the answer is a no, in burnish.study."""


COMMANDS: Mapping[str, Entry] = {
    "zoo list": Entry(
        "list the models that can be exported without any download",
        "listing:ZooListCommand", "listing:zoo_list", "listing:zoo_list_lines",
    ),
    "zoo show": Entry(
        "show one model of the zoo",
        "listing:ZooShowCommand", "listing:zoo_show", "listing:zoo_show_lines",
    ),
    "export": Entry(
        "turn a PyTorch model into an ONNX model that computes the same",
        "rewriting:ExportCommand", "exporting:answer", "rewriting:export_lines",
    ),
    "run": Entry(
        "optimise, verify, measure, profile and report on a model, in one go",
        "judging:RunCommand", "run:answer", "judging:run_lines", require="run:require",
    ),
    "optimize": Entry(
        "rewrite a model into a faster one that computes the same",
        "rewriting:OptimizeCommand", "optimize:answer", "rewriting:optimize_lines",
    ),
    "sensitivity": Entry(
        "say which parts of a model could be cut, and what error that gives",
        "pruning:SensitivityCommand", "sensitivity:answer", "pruning:sensitivity_lines",
    ),
    "prune": Entry(
        "cut away what matters least in a model, and say what that costs",
        "pruning:PruneCommand", "prune:answer", "pruning:prune_lines",
    ),
    "compile": Entry(
        "turn a model into kernels of its own, in a folder that runs by itself",
        "rewriting:CompileCommand", "compiling:answer", "rewriting:compile_lines",
    ),
    "time": Entry(
        "time candidates of kernels on a card, for models that were compiled elsewhere",
        "rewriting:TimeCommand", "timing:answer", "rewriting:time_lines",
    ),
    "exec": Entry(
        "run a compiled folder on inputs from a file",
        "rewriting:ExecCommand", "execute:answer", "rewriting:exec_lines",
    ),
    "explain": Entry(
        "say what is fused in a model, what nearly is, and what stands in the way",
        "rewriting:ExplainCommand", "explain:answer", "rewriting:explain_lines",
    ),
    "distill": Entry(
        "cut parts of a model out as small models with recorded data and a test",
        "rewriting:DistillCommand", "distill:answer", "rewriting:distill_lines",
    ),
    "verify": Entry(
        "check that two models, or two engines, compute the same",
        "judging:VerifyCommand", "verify:answer", "judging:verify_lines", require="verify:require",
    ),
    "reduce": Entry(
        "shrink a model that does not compute the same to its smallest wrong part",
        "judging:ReduceCommand", "reduce:answer", "judging:reduce_lines",
    ),
    "bench": Entry(
        "measure models on engines, with intervals and a verdict",
        "judging:BenchCommand", "bench:answer", "judging:bench_lines", rows="judging:Format",
        require="bench:require",
    ),
    "study": Entry(
        "run an experiment that is written down in a file: models, engines, types and sizes",
        "studying:StudyCommand", "studying:answer", "judging:study_lines",
    ),
    "compare": Entry(
        "compare two stored measurements of one machine, with a verdict",
        "guarding:CompareCommand", "compare:answer", "guarding:compare_lines",
    ),
    "gate": Entry(
        "fail if a model got slower than a stored baseline allows, for CI",
        "guarding:GateCommand", "gate:answer", "guarding:gate_lines", require="gate:require",
    ),
    "history": Entry(
        "show what was measured of a model here, over time",
        "guarding:HistoryCommand", "history:answer", "guarding:history_lines",
    ),
    "dashboard": Entry(
        "write all measurements as one page: models by engines, gaps and trends",
        "guarding:DashboardCommand", "history:dashboard_answer", "guarding:dashboard_lines",
    ),
    "profile": Entry(
        "say where the time goes, node by node",
        "looking:ProfileCommand", "profiling:answer", "looking:profile_lines", rows="looking:Rows",
    ),
    "graph": Entry(
        "draw a model's graph with the time of its nodes, as a picture or a page",
        "looking:GraphCommand", "draw:answer", "looking:graph_lines",
    ),
    "whatif": Entry(
        "predict what a change would do to the latency, before anyone makes it",
        "looking:WhatIfCommand", "whatif:answer", "looking:whatif_lines", require="whatif:require",
    ),
    "advise": Entry(
        "say what to do next, with the gain to expect and the command that does it",
        "looking:AdviseCommand", "advise:answer", "looking:advise_lines",
    ),
    "inputs": Entry(
        "write inputs for a model, made from its names, types and shapes",
        "listing:InputsCommand", "inputs:answer", "listing:inputs_lines",
    ),
    "model list": Entry(
        "list the models in a store",
        "listing:ModelListCommand", "listing:model_list", "listing:model_list_lines",
    ),
    "model show": Entry(
        "show what a model is",
        "listing:ModelShowCommand", "listing:model_show", "listing:model_show_lines",
    ),
    "doctor": Entry(
        "say what works on this machine, by trying it, and how to mend the rest",
        "listing:DoctorCommand", "listing:doctor", "listing:doctor_lines",
        require="listing:require_engines",
    ),
}  # fmt: skip
"""By name, in the order of the workflow; `zoo list` is `list` in the group `zoo`."""

GROUPS: Mapping[str, str] = {
    "zoo": "list the models that can be exported without any download",
    "model": "list the models in a store and show what a model is",
}


def summaries() -> dict[str, str]:
    """Return the lines of `burnish --help`: commands and groups, in order."""
    names = {name: name.partition(" ")[0] for name in COMMANDS}
    return {short: GROUPS.get(short, COMMANDS[name].about) for name, short in names.items()}


def made(name: str) -> click.Command:
    """Return the command or the group of this name."""
    if name not in GROUPS:
        return _command(name)
    group = click.Group(name, help=f"{GROUPS[name].capitalize()}.")
    for full in COMMANDS:
        if full.startswith(f"{name} "):
            group.add_command(_command(full), full.partition(" ")[2])
    return group


def _command(name: str) -> click.Command:
    entry = COMMANDS[name]
    kinds = [found("study.requests", spec) for spec in (entry.request, entry.rows) if spec]

    @command(*kinds, name=name.rpartition(" ")[2])
    def do(asked: Any, *rows: Any) -> None:  # noqa: ANN401  (a request, and how to show it)
        answered(entry, asked, *rows, name=name)

    return do


def answered(entry: Entry, asked: Any, *rows: Any, name: str) -> None:  # noqa: ANN401
    """Do what is asked, show what came of it, and raise if that is a no."""
    try:
        with shown(name) as progress:
            report = found("study", entry.answer)(asked, progress=progress)
    except CheckFailedError as error:
        refused = getattr(error, "report", None)  # what was found, though nothing was written
        if refused is not None:
            output.result(refused, found("study.shown", entry.lines)(refused))
        raise
    output.result(report, _parts(entry, asked, report, rows))
    if entry.require:
        found("study", entry.require)(asked, report)


def _parts(entry: Entry, asked: Any, report: Any, rows: tuple[Any, ...]) -> Any:  # noqa: ANN401
    yield from found("study.shown", entry.lines)(report, *rows)
    if any(getattr(how, "format", "table") != "table" for how in rows):
        return  # what a program reads ends where the rows end
    following = found("study.shown", "next:next_command")(asked, report)
    if following is not None:
        yield f"next: {following}"


def found(package: str, spec: str) -> Any:  # noqa: ANN401  (a record, or a function of one)
    """Return what `module:thing` names in a package of burnish."""
    module, _, thing = spec.partition(":")
    return getattr(importlib.import_module(f"burnish.{package}.{module}"), thing)
