"""What may be asked of commands that compare and measure: verify, reduce, bench, run."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from typing import Annotated, Literal

from burnish.study.requests import vocabulary as v
from burnish.study.requests.fed import EngineCommand
from burnish.study.requests.option import Option, Saying

CPU = "onnxruntime-cpu"


@dataclass(frozen=True, slots=True)
class VerifyCommand:
    """Check that CANDIDATE computes what MODEL computes.

    Without CANDIDATE: that MODEL on --engine computes what it computes as it is written.

    Each --shape is a shape to try; without any, the default one and one with odd sizes are.
    """

    model: v.Model
    candidate: v.Candidate = None
    _: KW_ONLY
    engine: Annotated[
        v.AnyEngine, Saying(f"The candidate's (default: {CPU}; of a compiled folder, its kernels).")
    ] = None
    against: Annotated[str, Option(
        "Engine of the reference; ONNX Runtime optimises nothing there.",
        flags=("--against", "--reference-engine"), metavar="NAME",
    )] = CPU  # fmt: skip
    shape: v.Shapes = ()
    samples: Annotated[v.Samples, Saying("For each shape.")] = 3
    seed: v.Seed = 0
    padding: v.Padding = "right"
    data: v.Data = None
    recorded: Annotated[
        bool, Option("Compare with the outputs in MODEL's test_data_set_N folders.")
    ] = False
    atol: v.Atol = None
    rtol: v.Rtol = None
    tolerance: v.Tolerance = None
    budget: Annotated[v.Budget, Saying(
        "To judge meaning, and to look for inputs that show a difference; 0: not at all "
        "(default: 30s).")
    ] = 30.0  # fmt: skip
    bisect: Annotated[bool, Option("Find the node where the runs part, if they do.")] = False
    threads: v.Threads = None
    allow_fallback: v.AllowFallback = False
    trust_factory: v.TrustFactory = ()
    store: v.Store = None


@dataclass(frozen=True, slots=True)
class ReduceCommand:
    """Shrink MODEL to the smallest part at which CANDIDATE, or an engine, differs from it.

    The part is written with the inputs that show the difference.
    """

    model: v.Model
    candidate: v.Candidate = None
    _: KW_ONLY
    output: v.OutputFolder
    engine: Annotated[v.Engine, Saying("The one in question.")] = CPU
    shape: v.Shape = field(default_factory=dict)
    data: v.Data = None
    seed: v.Seed = 0
    trust_factory: v.TrustFactory = ()
    store: v.Store = None


@dataclass(frozen=True, slots=True)
class BenchCommand:
    """Measure each MODEL on each engine: how fast, how sure, and whether it is right.

    All subjects get the same inputs and threads, and take turns in fresh processes; each is
    compared with the baseline. Without --engine, every engine that can run the model is used; a
    name without a variant means all of them. Lists of sizes, types and threads are combined: each
    combination has rows and a baseline of its own. What was measured before comes from the ledger.
    """

    model: v.Models
    _: KW_ONLY
    engine: v.Engines = ()
    shape: Annotated[v.Shapes, Saying("Each has rows and a baseline of its own.")] = ()
    batch: v.EachBatch = ()
    sequence: v.EachSequence = ()
    past_length: v.EachPast = ()
    generate: v.EachGenerated = ()
    precision: Annotated[v.EachPrecision, Saying("ONNX models are converted for it.")] = None
    threads: v.EachThreads = None
    data: v.Data = None
    padding: v.Padding = "right"
    seed: v.Seed = 0
    cuda_graph: v.CudaGraph = False
    rounds: v.Rounds = 20
    blocks: Annotated[int, Option("The most blocks of calls per round.", least=1)] = 24
    budget: Annotated[v.Budget, Saying(
        "Default: 30s for each subject; 0: nothing is measured, only what is known is told.")
    ] = None  # fmt: skip
    baseline: Annotated[v.Baseline | None, Saying(
        "A model, an engine, or MODEL@ENGINE (default: the first).")
    ] = None  # fmt: skip
    verify: v.Verified = True
    allow_fallback: v.AllowFallback = False
    trust_factory: v.TrustFactory = ()
    store: v.Store = None
    workers: Annotated[str | None, Option(
        "Who measures: `ray` or ray://HOST:PORT, a Ray cluster (default: this machine).",
        metavar="ADDRESS",
    )] = None  # fmt: skip
    ledger: v.Ledger = None
    again: v.Again = False
    output: Annotated[v.OutputFile, Saying("The report, with every sample, as JSON.")] = None


@dataclass(frozen=True, slots=True)
class Format:
    """How measurements are written."""

    format: Annotated[Literal["table", "csv", "json", "md"], Option(
        "How rows are written."
    )] = "table"  # fmt: skip


@dataclass(frozen=True, slots=True)
class RunCommand(EngineCommand):
    """Optimise MODEL, prove it, measure it, profile it, and write a report.

    An interrupted run goes on where it stopped when the same command is given again. If only
    engines on GPUs are asked for, the model is rewritten for them.
    """

    model: v.Model
    _: KW_ONLY
    output: Annotated[
        v.OutputFolder, Saying("A folder for report.html, result.json and the model.")
    ]
    engine: v.Engines = ()
    samples: v.Samples = 3
    disable: v.Disable = ()
    target: Annotated[v.Target | None, Saying(
        f"{v.WITH_KERNELS} Default: cpu, unless all engines are on GPUs.")
    ] = None  # fmt: skip
    ops: v.Ops = "auto"
    cost: v.Cost = "rules"
    trial: v.Trial = True
    rounds: v.Rounds = 20
    budget: Annotated[v.Budget, Saying("To measure (default: 20s for each subject).")] = None
    allow_fallback: v.AllowFallback = False
