"""Compiled models that nobody asked to keep: made when they are first run, found again later."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import onnx_ir as ir

from burnish.codegen import folder as folders
from burnish.codegen.compiler import CompileOptions, compile_prepared, prepare
from burnish.codegen.cpu.compile import compile_module
from burnish.codegen.cpu.target import detect
from burnish.codegen.environment import about, compiler_version, scheduler_machine, versions
from burnish.codegen.load import LoadedModel, load, open_folder
from burnish.codegen.predicted import Predicted
from burnish.core import settings
from burnish.core.errors import BurnishError
from burnish.core.hashing import value_key
from burnish.store import onnx_files
from burnish.store.compiled import is_compiled
from burnish.store.stored import StoredModel


@dataclass(frozen=True, slots=True)
class Source:
    """A model that is compiled when its sizes are known."""

    stored: StoredModel
    loaded: ir.Model
    precision: str
    threads: int


def compiled_for(source: Source, shapes: Mapping[str, tuple[int, ...]]) -> LoadedModel:
    """Return the model, compiled for inputs of these shapes with predicted schedules.

    It is kept in the user's cache; one that is there but damaged is made again.
    """
    target = detect()
    key = {
        "content": onnx_files.content_key(source.stored.onnx),
        "shapes": {name: list(shape) for name, shape in shapes.items()},
        "threads": source.threads,
        "target": target.name,
        "compiler": compiler_version(),
        "versions": versions(),
    }
    place = settings.read().cache / "compiled" / value_key(key)[:24]
    found = _found(place, source.threads)
    if found is not None:
        return found
    prepared = prepare(with_shapes(source.loaded, shapes), {})
    options = CompileOptions(target, Predicted(scheduler_machine(source.threads)))
    built = compile_prepared(prepared, {}, options)
    told = about(source.stored, source.loaded, source.precision, ())
    folders.write(place, told, [built], lambda text: compile_module(text, target).object_code)
    return open_folder(place, threads=source.threads)


def with_shapes(model: ir.Model, shapes: Mapping[str, tuple[int, ...]]) -> ir.Model:
    """Return a copy whose inputs have these shapes."""
    copy = model.clone()
    for value in copy.graph.inputs:
        shape = shapes.get(value.name or "")
        if shape is not None:
            value.shape = ir.Shape(shape)
    return copy


def _found(place: Path, threads: int) -> LoadedModel | None:
    if not is_compiled(place):
        return None
    try:
        return load(place, threads=threads)
    except BurnishError:
        return None
