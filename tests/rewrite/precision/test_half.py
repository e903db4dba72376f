"""Models in f16: what becomes f16, what stays, and that the numbers are nearly the same."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import onnx
import onnx_ir as ir
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from burnish.core.errors import ModelError, UsageError
from burnish.rewrite.precision import convert
from burnish.rewrite.precision.half import Halved, in_half
from burnish.rewrite.precision.half_types import BF16, FP16
from rewriting import Graph, op_types, run, samples

HALF, FULL = ir.DataType.FLOAT16, ir.DataType.FLOAT


def linear(g: Graph, x: ir.Value, size: int = 8) -> ir.Value:
    weight = samples(size, size, seed=1) / size
    return g.op("Add", g.op("MatMul", x, weight), samples(size, seed=2))


def plain() -> ir.Model:
    g = Graph()
    return g.model(g.op("Relu", linear(g, g.input("x", ["batch", 8]))))


def reasons(found: Halved) -> dict[str, str]:
    return {kept.op_type: kept.reason for kept in found.kept}


def test_everything_becomes_f16_inputs_and_outputs_too() -> None:
    found = in_half(plain())
    graph = found.model.graph
    assert op_types(found.model) == ["MatMul", "Add", "Relu"]
    assert {value.dtype for value in (*graph.inputs, *graph.outputs)} == {HALF}
    assert {value.dtype for value in graph.initializers.values()} == {HALF}
    assert found.kept == ()
    x = samples(3, 8)
    (wide,), (narrow,) = run(plain(), {"x": x}), run(found.model, {"x": x.astype(np.float16)})
    np.testing.assert_allclose(narrow.astype(np.float32), wide, rtol=1e-2, atol=1e-2)


def test_inputs_and_outputs_can_stay_as_they_are() -> None:
    found = in_half(plain(), edges="keep")
    graph = found.model.graph
    assert op_types(found.model) == ["Cast", "MatMul", "Add", "Relu", "Cast"]
    assert [value.dtype for value in (*graph.inputs, *graph.outputs)] == [FULL, FULL]
    assert [value.name for value in graph.outputs] == ["out0"]
    x = samples(3, 8)
    np.testing.assert_allclose(
        run(found.model, {"x": x})[0], run(plain(), {"x": x})[0], rtol=1e-2, atol=1e-2
    )


def test_the_argument_is_untouched() -> None:
    model = plain()
    before = ir.serde.serialize_model(model).SerializeToString()
    in_half(model)
    assert ir.serde.serialize_model(model).SerializeToString() == before


def test_what_the_user_names_stays_and_passes_casts_once() -> None:
    for name in ("MatMul", "matmul_0"):
        found = in_half(plain(), keep=[name])
        assert op_types(found.model) == ["Cast", "MatMul", "Cast", "Add", "Relu"]
        assert reasons(found) == {"MatMul": "asked for"}


def test_a_name_that_is_not_there_is_refused() -> None:
    with pytest.raises(UsageError, match="no operator and no node 'MatMull'") as caught:
        in_half(plain(), keep=["MatMull"])
    assert "did you mean 'MatMul'" in caught.value.hint


def _range(g: Graph) -> ir.Value:
    ends = [g.constant(np.array(number, np.float32)) for number in (0, 4, 1)]
    return g.op("Range", *ends)


def _angle(g: Graph) -> ir.Value:
    positions = g.op("Cast", g.input("positions", [1, 4], ir.DataType.INT64), to=int(FULL))
    return g.op("Sin", g.op("Mul", positions, g.constant([0.5])))


def _norm(g: Graph) -> ir.Value:
    x = g.input("y", [2, 4])
    variance = g.op("ReduceMean", g.op("Mul", x, x), axes=[-1])
    return g.op("Div", x, g.op("Sqrt", g.op("Add", variance, g.constant([1e-12]))))


@pytest.mark.parametrize(
    ("build", "kept", "reason"),
    [
        (_range, {"Range"}, "Range takes no fp16 in opset 17"),
        (_angle, {"Cast", "Mul", "Sin"}, "angles beyond 6"),
        (_norm, {"Mul", "ReduceMean", "Add", "Sqrt", "Div"}, "leave the range|is 0 in fp16"),
        (lambda g: g.op("Add", g.input("y", [4]), g.constant([1e-9])), {"Add"}, "1e-09 is 0"),
        (lambda g: g.op("CumSum", g.input("y", [4]), np.array(0)), {"CumSum"}, "counts"),
        (lambda g: g.op("Gelu", g.input("y", [4]), domain="com.microsoft"), {"Gelu"}, "f32 kernel"),
        (lambda g: g.op("Own", g.input("y", [4]), domain="mine"), {"Own"}, "about .* of 'mine'"),
        (lambda g: g.op("Unheard", g.input("y", [4]), domain="com.microsoft"), {"Unheard"},
         "not in the table of kernels"),
    ],
)  # fmt: skip
def test_what_f16_would_make_wrong_or_slow_stays_and_says_why(
    build: Callable[[Graph], ir.Value], kept: set[str], reason: str
) -> None:
    g = Graph()
    special = build(g)
    special.type = ir.TensorType(FULL)
    found = in_half(g.model(special, g.op("Relu", linear(g, g.input("x", [2, 8])))))
    assert set(reasons(found)) == kept
    for why in reasons(found).values():
        assert re.search(reason, why)
    assert "Relu" not in reasons(found)


@pytest.mark.parametrize(("reduction", "kept"), [("add", {"ScatterElements"}), ("none", set())])
def test_updates_that_are_combined_stay(reduction: str, kept: set[str]) -> None:
    g = Graph()
    x = g.op("Relu", g.input("x", [3, 4]))
    places = g.input("i", [5, 4], ir.DataType.INT64)
    update = g.op("Relu", g.input("u", [5, 4]))
    sent = g.op("ScatterElements", x, places, update, axis=0, reduction=reduction)
    found = in_half(g.model(g.op("Relu", sent)))
    assert set(reasons(found)) == kept
    for why in reasons(found).values():
        assert why == "what several updates make of one place is rounded at each of them"
    feeds = {"x": samples(3, 4, dtype=np.float16), "u": samples(5, 4, dtype=np.float16),
             "i": np.tile([[0], [1], [2], [1], [0]], 4)}  # fmt: skip
    assert run(found.model, feeds)[0].dtype == np.float16


def test_angles_of_weights_are_no_reason_to_keep_a_whole_network() -> None:
    g = Graph()
    x = g.op("MatMul", g.input("x", [2, 80]), samples(80, 80))
    found = in_half(g.model(g.op("Sin", x)))
    assert set(reasons(found)) == {"Sin"}


def test_an_input_that_must_be_f32_stays_alone() -> None:
    g = Graph(opset=18)
    image = g.op("Relu", g.input("x", [1, 1, 2, 2]))
    model = g.model(g.op("Resize", image, None, g.constant([1.0, 1.0, 2.0, 2.0], name="scales")))
    found = in_half(model)
    assert found.kept == ()
    assert found.model.graph.initializers["scales"].dtype == FULL
    assert run(found.model, {"x": samples(1, 1, 2, 2, dtype=np.float16)})[0].dtype == np.float16


def test_types_in_attributes_follow() -> None:
    g = Graph()
    x = g.input("x", [2])
    cast = g.op("Cast", g.input("i", [2], ir.DataType.INT64), to=int(FULL))
    zeros = g.op("ConstantOfShape", g.constant(np.array([2])))
    ones = g.op("ConstantOfShape", g.constant(np.array([2])), value=ir.tensor(np.ones(1, "f4")))
    model = g.model(g.op("Sum", x, cast, zeros, ones))
    found = in_half(model)
    feeds = {"x": np.array([1, 2], np.float16), "i": np.array([3, 4])}
    np.testing.assert_array_equal(run(found.model, feeds)[0], np.array([5, 7], np.float16))


def test_numbers_beyond_the_range_become_its_ends_and_are_told() -> None:
    g = Graph()
    x = g.op("Add", g.input("x", [4]), g.constant([-3.4e38, 1.0, np.inf, 7e4], name="mask"))
    found = in_half(g.model(x))
    (constant,) = found.model.graph.initializers.values()
    assert constant.const_value is not None
    expected = np.array([-FP16.largest, 1.0, np.inf, FP16.largest], np.float16)
    np.testing.assert_array_equal(constant.const_value.numpy(), expected)
    assert found.notes == (
        "the constant 'mask' has numbers beyond 65,504, where fp16 ends; they became its ends",
    )


def test_large_weights_are_converted_when_they_are_written() -> None:
    g = Graph()
    size = 600
    model = g.model(g.op("MatMul", g.input("x", [2, size]), samples(size, size)))
    (weight,) = in_half(model).model.graph.initializers.values()
    assert isinstance(weight.const_value, ir.LazyTensor)
    assert weight.const_value.numpy().dtype == np.float16


def test_bodies_compute_in_fewer_bits_and_take_and_give_f32() -> None:
    g = Graph()
    hidden = g.op("Relu", g.input("x", [2]))
    bodies = []
    for op_type in ("Neg", "Abs"):
        node = ir.node(op_type, [hidden])
        node.outputs[0].name = op_type
        node.outputs[0].type, node.outputs[0].shape = ir.TensorType(FULL), ir.Shape([2])
        bodies.append(ir.Graph([], node.outputs, nodes=[node], name=op_type))
    condition = g.input("c", [], ir.DataType.BOOL)
    chosen = g.op("If", condition, then_branch=bodies[0], else_branch=bodies[1])
    found = in_half(g.model(g.op("Add", hidden, chosen)))
    assert reasons(found) == {"If": "what the graphs of If take and give stays as it is"}
    assert [one.op_type for one in found.changed] == ["Relu", "Neg", "Abs", "Add"]
    feeds = {"x": np.array([1, 2], np.float16), "c": np.array(True)}
    np.testing.assert_array_equal(run(found.model, feeds)[0], np.zeros(2, np.float16))


def test_a_model_without_f32_is_refused() -> None:
    g = Graph(dtype=HALF)
    with pytest.raises(ModelError, match="nothing in the model can become fp16") as caught:
        in_half(g.model(g.op("Relu", g.input("x", [2]))))
    assert caught.value.hint == "leave -p fp16 away"


@pytest.mark.parametrize(("seen", "reason"), [
    (4e4, "values reach 4e+04 on the inputs tried; fp16 ends at 65,504"),
    (1e-7, "values reach 1e-07 at most on the inputs tried, where fp16 has few bits"),
])  # fmt: skip
def test_what_was_seen_to_leave_the_range_stays_with_all_that_reads_it(
    seen: float, reason: str
) -> None:
    model = plain()
    product = next(node for node in model.graph if node.op_type == "MatMul")
    found = in_half(model, magnitudes={product.outputs[0].name or "": seen})
    assert reasons(found) == {"MatMul": reason, "Add": reason}
    assert reasons(in_half(model, magnitudes={product.outputs[0].name or "": 100.0})) == {}


def test_a_factor_beyond_the_range_keeps_its_node_and_a_mask_does_not() -> None:
    g = Graph()
    x = g.input("x", [4])
    found = in_half(g.model(g.op("Add", g.op("Mul", x, g.constant([1e6])), g.constant([-1e9]))))
    assert reasons(found) == {"Mul": "its constant 1e+06 is beyond 65,504, where fp16 ends"}


def test_bf16_has_the_range_of_f32_and_its_own_constants() -> None:
    g = Graph()
    x = g.input("x", [4])
    model = g.model(g.op("ReduceL2", g.op("Mul", x, g.constant([1e6])), keepdims=0))
    found = in_half(model, BF16, target="cuda")
    assert found.kept == ()
    graph = found.model.graph
    values = (*graph.inputs, *graph.outputs, *graph.initializers.values())
    assert {value.dtype for value in values} == {ir.DataType.BFLOAT16}


def test_what_functions_stand_for_computes_in_fewer_bits() -> None:
    text = """<ir_version: 10, opset_import: ["" : 20, "a" : 1]>
    g (float[2] x) => (float[2] y) {z = a.f(x) y = a.f(z)}
    <domain: "a", opset_import: ["" : 20]> f (x) => (y) {y = Tanh(x)}"""
    model = ir.from_proto(onnx.parser.parse_model(text))
    found = convert(model, "fp16")
    assert [node.op_type for node in found.model.graph] == ["Tanh", "Tanh"]
    assert len(found.report.changed) == 2
    assert model.functions, "the argument is left as it is"


def test_a_function_that_cannot_be_written_out_is_refused() -> None:
    text = """<ir_version: 10, opset_import: ["" : 20, "a" : 1]>
    g (float[2] x) => (float[2] y) {y = a.f(x)}
    <domain: "a", opset_import: ["" : 9]> f (x) => (y) {y = Softmax(x)}"""
    with pytest.raises(ModelError, match="the function a::f cannot be put in place") as caught:
        convert(ir.from_proto(onnx.parser.parse_model(text)), "fp16")
    assert caught.value.hint == "export the model again without functions"


OPERATORS = ("Relu", "Tanh", "Sigmoid", "Abs", "Neg", "Softmax", "Sin", "Identity")


@settings(max_examples=25, deadline=None)
@given(
    chain=st.lists(st.sampled_from(OPERATORS), min_size=1, max_size=6),
    keep=st.sets(st.sampled_from(OPERATORS)),
    edges=st.sampled_from(["keep", "convert"]),
)
def test_whatever_stays_the_result_runs_and_is_close(
    chain: list[str], keep: set[str], edges: str
) -> None:
    g = Graph()
    x = g.input("x", [3, 8])
    value = linear(g, x)
    for op_type in chain:
        value = g.op("Add", g.op(op_type, value), x)
    model = g.model(value)
    kept = sorted(keep & set(chain))
    found = in_half(model, keep=kept, edges="keep" if edges == "keep" else "convert")
    feeds = samples(3, 8)
    (wide,) = run(model, {"x": feeds})
    own = feeds if edges == "keep" else feeds.astype(np.float16)
    (narrow,) = run(found.model, {"x": own})
    assert narrow.dtype == (np.float32 if edges == "keep" else np.float16)
    np.testing.assert_allclose(narrow.astype(np.float32), wide, rtol=3e-2, atol=3e-2)
    assert {*kept, *({"Sin"} & set(chain))} <= {item.op_type for item in found.kept}


def test_a_single_number_stays_one() -> None:
    text = """<ir_version: 10, opset_import: ["": 20]>
    g (float[n] x) => (float[n] y) <float two = {2.5}> { y = Mul(x, two) }"""
    model = ir.from_onnx_text(text)
    made = in_half(model).model
    constants = [v for v in made.graph.initializers.values() if v.const_value is not None]
    assert [each.const_value.shape.rank() for each in constants if each.const_value] == [0]
