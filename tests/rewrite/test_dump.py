"""Every stage that changed something can be read as text."""

from __future__ import annotations

from pathlib import Path

import onnx.parser
import pytest

from burnish.core.errors import UsageError
from burnish.rewrite.dump import Dump
from burnish.rewrite.pipeline import optimize
from burnish.version import __version__
from rewriting import SQRT2, Graph, samples


def gelu() -> Graph:
    graph = Graph()
    x = graph.op("MatMul", graph.input("x", [2, 64]), samples(64, 64))
    curve = graph.op("Erf", graph.op("Div", x, SQRT2))
    graph.op("Mul", graph.op("Mul", x, graph.op("Add", curve, 1.0)), 0.5)
    return graph


def test_each_stage_is_a_text_that_says_who_made_it(tmp_path: Path) -> None:
    graph = gelu()
    optimize(graph.model(graph.nodes[-1].outputs[0]), observer=Dump(tmp_path / "new"))
    files = sorted(path.name for path in (tmp_path / "new").iterdir())
    assert files == [
        "00_drop-dead-code.onnxtxt",
        "01_infer-shapes.onnxtxt",
        "02_fusions.onnxtxt",
        "03_drop-dead-code.onnxtxt",
    ]
    text = (tmp_path / "new" / "02_fusions.onnxtxt").read_text()
    assert text.startswith(f"# burnish {__version__}, after fusions\n")
    assert "com.microsoft.Gelu" in text
    assert len(text) < 2000
    body = text.partition("\n")[2]
    assert onnx.parser.parse_model(body).graph.node[-1].op_type == "Gelu"


def test_an_earlier_dump_is_not_mixed_with_a_new_one(tmp_path: Path) -> None:
    (tmp_path / "00_old.onnxtxt").write_text("")
    with pytest.raises(UsageError, match="holds the dump of an earlier run") as caught:
        Dump(tmp_path)
    assert caught.value.hint == "name a new folder with --dump"
