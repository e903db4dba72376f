"""What may be asked of commands that make another model: export, optimize, compile."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from typing import Annotated, Literal

from burnish.core.errors import UsageError
from burnish.study.requests import vocabulary as v
from burnish.study.requests.option import Option, Positional, Saying


def renamings(values: v.Names) -> dict[str, str]:
    """Return `("unk__6=batch,unk__7=sequence",)` as a dictionary."""
    result: dict[str, str] = {}
    for part in v.names(values):
        old, separator, new = part.partition("=")
        if not separator or not old.strip() or not new.strip():
            raise UsageError(
                f"--rename-axis {part!r} is not OLD=NEW",
                hint="for instance --rename-axis unk__6=batch",
            )
        result[old.strip()] = new.strip()
    return result


@dataclass(frozen=True, slots=True)
class OptimizeCommand:
    """Rewrite MODEL into a faster one that computes the same.

    The result is compared with the original before it is written; what does not compute the
    same is not written.
    """

    model: v.Model
    _: KW_ONLY
    output: Annotated[v.OutputFile, Saying(
        "An ONNX file (default: the variant <variant>_optimized in the store, or beside MODEL).")
    ] = None  # fmt: skip
    disable: v.Disable = ()
    only: v.Only = ()
    target: Annotated[v.Target, Saying(v.WITH_KERNELS)] = "cpu"
    ops: v.Ops = "auto"
    cost: v.Cost = "rules"
    trial: v.Trial = True
    rules: v.Rules = ()
    keep_functions: Annotated[
        bool, Option("Leave model-local functions as they are.", kind=bool)
    ] = False
    keep_opset: Annotated[bool, Option("Never declare a newer opset.", kind=bool)] = False
    precision: Annotated[v.Precision, Saying("What stays in fp32 is listed.")] = None
    keep_io: Annotated[
        bool, Option("With -p fp16 or bf16: inputs and outputs stay fp32.", kind=bool)
    ] = False
    keep_fp32: Annotated[str | v.Names, Option(
        "With -p: operators, nodes and patterns of names that stay in fp32.",
        flags=("--keep-fp32", "--keep-f32"), metavar="NAME,…", repeated=True, read=v.names,
    )] = ()  # fmt: skip
    calibrate: Annotated[str | None, Option(
        "With -p int8: find scales beforehand, on an .npz file, a folder of test_data_set_N, or "
        "synthetic inputs.", metavar="DATA|synthetic", may_read=True,
    )] = None  # fmt: skip
    calibration: Annotated[Literal["minmax", "percentile", "entropy", "mse"], Option(
        "With --calibrate: how the span of a value is chosen from what it was seen to be.",
        kind=("minmax", "percentile", "entropy", "mse"),
    )] = "minmax"  # fmt: skip
    smooth: Annotated[float | None, Option(
        "With --calibrate: which part of the spread between channels of activations is moved into "
        "weights first (SmoothQuant); 0.5 is usual.", kind=float, metavar="SHARE", least=0,
    )] = None  # fmt: skip
    max_error: Annotated[v.MaxError, Saying(
        "With -p (default: 0.15 in int8, 0.3 in int4; fp16 and bf16 must compute the same)."
    )] = None  # fmt: skip
    int32_inputs: Annotated[
        bool, Option("Take int32 wherever the model takes int64.", kind=bool)
    ] = False
    rename_axis: Annotated[Mapping[str, str], Option(
        "Rename axes of inputs; those of one name are then known to be equally long.",
        metavar="OLD=NEW,…", repeated=True, read=renamings,
    )] = field(default_factory=dict)  # fmt: skip
    verify: Annotated[v.Verified, Saying("Else nothing is written.")] = True
    samples: v.Samples = 3
    budget: Annotated[
        v.Budget, Saying("To verify beyond the samples; 0: not at all (default: 15s).")
    ] = 15.0
    shape: v.Shapes = ()
    data: v.Data = None
    labels: v.Labels = None
    metric: v.Metric = "top1"
    seed: v.Seed = 0
    padding: v.Padding = "right"
    dump: Annotated[v.Dump, Saying("The model as text, after every step that changed it.")] = None
    store: v.Store = None


@dataclass(frozen=True, slots=True)
class ExplainCommand:
    """Say what is fused in MODEL and where, and for every near miss what stood in the way.

    Nothing is written; the last line is the command that does what is told here.
    """

    model: v.Model
    _: KW_ONLY
    disable: v.Disable = ()
    only: v.Only = ()
    target: Annotated[v.Target, Saying(v.WITH_KERNELS)] = "cpu"
    ops: v.Ops = "auto"
    cost: v.Cost = "rules"
    trial: v.Trial = True
    rules: v.Rules = ()
    store: v.Store = None


@dataclass(frozen=True, slots=True)
class DistillCommand:
    """Cut parts of MODEL out as small models, each with recorded inputs and outputs.

    Beside them lies a test that rewrites each and checks that it computes the same.
    """

    model: v.Model
    _: KW_ONLY
    output: v.OutputFolder
    function: Annotated[
        str | None, Option("Cut out calls of functions with this name.", metavar="NAME")
    ] = None
    pattern: Annotated[
        str | None, Option("Cut out what this fusion rule finds.", metavar="RULE")
    ] = None
    failing: Annotated[bool, Option("Cut out where the rule refused, instead.", kind=bool)] = False
    name: Annotated[
        str | None,
        Option(
            "Name in the store (default: that of the source). The source is the function or the "
            "rule, and each small model's number follows."
        ),
    ] = None
    max: Annotated[int, Option("How many different ones to write.", kind=int, least=1)] = 4
    shape: v.Shape = field(default_factory=dict)
    data: v.Data = None
    seed: v.Seed = 0
    rules: v.Rules = ()
    store: v.Store = None


@dataclass(frozen=True, slots=True)
class CompileCommand:
    """Compile MODEL into a folder of kernels that runs by itself.

    What kernels do not cover stays with ONNX Runtime, and is listed. The result is compared with
    MODEL before it is written; what does not compute the same is not written. A PyTorch module is
    exported first, as `burnish export` does.
    """

    model: Annotated[v.AnyModel | None, Positional("[MODEL]")] = None
    _: KW_ONLY
    output: v.OutputFolder
    module: v.Factory = None
    shape: Annotated[v.Shapes, Saying("Several give several plans in one folder.")] = ()
    up_to: Annotated[str | None, Option(
        "A name in --shape whose size stays open: the folder takes every one from 1 to the one "
        "given; on CPUs, where only outermost loops depend on it.", metavar="NAME",
    )] = None  # fmt: skip
    target: Annotated[v.Target, Saying("Cards of a kind need not be here.")] = "cpu"
    device_memory: Annotated[
        v.DeviceMemory, Saying("What is moved is told, and what operator by operator would be.")
    ] = None
    precision: Annotated[v.Precision, Saying(
        "int8 or bf16 on CPUs, fp16 or bf16 on cards: MODEL is rewritten first, as `burnish "
        "optimize -p` does, and written beside FOLDER. tf32 on cards: factors of fp32 are rounded "
        "to 11 bits, for tensor cores."
    )] = None  # fmt: skip
    fusion: Annotated[
        Literal["none", "element-wise", "full"],
        Option("How much work one kernel may do.", kind=("none", "element-wise", "full")),
    ] = "full"
    skip_dot: Annotated[bool, Option("Leave matrix products to ONNX Runtime.", kind=bool)] = False
    winograd: Annotated[bool, Option(
        "On CPUs, compute 3×3 convolutions in blocks where that should be faster; without: every "
        "sum as MODEL has it, in fewer bytes of weights.", flags=("--winograd/--no-winograd",),
        kind=bool,
    )] = True  # fmt: skip
    tune: Annotated[bool, Option(
        "Time candidates of each kernel, and ONNX Runtime, and keep what is faster; without: "
        "what the cost model predicts.", flags=("--tune/--no-tune",), kind=bool,
    )] = True  # fmt: skip
    topk: Annotated[int, Option("Candidates of each kernel to time.", kind=int, least=1)] = 20
    budget: Annotated[v.Budget, Saying("To tune; 0: no limit (default: 60s).")] = 60.0
    threads: v.Threads = None
    samples: Annotated[v.Samples, Saying("For each shape, to prove the result with.")] = 3
    seed: v.Seed = 0
    data: Annotated[
        v.Data, Saying("To prove the result with, instead of made ones; they decide the sizes.")
    ] = None
    atol: v.Atol = None
    rtol: v.Rtol = None
    tolerance: v.Tolerance = None
    dump: Annotated[
        v.Dump, Saying("What each step gave; each kernel with its source and assembly.")
    ] = None
    bundle: Annotated[v.Place | None, Option(
        "With a card for a target: add candidates of each kernel to a folder that `burnish time` "
        "times on such a card; --topk says how many.", metavar="DIR", writes="folder",
    )] = None  # fmt: skip
    timings: Annotated[v.Place | None, Option(
        "What `burnish time` found: it is kept, and kernels are those that were fastest.",
        metavar="FILE", kind=Path,
    )] = None  # fmt: skip
    sign: Annotated[v.Place | None, Option(
        "Sign the folder with an Ed25519 key in PEM form.", metavar="KEY", kind=Path
    )] = None  # fmt: skip
    store: v.Store = None


@dataclass(frozen=True, slots=True)
class ExecCommand:
    """Run a model that `burnish compile` has written to FOLDER.

    A compiled folder is code: run those that you trust.
    """

    folder: Annotated[v.Place, Positional("FOLDER")]
    _: KW_ONLY
    data: v.Data
    output: Annotated[v.OutputFile, Saying("The outputs, as an .npz file.")] = None
    runs: Annotated[v.Runs, Saying("The median is told.")] = 1
    threads: v.Threads = None
    device_memory: Annotated[v.DeviceMemory, Saying("Instead of what it was compiled for.")] = None
    require_signature: Annotated[v.Place | None, Option(
        "Run it only if the owner of this key has signed it.", metavar="PUBLIC_KEY", kind=Path
    )] = None  # fmt: skip


@dataclass(frozen=True, slots=True)
class TimeCommand:
    """Time the candidates in BUNDLE on the card here.

    `burnish compile --bundle` makes such a folder, and `--timings` takes what is found. A bundle is
    code: time those that you trust.
    """

    bundle: Annotated[v.Place, Positional("BUNDLE")]
    _: KW_ONLY
    output: Annotated[v.TargetFile, Saying("The times, as JSON.")]


@dataclass(frozen=True, slots=True)
class ExportCommand:
    """Export a PyTorch model to ONNX, and check that it computes the same.

    NAME is a model of the zoo (`burnish zoo list`), FOLDER one with config.json and safetensors.
    """

    source: Annotated[v.AnyModel | None, Positional("[NAME | FOLDER]")] = None
    _: KW_ONLY
    module: v.Factory = None
    exporter: Annotated[
        Literal["dynamo", "torchscript"],
        Option("Which of PyTorch's two exporters.", kind=("dynamo", "torchscript")),
    ] = "dynamo"
    opset: Annotated[
        int | None, Option("ONNX opset (default: 20 for dynamo, 17 for torchscript).", kind=int)
    ] = None
    batch: Annotated[v.Batch, Saying("Of the example inputs.")] = None
    sequence: Annotated[v.Length, Saying("Of the example inputs.")] = None
    dynamic: Annotated[bool | None, Option(
        "Sizes open or fixed (default: open where the model says which).",
        flags=("--dynamic/--static",), kind=bool,
    )] = None  # fmt: skip
    precision: Annotated[v.Precision, Saying(
        "int8: weights and activations quantised after exporting (default: fp32).")
    ] = None  # fmt: skip
    attention: Annotated[
        Literal["sdpa", "eager"],
        Option("Fused attention, or attention spelled out.", kind=("sdpa", "eager")),
    ] = "sdpa"
    layers: Annotated[int | None, Option("A copy with fewer layers.", kind=int, least=1)] = None
    small: Annotated[bool, Option("A copy with the same structure and tiny sizes.", kind=bool)] = (
        False
    )
    past: Annotated[
        bool, Option("A decoder that takes and returns keys and values.", kind=bool)
    ] = False
    generation: Annotated[bool, Option(
        "With --past: compare 32 generated tokens.",
        flags=("--generation/--no-generation",), kind=bool,
    )] = True  # fmt: skip
    functions: Annotated[bool, Option(
        "Keep each module as a function of the ONNX model (dynamo only).",
        flags=("--functions/--inline",), kind=bool,
    )] = False  # fmt: skip
    optimize: Annotated[bool, Option("Rewrite it as `burnish optimize` does.", kind=bool)] = False
    seed: v.Seed = 0
    trust_pickle: Annotated[bool, Option(
        "Load weights that are only there as a pickle, which may run code.", kind=bool
    )] = False  # fmt: skip
    name: Annotated[str | None, Option("Name in the store (default: that of the source).")] = None
    variant: Annotated[
        str | None, Option("Variant in the store (default: the exporter and what differs).")
    ] = None
    time_limit: Annotated[float, Option(
        "How long exporting may take, written as 60, 60s or 5m (default: 10m).",
        metavar="TIME", read=v.seconds,
    )] = 600.0  # fmt: skip
    store: v.Store = None
