"""What a model scores on labels before and after its numbers or weights became fewer."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnx_ir as ir
import pytest

import burnish
from burnish.core.errors import UsageError
from burnish.study.accuracy import TaskAccuracy, f1, top1
from rewriting import Graph, samples

ROWS, CLASSES = 64, 5


@pytest.fixture
def task(tmp_path: Path) -> tuple[Path, Path, Path]:
    """Return a classifier, inputs, and labels of which it gets some right."""
    g = Graph(opset=17)
    x = g.input("x", ["batch", 16])
    inner = g.op("Relu", g.op("MatMul", x, samples(16, 64)))
    y = g.op("MatMul", inner, samples(64, CLASSES, seed=1))
    y.shape = ir.Shape(["batch", CLASSES])
    model = tmp_path / "model.onnx"
    onnx.save(ir.serde.serialize_model(g.model(y)), model)
    given = samples(ROWS, 16, seed=2)
    np.savez(tmp_path / "inputs.npz", x=given)
    scores = np.maximum(given @ samples(16, 64), 0) @ samples(64, CLASSES, seed=1)
    labels = scores.argmax(axis=-1)
    labels[:16] = (labels[:16] + 1) % CLASSES
    np.save(tmp_path / "labels.npy", labels)
    return model, tmp_path / "inputs.npz", tmp_path / "labels.npy"


def test_both_are_scored_where_numbers_become_fewer(task: tuple[Path, Path, Path]) -> None:
    model, data, labels = task
    report = burnish.optimize(
        model, output=model.with_name("small.onnx"), precision="int8", data=data, labels=labels,
        budget=0.0,
    )  # fmt: skip
    found = report.accuracy
    assert found is not None
    assert found.before == 0.75
    assert found.after == pytest.approx(0.75, abs=0.1)
    assert f"top1 on {ROWS} labels: 75.00% → " in burnish.show(report)


def test_both_are_scored_where_weights_become_fewer(task: tuple[Path, Path, Path]) -> None:
    model, data, labels = task
    report = burnish.prune(
        model, output=model.with_name("small.onnx"), keep=0.7, data=data, labels=labels,
        metric="f1", budget=0.0,
    )  # fmt: skip
    assert report.accuracy is not None
    assert 0.3 < report.accuracy.after <= 1
    assert "f1 on 64 labels: " in burnish.show(report)


def test_a_function_of_the_user_scores(task: tuple[Path, Path, Path]) -> None:
    model, data, labels = task
    own = model.with_name("own.py")
    own.write_text("def wrong(outputs, labels):\n    return float(len(labels) / 100)\n")
    report = burnish.optimize(
        model, output=model.with_name("small.onnx"), data=data, labels=labels,
        metric=f"{own}:wrong", budget=0.0,
    )  # fmt: skip
    assert report.accuracy == TaskAccuracy(f"{own}:wrong", 0.64, 0.64, ROWS)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("def own(outputs, labels):\n    raise ValueError('why')", "no number .ValueError: why"),
        ("def own(outputs, labels):\n    return 'x'", "no number .ValueError"),
        ("def own():\n    return 1", "no number .TypeError"),
        ("own = 3", "no number .TypeError"),
        ("def own(outputs, labels):\n    raise SystemExit(0)", "no number .SystemExit"),
        ("raise SystemExit(3)", "cannot be used: SystemExit: 3"),
    ],
)
def test_a_function_of_the_user_that_fails_is_no_bug_of_ours(
    task: tuple[Path, Path, Path], text: str, said: str
) -> None:
    model, data, labels = task
    own = model.with_name("own.py")
    own.write_text(text)
    with pytest.raises(UsageError, match=said):
        burnish.optimize(
            model, output=model.with_name("small.onnx"), data=data, labels=labels,
            metric=f"{own}:own", budget=0.0,
        )  # fmt: skip


def test_classes_count_alike_in_f1() -> None:
    scores = np.eye(3)[[0, 0, 1, 1]]
    labels = np.array([0, 0, 0, 1])
    assert top1({"y": scores}, labels) == 0.75
    assert f1({"y": scores}, labels) == pytest.approx((2 * 2 / 5 + 2 * 1 / 3) / 2)


@pytest.mark.parametrize(
    ("changed", "problem", "hint"),
    [
        ({"data": None}, "made inputs have none", "add --data"),
        ({"labels": "none.npy"}, "none.npy: holds no labels", "numpy.save"),
        ({"metric": "best"}, "--metric 'best' is no metric", "top1, f1"),
        ({"metric": "broken.py:f"}, "broken.py:f: cannot be used: NameError", "FILE.py:FUNCTION"),
        ({"labels": "few.npy"}, "no output with scores for each: out0", "a label for each row"),
        ({"labels": "empty.npy"}, "the array is empty", "numpy.save"),
    ],
)
def test_labels_that_cannot_be_used_are_refused(
    task: tuple[Path, Path, Path], changed: dict[str, str | None], problem: str, hint: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    model, data, labels = task
    monkeypatch.chdir(model.parent)
    np.save("few.npy", np.zeros(3, np.int64))
    np.save("empty.npy", np.zeros(0, np.int64))
    Path("broken.py").write_text("f = nothing\n")
    asked = {"data": str(data), "labels": str(labels), "precision": "int8", **changed}
    with pytest.raises(UsageError) as caught:
        burnish.optimize(model, output="small.onnx", budget=0.0, **asked)
    assert problem in caught.value.problem
    assert hint in caught.value.hint
    assert not Path("small.onnx").exists(), "nothing was done before that was known"


def test_inputs_of_several_sizes_are_not_scored_together(tmp_path: Path) -> None:
    g = Graph(opset=17)
    x = g.input("x", ["batch", "sequence", 4])
    y = g.op("MatMul", x, samples(4, 3))
    y.shape = ir.Shape(["batch", "sequence", 3])
    onnx.save(ir.serde.serialize_model(g.model(y)), tmp_path / "model.onnx")
    for number in range(2):
        folder = tmp_path / "data" / f"test_data_set_{number}"
        folder.mkdir(parents=True)
        content = onnx.numpy_helper.from_array(samples(1, 2 + number, 4), "x")
        (folder / "input_0.pb").write_bytes(content.SerializeToString())
    np.save(tmp_path / "labels.npy", np.zeros(2, np.int64))
    with pytest.raises(UsageError, match="cannot be scored together") as caught:
        burnish.optimize(
            tmp_path / "model.onnx", output=tmp_path / "o.onnx", budget=0.0,
            data=tmp_path / "data", labels=tmp_path / "labels.npy",
        )  # fmt: skip
    assert "pad the inputs" in caught.value.hint
