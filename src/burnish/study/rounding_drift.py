"""How far roundings move a model of 16 bits, and what is forgiven because of that.

Each rounding of f16 costs 2^-11 of a value, and some networks make forty times that of it: then
no two processors agree within the tolerance of the type, and PyTorch agrees with neither. What
such a model computes without roundings is known, and how far roundings move it, too: what PyTorch
gave must be within a few times that, and so must what engines give that are timed.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import partial
from pathlib import Path

import ml_dtypes
import numpy as np
import onnx_ir as ir

from burnish.core.arrays import Arrays
from burnish.parity.report import VerifyReport
from burnish.parity.roundings import near_a_run
from burnish.parity.subject import open_rounded
from burnish.parity.tolerances import Tolerances
from burnish.parity.verify import judge
from burnish.process.scratch import scratch
from burnish.rewrite.precision.widen import HALVES, in_f32, rounding
from burnish.store import datasets, layout, onnx_files
from burnish.store.datasets import DataSet
from burnish.store.history import History
from burnish.store.stored import StoredModel

NOTE = (
    "roundings of f16 move its results further than the tolerance of f16, wherever it runs: "
    "compared without them, and within a few times what they do"
)
_HALVES = (np.float16, ml_dtypes.bfloat16)


def within_roundings(model: StoredModel, report: VerifyReport) -> VerifyReport:
    """Return the report of a check that failed, with what was recorded judged by the drift."""
    samples = []
    with scratch("drift") as folder:
        exact = widened(model, folder / "exact", lambda given: in_f32(given, HALVES))
        rounded = widened(model, folder / "rounded", rounding)
        interface = onnx_files.interface(onnx_files.look(exact.onnx))
        with judge(exact).open() as one, judge(rounded).open() as other:
            for place, sample in zip(exact.data_sets, report.samples, strict=True):
                data = datasets.read(place, interface)
                meant, moved = one.run(data.inputs), partial(other.run, data.inputs)
                diffs, _ = near_a_run(meant, data.outputs, Tolerances(arithmetic="f16"), moved)
                samples.append(dataclasses.replace(sample, diffs=diffs))
    return dataclasses.replace(report, samples=tuple(samples), notes=(*report.notes, NOTE))


def rounded_run(model: StoredModel, inputs: Arrays) -> Arrays:
    """Return what a model gives that rounds each value to its 16 bits; nothing if it has none."""
    session = open_rounded(model)
    if session is None:
        return {}
    with session:
        return session.run(inputs)


def widened(model: StoredModel, folder: Path, wide: Callable[[ir.Model], ir.Model]) -> StoredModel:
    """Write the model as `wide` makes it, and its recorded data in f32; return that."""
    source = onnx_files.read(model.onnx)
    target = folder / model.onnx.name
    onnx_files.write(wide(source), target, history=History("", ()))
    before, after = onnx_files.interface(source), onnx_files.interface(onnx_files.look(target))
    for data_set in model.data_sets:
        found = datasets.read(data_set, before)
        wider = DataSet(_in_f32(found.inputs), _in_f32(found.outputs))
        datasets.write(folder / data_set.name, wider, after)
    return layout.stored(target)


def _in_f32(arrays: Arrays) -> Arrays:
    return {
        name: array.astype(np.float32) if array.dtype in _HALVES else array
        for name, array in arrays.items()
    }
