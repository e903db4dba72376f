"""What a request asks of rewriting: which rules and types, and how fusions are tried."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import cast, get_args

from burnish.core.errors import UsageError
from burnish.core.precisions import precision_named
from burnish.rewrite.dump import Dump
from burnish.rewrite.options import Conversion, OptimizeOptions, Precision, PrecisionRequest
from burnish.rewrite.rule import Rule
from burnish.rewrite.user_rules import load
from burnish.study.calibration import require_data
from burnish.study.requests.judging import RunCommand
from burnish.study.requests.rewriting import ExplainCommand, OptimizeCommand
from burnish.study.requests.vocabulary import Place, family, names, shapes
from burnish.study.trial import FusionTrial

_GPU_ENGINES = {"onnxruntime-cuda", "tensorrt"}


def options_of(asked: OptimizeCommand) -> OptimizeOptions:
    """Return which rules and steps run, and what else is to be different."""
    return OptimizeOptions(
        disable=names(asked.disable),
        only=names(asked.only),
        keep_functions=asked.keep_functions,
        raise_opset=not asked.keep_opset,
        target=family(asked.target),
        ops=asked.ops,
        cost=asked.cost,
        conversion=_conversion(asked),
    )


def options_of_explain(asked: ExplainCommand) -> OptimizeOptions:
    """Return which rules and steps run."""
    return OptimizeOptions(
        disable=names(asked.disable),
        only=names(asked.only),
        target=family(asked.target),
        ops=asked.ops,
        cost=asked.cost,
    )


def options_of_run(asked: RunCommand) -> OptimizeOptions:
    """Return which rules and steps run: for GPUs, if the model will only run there."""
    engines = names(asked.engine)
    usual = "cuda" if engines and set(engines) <= _GPU_ENGINES else "cpu"
    target = family(asked.target or usual)
    return OptimizeOptions(
        disable=names(asked.disable), target=target, ops=asked.ops, cost=asked.cost
    )


def trial_of(asked: OptimizeCommand) -> FusionTrial:
    """Return how fusions are tried, with which rules, and who watches."""
    sizes = {name: size for shape in shapes(asked.shape) for name, size in shape.items()}
    trial = FusionTrial(check=asked.trial, rules=rules_of(asked.rules), bindings=sizes)
    if asked.dump is None:
        return trial
    return FusionTrial(trial.check, trial.rules, trial.bindings, Dump(Path(asked.dump)))


def rules_of(paths: Sequence[Place]) -> tuple[Rule, ...]:
    """Return the rules in the user's files, which are run."""
    return tuple(rule for path in paths for rule in load(Path(path)))


def variant_suffix(conversion: Conversion) -> str:
    """Return how the variant of a stored model is called after such a conversion."""
    parts = ["optimized"]
    if conversion.numbers is not None:
        parts.append(conversion.numbers.precision)
    if conversion.i32_inputs:
        parts.append("int32")
    return "_".join(parts)


def _conversion(asked: OptimizeCommand) -> Conversion:
    return Conversion(
        axes=asked.rename_axis, i32_inputs=asked.int32_inputs, numbers=_numbers(asked)
    )


def _numbers(asked: OptimizeCommand) -> PrecisionRequest | None:
    wanted = None if asked.precision is None else precision_named(asked.precision)
    if wanted == "fp32":
        wanted = None  # what models are in is nothing to be asked for
    if wanted is not None and wanted not in get_args(Precision):
        raise UsageError(
            f"a model cannot be rewritten to {wanted}",
            hint=f"choose one of {', '.join(get_args(Precision))}",
        )
    _require_used(asked, wanted)
    if wanted is None:
        return None
    require_data(asked.calibrate)
    _require_smoothing(asked)
    return PrecisionRequest(
        cast(Precision, wanted),
        edges="keep" if asked.keep_io else "convert",
        keep=names(asked.keep_fp32),
        calibrate=asked.calibrate,
        shapes=shapes(asked.shape),
        calibration=asked.calibration,
        smooth=asked.smooth,
        max_error=asked.max_error,
    )


def _require_smoothing(asked: OptimizeCommand) -> None:
    """Refuse to even channels out that nobody looks at, or by more than there is."""
    if asked.smooth is None:
        return
    if asked.calibrate is None:
        raise UsageError(
            "--smooth needs to know how large each channel gets",
            hint="add --calibrate DATA, or --calibrate synthetic",
        )
    if not 0 < asked.smooth <= 1:
        raise UsageError(
            f"--smooth {asked.smooth:g} is not a share above 0 and up to 1",
            hint="write for instance --smooth 0.5",
        )


def _require_used(asked: OptimizeCommand, wanted: str | None) -> None:
    """Refuse options that say nothing about what was asked for."""
    halves, every = ("fp16", "bf16"), get_args(Precision)
    for option, given, told in (
        ("--keep-io", asked.keep_io, halves),
        ("--keep-fp32", asked.keep_fp32, every),
        ("--calibrate", asked.calibrate is not None, ("int8",)),
        ("--smooth", asked.smooth is not None, ("int8",)),
        ("--max-error", asked.max_error is not None, every),
    ):
        if given and wanted not in told:
            raise UsageError(
                f"{option} says nothing without -p {' or '.join(told)}", hint=f"add -p {told[0]}"
            )
