from __future__ import annotations

import shutil
from pathlib import Path
from typing import Self

import numpy as np
import onnx
import pytest

from burnish.core.arrays import Arrays
from burnish.engines.base import Session
from burnish.feeds.feed import Feeds
from burnish.parity.verify import JudgedSubject, judge, verify
from burnish.store import layout

TEXT = """<ir_version: 10, opset_import: ["" : 20]>
g (float[n, 4] x) => (float[n, 4] y) { a = Tanh(x)  y = Mul(a, a) }"""


class Wrong:
    """A session of an engine that is one per cent off, whatever it runs, unless it is the judge."""

    def __init__(self, session: Session, subject: JudgedSubject) -> None:
        self._session = session
        self._factor = np.float32(1.0 if subject.options.graph_level == "off" else 1.01)
        self.placement = session.placement

    def run(self, feeds: Arrays) -> dict[str, np.ndarray]:
        return {
            name: np.multiply(array, self._factor)
            for name, array in self._session.run(feeds).items()
        }

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._session.__exit__(None, None, None)


@pytest.mark.parametrize("place", ["one.onnx", "./one.onnx", "../here/one.onnx", "copied.onnx"])
def test_what_an_engine_makes_of_every_model_is_no_excuse_for_it_wherever_the_model_lies(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = tmp_path / "here"
    here.mkdir()
    onnx.save(onnx.parser.parse_model(TEXT), here / "one.onnx")
    shutil.copy(here / "one.onnx", here / "copied.onnx")
    monkeypatch.chdir(here)
    real = JudgedSubject.open
    monkeypatch.setattr(JudgedSubject, "open", lambda subject: Wrong(real(subject), subject))
    reference = judge(layout.stored(Path(place)))
    candidate = JudgedSubject(layout.stored(here / "one.onnx"))
    feeds = Feeds({"x": np.linspace(-2, 2, 12, dtype=np.float32).reshape(3, 4)}, {"n": 3})
    report = verify(reference, candidate, [feeds])
    assert not report.passed
    assert report.notes == ()
