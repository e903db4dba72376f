"""The numbers that kernels compute in.

Fewer bits are written first, as `burnish optimize -p` does; of f32 cards may round the factors.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from burnish.core import files
from burnish.core.command import command
from burnish.core.errors import CheckFailedError, ModelError, UsageError
from burnish.core.precisions import MODES, element_type, precision_named, shown_as
from burnish.core.progress import Progress
from burnish.engines.model_facts import arithmetic_type
from burnish.rewrite.options import Operators
from burnish.rewrite.precision.half_types import HALVES
from burnish.store import onnx_files
from burnish.store.compiled import FOLDER
from burnish.store.stored import StoredModel
from burnish.study import optimize
from burnish.study.given import model_of
from burnish.study.optimize_report import OptimizeReport, RewriteRejectedError
from burnish.study.requests.rewriting import CompileCommand, OptimizeCommand
from burnish.study.requests.vocabulary import family

_REWRITTEN: Mapping[str, Mapping[str, Operators]] = {
    "cpu": {"bf16": "standard", "int8": "auto"},
    "cuda": {"fp16": "auto", "bf16": "auto"},
}
"""What kernels multiply where models run, and as which operators that is written: on CPUs in bf16
products alone, which ONNX Runtime's own operators have inside."""
_CALLED = {"cpu": "CPUs", "cuda": "cards"}


def require_precision(asked: CompileCommand) -> str | None:
    """Return the precision that was asked for; None: that of the model.

    What there are no kernels for is refused, with what there is.
    """
    if asked.precision is None:
        return None
    wanted, where = precision_named(asked.precision), family(asked.target)
    others = (*(MODES if where == "cuda" else ()), *_REWRITTEN[where])
    if wanted not in ("fp32", *others):
        raise UsageError(
            f"kernels for {_CALLED[where]} multiply in fp32, {', '.join(others[:-1])} and"
            f" {others[-1]}, not in {wanted}",
            hint=_way_out(asked, others),
        )
    if wanted in MODES and (asked.bundle is not None or asked.timings is not None):
        raise UsageError(
            f"--bundle and --timings are for products as the model has them, not for -p {wanted}",
            hint=f"leave them out, or -p {wanted}",
        )
    return wanted


def _way_out(asked: CompileCommand, others: Sequence[str]) -> str:
    """Return what to write instead of a precision that there are no kernels for.

    What is not in f32 cannot be rewritten: of such a model the others are no way out.
    """
    if isinstance(asked.model, str | os.PathLike):
        model = model_of(asked.model, asked.store)
        own = arithmetic_type(onnx_files.look(model.onnx))
        if own != "f32":
            return f"leave -p away: {model.onnx} computes in {shown_as(own)} as it is"
    return f"write {' or '.join(f'-p {one}' for one in others)}, or leave -p away"


def is_rewritten(model: StoredModel, precision: str | None) -> bool:
    """Return whether the model is written in a precision first.

    `fp32` and how it is multiplied change nothing in a model, but it must be one of f32.
    """
    if precision not in ("fp32", *MODES):
        return precision is not None
    own = arithmetic_type(onnx_files.look(model.onnx))
    if own in map(element_type, HALVES) or (precision in MODES and own != "f32"):
        raise UsageError(
            f"-p {precision} is for models of fp32, and {model.onnx} computes in {shown_as(own)}",
            hint="leave -p away",
        )
    return False


def quantised(
    model: StoredModel, asked: CompileCommand, precision: str, progress: Progress
) -> OptimizeReport:
    """Write the model in a precision beside the folder, and return how far its results moved.

    What is written there is what the kernels are compiled from, and compared with.
    """
    target, where = beside(Path(asked.output), precision), family(asked.target)
    files.check_folder(Path(asked.output), FOLDER)
    files.check_file(target, onnx_files.OWN)
    request = OptimizeCommand(
        model.onnx, output=target, precision=precision, shape=asked.shape, data=asked.data,
        samples=asked.samples, seed=asked.seed, ops=_REWRITTEN[where][precision], target=where,
    )  # fmt: skip
    try:
        return optimize.answer(request, progress=progress)
    except (RewriteRejectedError, ModelError) as error:
        kind = ModelError if isinstance(error, ModelError) else CheckFailedError
        card = () if where == "cpu" else ("--target", where)
        by_itself = command("optimize", model.onnx, "-p", precision, *card, "-o", target)
        # the options that hints name are not those of compiling
        hint = f"{by_itself} takes what may help ({error.hint}); compile what that writes"
        raise kind(error.problem, hint=hint) from error


def beside(folder: Path, precision: str) -> Path:
    """Return where the model lies that a folder in a precision is compiled from."""
    return folder.with_name(f"{folder.name}_{precision}.onnx")
