from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import numpy as np
import onnx
import pytest

from burnish.cli.main import run
from burnish.core import records
from burnish.feeds.report import SCHEMA, InputsReport

TEXT = """
<ir_version: 10, opset_import: ["" : 20]>
g (int64[batch, sequence] input_ids, int64[batch, sequence] attention_mask)
    => (int64[batch, sequence] y) { y = Add(input_ids, attention_mask) }
"""


@pytest.fixture
def model(tmp_path: Path) -> str:
    onnx.save(onnx.parser.parse_model(TEXT), tmp_path / "m.onnx")
    return str(tmp_path / "m.onnx")


def test_an_npz_file_is_written(
    model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "x.npz"
    assert run(["inputs", model, "-o", str(target), "--shape", "batch=2,sequence=5"]) == 0
    with np.load(target) as archive:
        assert {name: archive[name].shape for name in archive.files} == {
            "input_ids": (2, 5),
            "attention_mask": (2, 5),
        }
    shown = capsys.readouterr().out
    assert "[2, 5]" in shown
    assert "note: input_ids: no embedding table found, token ids are below 1000" in shown


def test_a_folder_gets_one_data_set_per_sample(model: str, tmp_path: Path) -> None:
    assert run(["-q", "inputs", model, "-o", str(tmp_path / "d"), "--samples", "2"]) == 0
    assert sorted(path.name for path in (tmp_path / "d").iterdir()) == [
        "test_data_set_0",
        "test_data_set_1",
    ]


def test_seed_and_padding_matter(model: str, tmp_path: Path) -> None:
    def made(*arguments: str) -> tuple[bytes, bytes]:
        target = tmp_path / "x.npz"
        assert run(["inputs", model, "-o", str(target), "--shape", "batch=2", *arguments]) == 0
        with np.load(target) as archive:
            return archive["input_ids"].tobytes(), archive["attention_mask"].tobytes()

    plain, seeded, padded = made(), made("--seed", "1"), made("--padding", "left")
    assert made() == plain
    assert seeded[0] != plain[0]
    assert padded[0] == plain[0]
    assert padded[1] != plain[1]


def test_json_is_one_document_of_the_published_schema(
    model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["-q", "inputs", model, "-o", str(tmp_path / "d"), "--samples", "2", "--json"]) == 0
    captured = capsys.readouterr()
    jsonschema.validate(json.loads(captured.out), records.json_schema(InputsReport, schema=SCHEMA))
    assert captured.err == ""


def test_a_misspelt_dimension_is_a_usage_error(
    model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["inputs", model, "-o", str(tmp_path / "x.npz"), "--shape", "btch=2"]) == 2
    assert capsys.readouterr().err == (
        "burnish: --shape btch: no input has such a dimension\n"
        "  hint: did you mean 'batch'? known: batch, sequence\n"
    )
    assert not (tmp_path / "x.npz").exists()
