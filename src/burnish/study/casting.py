"""A model in another type, for an engine that is asked to compute in it."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from burnish.core import files, settings
from burnish.core.errors import ModelError
from burnish.core.hashing import value_key
from burnish.core.units import count
from burnish.engines.base import ENGINES
from burnish.hw import detect
from burnish.rewrite.options import Precision
from burnish.rewrite.precision import bits_for, convert
from burnish.rewrite.precision.report import PrecisionReport
from burnish.store import history, onnx_files
from burnish.store.history import History, HistoryStep
from burnish.store.stored import StoredModel
from burnish.version import __version__

_FOLDER = "cast"
_SEAL = "content.txt"
"""Beside a converted file: the key of its content, without which nobody knows that it is whole."""
_LEFT = "left.txt"
"""Beside it, too: what stayed as it was, in words."""
_CONVERTED: Mapping[str, Precision] = {"f16": "fp16", "i8": "int8", "i4": "int4"}
"""Types that engines have no mode for: the model itself is brought to them."""


def obstacle(engine: str, precision: str) -> str:
    """Return why an engine cannot compute in a type, known without asking it; empty: it may."""
    if not ENGINES[engine].needs_torch_source or precision not in ("i8", "i4"):
        return ""
    return (
        f"{engine} runs the PyTorch module, which is not quantised here "
        "(measure int8 on an engine that reads ONNX files)"
    )


def cast(model: StoredModel, engine: str, precision: str) -> tuple[StoredModel, str | None]:
    """Return the model to open, and the type to ask the engine for; None: the model's own.

    PyTorch casts its modules itself. What engines read from ONNX files is converted, once, into
    the cache, as `burnish optimize -p fp16 --keep-io` does it. Every other type is a mode of the
    engine. Raises a `ModelError` where nothing can be converted.
    """
    if not precision or ENGINES[engine].needs_torch_source or precision not in _CONVERTED:
        return model, precision or None
    place = _kept(model, precision)
    changed = dataclasses.replace(model, onnx=place, compiled=None)
    # what quantised models compute in is told by their operators; no engine has a mode for it
    return changed, precision if precision == "f16" else None


def left_out(converted: StoredModel) -> str:
    """Return what of a model that `cast` gave is not in its type, and why; empty: nothing."""
    told = converted.onnx.with_name(_LEFT)
    is_ours = told.parent.parent == settings.read().cache / _FOLDER
    return told.read_text() if is_ours and told.is_file() else ""


def _kept(model: StoredModel, precision: str) -> Path:
    """Return the converted file in the cache; it is made where there is none, or a damaged one."""
    key = onnx_files.content_key(model.onnx)[:16]
    bits = bits_for(detect.cpu().flags)
    folder = settings.read().cache / _FOLDER / value_key([key, precision, str(bits), __version__])
    place, seal, left = folder / model.onnx.name, folder / _SEAL, folder / _LEFT
    is_whole = all(one.is_file() for one in (place, seal, left))
    if is_whole and seal.read_text() == _content(place):
        return place
    if place.is_file() and (seal.is_file() or not _content(place)):
        place.unlink()  # damaged; without a seal another command may just be writing the same
    source = onnx_files.read(model.onnx)
    before = history.read(source)
    found = convert(source, _CONVERTED[precision], edges="keep", bits=bits)
    step = HistoryStep(found.report.precision, found.report.how)
    steps = (*(() if before is None else before.steps), step)
    onnx_files.write(found.model, place, history=History(key, steps))
    files.write_text(left, _unchanged(found.report))
    files.write_text(seal, onnx_files.content_key(place))
    return place


def _unchanged(report: PrecisionReport) -> str:
    if not report.kept:
        return ""
    by_reason: dict[str, list[str]] = {}
    for (name, why), number in Counter((one.op_type, one.reason) for one in report.kept).items():
        by_reason.setdefault(why, []).append(f"{name} ×{number}")
    named = "; ".join(f"{', '.join(names)} ({why})" for why, names in by_reason.items())
    every = count(len(report.kept) + len(report.changed), "node")
    asked = report.precision
    return f"{len(report.kept)} of {every} not in {asked}, as burnish optimize -p {asked}: {named}"


def _content(place: Path) -> str:
    """Return the key of a file's content; empty: it cannot be read."""
    try:
        return onnx_files.content_key(place)
    except (ModelError, OSError):
        return ""
