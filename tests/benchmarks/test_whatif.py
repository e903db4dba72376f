from __future__ import annotations

import dataclasses

import pytest
import whatif

from burnish.analyze.whatif import Checked, Outcome

MADE = Checked("remove op:Conv", 10e-3, 5e-3, "", between=(1.98, 2.02))
OUTCOME = Outcome("all Conv", (), 1, 5e-3, 5e-3, 10e-3, 5e-3, 10e-3, None, checked=MADE)


@pytest.mark.parametrize(
    ("made", "why"),
    [
        (MADE, ""),
        (None, "not measured"),
        (dataclasses.replace(MADE, between=(1.9, 2.1)), "measured to 10.5 % only"),
        (dataclasses.replace(MADE, baseline_s=12e-3), "recorded when it took 10.0 ms"),
    ],
)
def test_a_measurement_that_tells_nothing_is_not_counted(made: Checked | None, why: str) -> None:
    told = whatif.not_shown(dataclasses.replace(OUTCOME, checked=made))
    assert told.removeprefix("  not shown: ") == why
