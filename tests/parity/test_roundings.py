from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx

from burnish.feeds.feed import Feeds
from burnish.parity.subject import Subject
from burnish.parity.verify import judge, verify
from burnish.store.layout import stored

KEPT = """<ir_version: 10, opset_import: ["": 17]>
g (float[n] x) => (float[k] y)
<float third = {0.3333333432674408}, float three = {3.0}, float one = {1.0}, float half = {0.5}>
{
   a = Mul(x, third)
   b = Mul(a, three)
   c = Greater(b, one)
   y = Compress(x, c)
}"""


def _stored(path: Path, text: str) -> Path:
    onnx.save(onnx.parser.parse_model(text), path)
    return path


def _verified(tmp_path: Path, other: str, x: list[float]) -> tuple[bool, tuple[str, ...]]:
    one = stored(_stored(tmp_path / "one.onnx", KEPT))
    two = stored(_stored(tmp_path / "two.onnx", other))
    feeds = Feeds({"x": np.array(x, np.float32)}, {"n": len(x)})
    report = verify(judge(one), Subject(two), [feeds])
    return report.passed, report.notes


def test_how_many_elements_there_are_may_be_decided_by_a_rounding(tmp_path: Path) -> None:
    # 0.3333333432674408 × 3 is a little more than one, but not in f32
    passed, notes = _verified(
        tmp_path, KEPT.replace("Mul(x, third)", "Mul(third, x)"), [0.25, 1, 2]
    )
    assert passed
    assert "y: for some inputs roundings decide how many elements it has" in notes


def test_how_many_elements_there_are_is_else_a_difference(tmp_path: Path) -> None:
    passed, notes = _verified(
        tmp_path, KEPT.replace("Greater(b, one)", "Greater(b, half)"), [0.25, 0.75]
    )
    assert not passed
    assert not any("roundings decide" in note for note in notes)
