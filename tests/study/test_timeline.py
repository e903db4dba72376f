from __future__ import annotations

import dataclasses
from pathlib import Path

import onnx
import pytest
from onnx import parser

from burnish.analyze.simulate import simulate
from burnish.bench.probe import toml_of
from burnish.engines.base import EngineOptions
from burnish.store.stored import StoredModel
from burnish.study.timeline import (
    TimelineRequest,
    one_of,
    recorded,
    undisturbed,
    unprofiled_s,
)
from devices import LAPTOP
from timelines import run, span, trace

MODEL = """
<ir_version: 8, opset_import: ["" : 18]>
tiny (float[batch, 64] x) => (float[A, B] y) {
    [erf] curved = Erf(x)
    [mul] y = Mul(curved, curved)
}
"""


@pytest.fixture
def model(tmp_path: Path) -> StoredModel:
    path = tmp_path / "tiny.onnx"
    onnx.save(parser.parse_model(MODEL), path)
    return StoredModel(path, "tiny")


def request(model: StoredModel, tmp_path: Path, **more: object) -> TimelineRequest:
    (tmp_path / "laptop.toml").write_text(toml_of(LAPTOP))
    return TimelineRequest(
        model=model, options=EngineOptions(threads=1), shape={"batch": 64}, runs=3, plain_s=0.0,
        hw=str(tmp_path / "laptop.toml"), **more,  # type: ignore[arg-type]
    )  # fmt: skip


def test_a_model_is_run_and_its_inference_takes_what_it_takes_without_profiling(
    model: StoredModel, tmp_path: Path
) -> None:
    found = recorded(request(model, tmp_path))
    graph = found.setting.graph
    assert [graph.events[place].name for place in graph.work] == ["erf", "mul"]
    assert found.denominators.unprofiled_s is not None
    assert simulate(graph).wall_s == pytest.approx(found.denominators.unprofiled_s)
    assert found.denominators.unprofiled_s <= found.denominators.profiled_s
    assert found.correction is not None
    works = [found.setting.work(graph.events[place]) for place in graph.work]
    assert [work.flops for work in works if work] == [10 * 64 * 64, 64 * 64]


def test_other_batches_have_other_shapes(model: StoredModel, tmp_path: Path) -> None:
    found = recorded(request(model, tmp_path, batches=(128,)))
    event = found.setting.graph.events[0]
    large = found.setting.work(event, batch=128)
    assert large is not None
    assert large.flops == 10 * 128 * 64


def test_a_timeline_of_a_file_has_no_unprofiled_time_and_no_first_inference(shared: Path) -> None:
    path = shared / "data" / "traces" / "ort1.31.1_bert-mini_cpu.json"
    found = recorded(TimelineRequest(trace=path))
    assert found.denominators.unprofiled_s is None
    assert found.setting.device is None
    assert found.setting.scene.record is None
    assert found.label == str(path)


def test_one_in_ten_samples_is_faster_than_the_undisturbed_one() -> None:
    assert undisturbed([5.0, *[float(n) for n in range(10, 29)]]) == 11.0
    assert undisturbed([3.0]) == 3.0


def test_the_limits_are_those_of_the_threads_that_are_used(
    model: StoredModel, tmp_path: Path
) -> None:
    for threads, cores in ((1, 1), (None, 2), (64, 2)):
        asked = dataclasses.replace(
            request(model, tmp_path), options=EngineOptions(threads=threads), runs=1, warmup=0
        )
        device = recorded(asked).setting.device
        assert device is not None
        assert device.peak_flops_per_s["f32"] == pytest.approx(cores * 5e10)


def test_where_a_device_works_the_usual_time_counts_and_else_a_hardly_disturbed_one() -> None:
    samples = [5.0, *[float(n) for n in range(10, 29)]]
    for category, wanted in (("kernel", 18.5), ("node", 11.0)):
        timeline = trace(run(0, 100), span("a", 0, 10, category=category))
        assert unprofiled_s(timeline, samples) == wanted


def test_of_a_devices_recordings_that_counts_in_which_profiling_cost_the_usual() -> None:
    found = [
        trace(run(0, 13), span(name, 1, 5, category="kernel", device=0)) for name in ("a", "b", "c")
    ]
    # in the second the machine became slower before the profile was made, in the last faster
    assert one_of(found, [10e-6, 5e-6, 20e-6]) == (found[0], 10e-6)
    assert one_of(found[:1], [10e-6]) == (found[0], 10e-6)
    assert one_of([trace()], [10e-6]) == (trace(), 10e-6)


def test_recordings_of_a_host_are_one_in_which_each_is_as_long_as_the_usual() -> None:
    # the same inference at three speeds of the processor: profiled it takes 1.3 times as long
    found = [trace(run(0, 13 * at), span("a", at, 6 * at)) for at in (10, 20, 40)]
    whole, took_s = one_of(found, [100e-6, 200e-6, 400e-6])
    assert took_s == 200e-6
    assert whole.runs == 3
    lengths_s = [s.duration_s for s in whole.spans if s.name == "a"]
    assert lengths_s == pytest.approx([120e-6] * 3)


def test_a_processor_that_slows_down_before_the_profile_changes_no_nodes_part() -> None:
    steady, slower = ((run(0, 130 * at), span("a", at, 60 * at)) for at in (1, 2))
    found = [trace(*steady), trace(*slower), trace(*steady)]
    whole, took_s = one_of(found, [100e-6] * 3)
    assert took_s == 100e-6
    assert [s.duration_s for s in whole.spans if s.name == "a"] == pytest.approx([60e-6] * 3)
