from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx

from burnish.parity.subject import JudgedSubject
from burnish.store.layout import stored

HALF = (
    '<ir_version: 10, opset_import: ["": 17]> g (float16[n] x) => (float16[n] y) { y = Mul(x, x) }'
)


def _models(tmp_path: Path) -> tuple[Path, Path]:
    half, wide = tmp_path / "half.onnx", tmp_path / "wide.onnx"
    onnx.save(onnx.parser.parse_model(HALF), half)
    onnx.save(onnx.parser.parse_model(HALF.replace("float16", "float")), wide)
    return half, wide


def test_inputs_and_outputs_are_cast_and_what_a_type_cannot_hold_is_infinite(
    tmp_path: Path,
) -> None:
    half, wide = _models(tmp_path)
    with JudgedSubject(stored(wide), runs=stored(half)).open() as session:
        given = session.run({"x": np.array([2.0, 300.0, 1e6], np.float32)})["y"]
    assert given.dtype == np.float32
    assert given.tolist() == [4.0, np.inf, np.inf]


def test_it_can_be_prepared_and_traced_as_any_other(tmp_path: Path) -> None:
    half, wide = _models(tmp_path)
    feeds = {"x": np.array([2.0], np.float32)}
    with JudgedSubject(stored(wide), runs=stored(half)).open() as session:
        session.prepare(feeds)()
        assert session.trace(feeds, warmup=0, runs=1) is not None
        assert session.placement.notes is not None
