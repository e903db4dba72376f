"""Prune models on disk: what is cut, what that costs, and what is refused before work starts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx_ir as ir
import pytest

import burnish
from burnish.bench.measure import Placed
from burnish.bench.subject import BenchSubject
from burnish.cli.main import run
from burnish.core.errors import ModelError, UsageError
from burnish.feeds.feed import Feeds
from burnish.store.stored import StoredModel
from burnish.study import prune, prune_fit, prune_write
from burnish.study.judge import judge_of
from burnish.study.prune_inputs import outputs
from burnish.study.prune_report import PruneReport
from burnish.study.requests.pruning import latency
from prune_samples import SAMPLES, Weights
from rewriting import Graph

QUICK: dict[str, Any] = {"samples": 12, "budget": 0.0}


def correlated() -> ir.Model:
    """A perceptron whose inputs lie near a plane of eight dimensions, so that neurons resemble."""
    g, w = Graph(), Weights()
    x = g.input("x", ["batch", 8])
    wide = g.op("MatMul", x, w(8, 32))
    inner = g.op("Relu", g.op("Add", g.op("MatMul", wide, w(32, 128)), 1.0))
    y = g.op("MatMul", inner, w(128, 16))
    y.shape = ir.Shape(["batch", 16])
    return g.model(y)


def saved(model: ir.Model, folder: Path) -> Path:
    path = folder / "model.onnx"
    onnx.save(ir.serde.serialize_model(model), path)
    return path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return saved(SAMPLES["separate products"].make(), tmp_path)


def pruned(path: Path, **options: object) -> PruneReport:
    return burnish.prune(path, output=path.with_name("small.onnx"), **{**QUICK, **options})


def test_fitting_what_is_left_halves_the_error_at_least(tmp_path: Path) -> None:
    report = pruned(saved(correlated(), tmp_path), keep=0.6, shape={"batch": 64})
    (output,) = report.errors
    assert output.relative_unfitted is not None
    assert output.relative < 0.5 * output.relative_unfitted
    (neurons,) = (axis for axis in report.cut if axis.before == 128)
    assert neurons.error < 0.5 * neurons.error_unfitted


def test_the_result_is_smaller_proven_equal_to_its_twin_and_tells_its_error(path: Path) -> None:
    report = pruned(path, keep=0.6)
    assert report.parity is not None
    assert report.parity.passed
    assert report.before.flops is not None
    assert report.after.flops is not None
    assert report.after.flops <= 0.6 * report.before.flops
    assert report.after.parameters < report.before.parameters
    assert report.after.file_bytes < report.before.file_bytes
    shown = burnish.show(report)
    assert "synthetic: accuracy not proven" in shown
    assert "changed on purpose" in shown


def test_a_share_of_everything_cut_without_fitting_has_no_second_error(path: Path) -> None:
    report = pruned(path, keep=0.7, reconstruct=False, score="output-error", verify=False)
    assert report.errors[0].relative_unfitted is None
    assert "not verified" in burnish.show(report)


def test_images_are_cut_in_channels_that_a_residual_keeps_equal(tmp_path: Path) -> None:
    report = pruned(saved(SAMPLES["convolutions"].make(), tmp_path), keep=0.6)
    assert report.parity is not None
    assert report.parity.passed
    assert "channels" in {axis.kind for axis in report.cut}


def test_data_of_the_user_is_what_it_is_calibrated_on(path: Path, tmp_path: Path) -> None:
    data = tmp_path / "inputs.npz"
    np.savez(data, x=np.ones((2, 3, 16), np.float32))
    report = pruned(path, keep=0.7, data=data)
    assert report.calibration.source == str(data)
    assert not report.calibration.held_out
    assert "errors on the same ones" in burnish.show(report)


def test_as_much_is_cut_as_an_error_allows(path: Path) -> None:
    report = pruned(path, max_error=0.25)
    assert report.cut
    assert max(error.relative for error in report.errors) <= 0.25


def test_a_faster_model_is_cut_by_a_table_of_latencies(path: Path) -> None:
    report = pruned(path, target_speedup=1.001, shape={"batch": 8, "sequence": 64})
    assert report.latency is not None
    assert report.latency.predicted >= 1.001
    assert "the table of latencies promised" in burnish.show(report)


@pytest.mark.parametrize("method", ["magnitude", "wanda", "2:4"])
def test_masks_set_half_of_the_weights_to_zero_and_say_that_this_gains_nothing(
    path: Path, method: str
) -> None:
    report = pruned(path, method=method, keep=None if method == "2:4" else 0.5)
    assert report.before.parameters == report.after.parameters
    assert report.notes[0].startswith("50.0 % of")
    assert any("no faster" in note for note in report.notes)
    weights = onnx.load(report.target).graph.initializer
    large = [onnx.numpy_helper.to_array(w) for w in weights if len(w.dims) == 2]
    assert np.mean([np.mean(array == 0) for array in large]) == pytest.approx(0.5, abs=0.05)


def test_two_of_four_leaves_alone_what_has_no_fours(tmp_path: Path) -> None:
    report = pruned(saved(SAMPLES["convolutions"].make(), tmp_path), method="2:4")
    assert any("was left alone: it sums" in note for note in report.notes)


def test_a_pruned_model_is_benched_by_what_it_gives_itself(path: Path) -> None:
    small = pruned(path, keep=0.6).target
    array = np.random.default_rng(0).standard_normal((2, 3, 16)).astype(np.float32)
    feeds = Feeds({"x": array}, {})
    models = {name: StoredModel(file, name) for name, file in (("a", path), ("b", small))}
    subjects = [BenchSubject(name, model, "onnxruntime-cpu") for name, model in models.items()]
    judge = judge_of(subjects, models["a"], feeds)
    placed = Placed("cpu", "f32", {}, None, ())
    own, other = (outputs(file, [feeds])[0] for file in (small, path))
    right = judge("b", placed, own)
    assert right.word == "same as itself"
    assert right.note.startswith("pruned: cosine 0.")
    assert judge("a", placed, other).word == "same"
    assert judge("b", placed, other).word == "WRONG"


def test_a_fit_that_makes_the_whole_worse_is_not_taken(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = prune_fit.new_weights

    def wrong(axes: Any, kept: Any, fit: str, part: float = 0.0) -> dict[str, Any]:  # noqa: ANN401
        found = right(axes, kept, "zeroed")
        return {k: -3 * v for k, v in found.items()} if fit == "fitted" else found

    monkeypatch.setattr(prune_fit, "new_weights", wrong)
    monkeypatch.setattr(prune_fit, "fitted_in_turn", lambda *_: wrong(*_[1:3], "fitted"))
    report = pruned(path, keep=0.7)
    assert report.notes[0].endswith("; taken: fitting nothing")
    assert "fitting each product by itself, by 25.0 %" in report.notes[0]
    assert report.errors[0].relative_unfitted is None


def deep() -> ir.Model:
    """A chain of convolutions: an error of the first passes through all of them."""
    g, w = Graph(), Weights()
    y = g.input("x", ["batch", 3, 10, 10])
    for layer in range(10):
        weights = 1.6 * w(16, 16 if layer else 3, 3, 3)
        y = g.op("Relu", g.op("Conv", y, weights, w(16), pads=[1, 1, 1, 1]))
    out = g.op("MatMul", g.op("ReduceMean", y, axes=[2, 3], keepdims=0), w(16, 8))
    out.shape = ir.Shape(["batch", 8])
    return g.model(out)


def test_products_of_a_deep_network_are_fitted_to_what_they_read_by_then(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prune_fit, "_ENOUGH", 0.0)
    report = pruned(saved(deep(), tmp_path), keep=0.3, shape={"batch": 4})
    assert report.notes[0].endswith("taken: fitting one after the other")
    (output,) = report.errors
    assert output.relative_unfitted is not None
    assert output.relative < 0.5 * output.relative_unfitted


def test_the_command_ends_with_the_one_that_measures(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = path.with_name("small.onnx")
    words = ["prune", str(path), "-o", str(target), "--keep", "0.7", "--samples", "4"]
    assert run([*words, "--budget", "0"]) == 0
    shown = capsys.readouterr().out
    assert "against the original" in shown
    assert f"next: burnish bench {path} {target}" in shown


def test_a_cut_that_is_wrong_is_not_written(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    right = prune.reweighted
    monkeypatch.setattr(
        prune, "reweighted", lambda m, w: right(m, {k: v + 0.5 for k, v in w.items()})
    )
    with pytest.raises(prune_write.PruneRejectedError, match="was not written") as caught:
        pruned(path, keep=0.7)
    assert "bug in burnish" in caught.value.hint
    assert not path.with_name("small.onnx").exists()


@pytest.mark.parametrize(
    ("asked", "problem", "hint"),
    [
        ({}, "how much is to be cut was not said", "--keep 0.5"),
        ({"keep": 0.5, "max_error": 0.1}, "are 2 goals, and one is taken", "leave out --max-error"),
        ({"keep": 1.5}, "--keep 1.5 is not a share between 0 and 1", "--keep 0.5"),
        ({"target_speedup": 0.5}, "is not faster than it is now", "--target-speedup 1.5"),
        ({"max_error": 0.0}, "leaves nothing to cut", "--max-error 0.1"),
        ({"max_error": 1e-9}, "no cut was found with an error below", "allow more: --max-error"),
        ({"keep": 0.01}, "cannot be cut to 1% of its operations", "keep more: --keep 0."),
        ({"target_latency": 1e-9}, "cannot be reached", "ask for less: --target-speedup"),
        ({"method": "wanda"}, "--method wanda is to keep was not said", "--keep 0.5"),
        ({"method": "2:4", "keep": 0.5}, "2:4 keeps half of the weights", "leave out --keep"),
        ({"method": "wanda", "target_speedup": 2.0}, "makes nothing smaller or faster",
         "leave out --method wanda"),
        ({"keep": 0.5, "data": "nowhere.npz"}, "nowhere.npz: no such file", "burnish inputs"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_says_so(
    path: Path, asked: dict[str, Any], problem: str, hint: str
) -> None:
    with pytest.raises(UsageError, match=problem) as caught:
        pruned(path, **asked)
    assert hint in caught.value.hint
    assert not path.with_name("small.onnx").exists()


def test_a_model_with_nothing_to_cut_says_why(tmp_path: Path) -> None:
    g, w = Graph(), Weights()
    x = g.input("x", ["batch", 8])
    y = g.op("MatMul", x, w(8, 8))
    y.shape = ir.Shape(["batch", 8])
    file = saved(g.model(y), tmp_path)
    with pytest.raises(ModelError, match="nothing in it can be made smaller; what") as caught:
        pruned(file, keep=0.5)
    assert "is an input of the model" in caught.value.problem
    assert "--method magnitude" in caught.value.hint


def test_a_model_without_weights_cannot_be_masked(tmp_path: Path) -> None:
    g = Graph()
    y = g.op("Relu", g.input("x", ["batch", 8]))
    y.shape = ir.Shape(["batch", 8])
    file = saved(g.model(y), tmp_path)
    with pytest.raises(ModelError, match="no product with constant weights, so none") as caught:
        pruned(file, keep=0.5, method="wanda")
    assert "burnish explain" in caught.value.hint
    with pytest.raises(ModelError, match="no product with constant weights"):
        pruned(file, keep=0.5)


@pytest.mark.parametrize(("text", "seconds"), [("20ms", 0.02), ("0.5s", 0.5), ("2", 2.0)])
def test_latencies_are_written_with_their_unit(text: str, seconds: float) -> None:
    assert latency(text) == pytest.approx(seconds)


def test_what_is_no_latency_is_refused() -> None:
    with pytest.raises(UsageError, match="'soon' is not a latency") as caught:
        latency("soon")
    assert "--target-latency 20ms" in caught.value.hint
