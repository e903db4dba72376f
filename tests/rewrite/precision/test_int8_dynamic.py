from __future__ import annotations

from collections import Counter

import numpy as np
import onnx
import onnx_ir as ir
import onnxruntime
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from burnish.core.arrays import Array
from burnish.core.errors import ModelError, UsageError
from burnish.rewrite.options import Operators, Precision
from burnish.rewrite.precision import bits_for, convert
from burnish.rewrite.precision.int8_dynamic import in_int8
from burnish.rewrite.precision.weights import Bits
from rewriting import Graph, samples

CONTRIB = "com.microsoft"
FORMS: tuple[Operators, ...] = ("auto", "standard")


def outputs(model: ir.Model, **feeds: Array) -> list[Array]:
    content = ir.to_proto(model).SerializeToString()
    session = onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"])
    found: list[Array] = session.run(None, feeds)
    return found


def far(model: ir.Model, changed: ir.Model, **feeds: Array) -> float:
    """Return the largest difference in the largest magnitude, over all outputs."""
    pairs = zip(outputs(model, **feeds), outputs(changed, **feeds), strict=True)
    return max(float(np.abs(a - b).max() / np.abs(a).max()) for a, b in pairs)


def operators(model: ir.Model) -> Counter[str]:
    return Counter(node.op_type for node in model.graph)


def layer(*, opset: int = 17) -> ir.Model:
    """Return two products that read one value, and one that reads another."""
    g = Graph(opset=opset)
    x = g.input("x", ["batch", 32])
    left = g.op("Add", g.op("MatMul", x, samples(32, 16)), samples(16))
    right = g.op("MatMul", x, samples(32, 16, seed=1))
    both = g.op("Tanh", g.op("Add", left, right))
    last = g.op("Gemm", both, samples(8, 16), samples(8), transB=1, alpha=0.5)
    last.shape = ir.Shape(["batch", 8])
    return g.model(last)


def chain() -> ir.Model:
    """Return a product with its bias behind it, which two products and an output read."""
    g = Graph(opset=17)
    x = g.input("x", ["batch", 32])
    first = g.op("Add", g.op("MatMul", x, samples(32, 32)), samples(32))
    first.shape = ir.Shape(["batch", 32])
    left = g.op("Add", samples(8), g.op("MatMul", first, samples(32, 8, seed=1)))
    right = g.op("MatMul", first, samples(32, 8, seed=2))
    last = g.op("Add", left, right)
    last.shape = ir.Shape(["batch", 8])
    return g.model(first, last)


@pytest.mark.parametrize("precision", ["int8", "int4"])
@pytest.mark.parametrize("ops", FORMS)
def test_what_a_product_and_its_bias_give_keeps_its_name_and_readers(
    ops: Operators, precision: Precision
) -> None:
    model = chain()
    found = convert(model, precision, ops=ops).model
    assert [value.name for value in found.graph.outputs] == [
        value.name for value in model.graph.outputs
    ]
    names = {node.name for node in model.graph if node.op_type == "MatMul"}
    assert names <= {node.name for node in found.clone().graph}
    bound = 0.03 if precision == "int8" else 0.3
    assert far(model, found, x=samples(5, 32, seed=3)) < bound


@pytest.mark.parametrize("ops", FORMS)
def test_products_become_those_of_integers_and_stay_near(ops: Operators) -> None:
    model = layer()
    found = convert(model, "int8", ops=ops)
    kinds = operators(found.model)
    assert not kinds & Counter(["MatMul", "Gemm"])
    assert kinds["DynamicQuantizeLinear"] == (1 if ops == "auto" else 2), "once for each value"
    if ops == "auto":
        assert kinds["MatMulIntegerToFloat"] == 2
        assert kinds["DynamicQuantizeMatMul"] == 1
        assert kinds["Add"] == 1, "the bias went into the product"
    else:
        assert {node.domain for node in found.model.graph} == {""}
    assert far(model, found.model, x=samples(3, 32, seed=5)) < 0.02
    assert len(found.report.changed) == 3
    assert found.report.how == "dynamic, per channel, 8 bits"


def test_the_argument_is_untouched() -> None:
    model = layer()
    before = ir.to_proto(model).SerializeToString()
    convert(model, "int8")
    assert ir.to_proto(model).SerializeToString() == before


@pytest.mark.parametrize(("flags", "bits"), [(("avx512_vnni",), 8), (("avx2",), 7), ((), 7)])
def test_weights_keep_a_bit_free_where_sums_would_saturate(
    flags: tuple[str, ...], bits: Bits
) -> None:
    assert bits_for(flags) == bits
    found = convert(layer(), "int8", bits=bits)
    largest = max(
        int(np.abs(value.const_value.numpy().astype(int)).max())
        for value in found.model.graph.initializers.values()
        if value.const_value is not None and value.const_value.dtype == ir.DataType.INT8
    )
    assert largest == {7: 64, 8: 127}[bits]


def attention(*, past: bool = False, bias: Array | None = None) -> ir.Model:
    g = Graph()
    x = g.input("x", ["batch", "sequence", 16])
    inputs: list[object] = [x, samples(16, 48) / 4, bias, None]
    if past:
        inputs.append(g.input("past", [2, "batch", 4, "past", 4]))
    made = g.ops(
        "Attention", *inputs, domain=CONTRIB, outputs=2 if past else 1, num_heads=4,  # type: ignore[arg-type]
        unidirectional=1,
    )  # fmt: skip
    made[0].shape = ir.Shape(["batch", "sequence", 16])
    if past:
        made[1].shape = ir.Shape([2, "batch", 4, "total", 4])
    return g.model(*made)


@pytest.mark.parametrize("past", [False, True])
@pytest.mark.parametrize("bias", [None, samples(48)])
def test_attention_reaches_the_kernel_of_integers_with_and_without_past(
    past: bool, bias: Array | None
) -> None:
    # ONNX Runtime 1.31.1 crashes on the one of f32 without a bias; zeros mean the same
    model = attention(past=past, bias=np.zeros(48, np.float32) if bias is None else bias)
    found = convert(attention(past=past, bias=bias), "int8")
    assert operators(found.model)["QAttention"] == 1
    feeds = {"x": samples(2, 5, 16, seed=3)}
    if past:
        feeds["past"] = samples(2, 2, 4, 3, 4, seed=4)
    assert far(model, found.model, **feeds) < 0.05


def test_attention_that_has_no_kernel_of_integers_stays_and_says_why() -> None:
    g = Graph()
    x, extra = g.input("x", [1, 5, 16]), g.input("extra", [1, 4, 5, 5])
    made = g.op("Attention", x, samples(16, 48), samples(48), None, None, extra, domain=CONTRIB,
                num_heads=4)  # fmt: skip
    kept = in_int8(g.model(made)).kept
    assert [one.reason for one in kept] == ["QAttention takes no attention_bias"]


def test_tables_are_stored_as_integers_with_a_scale_for_each_row() -> None:
    g = Graph()
    ids = g.input("ids", ["batch"], ir.DataType.INT64)
    table = samples(64, 32) * np.logspace(-3, 3, 64, dtype=np.float32)[:, None]
    rows = g.op("Gather", g.constant(table), ids)
    rows.shape = ir.Shape(["batch", 32])
    model = g.model(rows)
    found = convert(model, "int8")
    ids_fed = np.arange(64)
    (plain,), (integers,) = outputs(model, ids=ids_fed), outputs(found.model, ids=ids_fed)
    assert (np.abs(plain - integers).max(axis=1) <= np.abs(plain).max(axis=1) / 127 / 1.99).all()


@pytest.mark.parametrize(
    ("build", "reason"),
    [
        (lambda g, x: g.op("Conv", g.op("Unsqueeze", x, g.constant(np.array([0]))),
                           samples(4, 2, 3)), "--calibrate DATA"),
        (lambda g, x: g.op("MatMul", x, np.full((8, 4), np.inf, np.float32)), "not finite"),
        (lambda g, x: g.op("MatMul", x, samples(3, 8, 4)), "3 axes, not 2"),
        (lambda g, x: g.op("Gemm", x, samples(2, 4), transA=1), "transposed first"),
        (lambda g, x: g.op("Gemm", x, samples(8, 4), samples(2, 4)), "for each column"),
    ],
)  # fmt: skip
def test_what_stays_has_a_reason(build: object, reason: str) -> None:
    g = Graph()
    assert callable(build)
    special = build(g, g.input("x", [2, 8]))
    found = in_int8(g.model(special, g.op("MatMul", g.input("z", [1, 4]), samples(4, 4))))
    (kept,) = found.kept
    assert reason in kept.reason


@pytest.mark.parametrize("name", ["MatMul", "MatMul_*", "[MG]*"])
def test_what_the_user_names_stays(name: str) -> None:
    model = layer()
    for number, node in enumerate(model.graph):
        node.name = f"{node.op_type}_{number}"
    found = in_int8(model, keep=[name])
    assert {one.reason for one in found.kept} == {"asked for"}
    assert operators(found.model)["MatMul"] == 2


def test_a_name_that_is_not_there_is_refused() -> None:
    with pytest.raises(UsageError) as raised:
        convert(layer(), "int8", keep=["Matmul"])
    assert "--keep-fp32: the model has no operator and no node 'Matmul'" in str(raised.value)


def test_bodies_of_branches_are_quantised_too() -> None:
    text = """<ir_version: 10, opset_import: ["": 17]> g (float[2,4] x, bool c) => (float[2,4] y)
    <float[4,4] w = {1,0,0,0, 0,2,0,0, 0,0,3,0, 0,0,0,4}> {
      y = If(c) <then_branch = a () => (float[2,4] p) { p = MatMul(x, w) },
                 else_branch = b () => (float[2,4] q) { q = Identity(x) }>
    }"""
    model = ir.from_proto(onnx.parser.parse_model(text))
    found = convert(model, "int8")
    assert len(found.report.changed) == 1
    x = samples(2, 4)
    assert far(model, found.model, x=x, c=np.array(True)) < 0.02


def test_a_model_in_which_nothing_is_quantised_is_refused() -> None:
    g = Graph()
    with pytest.raises(ModelError) as raised:
        convert(g.model(g.op("Tanh", g.input("x", [2]))), "int8")
    assert f"{raised.value.problem}; {raised.value.hint}" == (
        "nothing in the model can be quantised: it multiplies by no constant weights; "
        "leave -p int8 away"
    )


@pytest.mark.parametrize("precision", ["int8", "int4"])
def test_products_in_functions_are_quantised(precision: Precision) -> None:
    text = """<ir_version: 10, opset_import: ["" : 20, "a" : 1]>
    g (float[2, 2] x) => (float[2, 2] y) <float[2, 2] w = {1.0, 2.0, -3.0, 4.0}> {y = a.f(x, w)}
    <domain: "a", opset_import: ["" : 20]> f (x, w) => (y) {y = MatMul(x, w)}"""
    found = convert(ir.from_proto(onnx.parser.parse_model(text)), precision)
    assert [one.op_type for one in found.report.changed] == ["MatMul"]


def test_large_weights_are_turned_into_integers_when_they_are_written() -> None:
    g = Graph()
    weights = samples(1024, 512)
    found = convert(g.model(g.op("MatMul", g.input("x", [1, 1024]), weights)), "int8")
    integers = [
        value.const_value
        for value in found.model.graph.initializers.values()
        if value.dtype == ir.DataType.INT8
    ]
    assert [type(tensor) for tensor in integers] == [ir.LazyTensor]


@settings(max_examples=25, deadline=None)
@given(
    rows=st.integers(1, 5), depth=st.integers(1, 40), columns=st.integers(1, 9),
    seed=st.integers(0, 99), bits=st.sampled_from([7, 8]),
)  # fmt: skip
def test_an_error_is_never_beyond_what_two_roundings_allow(
    rows: int, depth: int, columns: int, seed: int, bits: Bits
) -> None:
    g = Graph()
    weights, x = samples(depth, columns, seed=seed), samples(rows, depth, seed=seed + 1)
    model = g.model(g.op("MatMul", g.input("x", [rows, depth]), weights))
    (plain,), (found,) = (
        outputs(model, x=x), outputs(convert(model, "int8", bits=bits).model, x=x)
    )  # fmt: skip
    step_x = (max(x.max(), 0) - min(x.min(), 0)) / 255
    step_w = np.abs(weights).max(axis=0) / {7: 64, 8: 127}[bits]
    # each x is off by a step at most (its zero is rounded too), each weight by half a step
    bound = step_x * np.abs(weights).sum(0) + (np.abs(x).sum(1)[:, None] + depth * step_x) * step_w
    assert (np.abs(plain - found) <= bound * 1.01 + 1e-5).all()
