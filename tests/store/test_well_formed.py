"""What enters is a graph that can be followed; what is refused, ONNX Runtime refuses as well."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import onnx
import pytest
from onnx import TensorProto, helper, parser

from burnish.core.errors import ModelError
from burnish.rewrite.pipeline import optimize
from burnish.store import mending, onnx_files, well_formed

Edit = Callable[[onnx.ModelProto], object]

PLAIN = """
<ir_version: 9, opset_import: ["" : 17]>
g (float[n, 4] x, bool c) => (float[n, 4] z)
<float[4] w = {1, 2, 3, 4}>
{ y = Softmax<axis = -1>(x)
  z = If(c)<then_branch = t () => (float[n, 4] p) { p = Add(y, w) },
            else_branch = e () => (float[n, 4] q) { q = Sub(y, w) }> }
"""
CALLS = """
<ir_version: 9, opset_import: ["" : 17, "my" : 1]>
g (float[4] x) => (float[4] y) { y = my.f<alpha = 2.0>(x) }
<domain: "my", opset_import: ["" : 17]>
f <alpha>(a) => (b) { b = LeakyRelu<alpha: float = @alpha>(a) }
"""


def _written(folder: Path, text: str, edit: Edit) -> Path:
    proto = parser.parse_model(text)
    edit(proto)
    path = folder / "m.onnx"
    path.write_bytes(proto.SerializePartialToString())
    return path


def _then(proto: onnx.ModelProto) -> onnx.GraphProto:
    return proto.graph.node[1].attribute[0].g


@pytest.mark.parametrize(
    ("edit", "finding"),
    [
        (lambda m: m.graph.node[0].input.__setitem__(0, "nobody"),
         "a node Softmax reads 'nobody', which nothing makes"),
        (lambda m: m.graph.initializer.pop(), "a node Add reads 'w', which nothing makes"),
        (lambda m: _then(m).node[0].input.__setitem__(0, "q"),
         "a node Add reads 'q', which nothing makes"),
        (lambda m: setattr(m.graph.output[0], "name", "nobody"),
         "it gives 'nobody', which no node makes"),
        (lambda m: setattr(_then(m).output[0], "name", "y"), "it gives 'y', which no node makes"),
        (lambda m: m.graph.input.append(m.graph.input[0]), "it has two inputs 'x'"),
        (lambda m: m.graph.node[0].input.append("x"),
         "a node Softmax has 2 inputs instead of 1"),
        (lambda m: m.graph.node[0].output.append("more"),
         "a node Softmax has 2 outputs instead of 1"),
        (lambda m: _then(m).node[0].input.__setitem__(0, ""),
         "a node Add leaves out its input 0"),
        (lambda m: m.graph.node[1].attribute.pop(),
         "a node If lacks the attribute 'else_branch'"),
        (lambda m: m.graph.node[0].attribute[0].CopyFrom(helper.make_attribute("axis", "last")),
         "a node Softmax has the attribute 'axis' of type STRING, it must be INT"),
        (lambda m: m.graph.node[0].attribute[0].ClearField("type"),
         "a node Softmax has the attribute 'axis' of type UNDEFINED, it must be INT"),
        (lambda m: setattr(m.graph.node[0].attribute[0], "ref_attr_name", "axis"),
         "refers to an attribute 'axis' of a function, and is in none"),
        (lambda m: setattr(m.opset_import[0], "version", 0), "it uses opset 0"),
        (lambda m: setattr(m.opset_import[0], "version", 2**40),
         "it uses opset 1099511627776"),
    ],
)  # fmt: skip
def test_a_graph_that_cannot_be_followed(tmp_path: Path, edit: Edit, finding: str) -> None:
    path = _written(tmp_path, PLAIN, edit)
    with pytest.raises(ModelError) as caught:
        onnx_files.read(path)
    assert caught.value.problem.startswith(f"{path}: is not a well-formed ONNX graph: ")
    assert finding in caught.value.problem
    assert caught.value.hint == "export it again; onnx.checker.check_model may tell more"


@pytest.mark.parametrize(
    ("edit", "finding"),
    [
        (lambda m: m.graph.node[0].output.append("more"), "gives 2, the function gives 1"),
        (lambda m: m.graph.node[0].input.append("x"), "takes 2, the function takes 1"),
        (lambda m: m.functions[0].node[0].input.__setitem__(0, "nobody"), "reads 'nobody'"),
    ],
)
def test_a_call_that_does_not_fit_its_function(tmp_path: Path, edit: Edit, finding: str) -> None:
    with pytest.raises(ModelError) as caught:
        onnx_files.read(_written(tmp_path, CALLS, edit))
    assert finding in caught.value.problem


def test_nodes_that_read_each_other_in_a_circle(tmp_path: Path) -> None:
    text = """<ir_version: 9, opset_import: ["" : 17]>
        g (float[4] x) => (float[4] y) { a = Add(x, y) y = Neg(a) }"""
    with pytest.raises(ModelError, match="its nodes read each other in a circle"):
        onnx_files.read(_written(tmp_path, text, lambda m: None))


def test_nodes_before_what_they_read_are_put_in_order(tmp_path: Path) -> None:
    model = onnx_files.read(_written(tmp_path, PLAIN, lambda m: m.graph.node.reverse()))
    assert [node.op_type for node in model.graph] == ["Softmax", "If"]
    assert len(model.clone().graph) == 2
    said = "nodes that stood before what they read were put in order"
    assert mending.notes(model) == (said,)
    assert said in optimize(model).report.notes


def test_a_model_in_order_gets_no_note(tmp_path: Path) -> None:
    assert mending.notes(onnx_files.read(_written(tmp_path, PLAIN, lambda m: None))) == ()


@pytest.mark.parametrize("name", ["xQQ", "yQQ", "wQQ", "SoftmaxQQ", "axisQQ"])
def test_names_that_are_no_text(tmp_path: Path, name: str) -> None:
    word = name.removesuffix("QQ")
    text = re.sub(rf"\b{word}\b", name, PLAIN)
    assert name in text
    path = tmp_path / "m.onnx"
    path.write_bytes(parser.parse_model(text).SerializeToString().replace(b"QQ", b"\xff\xfe"))
    with pytest.raises(ModelError, match="is not a well-formed ONNX graph"):
        onnx_files.read(path)


def test_a_name_that_nothing_refers_to_is_made_text(tmp_path: Path) -> None:
    proto = parser.parse_model(PLAIN)
    proto.graph.name = "first QQ"
    path = tmp_path / "m.onnx"
    path.write_bytes(proto.SerializeToString().replace(b"QQ", b"\xff\xfe"))
    assert onnx_files.read(path).graph.name == "first \ufffd\ufffd"


@pytest.mark.parametrize("version", [0, -1, 2**62])
def test_the_opset_of_another_domain_says_nothing(tmp_path: Path, version: int) -> None:
    def edit(proto: onnx.ModelProto) -> None:
        proto.opset_import.add(domain="com.acme", version=version)

    onnx_files.read(_written(tmp_path, PLAIN, edit))


def test_descriptions_that_are_no_text_are_made_text(tmp_path: Path) -> None:
    proto = parser.parse_model(PLAIN)
    proto.producer_name = proto.doc_string = proto.graph.node[0].doc_string = "doc QQ"
    proto.metadata_props.add(key="author", value="doc QQ")
    path = tmp_path / "m.onnx"
    path.write_bytes(proto.SerializeToString().replace(b"doc QQ", b"doc \xff\xfe"))
    model = onnx_files.read(path)
    assert model.metadata_props["author"] == model.doc_string == "doc ��"
    onnx_files.write(model, tmp_path / "again.onnx", history=onnx_files.History("", ()))
    assert onnx.load(tmp_path / "again.onnx").producer_name == "doc ��"


def test_text_of_an_operator_that_is_no_text(tmp_path: Path) -> None:
    text = """<ir_version: 9, opset_import: ["" : 20]>
        g (float[4] x) => (float[4] y) { y = Gelu<approximate = "tanhQQ">(x) }"""
    path = tmp_path / "m.onnx"
    path.write_bytes(parser.parse_model(text).SerializeToString().replace(b"QQ", b"\xff\xfe"))
    with pytest.raises(ModelError, match="has the attribute 'approximate', which is no UTF-8"):
        onnx_files.read(path)


@pytest.mark.parametrize(
    "edit",
    [
        lambda m: m.graph.output.append(m.graph.output[0]),
        lambda m: m.graph.initializer.append(m.graph.initializer[0]),
        lambda m: m.graph.ClearField("output"),
        lambda m: setattr(m.graph.output[0], "name", "x"),
        lambda m: m.opset_import.append(helper.make_opsetid("com.microsoft", 1)),
        lambda m: m.graph.node[0].attribute.append(helper.make_attribute("unheard_of", 3)),
        lambda m: setattr(m, "ir_version", 3),
    ],
)
def test_what_onnx_runtime_loads_is_not_refused(tmp_path: Path, edit: Edit) -> None:
    onnx_files.read(_written(tmp_path, PLAIN, edit))


def test_operators_that_nobody_knows_are_the_business_of_engines(tmp_path: Path) -> None:
    text = PLAIN.replace("Softmax<axis = -1>(x)", "com.acme.Softmax(x, x, x)")
    onnx_files.read(_written(tmp_path, text, lambda m: None))


def test_external_tensors_are_found_wherever_they_are() -> None:
    import onnx_ir as ir

    proto = parser.parse_model(PLAIN)
    tensor = helper.make_tensor("t", TensorProto.FLOAT, [4], [0.0] * 4)
    tensor.ClearField("float_data")
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="w")
    proto.graph.initializer[0].CopyFrom(tensor)
    proto.graph.initializer[0].name = "w"
    constant = helper.make_node("Constant", [], ["k"], value=tensor)
    _then(proto).node.append(constant)
    found = well_formed.checked(ir.serde.deserialize_model(proto), Path("m.onnx"))
    assert [tensor.location for tensor in found] == ["w", "w"]


def test_a_cast_to_no_type(tmp_path: Path) -> None:
    text = """<ir_version: 9, opset_import: ["" : 17]>
        g (float[4] x) => (float[4] y) { y = Cast<to = 99>(x) }"""
    with pytest.raises(ModelError, match="a node Cast casts to the type 99"):
        onnx_files.read(_written(tmp_path, text, lambda m: None))


def test_a_constant_of_no_known_kind(tmp_path: Path) -> None:
    text = """<ir_version: 9, opset_import: ["" : 17]>
        g (float[4] x) => (float[4] y) { c = Constant<epsilon = 1.0>() y = Add(x, c) }"""
    with pytest.raises(ModelError, match="a node Constant has the value 'epsilon', which is of no"):
        onnx_files.read(_written(tmp_path, text, lambda m: None))


def test_a_domain_that_is_no_text_is_made_text(tmp_path: Path) -> None:
    proto = parser.parse_model(PLAIN)
    proto.opset_import.add(domain="acme QQ", version=1)
    path = tmp_path / "m.onnx"
    path.write_bytes(proto.SerializeToString().replace(b"QQ", b"\xff\xfe"))
    assert onnx_files.read(path).opset_imports == {"": 17, "acme \ufffd\ufffd": 1}


def test_an_operator_of_onnx_runtime_is_held_to_its_rules(tmp_path: Path) -> None:
    text = """<ir_version: 9, opset_import: ["" : 17, "com.microsoft" : 1]>
        g (float[2, 4, 8] x) => (float[2, 4, 8] y)
        { y = com.microsoft.MultiHeadAttention<num_heads = "two">(x) }"""
    with pytest.raises(ModelError, match="'num_heads' of type STRING, it must be INT"):
        onnx_files.read(_written(tmp_path, text, lambda m: None))
