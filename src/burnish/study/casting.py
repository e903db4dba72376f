"""A model in another type, for an engine that is asked to compute in it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from pathlib import Path

from burnish.core import settings
from burnish.engines.base import ENGINES
from burnish.hw import detect
from burnish.process.scratch import scratch
from burnish.rewrite.precision import int8_dynamic
from burnish.rewrite.precision.f16 import in_f16
from burnish.store import onnx_files
from burnish.store.history import History, Step
from burnish.store.stored import StoredModel

_FOLDER = "cast"


def cast(model: StoredModel, engine: str, precision: str) -> tuple[StoredModel, str | None]:
    """Return the model to open, and the type to ask the engine for; None: the model's own.

    PyTorch casts its modules itself. What engines read from ONNX files is converted, once, into
    the cache: f16 as `burnish optimize -p f16 --keep-io` does, i8 as `burnish export -p i8`. Every
    other type is a mode of the engine. Raises a `ModelError` where nothing can be converted.
    """
    if not precision or ENGINES[engine].needs_torch_source or precision not in _WAYS:
        return model, precision or None
    key = onnx_files.content_key(model.onnx)[:16]
    place = settings.read().cache / _FOLDER / f"{key}-{precision}" / model.onnx.name
    if not place.is_file():
        with scratch(_FOLDER) as folder:
            draft = folder / model.onnx.name
            step = _WAYS[precision](model.onnx, draft)
            onnx_files.write(onnx_files.read(draft), place, history=History(key, (step,)))
    changed = dataclasses.replace(model, onnx=place, compiled=None)
    # what quantised models compute in is told by their operators; no engine has a mode for it
    return changed, None if precision == "i8" else precision


def _half(source: Path, draft: Path) -> Step:
    found = in_f16(onnx_files.read(source), edges="keep")
    onnx_files.write(found.model, draft, history=History("", ()))
    return Step("f16", f"{len(found.kept)} nodes kept in f32")


def _int8(source: Path, draft: Path) -> Step:
    onnx_files.write(onnx_files.read(source), draft, history=History("", ()))
    return int8_dynamic.quantize(draft, flags=detect.cpu().flags)


_WAYS: Mapping[str, Callable[[Path, Path], Step]] = {"f16": _half, "i8": _int8}
