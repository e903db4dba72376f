"""The laws of rewriting: the argument stays, the interface stays, and twice is once."""

from __future__ import annotations

import numpy as np
import onnx
import onnx_ir as ir
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rewrite_speed import encoder

from burnish.core.errors import ModelError, UsageError
from burnish.rewrite.options import OptimizeOptions
from burnish.rewrite.pipeline import operators, optimize
from rewriting import Graph, checked, op_types, samples


def interface(model: ir.Model) -> list[str]:
    values = (*model.graph.inputs, *model.graph.outputs)
    return [f"{value.name} {value.type} {value.shape}" for value in values]


def test_an_encoder_is_fused_and_computes_the_same() -> None:
    model = encoder(2)
    result = checked(model, {"x": samples(2, 5, 16)}, tolerance=1e-4, only=("layer-norm", "gelu"))
    assert result.report.fusion_counts == {"layer-norm": 4, "gelu": 2}
    assert result.report.nodes_before == len(model.graph)
    assert result.report.nodes_after == len(result.model.graph) < result.report.nodes_before / 2
    assert result.report.operators_after == operators(result.model)
    assert result.report.misses == ()
    onnx.checker.check_model(ir.serde.serialize_model(result.model))


def test_inputs_and_outputs_keep_names_types_and_shapes() -> None:
    model = encoder(1)
    assert interface(optimize(model).model) == interface(model)


def test_inputs_that_nobody_reads_stay() -> None:
    graph = Graph()
    x = graph.input("x", [4])
    graph.input("unused", [2])
    result = checked(graph.model(graph.op("Relu", x)), {"x": samples(4), "unused": samples(2)})
    assert [value.name for value in result.model.graph.inputs] == ["x", "unused"]


def test_weights_are_shared_with_the_original() -> None:
    graph = Graph()
    x = graph.input("x", [2, 64])
    weight = graph.constant(samples(64, 64), "weight")
    model = graph.model(graph.op("MatMul", x, weight))
    rewritten = optimize(model).model
    assert rewritten.graph.initializers["weight"].const_value is weight.const_value


def test_a_fused_node_says_which_rule_made_it_and_from_what() -> None:
    model = optimize(encoder(1), OptimizeOptions(only=("gelu",))).model
    node = next(node for node in model.graph if node.op_type == "Gelu")
    assert node.metadata_props["burnish.rule"] == "gelu"
    assert node.metadata_props["burnish.replaced"].startswith('["Div_')
    assert node.name is not None
    assert node.name.endswith("/Gelu")


def test_a_disabled_rule_does_not_fire() -> None:
    report = optimize(encoder(1), OptimizeOptions(disable=("gelu",))).report
    assert report.fusion_counts["layer-norm"] == 2
    assert "gelu" not in report.fusion_counts


def test_only_the_rules_asked_for_fire() -> None:
    report = optimize(encoder(1), OptimizeOptions(only=("gelu",))).report
    assert report.fusion_counts == {"gelu": 1}


def test_a_disabled_step_does_not_run() -> None:
    options = OptimizeOptions(only=("layer-norm",), disable=("lift-constants",))
    result = optimize(encoder(1), options)
    assert "Constant" in op_types(result.model)
    assert result.report.fusion_counts["layer-norm"] == 2


@pytest.mark.parametrize(("options", "problem"), [
    (OptimizeOptions(disable=("gelo",)), "--disable: there is no rule or step 'gelo'"),
    (OptimizeOptions(only=("simplify",)), "--only: there is no rule or step 'simplify'"),
])  # fmt: skip
def test_an_unknown_name_is_answered_with_known_ones(
    options: OptimizeOptions, problem: str
) -> None:
    with pytest.raises(UsageError) as caught:
        optimize(encoder(1), options)
    assert caught.value.problem == problem
    assert "gelu" in caught.value.hint


def test_every_change_is_shown_to_an_observer() -> None:
    stages: list[str] = []
    optimize(encoder(1), observer=lambda stage, _: stages.append(stage))
    assert stages[:2] == ["lift-constants", "infer-shapes"]
    assert "fusions" in stages


FUNCTION = """
<ir_version: 10, opset_import: ["" : 17, "local" : 1]>
g (float[2, 4] x) => (float[2, 4] y) { y = local.Half(x) }
<domain: "local", opset_import: ["" : OPSET]>
Half (a) => (b) { c = Constant<value_float = 0.5>()  b = Mul(a, c) }
"""


def test_functions_are_inlined() -> None:
    model = ir.from_onnx_text(FUNCTION.replace("OPSET", "17"))
    result = checked(model, {"x": samples(2, 4)})
    assert op_types(result.model) == ["Mul"]
    assert not result.model.functions
    assert "local" not in result.model.opset_imports


def test_functions_are_kept_if_asked_for() -> None:
    model = ir.from_onnx_text(FUNCTION.replace("OPSET", "17"))
    result = checked(model, {"x": samples(2, 4)}, keep_functions=True)
    assert op_types(result.model) == ["Half"]
    assert result.report.notes == ()


def test_functions_of_another_opset_with_the_same_operators_are_inlined() -> None:
    model = ir.from_onnx_text(FUNCTION.replace("OPSET", "16"))
    assert op_types(checked(model, {"x": samples(2, 4)}).model) == ["Mul"]


def test_functions_of_another_opset_are_kept_and_named() -> None:
    model = ir.from_onnx_text(FUNCTION.replace("OPSET", "12"))
    result = optimize(model)
    assert op_types(result.model) == ["Half"]
    assert result.report.notes == (
        (
            "the function local::Half was kept as it is: it needs other operator versions than the"
            " model, or takes a graph"
        ),
    )


def test_constants_of_very_old_models_are_no_inputs() -> None:
    graph = Graph()
    x = graph.input("x", [4])
    half = graph.constant(0.5, "half")
    model = graph.model(graph.op("Mul", x, half))
    model.graph.inputs.append(half)
    model.ir_version = 3
    result = optimize(model)
    assert [value.name for value in result.model.graph.inputs] == ["x"]
    assert result.model.ir_version >= 4


def test_a_graph_that_reads_what_is_nowhere_is_refused() -> None:
    graph = Graph()
    x = graph.input("x", [4])
    first = graph.op("Relu", x)
    model = graph.model(graph.op("Exp", first))
    relu = model.graph.node(0)
    model.graph.remove(relu)
    model.graph.append(relu)
    with pytest.raises(ModelError) as caught:
        optimize(model)
    assert caught.value.problem.startswith("the graph 'test' cannot be followed: ")
    assert "onnx.checker" in caught.value.hint


def test_nodes_and_values_without_names_get_some() -> None:
    graph = Graph()
    x = graph.input("x", [4])
    for _ in range(3):
        x = graph.op("Exp", graph.op("Neg", x))
    model = graph.model(x)
    for node in model.graph:
        node.name = ""
    result = checked(model, {"x": samples(4)})
    names = [node.name for node in result.model.graph]
    assert len(set(names)) == 6
    assert all(names)


@st.composite
def random_models(draw: st.DrawFn) -> ir.Model:
    """Return a chain of operators that each step and rule may have something to say about."""
    graph = Graph(opset=draw(st.sampled_from([13, 17, 18, 20])))
    values = [graph.input("x", ["batch", 4, 8])]
    for _ in range(draw(st.integers(1, 14))):
        x = draw(st.sampled_from(values))
        kind = draw(st.sampled_from(["one", "number", "two", "shape", "perm", "cast", "constant"]))
        if kind == "one":
            op_type = draw(st.sampled_from(["Relu", "Identity", "Erf", "Tanh", "Neg", "Dropout"]))
            values.append(graph.op(op_type, x))
        elif kind == "number":
            op_type = draw(st.sampled_from(["Add", "Mul", "Sub", "Div"]))
            number = draw(st.sampled_from([0.5, 1.0, 2.0, np.ones(8), np.full((1, 1), 0.5)]))
            values.append(graph.op(op_type, x, number))
        elif kind == "two":
            values.append(graph.op("Add", x, draw(st.sampled_from(values))))
        elif kind == "shape":
            flat = graph.op("Reshape", x, np.array([-1, 32]))
            values.append(graph.op("Reshape", flat, np.array([-1, 4, 8])))
        elif kind == "perm":
            perm = draw(st.permutations(range(3)))
            moved = graph.op("Transpose", x, perm=perm)
            values.append(graph.op("Transpose", moved, perm=[perm.index(i) for i in range(3)]))
        elif kind == "cast":
            wide = graph.op("Cast", x, to=ir.DataType.DOUBLE)
            values.append(graph.op("Cast", wide, to=ir.DataType.FLOAT))
        else:
            constant = graph.op("Sqrt", graph.op("Constant", value_float=4.0))
            values.append(graph.op("Mul", x, constant))
    outputs = {graph.op("Relu", values[-1]), draw(st.sampled_from(values[1:]))}
    return graph.model(*outputs)


@settings(max_examples=60, deadline=None)
@given(random_models())
def test_any_model_computes_the_same_and_twice_is_once(model: ir.Model) -> None:
    checked(model, {"x": samples(2, 4, 8) / 4}, tolerance=1e-4)
