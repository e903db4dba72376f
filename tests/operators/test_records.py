"""Records say of shapes and types what ONNX says, and what ONNX Runtime gives."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir
import onnxruntime as ort
import pytest

from burnish.core.array_types import name_of
from burnish.core.tensors import ONNX_NUMBERS
from burnish.infer.constants import Constants
from burnish.infer.shapes import infer
from burnish.operators.record import OPERATORS
from burnish.store import element_types
from tile.node_tests import cases


def test_numbers_of_element_types_are_those_of_onnx() -> None:
    known = {int(kind): short for kind, short in element_types.SHORT_NAMES.items()}
    assert {number: ONNX_NUMBERS[number] for number in known} == known


@pytest.mark.slow
def test_what_records_tell_is_what_the_node_tests_of_onnx_give() -> None:
    told = 0
    for case in cases():
        model = case.model.clone()
        for node in model.graph:
            for value in node.outputs:
                value.shape, value.type, value.const_value = None, None, None
        shapes = infer(Constants(model))
        for value in model.graph.outputs:
            expected, found = case.outputs[value.name or ""], shapes.of(value)
            if found is None or value.producer() is None:
                continue
            assert len(found) == expected.ndim, case.name
            for mine, size in zip(found, expected.shape, strict=True):
                assert not isinstance(mine, int) or mine == size, (case.name, found)
            assert shapes.dtype(value) in (None, name_of(expected)), case.name
            told += all(isinstance(size, int) for size in found)
    assert told > 900


OWN = [
    ("BiasGelu", "float[2, 4] x, float[4] b", "y = com.microsoft.BiasGelu(x, b)"),
    ("FastGelu", "float[2, 4] x, float[4] b", "y = com.microsoft.FastGelu(x, b)"),
    ("QuickGelu", "float[2, 4] x", "y = com.microsoft.QuickGelu(x)"),
    ("FusedMatMul", "float[3, 2, 4] x, float[3, 5, 4] b",
     "y = com.microsoft.FusedMatMul<transB = 1>(x, b)"),
    ("FusedConv", "float[1, 2, 9, 9] x, float[4, 2, 3, 3] b",
     'y = com.microsoft.FusedConv<activation = "Relu", strides = [2, 2]>(x, b)'),
    ("SkipLayerNormalization", "float[2, 3, 4] x, float[2, 3, 4] b, float[4] g",
     "y, m, v, s = com.microsoft.SkipLayerNormalization(x, b, g)"),
    ("SkipSimplifiedLayerNormalization", "float[2, 3, 4] x, float[2, 3, 4] b, float[4] g",
     "y = com.microsoft.SkipSimplifiedLayerNormalization(x, b, g)"),
    ("LayerNormalization", "float[2, 3, 4] x, float[4] g", "y = LayerNormalization(x, g)"),
    ("SimplifiedLayerNormalization", "float[2, 3, 4] x, float[4] g",
     "y = SimplifiedLayerNormalization(x, g)"),
    ("MultiHeadAttention", "float[2, 3, 8] x, float[2, 5, 8] k, float[2, 5, 12] v",
     "y = com.microsoft.MultiHeadAttention<num_heads = 2>(x, k, v)"),
    ("Attention", "float[2, 3, 8] x, float[8, 24] w, float[24] b",
     "y = com.microsoft.Attention<num_heads = 2>(x, w, b)"),
    ("DynamicQuantizeMatMul", "float[2, 4] x, uint8[4, 3] w, float s, uint8 z",
     "y = com.microsoft.DynamicQuantizeMatMul(x, w, s, z)"),
    ("QLinearAdd", "uint8[2, 4] a, float s, uint8 z, uint8[4] b",
     "y = com.microsoft.QLinearAdd(a, s, z, b, s, z, s, z)"),
    ("QLinearSigmoid", "uint8[2, 4] a, float s, uint8 z",
     "y = com.microsoft.QLinearSigmoid(a, s, z, s, z)"),
    ("NhwcMaxPool", "uint8[1, 8, 8, 2] a",
     "y = com.microsoft.NhwcMaxPool<kernel_shape = [2, 2]>(a)"),
]  # fmt: skip


@pytest.mark.parametrize(("inputs", "body"), [case[1:] for case in OWN], ids=[c[0] for c in OWN])
def test_what_records_tell_of_onnx_runtime_s_operators_is_what_it_gives(
    inputs: str, body: str
) -> None:
    names = body.partition(" =")[0].split(", ")
    outputs = ", ".join(f"float {name}" for name in names)
    head = '<ir_version: 8, opset_import: ["" : 16, "com.microsoft" : 1]> '
    model = ir.from_onnx_text(f"{head} g ({inputs}) => ({outputs}) {{ {body} }}")
    for value in model.graph.outputs:
        value.shape, value.type = None, None
    shapes = infer(Constants(model))
    for value in model.graph.outputs:
        assert shapes.of(value) is not None, value.name
    proto = ir.to_proto(model)
    session = ort.InferenceSession(proto.SerializeToString(), providers=["CPUExecutionProvider"])
    generator = np.random.default_rng(0)
    feeds = {value.name or "": _filled(generator, value) for value in model.graph.inputs}
    for value, given in zip(model.graph.outputs, session.run(None, feeds), strict=True):
        if given is not None:  # moments that it does not compute
            assert (shapes.dtype(value), shapes.of(value)) == (name_of(given), given.shape)


def _filled(
    generator: np.random.Generator, value: ir.Value
) -> np.ndarray[tuple[int, ...], np.dtype[np.generic]]:
    assert value.shape is not None
    assert value.dtype is not None
    return generator.uniform(1, 3, value.shape.numpy()).astype(value.dtype.numpy())


def test_every_record_says_something() -> None:
    for name in OPERATORS:
        record = OPERATORS[name]
        assert record.shape or record.work or record.loops or record.steps, name
