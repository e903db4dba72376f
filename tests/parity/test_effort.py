from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnx.parser

from burnish.feeds.feed import Feeds
from burnish.parity.effort import Effort
from burnish.parity.report import VerifyReport
from burnish.parity.verify import JudgedSubject, judge, verify
from burnish.store.stored import StoredModel

GELU = """
<ir_version: 8, opset_import: ["": 20]>
g (float[N] x) => (float[N] y) { y = Gelu <approximate = "FORM"> (x) }
"""


def _judged(folder: Path, effort: Effort) -> VerifyReport:
    """Judge a GELU by tanh: with small inputs, only its meaning tells."""
    for form in ("none", "tanh"):
        onnx.save(onnx.parser.parse_model(GELU.replace("FORM", form)), folder / f"{form}.onnx")
    models = [StoredModel(folder / f"{form}.onnx", form) for form in ("none", "tanh")]
    feeds = [Feeds({"x": np.array([0.01, -0.02, 4.0], np.float32)}, {"N": 3})]
    return verify(judge(models[0]), JudgedSubject(models[1]), feeds, effort=effort)


def test_every_command_has_the_same_time_to_judge() -> None:
    assert {Effort(seconds).judging_s for seconds in (1e-6, 5.0, 15.0, 30.0)} == {30.0}
    assert Effort(120.0).judging_s == 120.0
    assert Effort(0.0).judging_s == 0.0


def test_a_short_search_takes_no_time_from_the_judge(tmp_path: Path) -> None:
    found = _judged(tmp_path, Effort(1e-9, search=True))
    assert not found.passed
    assert not found.unjudged


def test_whoever_wants_no_budget_is_told_that_meaning_was_not_judged(tmp_path: Path) -> None:
    assert _judged(tmp_path, Effort(0.0)).unjudged
