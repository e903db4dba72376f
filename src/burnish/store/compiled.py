"""Recognise the folder of a compiled model, and find the model that it was made from."""

from __future__ import annotations

import json
from pathlib import Path

from burnish.core.errors import ModelError, UsageError

PLAN = "plan.json"
SUMS = "SHA256SUMS"
KIND = "compiled-model"


def is_compiled(folder: Path) -> bool:
    """Say whether this is the folder of a compiled model."""
    return (folder / PLAN).is_file() and (folder / SUMS).is_file()


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
            hint=f"run it by itself: burnish exec {folder} --input INPUTS.npz",
        )
    from burnish.store import onnx_files  # here: running a folder does not need onnx

    if onnx_files.content_key(source) != key:
        raise ModelError(
            f"{folder}: was compiled from {source}, which has changed since",
            hint=f"compile it again: burnish compile {source} -o {folder}",
        )
    return source
