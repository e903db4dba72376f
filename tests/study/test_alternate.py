from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from onnx import parser

from burnish.bench.subject import BenchSubject
from burnish.feeds.feed import Feeds
from burnish.store.stored import StoredModel
from burnish.study.alternate import alternating

MODEL = '<ir_version: 8, opset_import: ["" : 18]> g (float[4] x) => (float[4] y) { y = Erf(x) }'


def test_both_are_called_in_turn_and_equally_often(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    onnx.save(parser.parse_model(MODEL), path)
    ticks = iter(range(10_000))
    subjects = [BenchSubject(name, StoredModel(path, name), "onnxruntime-cpu") for name in "ab"]
    feeds = Feeds({"x": np.ones(4, np.float32)}, {})
    first, second = alternating(subjects, feeds, for_s=0.0, clock=lambda: float(next(ticks)))
    assert len(first) == len(second) == 30
    assert set(first) == {1.0}
