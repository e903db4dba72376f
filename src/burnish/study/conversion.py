"""Change types and names of a model as the user asks, and compare it all the same."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import onnx_ir as ir

from burnish.process.scratch import scratch
from burnish.rewrite.interface import with_axes_renamed, with_i32_inputs, with_interface_of
from burnish.rewrite.options import Conversion, OptimizeOptions
from burnish.rewrite.precision.f16 import Kept, in_f16
from burnish.store import onnx_files
from burnish.store.history import History, Step
from burnish.store.stored import StoredModel


@dataclass(frozen=True, slots=True)
class ConversionReport:
    """What was changed about a model, and what was not."""

    axes: Mapping[str, str]
    i32_inputs: tuple[str, ...] = ()
    """Inputs that take i32 now."""
    half: bool = False
    """Whether the model computes in f16 now."""
    kept: tuple[Kept, ...] = ()
    """The nodes that were left in f32, each with the reason."""
    notes: tuple[str, ...] = ()

    @property
    def steps(self) -> tuple[Step, ...]:
        """Return what goes into the model's own history."""
        renamed = (Step("rename-axis", f"{old}={new}") for old, new in self.axes.items())
        narrow = (Step("int32-input", name) for name in self.i32_inputs)
        half = (Step("f16", f"{len(self.kept)} nodes kept in f32"),) if self.half else ()
        return (*renamed, *narrow, *half)


def converted(
    model: ir.Model, options: OptimizeOptions
) -> tuple[ir.Model, ConversionReport | None]:
    """Return an optimised model with the types that were asked for; None: none were."""
    wanted = options.conversion
    if wanted == Conversion():
        return model, None
    names: tuple[str, ...] = ()
    if wanted.i32_inputs:
        model, names = with_i32_inputs(model)
    if wanted.half is None:
        return model, ConversionReport(wanted.axes, names)
    found = in_f16(model, target=options.target, edges=wanted.half.edges, keep=wanted.half.keep)
    return found.model, ConversionReport(
        wanted.axes, names, half=True, kept=found.kept, notes=found.notes
    )


def renamed(model: ir.Model, wanted: Conversion) -> ir.Model:
    """Return a model with the axes called as the user wants it; itself if nothing is renamed."""
    return with_axes_renamed(model, wanted.axes) if wanted.axes else model


@contextmanager
def comparable(
    original: StoredModel, draft: StoredModel, wanted: Conversion
) -> Iterator[tuple[StoredModel, StoredModel]]:
    """Yield the two so that they can be fed the same, from a folder that is gone afterwards.

    Where types of inputs and outputs differ, the draft is read between casts.
    """
    with scratch("conversion") as folder:
        if wanted.axes:
            source = renamed(onnx_files.read(original.onnx), wanted)
            original = _written(source, folder / "original.onnx", original)
        if wanted.changes_types:
            outer = with_interface_of(onnx_files.read(draft.onnx), onnx_files.read(original.onnx))
            draft = _written(outer, folder / "draft.onnx", draft)
        yield original, draft


def _written(model: ir.Model, path: Path, like: StoredModel) -> StoredModel:
    onnx_files.write(model, path, history=History("", ()))
    return dataclasses.replace(like, onnx=path)
