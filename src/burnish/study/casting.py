"""A model in another type, for an engine that is asked to compute in it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from burnish.core import settings
from burnish.engines.base import ENGINES
from burnish.hw import detect
from burnish.rewrite.options import Precision
from burnish.rewrite.precision import bits_for, convert
from burnish.store import history, onnx_files
from burnish.store.history import History, HistoryStep
from burnish.store.stored import StoredModel

_FOLDER = "cast"
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
    key = onnx_files.content_key(model.onnx)[:16]
    place = settings.read().cache / _FOLDER / f"{key}-{precision}" / model.onnx.name
    if not place.is_file():
        source = onnx_files.read(model.onnx)
        before = history.read(source)
        found = convert(
            source, _CONVERTED[precision], edges="keep",
            bits=bits_for(detect.cpu().flags),
        )  # fmt: skip
        step = HistoryStep(found.report.precision, found.report.how)
        steps = (*(() if before is None else before.steps), step)
        onnx_files.write(found.model, place, history=History(key, steps))
    changed = dataclasses.replace(model, onnx=place, compiled=None)
    # what quantised models compute in is told by their operators; no engine has a mode for it
    return changed, precision if precision == "f16" else None
