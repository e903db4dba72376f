"""LSTM, GRU and RNN with all steps written out: as NumPy has them, and as ONNX Runtime does."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
import onnx
import onnx_ir as ir
import onnxruntime
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from burnish.codegen.gpu.sequence import simplified
from burnish.core.arrays import Array
from burnish.core.errors import ModelError
from burnish.operators.loops.written_out import MOST_WRITTEN
from burnish.rewrite.static import static
from burnish.tile.lower import cover, lower
from burnish.tile.reference import evaluate
from codegen.recurrent_models import Case


@st.composite
def options(draw: st.DrawFn) -> Case:
    """Return any form of any of the three that is written out."""
    operator = draw(st.sampled_from(["LSTM", "GRU", "RNN"]))
    steps, batch = draw(st.sampled_from([(1, 1), (2, 3), (5, 1), (18, 2)]))
    attributes: dict[str, object] = {"layout": draw(st.integers(0, 1))}
    if draw(st.booleans()):
        attributes["clip"] = 0.4
    if operator == "LSTM" and draw(st.booleans()):
        attributes["input_forget"] = 1
    if operator == "GRU":
        attributes["linear_before_reset"] = draw(st.integers(0, 1))
    every = st.tuples(*[st.booleans()] * (3 if operator == "LSTM" else 2))
    return Case(
        operator, steps, batch, draw(st.integers(1, 5)), draw(st.integers(1, 9)),
        direction=draw(st.sampled_from(["forward", "reverse", "bidirectional"])),
        states=draw(st.booleans()), bias=draw(st.booleans()), fixed=draw(st.booleans()),
        lengths=(steps,) * batch if draw(st.booleans()) else (),
        peepholes=operator == "LSTM" and draw(st.booleans()),
        outputs=draw(every.filter(any)), attributes=attributes,
    )  # fmt: skip


def written(model: ir.Model) -> str:
    """Return why a model's node is not written out; empty: it is."""
    return next(iter(cover(static(model, {}).graph, counts=True).left.values()), "")


@settings(max_examples=60)
@given(options())
def test_all_steps_give_what_numpy_does(case: Case) -> None:
    case = dataclasses.replace(case, fixed=case.fixed or bool(case.lengths))
    feeds = case.feeds(3)
    model, wanted = case.model(), case.expected(feeds if not case.fixed else case.feeds())
    if case.fixed:
        # what is known of lengths and states was drawn with the model
        feeds = {"x": case.feeds()["x"]}
    graph = lower(tuple(static(model, {}).graph), counts=True).graph
    for found in (evaluate(graph, feeds), evaluate(simplified(model), feeds)):
        for name, array in found.items():
            np.testing.assert_allclose(array, wanted[name], rtol=1e-4, atol=2e-5)


@settings(max_examples=25)
@given(options())
def test_all_steps_give_what_onnx_runtime_does(case: Case) -> None:
    # ONNX Runtime's own kernels do not lay rows out first
    attributes = {name: each for name, each in case.attributes.items() if name != "layout"}
    case = dataclasses.replace(case, attributes=attributes, lengths=(), fixed=False)
    model, feeds = case.model(), case.feeds(5)
    session = onnxruntime.InferenceSession(ir.to_proto(model).SerializeToString())
    names = [value.name for value in model.graph.outputs]
    wanted = dict(zip(names, session.run(names, feeds), strict=True))
    for name, array in evaluate(simplified(model), feeds).items():
        np.testing.assert_allclose(array, wanted[name], rtol=1e-4, atol=2e-5)


def test_sixteen_bits_are_as_near_as_states_in_sixteen_bits_can_be() -> None:
    for operator in ("LSTM", "GRU", "RNN"):
        case = Case(operator, 12, 2, 8, 16, direction="bidirectional")
        feeds = {name: array.astype(np.float16) for name, array in case.feeds().items()}
        rounded = {name: a.astype(np.float16).astype(np.float32) for name, a in feeds.items()}
        half = halved(case.model())
        wanted = evaluate(simplified(widened(half)), rounded)
        for name, array in evaluate(simplified(half), feeds).items():
            assert array.dtype == np.float16
            np.testing.assert_allclose(array, wanted[name], atol=0.01)  # states are below one


def halved(model: ir.Model) -> ir.Model:
    """Return a model of f32 in f16."""
    return retyped(model, np.dtype(np.float32), np.dtype(np.float16))


def widened(model: ir.Model) -> ir.Model:
    """Return a model of f16 in f32."""
    return retyped(model, np.dtype(np.float16), np.dtype(np.float32))


def retyped(model: ir.Model, old: np.dtype[Any], new: np.dtype[Any]) -> ir.Model:
    """Return a model whose floats are of another type."""
    was, now = map(onnx.helper.np_dtype_to_tensor_dtype, (old, new))
    proto = ir.to_proto(model)
    for value in (*proto.graph.input, *proto.graph.output):
        if value.type.tensor_type.elem_type == was:
            value.type.tensor_type.elem_type = now
    for tensor in proto.graph.initializer:
        array = onnx.numpy_helper.to_array(tensor)
        if array.dtype == old:
            tensor.CopyFrom(onnx.numpy_helper.from_array(array.astype(new), tensor.name))
    return ir.from_proto(proto)


OTHER = ["Sigmoid", "Relu", "Tanh"]


@pytest.mark.parametrize(
    ("case", "reason"),
    [
        (Case("LSTM", lengths=(3, 5)), "its rows have lengths of their own"),
        (Case("LSTM", lengths=(3, 5), fixed=True), "its rows have lengths of their own"),
        (
            Case("GRU", steps=MOST_WRITTEN + 1),
            "it has 1,025 steps, and at most 1,024 become kernels",
        ),
        (
            Case("LSTM", direction="bidirectional", attributes={
                "activations": ["Sigmoid", "Tanh", "Tanh", *OTHER]
            }),
            "its directions have different functions: sigmoid, tanh, tanh, sigmoid, relu, tanh",
        ),
        (Case("RNN", attributes={"activations": ["Elu"]}), "its functions are elu"),
    ],
)  # fmt: skip
def test_what_is_not_written_out_says_why(case: Case, reason: str) -> None:
    assert written(case.model()) == reason
    with pytest.raises(ModelError, match="1 nodes have no loops"):
        simplified(case.model())


def test_other_functions_and_peepholes_are_written_out() -> None:
    case = Case("LSTM", direction="bidirectional", peepholes=True, attributes={
        "activations": [*OTHER, *OTHER]
    })  # fmt: skip
    feeds = case.feeds()
    for name, array in evaluate(simplified(case.model()), feeds).items():
        np.testing.assert_allclose(array, case.expected(feeds)[name], rtol=1e-4, atol=2e-5)


def test_where_kernels_cost_more_they_have_no_loops() -> None:
    left = cover(static(Case("LSTM").model(), {}).graph).left
    assert left == {"recurrent": "the operator LSTM has no tile semantics"}


def node_tests() -> dict[str, tuple[ir.Model, Mapping[str, Array], Mapping[str, Array]]]:
    """Return ONNX's own tests of the three, with weights that are constants."""
    from onnx.backend.test.case.node import collect_testcases

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        every = collect_testcases(None)
    found = {}
    for test in every:
        proto = test.model
        if proto.graph.node[0].op_type not in ("LSTM", "GRU", "RNN"):
            continue
        fed, given = test.data_sets[0]
        feeds = {value.name: data for value, data in zip(proto.graph.input, fed, strict=True)}
        outputs = {v.name: data for v, data in zip(proto.graph.output, given, strict=True)}
        for value in list(proto.graph.input):
            if value.name != "X":
                array = np.asarray(feeds.pop(value.name))
                proto.graph.initializer.append(onnx.numpy_helper.from_array(array, value.name))
                proto.graph.input.remove(value)
        found[test.name] = (ir.from_proto(proto), feeds, outputs)
    return found


def test_onnxs_own_tests_pass() -> None:
    tests = node_tests()
    assert len(tests) > 10
    for name, (model, feeds, outputs) in tests.items():
        assert written(model) == "", name
        for output, array in evaluate(simplified(model), feeds).items():
            np.testing.assert_allclose(array, outputs[output], rtol=1e-3, atol=1e-5, err_msg=name)
