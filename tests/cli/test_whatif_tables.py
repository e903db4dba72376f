from __future__ import annotations

import math

from burnish.analyze.amdahl import Ceiling, Correction, Denominators
from burnish.analyze.whatif import Checked, Outcome, Paths, SweepRow, WhatIfReport
from burnish.report.table import Table
from burnish.study.shown.looking import whatif_lines as tables

REPORT = WhatIfReport(
    label="m",
    source="onnxruntime 1.31.1",
    baseline_s=10e-3,
    denominators=Denominators(10e-3, 15e-3, 9e-3, 9e-3, 0.0, 0.0, 0.0, 6e-3),
    correction=Correction(8e-6, 0.9, 1e-6),
    paths=Paths(10e-3, None),
    attributed=0.973,
    device="laptop",
    outcomes=(
        Outcome("one", ("scale A 2.00×",), 3, 4e-3, 8e-3, 10e-3, 7e-3, 9e-3, Ceiling(5 / 3, 1.8),
                ("odd",), between_s=(7.5e-3, 8.5e-3)),
        Outcome(
            "two", tuple(f"remove n{i}" for i in range(5)), 5, 5e-3, 5e-3, 10e-3, 4e-3, 9e-3, None,
            checked=Checked("remove", 10e-3, 4e-3, "faster"),
        ),
    ),
    sweep=(SweepRow("A", 3, 4e-3, 1.1, 1.25, None, math.inf, Ceiling(math.inf, 1.8)),),
    notes=("noisy",),
)  # fmt: skip


def test_the_lengths_the_outcomes_and_the_sweep_are_tables_with_all_that_must_be_known() -> None:
    lengths, outcomes, sweep, *lines = tables(REPORT)
    assert isinstance(lengths, Table)
    assert ("  added by profiling", "5.00 ms") in lengths.texts
    assert ("longest path, if only data were waited for", "–") in lengths.texts
    assert isinstance(outcomes, Table)
    assert list(outcomes.texts[0][5:]) == [
        "7.00 ms", "1.250×", "1.18× – 1.33×", "1.667×", "1.800×", "–", "–",
    ]  # fmt: skip
    assert outcomes.texts[1][1] == "remove n0; remove n1; remove n2; and 2 more"
    assert list(outcomes.texts[1][5:]) == ["4.00 ms", "2.00×", "–", "–", "–", "2.50×", "25.0 %"]
    assert isinstance(sweep, Table)
    assert list(sweep.texts[0]) == [
        "A", "3", "4.00 ms", "1.100×", "1.250×", "unknown", "∞", "∞", "1.800×",
    ]  # fmt: skip
    assert lines == [
        "attributed: 97.3 % of the work belongs to known nodes",
        "corrected: 8.00 µs of profiling off each node, times 0.90, 1.00 µs before each",
        "limits: laptop",
        "note: noisy",
        "note: odd",
    ]
