from __future__ import annotations

import numpy as np
import onnx_ir as ir
import pytest
from onnx import TensorProto, helper, numpy_helper

from burnish.core.array_types import array_type
from burnish.core.arrays import Array
from burnish.parity.restored import Restored, restored
from burnish.parity.structure import compare_structure

W = np.random.default_rng(0).standard_normal((4, 4)).astype(np.float32)
SCALE = np.array(1 / 3, np.float32)


def _model(weight: Array, scale: Array) -> ir.Model:
    nodes = [
        helper.make_node("Cast", ["w"], ["w32"], to=TensorProto.FLOAT),
        helper.make_node("Cast", ["s"], ["s32"], to=TensorProto.FLOAT),
        helper.make_node("MatMul", ["x", "w32"], ["h"]),
        helper.make_node("Mul", ["h", "s32"], ["y"]),
    ]
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", 4]) for name in "xy"]
    constants = [
        numpy_helper.from_array(array, name) for name, array in (("w", weight), ("s", scale))
    ]
    graph = helper.make_graph(nodes, "g", values[:1], values[1:], constants)
    return ir.from_proto(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)]))


def _restored(weight: Array, scale: Array, asked: str | None, before: Array = W) -> Restored:
    models = _model(before, SCALE), _model(weight, scale)
    return restored(models, compare_structure(models, {"y": "y"}), asked)


@pytest.mark.parametrize("kind", ["f16", "bf16"])
def test_what_was_rounded_as_asked_is_what_it_was(kind: str) -> None:
    narrow = array_type(kind)
    found = _restored(W.astype(narrow), SCALE.astype(narrow).reshape(1), kind)
    assert np.array_equal(found.instead["w"].numpy(), W)
    assert set(found.instead) == {"w", "s"}
    assert not {"w", "s"} & (found.lost | found.new)


def test_what_was_not_asked_for_is_in_question() -> None:
    narrow = W.astype(np.float16), SCALE.astype(np.float16)
    assert not _restored(*narrow, None).instead
    assert not _restored(*narrow, "bf16").instead


def test_a_weight_that_is_off_is_in_question_and_no_other() -> None:
    found = _restored((W * np.float32(1.01)).astype(np.float16), SCALE.astype(np.float16), "f16")
    assert set(found.instead) == {"s"}
    assert "w" in found.lost
    assert "w" in found.new


def test_numbers_beyond_a_type_are_its_ends() -> None:
    large = np.full((4, 4), -3.4e38, np.float32)
    ends = np.full((4, 4), -65504, np.float16)
    assert "w" in _restored(ends, SCALE.astype(np.float16), "f16", before=large).instead
