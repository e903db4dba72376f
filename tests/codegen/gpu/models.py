"""Small models, one for each kind of kernel, and the nests that they become."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from functools import lru_cache

import numpy as np
import onnx
import onnx_ir as ir

from burnish.core.array_types import array_type
from burnish.core.arrays import Array
from burnish.rewrite.static import static
from burnish.tile.graph import TileGraph
from burnish.tile.lower import lower
from burnish.tile.simplify import simplify

HEAD = '<ir_version: 10, opset_import: ["": 20]> '

MODELS: Mapping[str, str] = {
    "each": "(float16[3,40] x, float16[40] b) => (float16[3,40] y) { s = Add(x, b) y = Gelu(s) }",
    "softmax": "(float16[6,50] x) => (float16[6,50] y) { y = Softmax<axis=-1>(x) }",
    "layer_norm": """(float16[9,70] x, float16[70] w, float16[70] b) => (float16[9,70] y)
        { y = LayerNormalization(x, w, b) }""",
    "sum_of_rows": "(float[5,300] x) => (float[5] y) { y = ReduceSum<keepdims=0>(x, a) }",
    "product": """(float16[2,37,48] x, float16[48,40] w, float16[40] b) => (float16[2,37,40] y)
        { h = MatMul(x, w) i = Add(h, b) y = Relu(i) }""",
    "single_precision": "(float[20,48] x, float[48,24] w) => (float[20,24] y) { y = MatMul(x, w) }",
    "normed_product": """(float16[30,64] x, float16[64] g, float16[64,40] w) => (float16[30,40] y)
        { n = LayerNormalization(x, g) y = MatMul(n, w) }""",
    "perceptron": """(float16[33,20] x, float16[20,32] a, float16[32,32] b, float16[32,3] c)
        => (float16[33,3] y)
        { h = MatMul(x, a) i = Relu(h) j = MatMul(i, b) k = Relu(j) y = MatMul(k, c) }""",
    "attention": """(float16[2,3,20,16] q, float16[2,3,20,16] k, float16[2,3,20,16] v,
        float16[2,1,1,20] mask) => (float16[2,3,20,16] y)
        { t = Transpose<perm=[0,1,3,2]>(k) s = MatMul(q, t) m = Add(s, mask)
          p = Softmax<axis=-1>(m) y = MatMul(p, v) }""",
    "attention_of_images": """(float16[2,20,16] q, float16[2,6,4,16] k, float16[2,6,4,16] v)
        => (float16[2,20,16] y)
        { i = Reshape(k, flat) t = Transpose<perm=[0,2,1]>(i) s = MatMul(q, t)
          p = Softmax<axis=-1>(s) w = Reshape(v, flat) y = MatMul(p, w) }""",
    "convolution": """(float16[2,16,9,11] x, float16[24,16,3,3] w, float16[24] b)
        => (float16[2,24,5,6] y)
        { c = Conv<pads=[1,1,1,1], strides=[2,2]>(x, w, b) y = Relu(c) }""",
    "channels": """(float16[1,24,6,7] x, float16[16,24,3,3] w) => (float16[1,16,6,7] y)
        { y = Conv<pads=[1,1,1,1]>(x, w) }""",
    "side_by_side": """(float16[20,16] x, float16[20,40] y, float16[20,24] z, float16[80,24] w)
        => (float16[20,24] r) { c = Concat<axis=1>(x, y, z) r = MatMul(c, w) }""",
    "depthwise": """(float16[2,16,9,11] x, float16[16,1,3,3] w) => (float16[2,16,9,11] y)
        { y = Conv<pads=[1,1,1,1], group=16>(x, w) }""",
    "inverted_residual": """(float16[1,8,8,9] x, float16[32,8,1,1] a, float16[32,1,3,3] d,
        float16[8,32,1,1] c) => (float16[1,8,8,9] y)
        { e = Conv(x, a) f = Clip(e, zero, six) g = Conv<pads=[1,1,1,1], group=32>(f, d)
          h = Clip(g, zero, six) i = Conv(h, c) y = Add(i, x) }""",
    "pool": "(float[2,5,12,12] x) => (float[2,5,1,1] y) { y = GlobalAveragePool(x) }",
    "long_pool": "(float[2,3,64,40] x) => (float[2,3,1,1] y) { y = GlobalAveragePool(x) }",
    "strided": """(float16[2,8,9,12] x, float16[8,1,3,3] w) => (float16[2,8,5,6] y)
        { y = Conv<pads=[1,1,1,1], strides=[2,2], group=8>(x, w) }""",
    "largest": "(float[1,3,9,9] x) => (float[1,3,4,4] y) "
    "{ y = MaxPool<kernel_shape=[3,3], strides=[2,2]>(x) }",
    "moved": """(float[2,12,5] x, int64[4] i) => (float[5,14] y)
        { g = Gather<axis=1>(x, i) t = Transpose<perm=[2,0,1]>(g) r = Reshape(t, shape)
          c = Concat<axis=1>(r, r) y = Slice(c, from, to, along) }""",
    "large_product": """(float16[256,1024] x, float16[1024,256] w) => (float16[256,256] y)
        { y = MatMul(x, w) }""",
    "running": "(float[3,17] x) => (float[3,17] y) { y = CumSum(x, last) }",
}
"""ONNX text by name; constants that the text does not declare are in `CONSTANTS`."""

CONSTANTS: Mapping[str, Array] = {
    "a": np.array([1]), "zero": np.float16(0), "six": np.float16(6), "shape": np.array([5, 8]),
    "from": np.array([1]), "to": np.array([15]), "along": np.array([1]), "last": np.array(1),
    "flat": np.array([2, 24, 16]),
}  # fmt: skip
KEPT = frozenset({"sum_of_rows", "inverted_residual", "moved", "running", "attention_of_images"})
"""The models that use constants."""


@lru_cache(maxsize=64)
def graph_of(name: str) -> TileGraph:
    """Return the simplified nests of a model."""
    proto = onnx.parser.parse_model(f"{HEAD}{name} {MODELS[name]}")
    declared = {value.name for value in proto.graph.input}
    used = {each for node in proto.graph.node for each in node.input}
    for constant in (used & CONSTANTS.keys()) - declared if name in KEPT else ():
        array = onnx.numpy_helper.from_array(np.asarray(CONSTANTS[constant]), constant)
        proto.graph.initializer.append(array)
    return _nests(proto)


def parsed(text: str) -> TileGraph:
    """Return the simplified nests of a model that is written as ONNX text, its name first."""
    return _nests(onnx.parser.parse_model(f"{HEAD}{text}"))


def _nests(proto: onnx.ModelProto) -> TileGraph:
    model = static(ir.from_proto(proto), {})
    return simplify(lower(tuple(model.graph)).graph)


def inputs_of(graph: TileGraph, seed: int = 0) -> dict[str, Array]:
    """Return data for the inputs of a graph; indices are small."""
    random = np.random.default_rng(seed)
    found: dict[str, Array] = {}
    for name in graph.inputs:
        kind = graph.tensors[name]
        if kind.dtype.startswith("i"):
            found[name] = random.integers(-3, 4, kind.shape).astype(array_type(kind.dtype))
        else:
            found[name] = random.standard_normal(kind.shape).astype(array_type(kind.dtype))
    return found


def drawn(text: str) -> tuple[TileGraph, dict[str, Array]]:
    """Return a model's nests with constants for all but its first input, and that input."""
    graph = parsed(text)
    random = np.random.default_rng(0)
    arrays = {
        name: (random.standard_normal(graph.tensors[name].shape) / 8).astype(np.float16)
        for name in graph.inputs
    }
    first = graph.inputs[0]
    constants = {**graph.constants, **{n: a for n, a in arrays.items() if n != first}}
    whole = dataclasses.replace(graph, inputs=(first,), constants=constants)
    return simplify(whole), {first: arrays[first]}
