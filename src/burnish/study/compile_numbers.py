"""A model in fewer bits on its way to kernels: rewritten first, as `burnish optimize -p` does."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from burnish.core import files
from burnish.core.errors import CheckFailedError, ModelError, UsageError
from burnish.core.precisions import precision_named
from burnish.core.progress import Progress
from burnish.rewrite.options import Operators
from burnish.rewrite.precision.half_types import HALVES
from burnish.store import onnx_files
from burnish.store.compiled import FOLDER
from burnish.store.stored import StoredModel
from burnish.study import optimize
from burnish.study.optimize_report import OptimizeReport, RewriteRejectedError
from burnish.study.requests.rewriting import CompileCommand, OptimizeCommand
from burnish.study.requests.vocabulary import family

_MULTIPLIED: Mapping[str, Operators] = {"bf16": "standard", "int8": "auto"}
"""What kernels for CPUs multiply, and as which operators that is written: in bf16 products alone,
which ONNX Runtime's own operators have inside."""


def require_precision(asked: CompileCommand) -> str | None:
    """Return the precision that kernels are to compute in; None: that of the model.

    What there are no kernels for is refused, with what there is.
    """
    wanted = None if asked.precision is None else precision_named(asked.precision)
    if wanted in (None, "fp32"):
        return None
    if family(asked.target) != "cpu":
        half = wanted if wanted in HALVES else "fp16"
        raise UsageError(
            f"-p {wanted} is for --target cpu: kernels for cards compute in the types of the model",
            hint=f"rewrite it first: burnish optimize MODEL -p {half} --target cuda -o HALF.onnx,"
            " then burnish compile HALF.onnx",
        )
    if wanted not in _MULTIPLIED:
        raise UsageError(
            f"kernels for CPUs multiply in fp32, {' and '.join(_MULTIPLIED)}, not in {wanted}",
            hint=f"write {' or '.join(f'-p {one}' for one in _MULTIPLIED)}, or leave -p away",
        )
    return wanted


def quantised(
    model: StoredModel, asked: CompileCommand, precision: str, progress: Progress
) -> OptimizeReport:
    """Write the model in a precision beside the folder, and return how far its results moved.

    What is written there is what the kernels are compiled from, and compared with.
    """
    target = beside(Path(asked.output), precision)
    files.check_folder(Path(asked.output), FOLDER)
    files.check_file(target, onnx_files.OWN)
    request = OptimizeCommand(
        model.onnx, output=target, precision=precision, shape=asked.shape, data=asked.data,
        samples=asked.samples, seed=asked.seed, ops=_MULTIPLIED[precision],
    )  # fmt: skip
    try:
        return optimize.answer(request, progress=progress)
    except (RewriteRejectedError, ModelError) as error:
        kind = ModelError if isinstance(error, ModelError) else CheckFailedError
        by_itself = f"burnish optimize {model.onnx} -p {precision} -o {target}"
        # the options that hints name are not those of compiling
        hint = f"{by_itself} takes what may help ({error.hint}); compile what that writes"
        raise kind(error.problem, hint=hint) from error


def beside(folder: Path, precision: str) -> Path:
    """Return where the model lies that a folder in a precision is compiled from."""
    return folder.with_name(f"{folder.name}_{precision}.onnx")
