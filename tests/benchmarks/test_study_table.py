from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from study_table import main

from bench.simulation import NOISES, measurements
from bench.test_ledger import TASK, cell
from burnish.bench.begun import apart
from burnish.bench.cells import Finished
from burnish.bench.figures import figures_of
from burnish.bench.ledger import Ledger
from burnish.bench.subject import BenchOptions

STUDY = """
title = "Three engines"
engines = ["torch-eager", "torch-compile", "burnish-cuda"]
batch = [1, 64]
draw = ["batch"]
models = [{ zoo = "bert-base" }, { zoo = "vit-s32" }]
"""
MS = {"torch-eager": 4.0, "torch-compile": 2.0, "burnish-cuda": 1.0}


def session(name: str, batch: int, engines: dict[str, float], rounds: int = 3) -> list[Finished]:
    """Return cells that took turns."""
    times = {engine: ms / 1e3 for engine, ms in engines.items()}
    noise, options = NOISES["process luck of 1 %"], BenchOptions(rounds=rounds, blocks=4)
    measured = measurements(times, noise, seed=1, options=options)
    return [
        cell(
            task=replace(TASK, engine=one.subject, bindings={"batch": batch}),
            session=f"{name} {batch} {'+'.join(engines)} {rounds}",
            model="bert-base/dynamo",
            measurement=replace(one, engine=one.subject, model="bert-base/dynamo",
                                bindings={"batch": batch}),
            figures=figures_of(one),
            baseline=one.subject == "torch-eager",
        )
        for one in measured
    ]  # fmt: skip


def written(tmp_path: Path, cells: list[Finished]) -> str:
    file, book = tmp_path / "study.toml", Ledger(tmp_path / "ledger.sqlite")
    file.write_text(STUDY)
    book.append(cells)
    main([str(file), str(book.path), "-o", str(tmp_path / "out"), "--names", "drawn"])
    return (tmp_path / "out" / "table.md").read_text()


def row(text: str, size: str) -> list[str]:
    (line,) = [line for line in text.splitlines() if line.startswith(f"| bert-base | {size} |")]
    return [part.strip() for part in line.strip("|").split("|")]


def test_a_row_has_every_engine_and_the_last_over_the_best_other(tmp_path: Path) -> None:
    text = written(tmp_path, session("s", 1, MS))
    found = row(text, "batch 1")
    assert [float(each) for each in found[2:5]] == pytest.approx([4.0, 2.0, 1.0], rel=0.05)
    assert found[5].startswith(("1.9", "2.0"))
    assert found[5].endswith("× (torch-compile)")
    assert row(text, "batch 64")[2:] == ["–"] * 4
    assert "bert-base batch 64: not measured: torch-eager, torch-compile, burnish-cuda" in text
    assert (tmp_path / "out" / "drawn-speed-up.svg").read_text().startswith("<svg")


def test_of_a_cell_that_was_measured_twice_the_one_with_a_verdict_counts(tmp_path: Path) -> None:
    slow = {"torch-eager": 8.0, "burnish-cuda": 8.0}
    cells = [*session("s", 1, MS), *session("later", 1, slow, rounds=1)]
    assert row(written(tmp_path, cells), "batch 1")[4].startswith(("0.9", "1"))


def test_one_process_is_marked(tmp_path: Path) -> None:
    found = row(written(tmp_path, session("s", 64, MS, rounds=1)), "batch 64")
    assert all(each.endswith("¹") for each in found[2:5])
    assert "× ¹ (torch-compile)" in found[5]


def test_what_is_wrong_is_no_rival(tmp_path: Path) -> None:
    cells = [
        replace(one, status="wrong", reason="off by 3",
                measurement=replace(one.measurement, status="wrong"))
        if one.task.engine == "torch-compile" else one
        for one in session("s", 1, MS)
    ]  # fmt: skip
    text = written(tmp_path, cells)
    assert row(text, "batch 1")[3] == "wrong"
    assert row(text, "batch 1")[5].endswith("× (torch-eager)")
    assert "bert-base batch 1 torch-compile: wrong: off by 3" in text


def test_a_ledger_without_a_baseline_says_so(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="no group of this study with its baseline"):
        written(tmp_path, [])


def test_a_group_that_was_ended_is_told_with_the_rounds_it_had(tmp_path: Path) -> None:
    begun = session("begun", 64, MS, rounds=2)
    for number in range(2):
        parts = [replace(one, measurement=apart(one.measurement, number)) for one in begun]
        Ledger(tmp_path / "ledger.sqlite").append_round(number, parts, code="c")
    text = written(tmp_path, session("s", 1, MS))
    assert all(each.endswith(" ¹ ²") for each in row(text, "batch 64")[2:5])
    assert row(text, "batch 64")[5].endswith("× ¹ (torch-compile)")
    engines = "torch-eager, torch-compile, burnish-cuda"
    assert f"bert-base batch 64: ² cut off in round 3: {engines}" in text
    assert not any("²" in each for each in row(text, "batch 1"))


def test_what_is_finished_counts_before_what_is_not(tmp_path: Path) -> None:
    begun = session("begun", 1, dict.fromkeys(MS, 9.0), rounds=3)
    for number in range(3):
        later = [replace(one, measurement=apart(one.measurement, number),
                         measured_at="2027-01-01T00:00:00+00:00") for one in begun]  # fmt: skip
        Ledger(tmp_path / "ledger.sqlite").append_round(number, later, code="c")
    text = written(tmp_path, session("s", 1, MS))
    assert "²" not in text
