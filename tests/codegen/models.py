"""Small models in ONNX text, their weights, and what ONNX's own evaluator makes of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnx_ir as ir
from onnx.reference import ReferenceEvaluator

from burnish.codegen.cpu.backend import CpuBackend
from burnish.codegen.cpu.target import TARGETS
from burnish.codegen.pipeline import PlanOptions, plan
from burnish.codegen.place import BuiltPlan, PreparedModel
from burnish.codegen.schedule import Predicted
from burnish.codegen.write import write
from burnish.core.arrays import Array, Arrays
from burnish.hw.spec import for_cores, load
from burnish.runtime.folder import About
from burnish.runtime.load import LoadedModel, open_folder
from burnish.store import onnx_files
from burnish.tile.machine import machine

HEAD = '<ir_version: 10, opset_import: ["": 21]> '
MACHINE = machine(for_cores(load("x86-avx2"), 1))
PORTABLE = CpuBackend(TARGETS["portable"], MACHINE, "a CPU")
"""The portable target, priced as a machine that is not this one."""

MLP = """
mlp (float[batch, 8] x) => (float[batch, 4] y)
{
    [up] h = MatMul(x, w)
    [bias] hb = Add(h, b)
    [relu] r = Relu(hb)
    [down] y = MatMul(r, v)
}
"""
"""All of it can be kernels."""

MIXED = """
mixed (float[batch, 1100] x) => (float[batch, 1100] y, int64[2, n] found)
<int64[1] all = {1100}>
{
    [double] d = Add(x, x)
    [order] t, i = TopK <axis = -1> (d, all)
    [search] found = NonZero(d)
    [back] y = Sub(t, x)
}
"""
"""Kernels before and behind what ONNX Runtime runs: it orders rows that are too long for kernels;
one output has no size beforehand."""


def weights(*names_and_shapes: tuple[str, tuple[int, ...]]) -> dict[str, Array]:
    """Return random weights."""
    random = np.random.default_rng(0)
    return {n: random.standard_normal(s).astype(np.float32) for n, s in names_and_shapes}


MLP_WEIGHTS = weights(("w", (8, 16)), ("b", (16,)), ("v", (16, 4)))


def model(text: str, constants: Arrays | None = None) -> ir.Model:
    """Return a model with these weights."""
    proto = onnx.parser.parse_model(HEAD + text)
    for name, array in (constants or {}).items():
        proto.graph.initializer.append(onnx.numpy_helper.from_array(np.asarray(array), name))
    return ir.serde.deserialize_model(proto)


def mlp() -> ir.Model:
    """Return two layers."""
    return model(MLP, MLP_WEIGHTS)


def save(of: ir.Model, path: Path) -> Path:
    """Write a model to disk."""
    path.write_bytes(ir.to_proto(of).SerializeToString())
    return path


def reference(of: ir.Model, feeds: Arrays) -> dict[str, Array]:
    """Return what ONNX's own evaluator gives."""
    evaluator = ReferenceEvaluator(ir.to_proto(of))
    names = [value.name or "" for value in of.graph.outputs]
    return dict(zip(names, evaluator.run(None, dict(feeds)), strict=True))


def built(static_model: ir.Model, **options: object) -> BuiltPlan:
    """Return a plan with predicted choices, for the portable target."""
    return plan(
        PreparedModel(static_model, {}), PlanOptions(PORTABLE, Predicted(PORTABLE), **options)
    )


def opened(made: BuiltPlan, static_model: ir.Model, folder: Path, threads: int = 1) -> LoadedModel:
    """Return a plan, written to a folder and loaded again."""
    interface = onnx_files.interface(static_model)
    about = About("m", "m.onnx", "0", interface.inputs, interface.outputs, "f32", "a CPU", "today")
    write(folder, about, [made], PORTABLE)
    return open_folder(folder, threads=threads)
