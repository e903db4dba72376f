from __future__ import annotations

import shlex
from pathlib import Path

import numpy as np
import onnx
import onnx_ir as ir
import pytest

from burnish.cli.main import run
from burnish.core.errors import UsageError
from burnish.store.stored import StoredModel
from burnish.study.reduce import answer
from burnish.study.requests.judging import ReduceCommand
from rewriting import Graph


def write(path: Path, wrong: tuple[int, ...] = (), spread: float = 0.05) -> StoredModel:
    graph = Graph()
    x = graph.input("x", ["n", 8])
    for number in range(12):
        factor = 1.5 + (spread if number in wrong else 0.0)
        x = graph.op("Tanh", graph.op("Mul", x, np.float32(factor)))
    onnx.save(ir.serde.serialize_model(graph.model(x)), path)
    return StoredModel(path, path.stem)


def test_a_model_is_reduced_to_the_node_that_is_wrong(tmp_path: Path) -> None:
    good, bad = write(tmp_path / "good.onnx"), write(tmp_path / "bad.onnx", wrong=(7,))
    report = answer(ReduceCommand(good, bad, output=tmp_path / "small"))
    assert (report.nodes_before, report.nodes_after) == (24, 1)
    assert report.operators == ("Mul",)
    assert not report.diff.passed
    assert [node.op_type for node in onnx.load(report.reference_file).graph.node] == ["Mul"]


def test_the_command_shows_the_difference_again(tmp_path: Path) -> None:
    good, bad = write(tmp_path / "good.onnx"), write(tmp_path / "bad.onnx", wrong=(3,))
    report = answer(ReduceCommand(good, bad, output=tmp_path / "small"))
    assert run(["-q", *shlex.split(report.command)[1:]]) == 1


def test_errors_that_show_only_together_are_kept_together(tmp_path: Path) -> None:
    # Each factor is off by less than the tolerance of one step; eight of them are not.
    places = tuple(range(12))
    good = write(tmp_path / "good.onnx")
    bad = write(tmp_path / "bad.onnx", wrong=places, spread=1.2e-4)
    report = answer(ReduceCommand(good, bad, output=tmp_path / "small"))
    assert 1 < report.nodes_after <= 24
    assert not report.diff.passed


def test_models_that_agree_cannot_be_reduced(tmp_path: Path) -> None:
    good, same = write(tmp_path / "good.onnx"), write(tmp_path / "same.onnx")
    with pytest.raises(UsageError, match="the two compute the same here") as caught:
        answer(ReduceCommand(good, same, output=tmp_path / "small"))
    assert "burnish verify" in (caught.value.hint or "")
