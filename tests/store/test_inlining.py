"""Bodies take the place of calls, under names of their own, in linear time."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir
import onnxruntime
import pytest
from onnx import parser

from burnish.core.errors import ModelError
from burnish.store.inlining import inline

HEAD = '<ir_version: 9, opset_import: ["" : 17, "my" : 1]>'
IMPORTS = '<domain: "my", opset_import: ["" : 17, "my" : 1]>'
TWICE = f"{IMPORTS} twice (a) => (b) {{ c = my.once(a) b = my.once(c) }}"
ONCE = f"{IMPORTS} once (a) => (b) {{ c = Neg(a) b = Abs(c) }}"


def _model(text: str) -> ir.Model:
    return ir.serde.deserialize_model(parser.parse_model(HEAD + text))


def _run(model: ir.Model) -> np.ndarray:
    session = onnxruntime.InferenceSession(ir.to_proto(model).SerializeToString())
    found: np.ndarray = session.run(None, {"x": np.array([-1, 2, 3, 4], np.float32)})[0]
    return found


def test_calls_become_what_the_functions_do() -> None:
    model = _model(
        f"g (float[4] x) => (float[4] y) {{ c = my.twice(x) y = Neg(c) }} {TWICE} {ONCE}"
    )
    before = _run(model)
    assert inline(model) == {("my", "twice", ""): 1}
    assert [node.op_type for node in model.graph] == ["Neg", "Abs", "Neg", "Abs", "Neg"]
    assert not model.functions
    np.testing.assert_array_equal(_run(model), before)


def test_names_in_the_graph_stay_and_others_give_way() -> None:
    model = _model(
        f"g (float[4] x) => (float[4] y) {{ d = my.twice(x) c = Neg(d) y = Neg(c) }} {TWICE} {ONCE}"
    )
    inline(model)
    names = [value.name for node in model.graph for value in node.outputs]
    assert names[-2:] == ["c", "y"]
    assert len(set(names)) == len(names)


def test_thousands_of_copies_take_steps_in_proportion(monkeypatch: pytest.MonkeyPatch) -> None:
    from burnish.core.free_names import FreeNames

    tried = 0
    unused = FreeNames.unused

    def counting(self: FreeNames, stem: str) -> str:
        nonlocal tried
        tried += 1
        return unused(self, stem)

    monkeypatch.setattr(FreeNames, "unused", counting)
    doubled = [f"{IMPORTS} f{n} (a) => (b) {{ c = my.f{n - 1}(a) b = my.f{n - 1}(c) }}"
               for n in range(1, 11)]  # fmt: skip
    first = f"{IMPORTS} f0 (a) => (b) {{ b = Neg(a) }}"
    call = "g (float[4] x) => (float[4] y) { y = my.f10(x) }"
    model = _model(" ".join([call, first, *doubled]))
    inline(model)
    assert len(model.graph) == 1024
    assert tried < 3 * 1024


def test_a_call_may_leave_out_outputs_at_the_end() -> None:
    both = f"{IMPORTS} both (a) => (b, c) {{ b = Neg(a) c = Abs(a) }}"
    model = _model(f"g (float[4] x) => (float[4] y) {{ y = my.both(x) }} {both}")
    inline(model)
    np.testing.assert_array_equal(_run(model), np.array([1, -2, -3, -4], np.float32))


def test_a_call_that_leaves_out_what_its_function_needs() -> None:
    add = f"{IMPORTS} add (a, b) => (c) {{ c = Add(a, b) }}"
    model = _model(f"g (float[4] x) => (float[4] y) {{ y = my.add(x) }} {add}")
    with pytest.raises(ModelError) as caught:
        inline(model)
    assert caught.value.problem.startswith("a call leaves out an input of its function that")
    assert caught.value.hint == "export it again; onnx.checker.check_model may tell more"


def test_a_function_of_another_opset_cannot_be_put_in_place() -> None:
    old = '<domain: "my", opset_import: ["" : 11]> old (a) => (b) { b = Softmax(a) }'
    model = _model(f"g (float[4] x) => (float[4] y) {{ y = my.old(x) }} {old}")
    with pytest.raises(ModelError, match="cannot be put in place of their calls") as caught:
        inline(model)
    assert "inline_local_functions(onnx.load('MODEL.onnx'), convert_version=True)" in str(
        caught.value.hint
    )


def test_a_function_of_another_opset_whose_operators_mean_the_same_there() -> None:
    old = '<domain: "my", opset_import: ["" : 13]> old (a) => (b) { c = Neg(a) b = Softmax(c) }'
    model = _model(f"g (float[4] x) => (float[4] y) {{ y = my.old(x) }} {old}")
    before = _run(model)
    inline(model)
    assert [node.op_type for node in model.graph] == ["Neg", "Softmax"]
    np.testing.assert_array_equal(_run(model), before)


def test_only_wanted_functions_are_inlined() -> None:
    model = _model(f"g (float[4] x) => (float[4] y) {{ y = my.twice(x) }} {TWICE} {ONCE}")
    inline(model, lambda function: function.name == "twice")
    assert [node.op_type for node in model.graph] == ["once", "once"]
    assert [name for _, name, _ in model.functions] == ["once"]


def test_what_graphs_in_functions_give_hides_nothing_outside() -> None:
    branches = "then_branch = t () => (x) { x = Neg(a) }, else_branch = e () => (x) { x = Abs(a) }"
    chosen = (
        f"{IMPORTS} chosen (a) => (b)"
        f" {{ s = ReduceSum<keepdims = 0>(a) c = Cast<to = 9>(s) b = If(c) <{branches}> }}"
    )
    model = _model(
        f"g (float[4] x) => (float[4] y) {{ c = my.chosen(x) d = my.chosen(c) y = Sub(d, x) }}"
        f" {chosen}"
    )
    before = _run(model)
    inline(model)
    names = [value.name for node in model.graph.all_nodes() for value in node.outputs]
    assert len(set(names)) == len(names)
    assert "x" not in names
    np.testing.assert_array_equal(_run(model), before)


def test_what_bodies_of_loops_in_functions_take_hides_nothing_outside() -> None:
    body = (
        "body = b (int64 i, bool x, float[4] y) => (bool k, float[4] z)"
        " <float[4] w = {1, 2, 3, 4}> { k = Identity(x) z = Add(y, w) }"
    )
    looped = (
        f"{IMPORTS} looped (a) => (b) {{ n = Constant<value_int = 3>()"
        f" c = Constant<value = bool {{1}}>() b = Loop(n, c, a) <{body}> }}"
    )
    model = _model(
        f"g (float[4] x) => (float[4] y) {{ w = my.looped(x) z = my.looped(w) y = Sub(z, w) }}"
        f" {looped}"
    )
    before = _run(model)
    inline(model)
    inner = [
        value.name
        for graph in model.graph.subgraphs()
        for value in (*graph.inputs, *graph.initializers.values())
    ]
    assert len(inner) == 8
    assert not {"x", "y", "w", "z"} & set(inner)
    np.testing.assert_array_equal(_run(model), before)
