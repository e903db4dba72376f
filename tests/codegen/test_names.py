"""Names of a model are text that anybody may have written: none of them becomes code."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from burnish.cli.main import run
from burnish.codegen.gpu.kernel import emit
from burnish.store import onnx_files
from burnish.tile.group import Group
from burnish.tile.lower import lower
from burnish.tile.schedule import Schedule

EVIL = "a\nimport os; os._exit(7)\r\n}\ndefine void @evil() {\n\"`\\`'#"


@pytest.fixture
def model(tmp_path: Path) -> Path:
    node = helper.make_node("Tanh", ["x"], [EVIL + "y"], name=EVIL)
    last = helper.make_node("Exp", [EVIL + "y"], ["z"], name=EVIL + "2")
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [4, 16])
    z = helper.make_tensor_value_info("z", TensorProto.FLOAT, [4, 16])
    made = helper.make_model(
        helper.make_graph([node, last], "g", [x], [z]), opset_imports=[helper.make_opsetid("", 17)]
    )
    made.ir_version = 10
    path = tmp_path / "m.onnx"
    onnx.save(made, path)
    return path


def test_kernels_for_cpus_are_the_same_whatever_nodes_are_called(
    model: Path, tmp_path: Path
) -> None:
    import burnish

    assert run(["-q", "compile", str(model), "--no-tune", "-o", str(tmp_path / "out")]) == 0
    x = np.linspace(-1, 1, 64, dtype=np.float32).reshape(4, 16)
    with burnish.load(tmp_path / "out") as loaded:
        assert loaded.run({"x": x})["z"] == pytest.approx(np.exp(np.tanh(x)), abs=1e-5)


def test_kernels_for_cards_hold_them_in_comments_of_one_line(model: Path) -> None:
    graph = lower(tuple(onnx_files.read(model).graph)).graph
    settings = {"m": 16, "n": 16, "k": 16}
    (launch, *_) = emit(Group(graph.ops, graph.outputs), Schedule((), settings=settings), graph)
    code = [line for line in launch.source.splitlines() if not line.startswith("#")]
    assert "os._exit" in launch.source
    assert not any("os._exit" in line for line in code)
