"""Small models compiled for a card that is not here."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import onnx
import onnxruntime

import burnish
from burnish.core.arrays import Array, Arrays
from burnish.study.compile_report import CompileReport
from codegen.gpu.models import HEAD

NETWORK = """network (float16[1,8,8,9] x) => (float16[8,9,16] y, float16[8,9] s)
{ c = Conv<pads=[1,1,1,1]>(x, filters) d = Relu(c) t = Reshape(d, flat)
  u = Transpose<perm=[0,2,1]>(t) n = LayerNormalization(u, gain, shift) h = MatMul(n, wide)
  i = Relu(h) j = MatMul(i, narrow) k = Add(j, u) q = Reshape(k, apart)
  y = Softmax<axis=-1>(q) m = ReduceSum<keepdims=0>(y, last) s = Relu(m) }"""
"""A convolution, a layer norm, a perceptron and a softmax."""

FEW_ROWS = """few_rows (float16[32,4096] x) => (float16[32,64] y)
{ h = MatMul(x, long) y = Relu(h) }"""
"""A product whose sums are formed in parts: two kernels, and a tensor between them."""

MIXED = """mixed (float[6,96] x) => (float[6,4] y)
{ a = Relu(x) t, i = TopK<sorted=0>(a, four) y = Exp(t) }"""
"""Something between two kernels that has none."""

PERCEPTRON = """perceptron (float[32,48] x) => (float[32,24] y)
{ h = MatMul(x, entry) i = Relu(h) y = MatMul(i, exit) }"""
"""Products of f32."""

STEM = """stem (float16[{batch},3,{edge},{edge}] x) => (float16[{batch},64,{out},{out}] y)
{{ c = Conv<pads=[2,2,2,2], strides=[4,4]>(x, stem) y = Relu(c) }}"""
"""A convolution that gathers its left side, with padding: one was wrong on a card, and only at some
sizes."""


def constants() -> dict[str, Array]:
    random = np.random.default_rng(0)

    def halves(*shape: int) -> Array:
        return (0.3 * random.standard_normal(shape)).astype(np.float16)

    entry, leave = (
        (0.3 * random.standard_normal(shape)).astype(np.float32) for shape in ((48, 64), (64, 24))
    )
    return {
        "entry": entry, "exit": leave,
        "filters": halves(16, 8, 3, 3), "flat": np.array([1, 16, 72]), "gain": halves(16),
        "shift": halves(16), "wide": halves(16, 64), "narrow": halves(64, 16),
        "apart": np.array([8, 9, 16]), "last": np.array([2]),
        "long": (halves(4096, 64) / 16).astype(np.float16), "four": np.array([4]),
        "stem": halves(64, 3, 7, 7),
    }  # fmt: skip


def written(text: str, folder: Path) -> Path:
    """Return the file of a model, with the constants that it names."""
    proto = onnx.parser.parse_model(HEAD + text)
    used = {name for node in proto.graph.node for name in node.input}
    for name, array in constants().items():
        if name in used:
            proto.graph.initializer.append(onnx.numpy_helper.from_array(array, name))
    path = folder / f"{proto.graph.name}.onnx"
    onnx.save(proto, path)
    return path


def compiled(
    text: str, folder: Path, target: str = "sm_90", precision: str | None = None
) -> CompileReport:
    """Return what compiling a model gave; it is in the folder `c`."""
    path, place = written(text, folder), folder / "c"
    return burnish.compile(path, output=place, target=target, precision=precision, threads=1)  # type: ignore[no-any-return]


def reference(path: Path, feeds: Arrays) -> Mapping[str, Array]:
    """Return what ONNX Runtime gives."""
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    names = [each.name for each in session.get_outputs()]
    return dict(zip(names, session.run(None, dict(feeds)), strict=True))


def feeds_of(path: Path) -> dict[str, Array]:
    """Return inputs for a model with fixed sizes."""
    random = np.random.default_rng(1)
    types = {"tensor(float16)": np.float16, "tensor(float)": np.float32}
    inputs = onnxruntime.InferenceSession(path).get_inputs()
    return {i.name: random.standard_normal(i.shape).astype(types[i.type]) for i in inputs}
