"""The options that several commands share: each is written, read and explained in one way."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

from burnish.core.backends import backend_name, target_named, targets
from burnish.core.errors import UsageError
from burnish.core.precisions import element_type
from burnish.core.whole import whole
from burnish.study.requests.option import Option, Positional
from burnish.study.requests.several import (
    counts,
    numbers,
    one_count,
    one_precision,
    only,
    precisions,
)
from burnish.study.requests.several import names as names

if TYPE_CHECKING:
    import onnx
    import onnx_ir as ir

    from burnish.store.stored import StoredModel
    from burnish.study.given import TorchModule

    AnyModel: TypeAlias = (
        str | os.PathLike[str] | StoredModel | onnx.ModelProto | ir.Model | TorchModule
    )
else:
    AnyModel = Any

Place = str | os.PathLike[str]
Sizes = Mapping[str, int]


def sizes(text: str) -> dict[str, int]:
    """Return `batch=8,sequence=128` as a dictionary; a size is at least 1, that of a past 0."""
    result: dict[str, int] = {}
    for part in names(text):
        name, _, written = part.partition("=")
        size = whole(written.strip())
        if size is None or not name.strip():
            raise UsageError(
                f"--shape {part!r} is not NAME=SIZE",
                hint="write for instance --shape batch=8,sequence=128",
            )
        if name.strip() in result:
            raise UsageError(
                f"--shape {text!r} gives {name.strip()} two sizes",
                hint="write two shapes as --shape batch=1 --shape batch=8",
            )
        result[name.strip()] = size
    return positive(result)


def shapes(given: Sizes | Sequence[Sizes]) -> tuple[Sizes, ...]:
    """Return every shape that was asked for; one may be given by itself."""
    found = (given,) if isinstance(given, Mapping) else tuple(given)
    return tuple(positive(shape) for shape in found if shape)


def one_shape(texts: Sequence[str]) -> Sizes:
    """Return the shape for a command that takes one."""
    found = tuple(sizes(text) for text in texts)
    every = [name for shape in found for name in shape]
    if len(found) > 1:
        whole = ",".join(texts)
        raise UsageError(
            f"one shape is taken here, and {len(found)} were given",
            hint=f"write it as one: --shape {whole}"
            if len(set(every)) == len(every)
            else f"give them one after the other: --shape {texts[0]}",
        )
    return found[0]


def one_engine(texts: Sequence[str]) -> str:
    """Return the engine for a command that takes one."""
    found = names(texts)
    return only(found, "engine", f"--engine {found[0] if found else 'NAME'}")


def _one_place(texts: Sequence[Path]) -> Path:
    if len(texts) > 1:
        raise UsageError(
            f"one file or folder is written or read here, and {len(texts)} were given",
            hint=f"give one of them: {texts[0]}",
        )
    return texts[0]


def seconds(text: str) -> float:
    """Return `60`, `60s` or `5m` in seconds."""
    factor = {"s": 1.0, "m": 60.0, "h": 3600.0}.get(text[-1:], 1.0)
    try:
        found = float(text.rstrip("smh")) * factor
    except ValueError:
        found = -1.0
    if not 0 <= found < float("inf"):
        raise UsageError(
            f"{text!r} is not a time", hint="write for instance 60s or 5m: --budget 60s"
        )
    return found


def target(text: str) -> str:
    """Return a target as it is written; one that no back end has is refused."""
    target_named(text)
    return text


def memory(text: str) -> int:
    """Return `2GiB`, `512 MiB` or `4096` in bytes; at least one."""
    units = {"": 1, "kib": 2**10, "mib": 2**20, "gib": 2**30, "tib": 2**40}
    number = text.strip().rstrip("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
    unit = text.strip()[len(number) :].lower()
    try:
        found = float(number) * units[unit]
    except (ValueError, KeyError):
        found = 0.0
    if not 1 <= found < float("inf"):
        raise UsageError(
            f"{text!r} is no amount of memory", hint="write for instance --device-memory 2GiB"
        )
    return int(found)


def family(target: str) -> Literal["cpu", "cuda"]:
    """Return where ONNX Runtime computes on such a target: on cards, else on the CPU."""
    return "cuda" if backend_name(target_named(target)) == "cuda" else "cpu"


def path(given: Place | None) -> Path | None:
    """Return a place as a path; None stays None."""
    return None if given is None else Path(given)


def positive(shape: Sizes) -> dict[str, int]:
    """Return a shape all of whose sizes are at least 1; only a decoder's past may be empty."""
    for name, size in shape.items():
        if size < (0 if "past" in name.lower() else 1):
            raise UsageError(
                f"--shape {name}={size}: a size is at least 1", hint=f"write --shape {name}=1"
            )
    return dict(shape)


def _every_sizes(texts: Sequence[str]) -> tuple[Sizes, ...]:
    return tuple(sizes(text) for text in texts)


Model = Annotated[AnyModel, Positional("MODEL")]
"""A path to an ONNX file, a folder, or `name` / `name/variant` in the store; or a model."""
Models = Annotated[AnyModel | Sequence[AnyModel], Positional("MODEL…", many=True)]
Candidate = Annotated[AnyModel | None, Positional("[CANDIDATE]")]
Factory = Annotated[
    str | None,
    Option(
        "A function that returns (module, inputs) or (module, inputs, axes): "
        "package.module:function or file.py:function.",
        metavar="SPEC",
    ),
]

Store = Annotated[
    Place | None,
    Option(
        "Folder of models named by name and variant (default: $BURNISH_STORE, else ./models).",
        kind=Path,
    ),
]
_SHAPE = Option(
    "Bind symbolic dimensions, for instance batch=8,sequence=128; each is one shape.",
    metavar="NAME=SIZE,…",
    repeated=True,
)
Shape = Annotated[Sizes, replace(_SHAPE, read=one_shape)]
Shapes = Annotated[Sizes | Sequence[Sizes], replace(_SHAPE, read=_every_sizes)]
Data = Annotated[
    Place | None,
    Option(
        "Inputs from a file: an .npz, or a test_data_set_N folder.", flags=("--data", "--input")
    ),
]
Seed = Annotated[int, Option("Seed of what is made at random: inputs, weights.")]
PaddingKind = Literal["right", "left", "none"]
Padding = Annotated[
    PaddingKind,
    Option(
        "Where the attention masks of made inputs have their padding.",
        kind=("right", "left", "none"),
    ),
]
Samples = Annotated[
    int, Option("Made inputs, which differ in seed and padding.", kind=int, least=1)
]
Labels = Annotated[Place | None, Option(
    "The right class of each row of --data, as a file of numpy.save: what the model scores before "
    "and after is told.", kind=Path, metavar="FILE",
)]  # fmt: skip
Metric = Annotated[str, Option(
    "With --labels: top1, f1, or a function of outputs and labels.",
    metavar="NAME|FILE.py:FUNCTION", may_read=True,
)]  # fmt: skip
MaxError = Annotated[float | None, Option(
    "How far an output may move, in its root mean square.", kind=float, metavar="ERROR", least=0
)]  # fmt: skip
Atol = Annotated[float | None, Option("Absolute error allowed in floats.", least=0)]
Rtol = Annotated[float | None, Option(
    "Relative error allowed in floats: of the larger of the value and the tensor's root mean "
    "square.", least=0,
)]  # fmt: skip
Tolerance = Annotated[str | None, Option(
    "Allow what arithmetic in this type needs: fp32, tf32, fp16, bf16 …",
    metavar="TYPE", read=element_type,
)]  # fmt: skip
_ENGINE = Option("Engines to use; `burnish doctor` lists them.", metavar="NAME,…", repeated=True)
Engine = Annotated[str, replace(_ENGINE, read=one_engine)]
AnyEngine = Annotated[str | None, replace(_ENGINE, read=one_engine)]
Engines = Annotated[str | Sequence[str], replace(_ENGINE, read=names)]
_THREADS = Option(
    "CPU threads of the engine (default: its own choice).", metavar="NUMBER,…", repeated=True
)
Threads = Annotated[int | None, replace(_THREADS, read=one_count)]
EachThreads = Annotated[int | Sequence[int] | None, replace(_THREADS, read=counts)]
Hw = Annotated[
    str | None,
    Option(
        "Limits of a device of the catalog, or in a file of burnish doctor --probe.",
        metavar="NAME|FILE",
        may_read=True,
    ),
]
AllowFallback = Annotated[
    bool,
    Option("Accept another provider, precision or placement than asked for; the result says so."),
]
TrustFactory = Annotated[
    Sequence[str],
    Option(
        "Let PyTorch engines run this code, which a source.json beside a model names: "
        "file.py:function. Read it first.",
        metavar="SPEC", repeated=True, may_read=True,
    ),
]  # fmt: skip
_PRECISION = Option(
    "Compute in another kind of number: fp32, fp16, bf16, int8 or int4.",
    flags=("--precision", "-p"), metavar="PRECISION,…", repeated=True,
)  # fmt: skip
Precision = Annotated[str | None, replace(_PRECISION, read=one_precision)]
EachPrecision = Annotated[str | Sequence[str] | None, replace(_PRECISION, read=precisions)]
Target = Annotated[
    str,
    Option(
        "Where the model will run: on CPUs, on those of ARM (neon), on the NVIDIA card that is "
        "here, or on cards of a kind.",
        metavar="|".join(targets()), read=target,
    ),
]  # fmt: skip
DeviceMemory = Annotated[
    int | None,
    Option(
        "The most of a card's memory that the model may take, as 2GiB or 512MiB: what does not fit "
        "waits in the host's and is fetched while kernels run (default: what is free).",
        metavar="SIZE", read=memory,
    ),
]  # fmt: skip
WITH_KERNELS = "Only operators with kernels there are used."
Ops = Annotated[
    Literal["auto", "standard", "contrib"],
    Option("Operators that fusions may use: those of ONNX, of ONNX Runtime, or what is faster."),
]
Cost = Annotated[
    Literal["rules", "measured", "off"],
    Option("Leave fusions out that are slower: known to be, measured here, or never."),
]
Trial = Annotated[
    bool,
    Option(
        "Run each fusion, on its own part of the graph, against what it replaces.",
        flags=("--trial/--no-trial",),
    ),
]  # fmt: skip
Verified = Annotated[
    bool, Option("Check that results are the same.", flags=("--verify/--no-verify",))
]
Rules = Annotated[
    Sequence[Place],
    Option("Fusion rules of your own; the file is run.", metavar="FILE.py", repeated=True),
]
Names = Sequence[str]
Disable = Annotated[
    str | Names,
    Option("Fusions and steps to leave out.", metavar="NAME,…", repeated=True, read=names),
]
Only = Annotated[
    str | Names, Option("The only fusions to apply.", metavar="NAME,…", repeated=True, read=names)
]
Rounds = Annotated[
    int,
    Option(
        "The most fresh processes per subject; three are the fewest for a verdict. After six, "
        "only those go on whose differences of 5 % would not show.",
        least=1,
    ),
]
Baseline = Annotated[
    str, Option("What all others are compared with.", metavar="WHAT", may_read=True)
]
Budget = Annotated[
    float | None,
    Option("About how long it may take, written as 60, 60s or 5m.", metavar="TIME", read=seconds),
]
Trace = Annotated[
    Place | None,
    Option(
        "Read this recording of MODEL instead of making one: of ONNX Runtime, PyTorch, Nsight "
        "Systems (SQLite) or TensorRT.",
    ),
]  # fmt: skip
TraceOut = Annotated[
    Place | None,
    Option("Write the timeline, for ui.perfetto.dev or chrome://tracing.", writes="file"),
]
Groups = Annotated[
    Sequence[Place],
    Option("Which nodes one kernel performs: TOML, or Amdahl4ML's XML.", repeated=True),
]
Scale = Annotated[
    Sequence[str], Option("Make WHAT so much faster.", metavar="WHAT=FACTOR", repeated=True)
]
_SCENARIO = Option("Scenarios in TOML or JSON, or a speedups.json of Amdahl4ML.", repeated=True)
Scenario = Annotated[Place | None, replace(_SCENARIO, read=_one_place)]
Scenarios = Annotated[Sequence[Place], _SCENARIO]
Dump = Annotated[
    Place | None,
    Option("Write what is made on the way, for people to read.", metavar="DIR", writes="folder"),
]
Runs = Annotated[int, Option("Timed inferences.", least=1)]
_BATCH = Option("Batch size.", metavar="SIZE,…", repeated=True)
Batch = Annotated[int | None, replace(_BATCH, read=one_count)]
EachBatch = Annotated[int | Sequence[int], replace(_BATCH, read=counts)]
_SEQUENCE = Option("Tokens, frames or points.", metavar="SIZE,…", repeated=True)
Length = Annotated[int | None, replace(_SEQUENCE, read=one_count)]
EachSequence = Annotated[int | Sequence[int], replace(_SEQUENCE, read=counts)]
EachPast = Annotated[
    int | Sequence[int],
    Option("Steps that a decoder has behind it.", metavar="SIZE,…", repeated=True, read=numbers),
]
EachGenerated = Annotated[
    int | Sequence[int],
    Option(
        "Tokens that a call of a decoder with past writes, its keys and values fed back where they "
        "lie; 0: a call is one step.",
        metavar="TOKENS,…", repeated=True, read=numbers,
    ),
]  # fmt: skip
Ledger = Annotated[
    Place | None,
    Option("File of all measurements (default: $BURNISH_LEDGER, else in the user's data)."),
]
Again = Annotated[bool, Option("Measure what the ledger has, too.")]
CudaGraph = Annotated[bool, Option("Launch everything at once, as a CUDA graph.")]

_OUTPUT = Option("Where the result goes.", flags=("--output", "-o"), repeated=True)
Output = Annotated[Place, replace(_OUTPUT, read=_one_place)]
OutputFile = Annotated[Place | None, replace(_OUTPUT, read=_one_place, writes="file")]
TargetFile = Annotated[Place, replace(_OUTPUT, read=_one_place, writes="file")]
OutputFolder = Annotated[Place, replace(_OUTPUT, read=_one_place, writes="folder")]
OutputFiles = Annotated[Place | Sequence[Place], replace(_OUTPUT, writes="file")]
