from __future__ import annotations

import re

import numpy as np
import onnx_ir as ir
import pytest
from onnx import parser

from burnish.core.errors import ModelError
from burnish.rewrite.static import static
from burnish.tile.expr import Constant
from burnish.tile.graph import TensorType
from burnish.tile.lower import constant, cover, lower, node_of, tensor_type
from burnish.tile.reference import evaluate
from burnish.tile.semantics import NestBuilder, NotCoveredError, axes_for


def model(text: str, opset: int = 21) -> ir.Model:
    """Return a static model from ONNX's own text."""
    head = f'<ir_version: 10, opset_import: ["": {opset}, "com.microsoft": 1, "mine": 1]>'
    return static(ir.serde.deserialize_model(parser.parse_model(head + text)), {})


def nodes(graph: ir.Graph, *names: str) -> list[ir.Node]:
    return [node for node in graph if node.op_type in names]


CHAIN = """chain (float[2, 3] x) => (float[2, 3] y) {
    a = Relu(x)
    b = Exp(a)
    c = Tanh(b)
    y = Add(a, c)
}"""


def test_a_whole_graph_is_lowered_and_gives_its_outputs() -> None:
    found = lower(list(model(CHAIN).graph)).graph
    x = np.array([[-1, 0, 1], [2, -2, 0.5]], np.float32)
    relu = np.maximum(x, 0)
    np.testing.assert_allclose(
        evaluate(found, {"x": x})["y"], relu + np.tanh(np.exp(relu)), rtol=1e-6
    )


def test_a_region_reads_from_outside_and_gives_what_is_read_outside() -> None:
    graph = model(CHAIN).graph
    found = lower(nodes(graph, "Relu", "Exp"))
    assert found.graph.inputs == ("x",)
    assert found.graph.outputs == ("a", "b")
    assert len(found.nodes) == 2
    rest = lower(nodes(graph, "Tanh", "Add")).graph
    assert set(rest.inputs) == {"a", "b"}
    assert rest.outputs == ("y",)


def test_nests_know_the_nodes_whose_work_they_do() -> None:
    graph = model(CHAIN).graph
    lowered = lower(list(graph))
    assert tuple(op.nodes for op in lowered.graph.ops) == tuple((node.name,) for node in graph)
    assert lowered.nodes == tuple(node.name for node in graph)


def test_an_output_of_another_shape_than_the_model_says_is_told_with_both() -> None:
    builder = NestBuilder({}, {}, wanted={"y": TensorType("f16", (2, 5))})
    told = "its output 'y' is f16[2, 5] in the model, and comes out as f32[5, 2]"
    with pytest.raises(NotCoveredError, match=re.escape(told)):
        builder.add("y", axes_for((5, 2)), [], Constant(0.0, "f32"))


def test_only_constants_that_nests_read_are_kept() -> None:
    graph = model("""moved (float[2, 3] x) => (float[3, 2] y)
        <int64[2] shape = {3, 2}, float[3] bias = {1.0, 2.0, 3.0}> {
        a = Add(x, bias)
        y = Reshape(a, shape)
    }""").graph
    assert set(lower(list(graph)).graph.constants) == {"bias"}


def test_an_input_that_no_nest_reads_is_no_input() -> None:
    graph = model("""typed (float[2] x, int64[1] like) => (int64[2] y) {
        y = CastLike(x, like)
    }""").graph
    assert lower(list(graph)).graph.inputs == ("x",)


def test_what_a_body_reads_is_an_output() -> None:
    graph = model("""branched (float[2] x, bool asked) => (float[2] y) {
        a = Relu(x)
        b = Exp(a)
        y = If (asked) <
            then_branch = one () => (float[2] t) { t = Neg(a) },
            else_branch = other () => (float[2] e) { e = Identity(b) }
        >
    }""").graph
    found = lower(nodes(graph, "Relu", "Exp")).graph
    assert found.outputs == ("a", "b")
    assert cover(graph).left == {"if_2": "the operator If has no tile semantics"}


def test_outputs_that_nobody_reads_are_not_asked_for() -> None:
    graph = model("""dropped (float[2] x) => (float[2] y) {
        d, mask = Dropout(x)
        y = Neg(d)
    }""").graph
    assert node_of(graph[0]).outputs == ("d", "")
    assert len(lower(list(graph)).graph.ops) == 2


def test_coverage_names_each_node_that_is_left_and_why() -> None:
    graph = model("""mixed (float[2, 3] x, int64[1] axes, string[1] text) => (float[2] s, int64 n) {
        r = Relu(x)
        s = ReduceSum(r, axes)
        found = NonZero(x)
        twice = Add(found, found)
        n = Size(twice)
        q = mine.Special(x)
        t = Identity(text)
    }""").graph
    covered = cover(graph)
    by_type = {node.name: node.op_type for node in graph}
    assert [by_type[name] for name in covered.covered] == ["Relu"]
    assert {by_type[name]: reason for name, reason in covered.left.items()} == {
        "ReduceSum": "which axes it reduces is not a constant",
        "NonZero": "the operator NonZero has no tile semantics",
        "Add": "the shape of 'found' is not known before it is run",
        "Size": "the shape of 'twice' is not known before it is run",
        "Special": "the operator mine.Special has no tile semantics",
        "Identity": "'text' has elements of type STRING",
    }


def test_a_sequence_is_no_dense_tensor() -> None:
    graph = model("""listed (float[2] x) => (float[2] y) {
        s = SequenceConstruct(x)
        t = Identity(s)
        i = Constant <value_int: int = 0> ()
        y = SequenceAt(t, i)
    }""").graph
    (identity,) = nodes(graph, "Identity")
    identity.inputs[0].type = ir.SequenceType(ir.TensorType(ir.DataType.FLOAT))
    assert cover(graph).left[identity.name] == "'s' is not a dense tensor"


def test_lowering_what_is_not_covered_is_an_error_that_names_it() -> None:
    graph = model("""odd (float[2] x) => (int64[1, n] y) { y = NonZero(x) }""").graph
    with pytest.raises(ModelError) as raised:
        lower(list(graph))
    assert raised.value.problem == (
        "node 'nonzero_2' (NonZero) cannot be lowered: the operator NonZero has no tile semantics"
    )
    assert "burnish.tile.lower.cover tells which nodes to take" in raised.value.hint


def test_attributes_are_python_values() -> None:
    node = ir.node(
        "Some", [ir.Value(name="x")],
        attributes={
            "i": 1, "f": 0.5, "s": "text", "many": [1, 2], "halves": [0.5], "words": ["a", "b"],
            "array": ir.tensor(np.array([1.0, 2.0], np.float32)),
        },
        version=7, name="one",
    )  # fmt: skip
    node.outputs[0].name = "y"
    seen = node_of(node)
    assert (seen.name, seen.op_type, seen.inputs, seen.outputs, seen.opset) == (
        "one", "Some", ("x",), ("y",), 7,
    )  # fmt: skip
    values = dict(seen.attributes)
    np.testing.assert_array_equal(values.pop("array"), np.array([1, 2], np.float32))
    assert values == {
        "i": 1, "f": 0.5, "s": "text", "many": [1, 2], "halves": [0.5], "words": ["a", "b"],
    }  # fmt: skip


def test_an_attribute_that_is_several_graphs_or_a_reference_is_refused() -> None:
    body = ir.Graph([], [], nodes=[], name="body")
    node = ir.Node("", "Some", [], [ir.AttrGraphs("bodies", [body])])
    with pytest.raises(NotCoveredError, match="the attribute 'bodies' is of type GRAPHS"):
        node_of(node)
    reference = ir.RefAttr("alpha", "outer", ir.AttributeType.FLOAT)
    node = ir.Node("", "Some", [], [reference])
    with pytest.raises(NotCoveredError, match="the attribute 'alpha' is that of a function"):
        node_of(node)


def test_a_value_without_a_name_is_an_error() -> None:
    node = ir.node(
        "Relu", [ir.Value(name="x", type=ir.TensorType(ir.DataType.FLOAT), shape=ir.Shape([2]))]
    )
    graph = ir.Graph([node.inputs[0]], [node.outputs[0]], nodes=[node], opset_imports={"": 21})
    graph[0].outputs[0].name = None
    with pytest.raises(ModelError, match="a value of the graph has no name"):
        lower(list(graph))


def test_a_default_that_may_be_overridden_is_no_constant() -> None:
    value = ir.Value(name="w", const_value=ir.tensor(np.ones(2, np.float32), name="w"))
    assert constant(value) is not None
    ir.Graph([value], [], nodes=[], initializers=[value])
    assert constant(value) is None


def test_a_type_is_known_when_all_its_sizes_are() -> None:
    kind = ir.TensorType(ir.DataType.FLOAT)
    assert tensor_type(ir.Value(name="a", type=kind)) is None
    assert tensor_type(ir.Value(name="a", type=kind, shape=ir.Shape(["n", 2]))) is None
    found = tensor_type(ir.Value(name="a", type=kind, shape=ir.Shape([3, 2])))
    assert found is not None
    assert (found.dtype, found.shape) == ("f32", (3, 2))


def test_a_constant_that_is_given_out_is_copied() -> None:
    graph = model("""fixed (float[2] x) => (int64[1] s, float[2] y) {
        s = Shape(x)
        y = Relu(x)
    }""").graph
    found = evaluate(lower(list(graph)).graph, {"x": np.ones(2, np.float32)})
    np.testing.assert_array_equal(found["s"], [2])


@pytest.mark.parametrize(
    "text",
    [
        "g (float[2, 3] x) => (float[3, 2] y) { y = Transpose<perm = [5, 0]>(x) }",
        "g (float[4] x) => (float[4] y) <int64[1] z = {0}> { y = Slice(x, z, z, z, z) }",
        "g (float[2, 3] x, int8[2, 3] w) => (float[2, 3] y) { y = Mul(x, w) }",
        "g (float[2, 3] x) => (float[2] y) <float[5] w = {1, 2, 3, 4, 5}> { y = Gemm(x, w) }",
    ],
)  # fmt: skip
def test_a_node_that_contradicts_itself_is_not_covered(text: str) -> None:
    found = cover(model(text).graph)
    assert not found.covered


@pytest.mark.parametrize("size", [-4, 2**62])
def test_a_tensor_that_fits_no_memory_is_not_covered(size: int) -> None:
    found = cover(
        model(
            f"g (float[4] x) => (float[k] y) <int64[1] s = {{{size}}}> {{ y = Expand(x, s) }}"
        ).graph
    )
    assert not found.covered


def test_a_size_below_zero_is_not_known() -> None:
    value = ir.Value(name="x", type=ir.TensorType(ir.DataType.FLOAT), shape=ir.Shape([-1, 4]))
    assert tensor_type(value) is None


def test_places_are_whole_numbers() -> None:
    text = "g (float[4] x, float[2] places) => (float[2] y) { y = Gather(x, places) }"
    (reason,) = cover(model(text).graph).left.values()
    assert reason == "'places', which holds places, is of no whole numbers"


def test_a_nest_that_breaks_a_law_is_not_covered() -> None:
    text = "g (float[2, 3] x, float[3] w) => (float[2] y) { y = Gemm(x, w) }"
    assert not cover(model(text).graph).covered
