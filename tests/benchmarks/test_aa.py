"""The script that asks what verdicts are worth: comparisons of several runs add up."""

from __future__ import annotations

from pathlib import Path

import aa
import pytest

from burnish.bench.measure import Comparison, Verdict
from burnish.store import onnx_files

ONE = Comparison(
    "first", "second", Verdict.NO_DIFFERENCE, "", (1.0, 1.01, 0.99), 1.0, 0.98, 1.02, 0.98, 0.03
)


def test_comparisons_of_earlier_runs_count_and_their_seeds_are_not_used_again(
    tmp_path: Path,
) -> None:
    path = tmp_path / "kept.jsonl"
    first = aa.Kept(path)
    assert list(first.seeds(aa.ITSELF, 2)) == [0, 1]
    first.add(aa.ITSELF, ONE)
    first.add(aa.PLANTED, ONE)
    first.add(aa.ITSELF, ONE)
    again = aa.Kept(path)
    assert again.earlier(aa.ITSELF) == [ONE, ONE]
    assert again.earlier(aa.PLANTED) == [ONE]
    assert list(again.seeds(aa.ITSELF, 2)) == [2, 3]


def test_comparisons_of_other_machines_do_not_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "kept.jsonl"
    aa.Kept(path).add(aa.ITSELF, ONE)
    monkeypatch.setattr(aa, "_runtime", lambda: "0.0")
    assert aa.Kept(path).earlier(aa.ITSELF) == []


def test_the_models_of_a_size_differ_in_one_layer(tmp_path: Path) -> None:
    rows = aa.ROWS[0]
    first, second = (
        onnx_files.read(aa.write_model(tmp_path / "m.onnx", rows, number).onnx)
        for number in (aa.LAYERS, aa.LAYERS + 1)
    )
    assert len(second.graph) - len(first.graph) == 2
    assert first.graph.inputs[0].shape == second.graph.inputs[0].shape == (rows, aa.WIDTH)


def test_without_a_file_nothing_is_kept() -> None:
    kept = aa.Kept(None)
    kept.add(aa.ITSELF, ONE)
    assert kept.earlier(aa.ITSELF) == []
