"""Constants are folded exactly as the operators would compute them, and never at any price."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import onnx_ir as ir
import pytest
from onnx.reference import ReferenceEvaluator

from burnish.infer.evaluate import evaluate
from burnish.rewrite.passes.fold import _counted_out
from rewriting import Graph, checked, op_types, samples

I64 = ir.DataType.INT64


def result_of(
    op_type: str, *inputs: npt.ArrayLike, opset: int = 17, **attributes: object
) -> npt.NDArray[Any] | None:
    """Return our result, after comparing it with ONNX's reference where that has one."""
    graph = Graph(opset=opset)
    output = graph.op(op_type, *inputs, **attributes)
    arrays = [None if value is None else np.asarray(value) for value in inputs]
    results = evaluate(graph.nodes[0], arrays, opset=opset, limit_bytes=1 << 20)
    if results is None:
        return None
    proto = ir.serde.serialize_node(graph.nodes[0])
    names = [name for name in proto.input if name]
    feeds = dict(zip(names, [a for a in arrays if a is not None], strict=True))
    (expected,) = ReferenceEvaluator(proto, opsets={"": opset}).run([output.name], feeds)
    np.testing.assert_array_equal(results[0], expected)
    assert results[0].dtype == np.asarray(expected).dtype
    return results[0]


MATRIX = np.arange(12, dtype=np.float32).reshape(3, 4)


@pytest.mark.parametrize(("op_type", "inputs", "attributes"), [
    ("Add", (MATRIX, np.float32(2)), {}),
    ("Div", (MATRIX, np.float32(3)), {}),
    ("Pow", (MATRIX, np.float32(2)), {}),
    ("Pow", (MATRIX, np.int64(3)), {}),
    ("Mod", (np.array([-7, 7]), np.array([3, -3])), {}),
    ("Mod", (np.array([-7, 7]), np.array([3, -3])), {"fmod": 1}),
    ("Cast", (MATRIX / 3,), {"to": I64}),
    ("Cast", (MATRIX,), {"to": ir.DataType.BOOL}),
    ("Cast", (MATRIX,), {"to": ir.DataType.FLOAT16}),
    ("Reshape", (MATRIX, np.array([0, 2, -1])), {}),
    ("Transpose", (MATRIX,), {}),
    ("Transpose", (MATRIX.reshape(3, 2, 2),), {"perm": [2, 0, 1]}),
    ("Unsqueeze", (MATRIX, np.array([-1, 0])), {}),
    ("Squeeze", (MATRIX.reshape(3, 1, 4), np.array([1])), {}),
    ("Concat", (MATRIX, MATRIX), {"axis": -1}),
    ("Gather", (MATRIX, np.array([[0, -1]])), {"axis": 1}),
    ("Slice", (MATRIX, np.array([-1]), np.array([-100]), np.array([1]), np.array([-2])), {}),
    ("Slice", (MATRIX, np.array([1]), np.array([2**62]), np.array([-2])), {}),
    ("Shape", (MATRIX,), {"start": 1}),
    ("Expand", (MATRIX, np.array([2, 1, 4])), {}),
    ("ConstantOfShape", (np.array([2, 3]),), {}),
    ("Range", (np.int64(1), np.int64(10), np.int64(4)), {}),
    ("Range", (np.float32(1), np.float32(0), np.float32(-0.25)), {}),
    ("Where", (MATRIX > 3, MATRIX, np.float32(0)), {}),
    ("Trilu", (MATRIX,), {"upper": 0}),
    ("ReduceSum", (MATRIX, np.array([1])), {"keepdims": 0}),
])  # fmt: skip
def test_results_are_those_of_the_reference(
    op_type: str, inputs: tuple[Any, ...], attributes: dict[str, Any]
) -> None:
    assert result_of(op_type, *inputs, **attributes) is not None


def test_integer_division_rounds_to_zero() -> None:
    graph = Graph()
    graph.op("Div", np.array([-7, 7]), np.array([2, -2]))
    arrays = [np.array([-7, 7]), np.array([2, -2])]
    results = evaluate(graph.nodes[0], arrays, opset=17, limit_bytes=1000)
    assert results is not None
    assert results[0].tolist() == [-3, -3]


def evaluated(
    op_type: str, *inputs: npt.ArrayLike, **attributes: object
) -> tuple[npt.NDArray[Any], ...] | None:
    graph = Graph()
    graph.op(op_type, *inputs, **attributes)
    arrays = [np.asarray(value) for value in inputs]
    return evaluate(graph.nodes[0], arrays, opset=17, limit_bytes=1 << 20)


@pytest.mark.parametrize(("op_type", "inputs", "attributes"), [
    ("Div", (np.array([1]), np.array([0])), {}),
    ("Cast", (np.array([np.nan], np.float32),), {"to": I64}),
    ("Cast", (np.array([1e30], np.float32),), {"to": ir.DataType.INT32}),
    ("Cast", (np.array([2.0**63]),), {"to": I64}),
    ("Cast", (np.array([1.0], np.float32),), {"to": ir.DataType.FLOAT8E4M3FN}),
    ("Gather", (MATRIX, np.array([5])), {"axis": 0}),
    ("Reshape", (MATRIX, np.array([5, -1])), {}),
    ("RandomNormalLike", (MATRIX,), {}),
    ("QuantizeLinear", (MATRIX, np.float32(0.1)), {}),
    ("Range", (np.int64(0), np.int64(1 << 40), np.int64(1)), {}),
    ("Range", (np.int64(0), np.int64(5), np.int64(0)), {}),
    ("Add", (np.zeros((4096, 1), np.float32), np.zeros((1, 4096), np.float32)), {}),
])  # fmt: skip
def test_what_the_standard_leaves_open_is_not_folded(
    op_type: str, inputs: tuple[Any, ...], attributes: dict[str, Any]
) -> None:
    assert evaluated(op_type, *inputs, **attributes) is None


def test_types_survive_folding() -> None:
    graph = Graph(dtype=ir.DataType.BFLOAT16)
    x = graph.input("x", [4])
    half = graph.op("Sqrt", np.array(0.25, ml_dtypes.bfloat16))
    graph.op("Mul", x, half)
    results = evaluate(
        graph.nodes[0], [np.array(0.25, ml_dtypes.bfloat16)], opset=17, limit_bytes=9
    )
    assert results is not None
    assert results[0].dtype == ml_dtypes.bfloat16


def test_a_chain_of_constants_is_folded_to_one() -> None:
    graph = Graph()
    x = graph.input("x", [4])
    a = graph.op("Constant", value_float=4.0)
    b = graph.op("Sqrt", graph.op("Add", a, graph.op("Constant", value_floats=[5.0])))
    result = checked(graph.model(graph.op("Mul", x, b)), {"x": samples(4)})
    assert op_types(result.model) == ["Mul"]


def test_a_small_value_is_not_blown_up() -> None:
    graph = Graph()
    x = graph.input("x", [512, 512])
    wide = graph.op("Expand", np.float32(2), np.array([512, 512]))
    three = ir.tensor(np.array([3], np.float32))
    filled = graph.op("ConstantOfShape", np.array([512, 512]), value=three)
    tiled = graph.op("Tile", np.ones((1, 512), np.float32), np.array([512, 1]))
    y = graph.op("Add", graph.op("Add", graph.op("Mul", x, wide), filled), tiled)
    result = checked(graph.model(y), {"x": samples(512, 512)})
    assert {"Expand", "ConstantOfShape", "Tile"} <= set(op_types(result.model))


def test_weights_are_not_read() -> None:
    graph = Graph()
    x = graph.input("x", [2, 600])
    weight = graph.op("Transpose", samples(600, 600))
    result = checked(
        graph.model(graph.op("MatMul", x, weight)), {"x": samples(2, 600)}, tolerance=1e-3
    )
    assert op_types(result.model) == ["Transpose", "MatMul"]


@pytest.mark.parametrize(("rows", "left"), [(64, ["Cast", "MatMul"]), (4, ["MatMul"])])
def test_weights_in_bf16_stay_half_as_large(rows: int, left: list[str]) -> None:
    g = Graph()
    x = g.input("x", [2, rows])
    stored = g.constant(samples(rows, 64).astype(ml_dtypes.bfloat16))
    wide = g.op("Cast", stored, to=int(ir.DataType.FLOAT))
    wide.dtype = ir.DataType.FLOAT
    result = checked(g.model(g.op("MatMul", x, wide)), {"x": samples(2, rows)})
    assert op_types(result.model) == left


def test_what_is_an_output_stays_computed() -> None:
    graph = Graph()
    graph.input("x", [2])
    model = graph.model(graph.op("Sqrt", np.float32(4)))
    assert op_types(checked(model, {"x": samples(2)}).model) == ["Sqrt"]


def test_random_numbers_stay_random() -> None:
    graph = Graph()
    x = graph.input("x", [2])
    first, second = (graph.op("RandomNormalLike", np.zeros(2, np.float32)) for _ in range(2))
    zero = graph.op("Mul", graph.op("Sub", first, second), 0.0)
    result = checked(graph.model(graph.op("Add", x, zero)), {"x": samples(2)})
    assert op_types(result.model).count("RandomNormalLike") == 2


def test_branches_are_folded_with_constants_from_outside() -> None:
    graph = Graph()
    x = graph.input("x", [4])
    flag = graph.input("flag", [], ir.DataType.BOOL)
    two = graph.constant(2.0)
    branches = {}
    for name in ("then_branch", "else_branch"):
        root = ir.node("Sqrt", [two], name=f"{name}_root")
        scaled = ir.node("Mul", [x, root.outputs[0]], name=f"{name}_mul")
        root.outputs[0].name, scaled.outputs[0].name = f"{name}_a", f"{name}_b"
        branches[name] = ir.Graph([], scaled.outputs, nodes=[root, scaled], name=name)
    model = graph.model(graph.op("If", flag, **branches))
    result = checked(model, {"x": samples(4), "flag": np.array(True)})
    body = result.model.graph.node(0).attributes["then_branch"].as_graph()
    assert [node.op_type for node in body] == ["Mul"]


@pytest.mark.parametrize(("elements", "whole"), [((), None), ((7,), 7)])
def test_a_number_that_has_no_element_is_left_alone(
    elements: tuple[int, ...], whole: int | None
) -> None:
    graph = Graph()
    number = graph.op("Cast", graph.input("x", (), I64), to=int(I64))
    number.dtype = I64
    claimed: Any = SimpleNamespace(elements=lambda _: elements, of=lambda _: ())
    found = _counted_out(graph.nodes[0], claimed)
    assert (None if found is None else int(found)) == whole
