"""What may be asked of commands that say where the time goes, and where it could go."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Annotated, Literal

from burnish.study.requests import vocabulary as v
from burnish.study.requests.fed import EngineCommand
from burnish.study.requests.judging import CPU
from burnish.study.requests.option import Option, Positional, Saying

View = Literal["auto", "full", "simple", "modules", "kernels"]
By = Literal["operator", "node", "layer", "kernel", "ran"]
Level = Literal["off", "basic", "extended", "all"]


@dataclass(frozen=True, slots=True)
class ProfileCommand(EngineCommand):
    """Say where the time goes: by operator, node, layer or kernel.

    A TRACE is looked at as it is: kernels, operators, and modules as layers; a FOLDER of them as
    the ranks of one run, of which the slowest is broken down. With several models, engines or
    traces, the last is set against the first, row by row.
    """

    model: Annotated[
        v.AnyModel | Sequence[v.AnyModel], Positional("MODEL|TRACE|FOLDER…", many=True)
    ]
    _: KW_ONLY
    engine: v.Engines = CPU
    allow_fallback: v.AllowFallback = False

    trace: v.Trace = None
    runs: v.Runs = 10
    warmup: Annotated[int, Option("Inferences to run before these.", least=0)] = 3
    groups: v.Groups = ()
    nsys: Annotated[bool, Option("Let Nsight Systems record it.")] = False
    ncu: Annotated[bool, Option("Count memory traffic with Nsight Compute.")] = False
    perf: Annotated[bool, Option("Let the CPU count its memory traffic.")] = False
    trace_out: v.TraceOut = None
    output: Annotated[v.OutputFiles, Saying(
        "What changed from the first to the last, as .html or .svg.")
    ] = ()  # fmt: skip


@dataclass(frozen=True, slots=True)
class Rows:
    """Which rows of a profile are shown, and of what."""

    by: Annotated[By, Option(
        "What a row is; `node`: of the model, `ran`: of the engine.",
    )] = "operator"  # fmt: skip
    top: Annotated[int, Option("Rows to show; --json always has all.", least=1)] = 20
    threshold: Annotated[float, Option(
        "Show only rows with at least this share of the time.", metavar="PERCENT",
        least=0,
    )] = 0.0  # fmt: skip
    kernel_time_only: Annotated[bool, Option("Leave out the time in which nothing ran.")] = False


@dataclass(frozen=True, slots=True)
class GraphCommand(EngineCommand):
    """Draw MODEL's graph, with the time of its nodes where --engine or --trace tells it.

    Colours say how much of the time a box takes, a blue line is the longest chain if parallel
    branches ran at the same time.
    """

    model: v.Model
    _: KW_ONLY
    output: Annotated[v.OutputFiles, Saying(
        "Several times if wanted; by their endings: .svg, .html (interactive), .csv, .md, .json, "
        ".model-explorer.json, .node-data.json, .netron.json, .perfetto.json.")
    ]  # fmt: skip
    engine: Annotated[v.Engine | None, Saying("Record the times now, on this one.")] = None
    trace: v.Trace = None
    view: Annotated[View, Option(
        "Every node; without constants and sizes; by module; by kernel.",
    )] = "auto"  # fmt: skip
    left_to_right: Annotated[bool, Option("Draw from left to right, not top-down.")] = False
    scale: Annotated[v.Scale, Saying("Shown beside what is.")] = ()
    scenario: Annotated[v.Scenario, Saying("The first is shown beside what is.")] = None
    hw: v.Hw = None
    groups: v.Groups = ()
    allow_fallback: v.AllowFallback = False


@dataclass(frozen=True, slots=True)
class WhatIfCommand(EngineCommand):
    """Say what would happen to the latency if parts of a model were faster, fewer or fused.

    All changes in one command are made together; a file may hold several scenarios. WHAT is a
    node's name, an operator, a glob, or one of op:Softmax, name:…, re:…, kernel:…, layer:…,
    pattern:MatMul>Add, top:3, id:7.
    """

    subject: Annotated[v.AnyModel, Positional("MODEL|TRACE")]
    _: KW_ONLY
    model: Annotated[
        v.AnyModel | None,
        Option("The model that a TRACE was recorded of.", metavar="MODEL", may_read=True),
    ] = None
    scale: v.Scale = ()
    set: Annotated[v.Names, Option(
        "Let each of WHAT take 20us, 1ms …", metavar="WHAT=TIME", repeated=True
    )] = ()  # fmt: skip
    remove: Annotated[v.Names, Option("Leave it out.", metavar="WHAT,…", repeated=True)] = ()
    fuse: Annotated[v.Names, Option("Do all of it as one.", metavar="WHAT,…", repeated=True)] = ()
    apply: Annotated[v.Names, Option(
        "Do what a fusion rule of burnish optimize would do.", metavar="RULE", repeated=True
    )] = ()  # fmt: skip
    cast: Annotated[
        v.Names, Option("Compute it in int8, fp16, bf16 …", metavar="WHAT=TYPE", repeated=True)
    ] = ()
    roofline: Annotated[v.Names, Option(
        "Raise it to 80% of the device's limit.", metavar="WHAT=PART", repeated=True
    )] = ()  # fmt: skip
    batch: v.Batch = None
    overlap: Annotated[bool, Option("Let independent work run at the same time.")] = False
    cuda_graph: v.CudaGraph = False
    scenario: v.Scenarios = ()
    sweep: Annotated[bool, Option("The gain of every operator for 1.5×, 2×, its limit, ∞.")] = False
    measure: Annotated[bool, Option("Make the changes where possible, and measure them.")] = False
    graph_level: Annotated[Level, Option("What the engine itself may rewrite.")] = "all"
    hw: v.Hw = None
    groups: v.Groups = ()
    trace_out: Annotated[v.TraceOut, Saying("After the first scenario.")] = None
    engine: v.Engine = CPU


@dataclass(frozen=True, slots=True)
class AdviseCommand(EngineCommand):
    """Say what to do next with MODEL, the largest expected gain first.

    Each piece of advice has its predicted gain, how sure that is, the evidence, and the command
    that does it or finds out more.
    """

    model: v.Model
    _: KW_ONLY
    engine: Annotated[v.Engine, Saying("Where it will run.")] = CPU
    hw: v.Hw = None
