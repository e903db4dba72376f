from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx_ir as ir

from burnish.rewrite import extract
from rewriting import Graph


def chain(scale: float = 2.0, width: int = 8) -> tuple[ir.Model, list[ir.Node]]:
    graph = Graph()
    x = graph.input("x", ["n", width])
    hidden = graph.op("Mul", graph.op("Relu", x), scale)
    model = graph.model(graph.op("MatMul", hidden, np.ones((width, 4), np.float32)))
    return model, list(model.graph)


def test_a_part_reaches_from_its_outputs_to_the_stops() -> None:
    _, (relu, mul, matmul) = chain()
    cut = extract.part(mul.outputs, relu.outputs)
    assert cut.nodes == (mul,)
    assert cut.inputs == (relu.outputs[0],)
    assert len(cut.constants) == 1
    assert extract.part(matmul.outputs, ()).nodes == (relu, mul, matmul)


def test_a_part_is_a_model_that_keeps_names_types_and_shapes() -> None:
    model, (relu, mul, _) = chain()
    small = extract.as_model(extract.part(mul.outputs, relu.outputs), model, "part")
    (given,) = small.graph.inputs
    assert given.name == relu.outputs[0].name
    assert str(given.shape) == str(relu.outputs[0].shape)
    assert [node.op_type for node in small.graph] == ["Mul"]
    assert len(list(model.graph)) == 3


def test_large_weights_are_fed_unless_they_are_wanted_inside() -> None:
    model, (_, mul, matmul) = chain(width=1 << 13)
    cut = extract.part(matmul.outputs, mul.outputs)
    assert len(cut.weights) == 1
    assert len(extract.as_model(cut, model, "fed").graph.inputs) == 2
    held = extract.as_model(extract.with_weights(cut), model, "held")
    assert len(held.graph.inputs) == 1
    assert len(held.graph.initializers) == 1


def test_structure_counts_settings_but_neither_names_nor_weights() -> None:
    def key(model: ir.Model) -> str:
        return extract.structure(extract.part(list(model.graph.outputs), ()))

    same, renamed = chain()[0], chain()[0]
    for node in renamed.graph:
        node.outputs[0].name = f"other_{node.op_type}"
    weight = next(v for v in renamed.graph.initializers.values() if len(v.shape or ()) == 2)
    weight.const_value = ir.tensor(np.full((8, 4), 7, np.float32), name=weight.name)
    assert key(same) == key(renamed)
    assert key(same) != key(chain(scale=3.0)[0])
    assert key(same) != key(chain(width=16)[0])


def test_what_a_body_reads_from_outside_belongs_to_the_part() -> None:
    import onnx

    text = """
    <ir_version: 8, opset_import: ["" : 17]>
    main (float[n] x, bool c) => (float[n] y) {
        h = Relu(x)
        y = If (c) <then_branch = a () => (float[n] t) { t = Neg(h) },
                    else_branch = b () => (float[n] e) { e = Abs(h) }>
    }"""
    model = ir.serde.deserialize_model(onnx.parser.parse_model(text))
    cut = extract.part(list(model.graph.outputs), ())
    assert [node.op_type for node in cut.nodes] == ["Relu", "If"]
    small = extract.as_model(cut, model, "part")
    onnx.checker.check_model(ir.serde.serialize_model(small))


def test_a_part_holds_what_lies_in_a_file_beside_the_model(tmp_path: Path) -> None:
    graph = Graph()
    scale = np.float32([1.5, 2.5, 3.5, 4.5])
    model = graph.model(graph.op("Mul", graph.input("x", ["n", 4]), graph.constant(scale, "scale")))
    (tmp_path / "weights").write_bytes(scale.tobytes())
    model.graph.initializers["scale"].const_value = ir.ExternalTensor(
        "weights", 0, 16, ir.DataType.FLOAT, shape=ir.Shape([4]), name="scale", base_dir=tmp_path
    )
    small = extract.as_model(extract.part(model.graph.outputs, ()), model, "small")
    held = small.graph.initializers["scale"].const_value
    assert not isinstance(held, ir.ExternalTensor)
    assert held is not None
    np.testing.assert_array_equal(held.numpy(), scale)
