from __future__ import annotations

import pytest

from burnish.trace.attribute import nodes_of

POSITIONS = {"Conv_0": 0, "Relu_1": 1, "Add_2": 2, "Mul_3": 3, "/a/MatMul (x)": 4}


@pytest.mark.parametrize(
    ("name", "metadata", "expected"),
    [
        ("Conv_0 + Relu_1", "", (("Conv_0", "Relu_1"), "exact")),
        ("Conv_0 || Mul_3", "", (("Conv_0", "Mul_3"), "exact")),
        ("PWN(PWN(Relu_1), Add_2)", "", (("Relu_1", "Add_2"), "exact")),
        ("/a/MatMul (x)", "", (("/a/MatMul (x)",), "exact")),
        ("Conv_0 + unknown", "", (("Conv_0",), "exact")),
        (
            "Reformatting CopyNode for Output Tensor 0 of Add_2",
            "",
            (("Add_2",), "pattern"),
        ),
        ("{ForeignNode[Relu_1...Mul_3]}", "", (("Relu_1", "Add_2", "Mul_3"), "pattern")),
        ("{ForeignNode[Relu_1...gone]}", "", ((), "none")),
        ("__myl_Fc", "[ONNX Layer: Mul_3]\x1e[ONNX Layer: Conv_0]", (("Conv_0", "Mul_3"), "exact")),
        ("something else", "", ((), "none")),
    ],
)
def test_a_layers_name_tells_its_nodes(name: str, metadata: str, expected: object) -> None:
    assert nodes_of(name, metadata, POSITIONS) == expected
