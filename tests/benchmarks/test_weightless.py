from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import numpy_helper, parser
from weightless import main, make, pack, tensors, without_weights


def a_model() -> onnx.ModelProto:
    """Return a model of weights, a table, a few numbers, and weights inside of a branch."""
    random = np.random.default_rng(3)
    model = parser.parse_model("""<ir_version: 10, opset_import: ["": 21]>
        small (float[1,64] x, bool c) => (float[1,64] y) {
            h = MatMul(x, w) i = Add(h, few) j = Gather(i, places) k = Add(j, zeros)
            y = If (c) <then_branch = inner () => (float[1,64] a) { a = MatMul(k, w) },
                        else_branch = other () => (float[1,64] b) { b = Identity(k) }> }""")
    weights = random.normal(0.25, 2.0, (64, 64)).astype(np.float32)
    held = {
        "w": weights, "few": random.random((64,)).astype(np.float32),
        "places": np.zeros((), np.int64), "zeros": np.zeros((40, 64), np.float32),
    }  # fmt: skip
    model.graph.initializer.extend(numpy_helper.from_array(v, k) for k, v in held.items())
    inner = model.graph.node[-1].attribute[0].g
    inner.initializer.append(numpy_helper.from_array(weights.astype(np.float16), "v"))
    return model


def of(model: onnx.ModelProto) -> dict[str, np.ndarray]:
    return {each.name: numpy_helper.to_array(each) for each in tensors(model.graph)}


def test_large_weights_are_left_out_and_all_else_stays() -> None:
    model, before = a_model(), of(a_model())
    drawn = without_weights(model)
    named = {each.name: each for each in tensors(model.graph)}
    assert [list(named)[place] for place in drawn] == ["w", "v"]
    assert not named["w"].raw_data
    assert list(named["w"].dims) == [64, 64]
    for name in ("few", "places", "zeros"):
        np.testing.assert_array_equal(numpy_helper.to_array(named[name]), before[name])


def test_models_are_made_anew_with_numbers_like_theirs(tmp_path: Path) -> None:
    stored = tmp_path / "store" / "one" / "dynamo" / "one.onnx"
    stored.parent.mkdir(parents=True)
    onnx.save(a_model(), str(stored))
    pack(tmp_path / "store", tmp_path / "a.tar.xz")
    assert (tmp_path / "a.tar.xz").stat().st_size < stored.stat().st_size / 4
    made = onnx.load(str(make(tmp_path / "a.tar.xz", tmp_path / "there")["one"]))
    before, after = of(a_model()), of(made)
    assert [node.op_type for node in made.graph.node] == ["MatMul", "Add", "Gather", "Add", "If"]
    for name, values in before.items():
        assert (after[name].shape, after[name].dtype) == (values.shape, values.dtype)
    assert after["w"].mean() == pytest.approx(before["w"].mean(), abs=0.1)
    assert after["w"].std() == pytest.approx(before["w"].std(), rel=0.1)
    assert before["w"].min() <= after["w"].min()
    assert after["w"].max() <= before["w"].max()
    again = onnx.load(str(make(tmp_path / "a.tar.xz", tmp_path / "twice")["one"]))
    assert again == made


def test_only_what_is_named_is_made(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("one", "two"):
        (tmp_path / "store" / name).mkdir(parents=True)
        onnx.save(a_model(), str(tmp_path / "store" / name / "m.onnx"))
    archive = str(tmp_path / "a.tar.xz")
    main(["pack", str(tmp_path / "store"), archive])
    main(["make", archive, str(tmp_path / "there"), "two"])
    assert capsys.readouterr().out.splitlines() == [
        "one: 2 tensors are drawn", "two: 2 tensors are drawn",
        f"two: {tmp_path / 'there' / 'two' / 'two.onnx'}",
    ]  # fmt: skip
