"""Recognise the folder of a compiled model, and find the model that it was made from."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

from burnish.core import records
from burnish.core.command import command
from burnish.core.errors import ModelError, UsageError
from burnish.core.files import Kind, foreign_entry

PLAN = "plan.json"
SUMS = "SHA256SUMS"
SIGNATURE = "SHA256SUMS.sig"
KIND = "compiled-model"
KERNELS = "kernels"


def is_compiled(folder: Path) -> bool:
    """Say whether this is the folder of a compiled model."""
    return (folder / PLAN).is_file() and (folder / SUMS).is_file()


def require_outside(target: Path) -> None:
    """Raise if a file would come to lie in a compiled folder, which would then be refused."""
    for folder in target.absolute().parents:
        if is_compiled(folder):
            outside = folder.with_name(target.name)
            raise UsageError(
                f"{target}: lies in {folder}, a compiled model, which holds nothing else",
                hint=f"choose another place with -o: {shlex.quote(str(outside))}",
            )


def listed(folder: Path) -> dict[str, str]:
    """Return the files that a folder's list of sums names, each with its sum."""
    lines = (folder / SUMS).read_text(errors="replace").splitlines()
    rows = [line.partition("  ") for line in lines]
    return {name: key for key, _, name in rows}


def _refusal(folder: Path) -> str | None:
    for name in (PLAN, SUMS):
        if not (folder / name).is_file():
            return f"it has no {name}"
    if not records.holds(folder / PLAN, KIND):
        return f"its {PLAN} is no plan"
    known = {*listed(folder), SUMS, SIGNATURE, f"{KERNELS}/"}
    return foreign_entry(folder, known.__contains__)


FOLDER = Kind("a compiled model", _refusal)
"""What `burnish compile` writes: a plan, and no file that its list of sums does not name."""


def source_of(folder: Path) -> Path:
    """Return the ONNX file that a folder was compiled from; it is what others compare with."""
    path = folder / PLAN
    try:
        about = json.loads(path.read_text())["about"]
        source, key = Path(about["source"]), str(about["source_key"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ModelError(
            f"{path}: does not tell what it was compiled from ({error})",
            hint="compile it again with burnish compile",
        ) from error
    if not source.is_file():
        raise UsageError(
            f"{folder}: was compiled from {source}, which is not there",
            hint=f"run it by itself: {command('exec', folder, '--data', 'INPUTS.npz')}",
        )
    from burnish.store import onnx_files  # here: running a folder does not need onnx

    if onnx_files.content_key(source) != key:
        raise ModelError(
            f"{folder}: was compiled from {source}, which has changed since",
            hint=f"compile it again: {command('compile', source, '-o', folder)}",
        )
    return source
