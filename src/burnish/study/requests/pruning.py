"""What may be asked of commands that make a model smaller: prune, sensitivity."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from typing import Annotated, Literal

from burnish.core.errors import UsageError
from burnish.study.requests import vocabulary as v
from burnish.study.requests.option import Option, Saying

Method = Literal["structured", "magnitude", "wanda", "2:4"]


def latency(text: str) -> float:
    """Return `20ms`, `0.02s` or `0.02` in seconds."""
    number, factor = (text[:-2], 1e-3) if text.endswith("ms") else (text.removesuffix("s"), 1.0)
    try:
        found = float(number) * factor
    except ValueError:
        found = -1.0
    if not 0 < found < float("inf"):
        raise UsageError(
            f"{text!r} is not a latency", hint="write for instance --target-latency 20ms"
        )
    return found


Score = Annotated[Literal["norm", "output-error"], Option(
    "What a unit is worth: the norms of its weights and inputs, or what is lost without it when "
    "the others make up for it.", kind=("norm", "output-error"),
)]  # fmt: skip
CalibrationSamples = Annotated[v.Samples, Saying("To calibrate with, where there is no --data.")]
CalibrationData = Annotated[v.Data, Saying("Several test_data_set_N folders in one are all used.")]


@dataclass(frozen=True, slots=True)
class SensitivityCommand:
    """Say what each part of MODEL is worth: the error without it, against what it would save.

    Each axis that can be cut is cut to half by itself, each residual branch is left out, and all
    axes are cut together to several sizes. The errors are measured, the gains counted.
    """

    model: v.Model
    _: KW_ONLY
    output: Annotated[v.OutputFile, Saying("The chart of errors against gains, as SVG.")] = None
    score: Score = "norm"
    samples: CalibrationSamples = 32
    shape: v.Shape = field(default_factory=dict)
    data: CalibrationData = None
    seed: v.Seed = 0
    padding: v.Padding = "right"
    store: v.Store = None


@dataclass(frozen=True, slots=True)
class PruneCommand:
    """Cut away what matters least in MODEL: heads, neurons, channels, with the rest fitted anew.

    The result is another function on purpose. How far it is from MODEL is told for each output;
    that the smaller weights compute what zeros in the full ones would, is checked.
    """

    model: v.Model
    _: KW_ONLY
    output: Annotated[v.OutputFile, Saying(
        "An ONNX file (default: the variant <variant>_pruned in the store, or beside MODEL).")
    ] = None  # fmt: skip
    keep: Annotated[float | None, Option(
        "How much to keep, as a share: of the operations, or with masks of the weights.",
        kind=float, metavar="SHARE", least=0,
    )] = None  # fmt: skip
    target_speedup: Annotated[float | None, Option(
        "Cut until it should be so many times as fast here, by a table that is measured first.",
        kind=float, metavar="FACTOR", least=0,
    )] = None  # fmt: skip
    target_latency: Annotated[float | None, Option(
        "Cut until an inference should take so long here, written as 20ms or 0.02s.",
        metavar="TIME", read=latency,
    )] = None  # fmt: skip
    max_error: Annotated[v.MaxError, Saying("As much as keeps to it is cut.")] = None
    method: Annotated[Method, Option(
        "Make weights smaller (structured), or set some to zero: the smallest, those that matter "
        "least for their inputs, or two of each four.",
        kind=("structured", "magnitude", "wanda", "2:4"),
    )] = "structured"  # fmt: skip
    score: Score = "norm"
    reconstruct: Annotated[bool, Option(
        "Fit what is left, so that the products that read it give what they gave.",
        flags=("--reconstruct/--no-reconstruct",), kind=bool,
    )] = True  # fmt: skip
    samples: CalibrationSamples = 32
    shape: v.Shape = field(default_factory=dict)
    data: CalibrationData = None
    labels: v.Labels = None
    metric: v.Metric = "top1"
    seed: v.Seed = 0
    padding: v.Padding = "right"
    verify: Annotated[v.Verified, Saying("Of the model that is cut, and of its uncut twin.")] = True
    budget: Annotated[
        v.Budget, Saying("To verify beyond the samples; 0: not at all (default: 15s).")
    ] = 15.0
    threads: v.Threads = None
    store: v.Store = None
