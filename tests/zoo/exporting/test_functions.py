"""Modules become functions: shared where they do the same, and the numbers stay."""

from __future__ import annotations

import numpy as np
import onnx
import onnx_ir as ir
import onnxruntime

from burnish.zoo.exporting.functions import kept_as_functions

HEAD = '<ir_version: 10, opset_import: ["" : 20]>'
CLASSES = {
    "": "Outer",
    "model": "pkg.Whole",
    "model.net": "pkg.Net",
    "model.net.a": "pkg.Linear",
    "model.net.b": "pkg.Linear",
}
TWICE = f"""{HEAD} g (float[2, 3] x) => (float[2, 3] y)
    <float[3, 3] v = {{1, 2, 3, 4, 5, 6, 7, 8, 9}}, float[3, 3] w = {{9, 8, 7, 6, 5, 4, 3, 2, 1}},
     float[3] c = {{1, 2, 3}}, float[3] d = {{3, 2, 1}}>
    {{ p = MatMul(x, v) q = Add(p, c) r = Tanh(q) s = MatMul(r, w) y = Add(s, d) }}"""


def _scoped(text: str, *scopes: str) -> ir.Model:
    model = ir.from_proto(onnx.parser.parse_model(text))
    for index, (node, path) in enumerate(zip(model.graph, scopes, strict=True)):
        paths = [known for known in CLASSES if path == known or path.startswith(f"{known}.")]
        paths = ["", *(known for known in paths if known)]
        node.name = f"node_{index}"
        node.metadata_props["pkg.torch.onnx.name_scopes"] = repr([*paths, f"fx_{index}"])
        classes = [*(CLASSES[known] for known in paths), "aten"]
        node.metadata_props["pkg.torch.onnx.class_hierarchy"] = repr(classes)
    return model


def _run(model: ir.Model) -> np.ndarray:
    proto = ir.to_proto(model)
    onnx.checker.check_model(proto)
    session = onnxruntime.InferenceSession(
        proto.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    x = np.linspace(-0.1, 0.1, 6, dtype=np.float32).reshape(2, 3)
    return session.run(None, {"x": x})[0]


def _twice(text: str = TWICE) -> ir.Model:
    return _scoped(text, "model.net.a", "model.net.a", "model.net", "model.net.b", "model.net.b")


def test_equal_modules_share_a_function_inside_the_function_around_them() -> None:
    model = _twice()
    before = _run(model)
    assert kept_as_functions(model) == ()
    assert [(node.domain, node.op_type) for node in model.graph] == [("pkg", "Net")]
    bodies = {
        function.name: [node.op_type for node in function] for function in model.functions.values()
    }
    assert bodies == {"Linear": ["MatMul", "Add"], "Net": ["Linear", "Tanh", "Linear"]}
    np.testing.assert_array_equal(_run(model), before)


def test_modules_that_differ_get_functions_of_their_own() -> None:
    model = _twice(TWICE.replace("y = Add(s, d)", "y = Sub(s, d)"))
    before = _run(model)
    kept_as_functions(model)
    assert {function.name for function in model.functions.values()} == {"Linear", "Linear_2", "Net"}
    np.testing.assert_array_equal(_run(model), before)


def test_a_module_that_needs_its_own_results_from_outside_stays_flat() -> None:
    model = _scoped(TWICE, "model.net.a", "model.net.a", "model", "model.net.a", "model.net.a")
    before = _run(model)
    notes = kept_as_functions(model)
    assert notes[0] == (
        "model.net.a is not kept as a function: "
        "'node_3' needs what is computed outside from its results"
    )
    assert len(model.graph) == 5
    np.testing.assert_array_equal(_run(model), before)


def test_nodes_without_notes_stay_where_they_are() -> None:
    model = ir.from_proto(onnx.parser.parse_model(TWICE))
    assert kept_as_functions(model) == ()
    assert not model.functions
