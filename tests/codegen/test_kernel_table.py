"""The table of kernels holds: a change that alters plans or prices is seen in review."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import kernels
import pytest


@pytest.mark.parametrize("name", [*kernels.EXAMPLES, *kernels.BLOCKS])
def test_kernels_and_their_prices_are_those_of_the_table(name: str) -> None:
    known = [row for row in kernels.read(kernels.TABLE) if row.model == name]
    found = kernels.compared(name, known, kernels.planned(name))
    assert found[1:] == [], "look at them, then: python benchmarks/kernels.py --accept"
    assert known


def test_what_differs_is_told() -> None:
    a = kernels.Row("m", "a", 1, 1e-6, 100.0)
    b = kernels.Row("m", "b", 2, 2e-6, 200.0)
    dearer = replace(a, predicted_s=4e-6)
    assert kernels.compared("m", [a, b], [a, b])[1:] == []
    first, *lines = kernels.compared("m", [a, b], [dearer, replace(b, kernel="c")])
    assert first == "m: 2 → 2 kernels, predicted 3.00 µs → 6.00 µs, traffic 300 B → 300 B"
    assert lines == [
        "  cost a ×1 → ×1 1.00 µs → 4.00 µs",
        "  gone b ×2 2.00 µs",
        "  new  c ×2 2.00 µs",
    ]


def test_a_table_is_read_as_it_was_written(tmp_path: Path) -> None:
    rows = [kernels.Row("m", "a", 1, 1.25e-6, 128.0), kernels.Row("n", "b", 2, 0.5, 1e9)]
    kernels.write(tmp_path / "t.csv", rows)
    assert kernels.read(tmp_path / "t.csv") == rows
