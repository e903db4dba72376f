"""Small valid models of every make: what mutants are made from."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper, parser

ROOT = Path(__file__).parents[2]
_WILD = ROOT.parent / "shared" / "data" / "wild" / "onnxruntime"
_EXAMPLES = ROOT / "examples" / "bert-mini"

_HEAD = '<ir_version: 9, opset_import: ["" : 17, "my" : 1, "com.microsoft" : 1]>'

_TEXTS = {
    "chain": """
        g (float[n, 4] x) => (float[n, 4] z)
        <float[4] w = {1, 2, 3, 4}>
        { y = Relu(x) z = Add(y, w) }""",
    "gelu": """
        g (float[batch, 8] x) => (float[batch, 8] y)
        <float root = {1.4142135}, float one = {1}, float half = {0.5}>
        { a = Div(x, root) b = Erf(a) c = Add(b, one) d = Mul(x, c) y = Mul(d, half) }""",
    "norm": """
        g (float[batch, sequence, 8] x, float[batch, sequence, 8] skip) =>
          (float[batch, sequence, 8] y)
        <float[8] scale = {1, 1, 1, 1, 1, 1, 1, 1}, float[8] bias = {0, 0, 0, 0, 0, 0, 0, 0},
         float eps = {0.00001}, float two = {2}>
        { s = Add(x, skip) m = ReduceMean<axes = [-1]>(s) c = Sub(s, m) p = Pow(c, two)
          v = ReduceMean<axes = [-1]>(p) e = Add(v, eps) r = Sqrt(e) q = Div(c, r)
          t = Mul(q, scale) y = Add(t, bias) }""",
    "attention": """
        g (float[batch, sequence, 8] x, int64[batch, sequence] attention_mask) =>
          (float[batch, sequence, 8] y)
        <float[8, 8] wq, float[8, 8] wk, float[8, 8] wv, int64[4] split = {0, 0, 2, 4},
         int64[3] join = {0, 0, 8}, float scale = {0.5}, float one = {1}, float low = {-10000},
         int64[2] axes = {1, 2}>
        { q0 = MatMul(x, wq) k0 = MatMul(x, wk) v0 = MatMul(x, wv)
          q1 = Reshape(q0, split) k1 = Reshape(k0, split) v1 = Reshape(v0, split)
          q = Transpose<perm = [0, 2, 1, 3]>(q1) k = Transpose<perm = [0, 2, 3, 1]>(k1)
          v = Transpose<perm = [0, 2, 1, 3]>(v1)
          u = Unsqueeze(attention_mask, axes) f = Cast<to = 1>(u) o = Sub(one, f)
          b = Mul(o, low) s0 = MatMul(q, k) s1 = Mul(s0, scale) s = Add(s1, b)
          p = Softmax<axis = -1>(s) a = MatMul(p, v) t = Transpose<perm = [0, 2, 1, 3]>(a)
          y = Reshape(t, join) }""",
    "embedding": """
        g (int64[batch, sequence] input_ids) => (float[batch, sequence, 4] y, int64[2] sizes)
        <float[16, 4] table, float[8, 4] places, int64 zero = {0}, int64 one_ = {1}>
        { e = Gather(table, input_ids) sizes = Shape(input_ids) n = Gather(sizes, one_)
          r = Range(zero, n, one_) p = Gather(places, r) y = Add(e, p) }""",
    "conv": """
        g (float[n, 3, 8, 8] image) => (float[n, 4] y)
        <float[4, 3, 3, 3] w, float[4] b, float[4] mean = {0, 0, 0, 0}, float[4] var = {1, 1, 1, 1}>
        { c = Conv<pads = [1, 1, 1, 1]>(image, w, b) d = BatchNormalization(c, b, b, mean, var)
          r = Relu(d) m = MaxPool<kernel_shape = [2, 2], strides = [2, 2]>(r)
          a = GlobalAveragePool(m) y = Flatten(a) }""",
    "branches": """
        g (float[n, 4] x, bool choose) => (float[n, 4] y)
        <float[4] w = {1, 2, 3, 4}>
        { y = If(choose)
            <then_branch = yes () => (float[n, 4] t) { t = Add(x, w) },
             else_branch = no () => (float[n, 4] e) { i = Sub(x, w) e = Relu(i) }> }""",
    "loop": """
        g (float[4] x, int64 trips) => (float[4] y, float[k, 4] all)
        <bool go = {1}>
        { y, all = Loop(trips, go, x)
            <body = b (int64 i, bool c, float[4] a) => (bool d, float[4] o, float[4] s)
              { d = Identity(c) o = Add(a, x) s = Relu(o) }> }""",
    "cast": """
        g (float16[n, 4] x, int32[n, 4] i) => (float[n, 4] y, bool[n, 4] z)
        <float16[4] w = {1, 2, 3, 4}>
        { a = Mul(x, w) y = Cast<to = 1>(a) f = Cast<to = 1>(i) z = Greater(y, f) }""",
    "contrib": """
        g (float[n, 4] x) => (float[n, 4] y)
        <float[4] w = {1, 2, 3, 4}>
        { a = com.microsoft.BiasGelu(x, w) b = com.microsoft.FastGelu(a)
          y = com.microsoft.SkipLayerNormalization(b, a, w, w) }""",
    "sequence": """
        g (float[n, 4] x) => (seq(float[n, 4]) y, float[n, 4] z)
        { y = SequenceConstruct(x, x) z = Neg(x) }""",
}
_FUNCTIONS = """
    g (float[n, 4] x) => (float[n, 4] z)
    { y = my.outer<alpha = 2.0>(x) z = my.inner<alpha = 0.5>(y) }
    <domain: "my", opset_import: ["" : 17]>
    inner <alpha>(a) => (b) { c = LeakyRelu<alpha: float = @alpha>(a) b = Abs(c) }
    <domain: "my", opset_import: ["" : 17, "my" : 1]>
    outer <alpha>(a) => (b) { c = my.inner<alpha: float = @alpha>(a) b = my.inner<alpha = 1.0>(c) }
    """


def small() -> dict[str, onnx.ModelProto]:
    """Return hand-written models by name, each of a few nodes, each valid."""
    models = {name: _filled(parser.parse_model(_HEAD + text)) for name, text in _TEXTS.items()}
    models["functions"] = parser.parse_model(_HEAD + _FUNCTIONS)
    models["quantized"] = _quantized()
    models["text"] = _text()
    models["constants"] = _constants()
    return models


def found() -> Iterator[tuple[str, onnx.ModelProto]]:
    """Yield models that exporters wrote, as far as they lie here: examples, and shared ones."""
    for path in sorted([*_EXAMPLES.glob("*/*.onnx"), *_WILD.glob("*.onnx")]):
        yield path.stem, onnx.load(path)


def _filled(model: onnx.ModelProto) -> onnx.ModelProto:
    """Turn what was declared without values and that no node computes into seeded weights."""
    values = np.random.default_rng(0)
    computed = {name for node in model.graph.node for name in node.output}
    for info in [info for info in model.graph.value_info if info.name not in computed]:
        sizes = [dim.dim_value for dim in info.type.tensor_type.shape.dim]
        array = values.standard_normal(sizes).astype(np.float32)
        model.graph.initializer.append(numpy_helper.from_array(array, info.name))
        model.graph.value_info.remove(info)
    return model


def _quantized() -> onnx.ModelProto:
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "scale", "zero"], ["q"], name="quantize"),
        helper.make_node("QLinearMatMul", ["q", "scale", "zero", "w", "scale", "zero", "scale",
                                           "zero"], ["r"], name="product"),
        helper.make_node("DequantizeLinear", ["r", "scale", "zero"], ["y"], name="back"),
    ]  # fmt: skip
    weights = np.arange(16, dtype=np.uint8).reshape(4, 4)
    constants = [
        numpy_helper.from_array(np.float32(0.1), "scale"),
        numpy_helper.from_array(np.uint8(128), "zero"),
        numpy_helper.from_array(weights, "w"),
    ]
    return _model(nodes, constants, TensorProto.FLOAT)


def _text() -> onnx.ModelProto:
    nodes = [helper.make_node("Equal", ["x", "word"], ["y"], name="same")]
    word = helper.make_tensor("word", TensorProto.STRING, [1], [b"burnish"])
    return _model(nodes, [word], TensorProto.STRING, TensorProto.BOOL, opset=19)


def _constants() -> onnx.ModelProto:
    sparse = helper.make_sparse_tensor(
        helper.make_tensor("", TensorProto.FLOAT, [2], [1.0, 2.0]),
        helper.make_tensor("", TensorProto.INT64, [2], [1, 3]),
        [4],
    )
    nodes = [
        helper.make_node("Constant", [], ["a"], value_floats=[1.0, 2.0, 3.0, 4.0]),
        helper.make_node("Constant", [], ["b"], sparse_value=sparse),
        helper.make_node("Constant", [], ["c"], value_int=3),
        helper.make_node("Cast", ["c"], ["d"], to=TensorProto.FLOAT),
        helper.make_node("Sum", ["x", "a", "b", "d"], ["y"]),
    ]
    return _model(nodes, [], TensorProto.FLOAT)


def _model(
    nodes: list[onnx.NodeProto],
    constants: list[onnx.TensorProto],
    taken: int,
    given: int | None = None,
    opset: int = 17,
) -> onnx.ModelProto:
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", taken, ["n", 4])],
        [helper.make_tensor_value_info("y", given or taken, ["n", 4])],
        constants,
    )
    imports = [helper.make_opsetid("", opset)]
    return helper.make_model(graph, opset_imports=imports, ir_version=9)
