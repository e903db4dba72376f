from __future__ import annotations

import numpy as np
import onnx
import onnx_ir as ir
import pytest

from burnish.zoo.exporting import graph

HEAD = '<ir_version: 10, opset_import: ["" : 20]>'


def model(inputs: str = "float[batch, 4] x", outputs: str = "float[batch, 4] y") -> ir.Model:
    text = f"{HEAD} g ({inputs}) => ({outputs}) {{ y = Tanh(x) }}"
    return ir.from_proto(onnx.parser.parse_model(text))


def test_another_opset_than_asked_for_is_not_done() -> None:
    graph.require_opset(model(), 20)
    with pytest.raises(
        graph.NotDoneError, match="opset 21 was asked for, the exporter wrote opset 20"
    ):
        graph.require_opset(model(), 21)


def test_a_fixed_axis_is_not_done() -> None:
    axes = {"x": {0: "batch"}}
    graph.require_dynamic(model(), axes)
    with pytest.raises(
        graph.NotDoneError, match=r"the exporter fixed dynamic axes: x\[0\] \(batch\) is 2"
    ):
        graph.require_dynamic(model("float[2, 4] x"), axes)


def test_outputs_of_other_types_are_not_done() -> None:
    graph.require_types(model(), {"y": np.zeros(1, np.float32)})
    message = "wrote the output 'y' as FLOAT, PyTorch gives FLOAT16"
    with pytest.raises(graph.NotDoneError, match=message):
        graph.require_types(model(), {"y": np.zeros(1, np.float16)})


def test_notes_about_the_machine_are_removed_and_scopes_kept() -> None:
    made = model()
    node = next(iter(made.graph))
    node.doc_string = "File /home/me/net.py"
    node.metadata_props.update(
        {"pkg.torch.onnx.stack_trace": "/home/me", "pkg.torch.onnx.name_scopes": "['', 'a']"}
    )
    node = next(iter(graph.tidied(made).graph))
    assert node.doc_string is None
    assert dict(node.metadata_props) == {"pkg.torch.onnx.name_scopes": "['', 'a']"}
