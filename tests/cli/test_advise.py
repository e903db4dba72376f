from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import onnx
import pytest
from onnx import parser

from burnish.analyze.advise import SCHEMA, Advice, AdviseReport
from burnish.cli.main import run
from burnish.core import records
from burnish.study.shown.looking import advise_lines as tables

MODEL = """
<ir_version: 8, opset_import: ["" : 18]>
tiny (float[batch, 64] x) => (float[batch, 64] y) {
    [the_erf] curved = Erf(x)
    [the_tanh] y = Tanh(curved)
}
"""


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("BURNISH_CACHE", str(tmp_path / "cache"))
    path = tmp_path / "tiny.onnx"
    onnx.save(parser.parse_model(MODEL), path)
    return str(path)


def test_every_piece_of_advice_carries_a_command(
    model: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["advise", model, "--shape", "batch=64", "--threads", "1", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    jsonschema.validate(document, records.json_schema(AdviseReport, schema=SCHEMA))
    assert document["advice"]
    for one in document["advice"]:
        assert one["command"].startswith("burnish ")
        assert one["evidence"]


def test_the_table_has_numbers_that_lead_to_the_commands() -> None:
    advice = (
        Advice("fuse a>b", 1.25, "simulated", "they wait", "burnish whatif m --fuse a,b"),
        Advice("a faster kernel", 1.5, "bound", "far from the limit", "burnish whatif m --sweep"),
        Advice("try openvino", None, "unknown", "it works here", "burnish bench m"),
    )  # fmt: skip
    report = AdviseReport("m", "onnxruntime-cpu", 2e-3, 1e-3, "laptop", advice, ("noisy",))
    table, *lines = tables(report)
    assert not isinstance(table, str)
    assert table.title == "m on onnxruntime-cpu: 2.00 ms, 1.00 ms at the limits of laptop"
    assert [row[2] for row in table.texts] == ["1.250×", "at most 1.500×", "measure"]
    assert lines == [
        "note: noisy",
        "1. burnish whatif m --fuse a,b",
        "2. burnish whatif m --sweep",
        "3. burnish bench m",
    ]
