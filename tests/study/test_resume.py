"""Killed at any moment, a benchmark goes on: nothing is lost, and nothing is measured twice."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import onnx
import onnx.parser
import pytest

from burnish.bench.ledger import Ledger

MODEL = """
<ir_version: 8, opset_import: ["": 18]>
g (float[batch, 4] x) => (float[batch, 4] y) { y = Neg(x) }
"""
SIZES = tuple(range(1, 8))
KILLS = 10


def _killed(command: Sequence[str], book: Ledger, dice: random.Random, *, rows: int) -> None:
    """Start a command, and kill it some time after there are so many rows."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while len(book.rows()) < rows and process.poll() is None:
        time.sleep(0.05)
    time.sleep(dice.uniform(0.0, 2.0))
    process.send_signal(signal.SIGKILL)
    process.wait()


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_ten_kills_at_random_moments_lose_nothing_and_measure_nothing_twice(tmp_path: Path) -> None:
    for name in ("plain", "same"):
        onnx.save(onnx.parser.parse_model(MODEL), tmp_path / f"{name}.onnx")
    book = Ledger(tmp_path / "ledger.sqlite")
    command = [
        sys.executable, "-m", "burnish", "-q", "bench", str(tmp_path / "plain.onnx"),
        str(tmp_path / "same.onnx"), "--engine", "onnxruntime-cpu", "--rounds", "1", "--blocks",
        "1", "--no-verify", "--batch", ",".join(map(str, SIZES)), "--ledger", str(book.path),
    ]  # fmt: skip
    dice = random.Random(14)
    before: list[str] = []
    for kill in range(KILLS):
        # every second one while it starts or measures what it had begun, the others a row later
        _killed(command, book, dice, rows=len(before) + kill % 2)
        now = [row.task for row in book.rows()]
        assert now[: len(before)] == before, "what was finished is still there"
        assert max(Counter(now).values(), default=1) == 1, "no cell was measured twice"
        before = now
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    rows = book.rows()
    assert [row.task for row in rows][: len(before)] == before
    assert Counter(row.task for row in rows) == Counter(dict.fromkeys({r.task for r in rows}, 1))
    assert {(row.model, row.bindings["batch"]) for row in rows} == {
        (name, size) for name in ("plain", "same") for size in SIZES
    }
    assert len(rows) == 2 * len(SIZES)


def _samples(book: Ledger) -> dict[str, tuple[float, ...]]:
    """Return by task what is kept of a group that is not finished."""
    return {
        key: cell.measurement.samples_s
        for group in book.begun()
        for key, cell in group.cells.items()
    }


def _killed_in_a_round(
    command: Sequence[str], book: Ledger, dice: random.Random, rounds: int
) -> None:
    """Start a command, and kill it some time after so many rounds of its group were kept."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while process.poll() is None and max((one.rounds for one in book.begun()), default=0) < rounds:
        time.sleep(0.05)
    time.sleep(dice.uniform(0.0, 1.0))
    process.send_signal(signal.SIGKILL)
    process.wait()


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_kills_within_a_group_lose_no_finished_round_and_measure_none_twice(tmp_path: Path) -> None:
    for name in ("plain", "same"):
        onnx.save(onnx.parser.parse_model(MODEL), tmp_path / f"{name}.onnx")
    book = Ledger(tmp_path / "ledger.sqlite")
    command = [
        sys.executable, "-m", "burnish", "-q", "bench", str(tmp_path / "plain.onnx"),
        str(tmp_path / "same.onnx"), "--engine", "onnxruntime-cpu", "--rounds", "6", "--blocks",
        "1", "--no-verify", "--batch", "2", "--ledger", str(book.path),
    ]  # fmt: skip
    dice = random.Random(14)
    before: dict[str, tuple[float, ...]] = {}
    for rounds in (1, 2, 3, 5):
        _killed_in_a_round(command, book, dice, rounds)
        now = _samples(book)
        if book.rows():
            break  # it was done before it was killed
        assert len(now) == 2
        for key, samples in before.items():
            assert now[key][: len(samples)] == samples, "what was kept is still there"
        before = now
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    assert book.begun() == ()
    assert len(book.rows()) == 2
    for row in book.rows():
        measured = book.finished(row.id).measurement
        assert measured.rounds == tuple(range(6)), "each round is there once"
        assert measured.samples_s[: len(before.get(row.task, ()))] == before.get(row.task, ())
