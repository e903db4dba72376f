from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx

from burnish.core.array_types import array_type
from burnish.parity.subject import JudgedSubject, judge
from burnish.rewrite.precision.widen import ROUNDED
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


def test_a_reference_in_bf16_runs_in_f32_and_rounds_and_says_so(tmp_path: Path) -> None:
    path, kind = tmp_path / "bf16.onnx", array_type("bf16")
    text = HALF.replace("float16", "bfloat16")
    onnx.save(onnx.parser.parse_model(text), path)
    x = np.array([1.0078125, 3.0, -0.3], kind)
    with judge(stored(path)).open() as session:
        given = session.run({"x": x})["y"]
        session.prepare({"x": x})()
        assert session.placement.notes == (ROUNDED,)
    assert given.dtype == kind
    assert (given == (x.astype(np.float32) ** 2).astype(kind)).all()


def test_casts_alone_need_no_twin(tmp_path: Path) -> None:
    path = tmp_path / "casts.onnx"
    text = HALF.replace("float16", "float")
    text = text.replace("y = Mul(x, x)", "h = Cast<to = 16>(x) y = Cast<to = 1>(h)")
    onnx.save(onnx.parser.parse_model(text), path)
    with judge(stored(path)).open() as session:
        assert ROUNDED not in session.placement.notes
