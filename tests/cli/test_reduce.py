from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import onnx
import onnx_ir as ir
import pytest

from burnish.cli.main import run
from rewriting import Graph


def write(path: Path, factor: float) -> Path:
    graph = Graph()
    hidden = graph.op("Relu", graph.input("x", ["n", 8]))
    result = graph.op("Tanh", graph.op("Mul", hidden, np.float32(factor)))
    onnx.save(ir.serde.serialize_model(graph.model(result)), path)
    return path


def test_the_smallest_part_is_written_and_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good, bad = write(tmp_path / "good.onnx", 1.0), write(tmp_path / "bad.onnx", 2.0)
    target = tmp_path / "small"
    assert run(["reduce", str(good), str(bad), "-o", str(target)]) == 0
    shown = capsys.readouterr().out
    assert "3 nodes reduced to 1; of the candidate: Mul" in shown
    assert "see it again: burnish verify" in shown
    assert (target / "test_data_set_0" / "input_0.pb").is_file()


def test_json_is_one_document(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good, bad = write(tmp_path / "good.onnx", 1.0), write(tmp_path / "bad.onnx", 2.0)
    command = ["-q", "reduce", str(good), str(bad), "-o", str(tmp_path / "s")]
    assert run([*command, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["kind"], document["nodes_after"]) == ("reduce-report", 1)
