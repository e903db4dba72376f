from __future__ import annotations

import numpy as np
import onnx_ir as ir
import onnxruntime
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from burnish.core.arrays import Array
from burnish.core.errors import ModelError
from burnish.rewrite.precision import convert
from burnish.rewrite.precision.int4_weights import BLOCK, packed_blocks
from rewriting import Graph, samples


def unpacked(packed: Array, scales: Array, depth: int) -> Array:
    """Return packed weights as numbers, the plain way."""
    rows = np.zeros((packed.shape[0], packed.shape[1] * BLOCK), np.float32)
    for (row, block, at), byte in np.ndenumerate(packed):
        for half in (0, 1):
            number = (int(byte) >> (4 * half)) & 15
            rows[row, block * BLOCK + 2 * at + half] = (number - 8) * scales[row, block]
    return rows[:, :depth]


@settings(max_examples=25, deadline=None)
@given(columns=st.integers(1, 5), depth=st.integers(1, 70), seed=st.integers(0, 99))
def test_a_weight_is_never_off_by_more_than_a_step(columns: int, depth: int, seed: int) -> None:
    rows = samples(columns, depth, seed=seed)
    packed, scales = packed_blocks(rows)
    steps = np.repeat(np.abs(scales), BLOCK, axis=1)[:, :depth]
    # the largest weight may be cut by up to a quarter of eight steps, where that helps the others
    assert (np.abs(unpacked(packed, scales, depth) - rows) <= 2.7 * steps).all()


@pytest.mark.parametrize("form", ["MatMul", "Gemm"])
def test_products_read_weights_of_four_bits(form: str) -> None:
    g = Graph()
    x = g.input("x", [3, 64])
    if form == "MatMul":
        y = g.op("Add", g.op("MatMul", x, samples(64, 40)), samples(40))
    else:
        y = g.op("Gemm", x, samples(40, 64), samples(40), transB=1, alpha=0.5)
    y.shape = ir.Shape([3, 40])
    model = g.model(y)
    found = convert(model, "int4")
    assert [node.op_type for node in found.model.graph] == ["MatMulNBits"]
    assert found.report.how == "weights only, blocks of 32"
    fed = {"x": samples(3, 64, seed=1)}
    plain, four = (
        onnxruntime.InferenceSession(ir.to_proto(one).SerializeToString()).run(None, fed)[0]
        for one in (model, found.model)
    )
    assert np.linalg.norm(plain - four) / np.linalg.norm(plain) < 0.12
    weights = sum(v.const_value.nbytes for v in found.model.graph.initializers.values()
                  if v.const_value is not None)  # fmt: skip
    assert weights < 64 * 40 * 4 / 5


def test_a_model_without_products_is_refused() -> None:
    g = Graph()
    with pytest.raises(ModelError) as raised:
        convert(g.model(g.op("Tanh", g.input("x", [2]))), "int4")
    assert raised.value.hint == "leave -p int4 away"
