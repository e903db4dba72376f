from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnx.parser
import pytest

from burnish.bench import malloc, run
from burnish.bench.isolate import WorkerTerms
from burnish.bench.measure import ParityMark, Placed, Verdict
from burnish.bench.run import bench
from burnish.bench.subject import BenchOptions, BenchSubject
from burnish.core.arrays import Arrays
from burnish.core.errors import MissingCapabilityError, ModelError, UsageError
from burnish.engines.base import ENGINES, EngineOptions
from burnish.feeds.feed import Feeds
from burnish.process.child import ProcessLimits
from burnish.store.stored import StoredModel
from burnish.timing.stopwatch import WarmupLimit

MODEL = """
<ir_version: 8, opset_import: ["": 18]>
g (float[N, 4] x) => (float[N, 4] y) { y = OPERATOR(x) }
"""
QUICK = BenchOptions(rounds=2, blocks=2, budget_s=120, block_s=0.002)
FEEDS = Feeds({"x": np.ones((2, 4), np.float32)}, {"N": 2}, ("x is made of ones",))


def stored(folder: Path, operator: str = "Neg") -> StoredModel:
    path = folder / f"{operator}.onnx"
    onnx.save(onnx.parser.parse_model(MODEL.replace("OPERATOR", operator)), path)
    return StoredModel(path, operator)


def subject(label: str, model: StoredModel, **options: object) -> BenchSubject:
    return BenchSubject(label, model, "onnxruntime-cpu", EngineOptions(**options))  # type: ignore[arg-type]


def test_a_benchmark_of_two_subjects_has_rows_comparison_and_machine(tmp_path: Path) -> None:
    model = stored(tmp_path)
    report = bench([subject("a", model), subject("b", model, threads=1)], FEEDS, QUICK)
    assert report.baseline == "a"
    assert [one.failure for one in report.measurements] == [None, None]
    assert report.measurements[0].rounds == (0, 1)
    assert report.measurements[1].options["threads"] == 1
    assert report.measurements[0].options["threads"] == report.machine.usable_cores
    assert report.measurements[0].bindings == {"N": 2}
    assert len(report.measurements[0].model_key) == 64
    assert report.comparisons[0].candidate == "b"
    assert len(report.comparisons[0].round_ratios) == 2
    assert report.notes[0] == "x is made of ones"
    assert report.machine.elapsed_s > 0
    assert report.parity == {}


def test_a_subject_that_fails_has_a_row_with_the_reason(tmp_path: Path) -> None:
    good, bad = stored(tmp_path), stored(tmp_path, "custom.Nothing")
    text = MODEL.replace("OPERATOR", "Nothing")
    onnx.save(onnx.parser.parse_model(text), bad.onnx)
    report = bench([subject("good", good), subject("bad", bad)], FEEDS, QUICK)
    failure = report.measurement("bad").failure
    assert failure is not None
    assert "Nothing" in failure
    assert report.measurement("bad").blocks == ()
    assert len(report.measurement("good").rounds) == 2
    assert report.comparisons[0].verdict is Verdict.NOT_ENOUGH
    assert report.comparisons[0].reason.startswith("bad failed: ")


def test_the_judge_is_shown_what_the_timed_process_computed(tmp_path: Path) -> None:
    def judge(label: str, placement: Placed, outputs: Arrays) -> ParityMark:
        assert placement.precision == "f32"
        return ParityMark(bool(np.all(outputs["y"] == -1)), 0.0, label)

    report = bench([subject("a", stored(tmp_path))], FEEDS, QUICK, judge=judge)
    assert report.parity == {"a": ParityMark(True, 0.0, "a")}
    assert report.comparisons == ()


def test_the_baseline_may_be_chosen(tmp_path: Path) -> None:
    model = stored(tmp_path)
    options = BenchOptions(rounds=1, blocks=1, budget_s=120, block_s=0.001, baseline="b")
    report = bench([subject("a", model), subject("b", model)], FEEDS, options)
    assert report.baseline == "b"
    assert [one.candidate for one in report.comparisons] == ["a"]


def test_nothing_to_measure_is_refused() -> None:
    with pytest.raises(UsageError, match="there is nothing to measure") as error:
        bench([], FEEDS)
    assert error.value.hint == "name a model: burnish bench MODEL"


def test_two_subjects_of_one_name_are_refused(tmp_path: Path) -> None:
    model = stored(tmp_path)
    with pytest.raises(UsageError, match="two subjects are called 'a'") as error:
        bench([subject("a", model), subject("a", model)], FEEDS)
    assert error.value.hint == "measure each model on each engine once"


def test_an_unknown_baseline_is_refused_with_the_nearest(tmp_path: Path) -> None:
    options = BenchOptions(baseline="bert_dynamo")
    with pytest.raises(UsageError, match="'bert_dynamo' is not among the subjects") as error:
        bench([subject("bert/dynamo", stored(tmp_path))], FEEDS, options)
    assert error.value.hint.startswith("did you mean 'bert/dynamo'?")


def test_an_engine_that_is_missing_is_refused_before_anything_runs(tmp_path: Path) -> None:
    missing = [name for name in ENGINES if not ENGINES[name].availability().ok]
    if not missing:
        pytest.skip("every engine works here")
    with pytest.raises(MissingCapabilityError, match=missing[0]) as error:
        bench([BenchSubject("a", stored(tmp_path), missing[0])], FEEDS)
    assert error.value.hint


def test_an_unreadable_model_is_refused_before_anything_runs(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"gone\.onnx"):
        bench([subject("a", StoredModel(tmp_path / "gone.onnx", "gone"))], FEEDS)


def test_only_pytorch_workers_get_an_allocator_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = malloc.Allocator({"LD_PRELOAD": "libjemalloc.so.2"}, "malloc: libjemalloc.so.2")
    monkeypatch.setattr(malloc, "for_torch", lambda _: found)
    common = WorkerTerms({}, WarmupLimit(), ProcessLimits())
    model = stored(tmp_path)
    torch = run._terms(BenchSubject("a", model, "torch-eager"), common)
    assert torch.limits.environment == {"LD_PRELOAD": "libjemalloc.so.2"}
    assert torch.notes == ("malloc: libjemalloc.so.2",)
    assert run._terms(subject("b", model), common) == common
