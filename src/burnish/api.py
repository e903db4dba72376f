"""The commands as functions: the same words, the same records.

Each takes what its command takes (`burnish verify --help`): options are keywords with `_` in place
of `-`. A model is a path, a name in the store, an `onnx.ModelProto`, an `onnx_ir.Model`, or a
PyTorch module with its inputs, `TorchModule`. Nothing is printed; what a user can act on is raised
as a `BurnishError`, with the command that acts on it in its `hint`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from burnish.report import markdown
from burnish.report.table import Table
from burnish.store.compiled import require_outside
from burnish.study import advise as advising
from burnish.study import bench as benching
from burnish.study import compare as comparing
from burnish.study import compiling, exporting, profiling
from burnish.study import draw as drawing
from burnish.study import execute as executing
from burnish.study import explain as explaining
from burnish.study import gate as gating
from burnish.study import optimize as optimizing
from burnish.study import prune as cutting
from burnish.study import reduce as reducing
from burnish.study import run as running
from burnish.study import sensitivity as weighing
from burnish.study import verify as verifying
from burnish.study import whatif as asking
from burnish.study.given import TorchModule as TorchModule
from burnish.study.requests import guarding, judging, looking, pruning, rewriting
from burnish.study.requests.apart import require_apart, targets
from burnish.study.requests.values import require_values
from burnish.study.shown.any import lines_of

P = ParamSpec("P")
A = TypeVar("A")
R = TypeVar("R")


def _function(request: Callable[P, A], answer: Callable[[A], R]) -> Callable[P, R]:
    """Return a function that takes what a request takes, and gives what answers it."""

    def function(*args: P.args, **kwargs: P.kwargs) -> R:
        asked = request(*args, **kwargs)
        require_values(asked)
        require_apart(asked)
        for target in targets(asked):
            require_outside(target)
        return answer(asked)

    name = getattr(request, "__name__", "").removesuffix("Command").lower()
    gives = inspect.signature(answer).return_annotation
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{inspect.getdoc(request)}\n\nReturns: {gives}, the record of the command."
    function.__signature__ = inspect.signature(request)  # type: ignore[attr-defined]
    return function


advise = _function(looking.AdviseCommand, advising.answer)
bench = _function(judging.BenchCommand, benching.answer)
compare = _function(guarding.CompareCommand, comparing.answer)
compile = _function(rewriting.CompileCommand, compiling.answer)
execute = _function(rewriting.ExecCommand, executing.answer)
explain = _function(rewriting.ExplainCommand, explaining.answer)
export = _function(rewriting.ExportCommand, exporting.answer)
gate = _function(guarding.GateCommand, gating.answer)
graph = _function(looking.GraphCommand, drawing.answer)
optimize = _function(rewriting.OptimizeCommand, optimizing.answer)
prune = _function(pruning.PruneCommand, cutting.answer)
profile = _function(looking.ProfileCommand, profiling.answer)
reduce = _function(judging.ReduceCommand, reducing.answer)
run = _function(judging.RunCommand, running.answer)
sensitivity = _function(pruning.SensitivityCommand, weighing.answer)
verify = _function(judging.VerifyCommand, verifying.answer)
whatif = _function(looking.WhatIfCommand, asking.answer)


def show(record: object) -> str:
    """Return what the command prints of a record, as Markdown; notebooks draw it."""
    parts = (
        markdown.table(part) if isinstance(part, Table) else markdown.escaped(part)
        for part in lines_of(record)
    )
    return "\n\n".join(parts)
