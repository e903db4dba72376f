from __future__ import annotations

import dataclasses

import pytest

from burnish.analyze.advise import (
    AdviceFacts,
    AdviseReport,
    RefusedFusion,
    advise,
    limit_seconds,
    memory_chains,
    unmeasured,
)
from burnish.analyze.event_graph import EventGraph
from burnish.analyze.selector import Scene
from burnish.analyze.transform import Setting
from burnish.analyze.whatif import Outcome
from devices import GPU, LAPTOP
from event_graphs import chain, event, node, record

LARGE = (2048, 2048)
FACTS = AdviceFacts(model="my model.onnx", engine="onnxruntime-cpu", extra="--shape batch=8")
RELUS = record(
    node("n0", "Relu", "x", "a"), node("n1", "Neg", "a", "b"), node("n2", "Abs", "b", "y"),
    shape=LARGE,
)  # fmt: skip


def test_neighbours_that_wait_for_memory_should_be_fused() -> None:
    setting = Setting(Scene(chain(4000, 4000, 4000), RELUS), LAPTOP)
    assert [[one.name for one in chain_] for chain_ in memory_chains(setting)] == [
        ["n0", "n1", "n2"]
    ]
    fuse = next(one for one in advise(setting, FACTS) if one.what == "fuse Add>Add>Add")
    assert fuse.gain == pytest.approx(3.0)
    assert fuse.confidence == "simulated"
    assert fuse.command == (
        "burnish whatif 'my model.onnx' --fuse name:n0,name:n1,name:n2 --shape batch=8"
    )


def test_chains_of_the_same_kernels_are_one_advice() -> None:
    graph = record(
        node("n0", "Relu", "x", "a"), node("n1", "Neg", "a", "b"),
        node("n2", "Relu", "v", "c"), node("n3", "Neg", "c", "d"),
        node("n4", "Abs", "w", "e"), node("n5", "Neg", "e", "f"), shape=LARGE,
    )  # fmt: skip
    kernels = ("relu", "neg", "relu", "neg", "abs", "neg")
    events = EventGraph(
        tuple(
            event(
                kernel, 3000 if kernel != "abs" else 4000, *range(i and i - 1, i), nodes=(f"n{i}",)
            )
            for i, kernel in enumerate(kernels)
        )
    )
    found = advise(Setting(Scene(events, graph), LAPTOP), FACTS)
    fused = [one.command for one in found if one.what.startswith("fuse ")]
    assert fused == [
        f"burnish whatif 'my model.onnx' --fuse name:{first},name:neg --shape batch=8"
        for first in ("relu", "abs")
    ]


def test_what_was_simulated_comes_first_then_what_can_be_measured_then_bounds() -> None:
    facts = dataclasses.replace(FACTS, other_engines=("openvino",))
    measured = dataclasses.replace(LAPTOP, source="Measured on it")
    found = advise(Setting(Scene(chain(4000, 4000, 4000), RELUS), measured), facts)
    assert [one.confidence for one in found] == ["simulated", "unknown", "bound"]
    assert found[1].command == (
        "burnish bench 'my model.onnx' --engine onnxruntime-cpu,openvino --shape batch=8"
    )


def test_a_data_sheet_makes_no_advice_about_how_far_the_limit_is() -> None:
    found = advise(Setting(Scene(chain(4000, 4000, 4000), RELUS), LAPTOP), FACTS)
    assert not [one for one in found if one.what.startswith("a faster kernel")]
    assert unmeasured(LAPTOP) == (
        (
            "the limits of laptop are a data sheet's, which this machine may not reach; measure"
            " them: burnish doctor --probe cpu"
        ),
    )
    assert unmeasured(None) == ()


def test_products_bound_by_arithmetic_should_be_computed_in_a_faster_type() -> None:
    graph = record(node("n0", "MatMul", "x w", "y"), shape=LARGE)
    graph = dataclasses.replace(graph, constants=frozenset({"w"}))
    events = EventGraph((event("n0", 200_000, op_type="MatMul"),))
    found = advise(Setting(Scene(events, graph), LAPTOP), FACTS)
    precise = next(one for one in found if one.what == "compute MatMul in int8")
    assert precise.gain == pytest.approx(4.0)
    assert "--cast op:MatMul=int8 --measure" in precise.command


def test_what_a_card_computes_faster_comes_with_the_command_that_makes_it() -> None:
    graph = record(node("n0", "MatMul", "x w", "y"), shape=LARGE)
    graph = dataclasses.replace(graph, constants=frozenset({"w"}))
    events = EventGraph((event("n0", 200_000, op_type="MatMul"),))
    found = advise(Setting(Scene(events, graph), GPU), FACTS)
    precise = next(one for one in found if one.what == "compute MatMul in fp16")
    assert precise.command == (
        "burnish optimize 'my model.onnx' -p fp16 --target cuda -o fp16.onnx"
    )


def test_an_idle_device_should_be_launched_on_at_once() -> None:
    events = EventGraph(
        (
            event("l0", 100, kind="launch", nodes=()),
            event("k0", 5, 0, kind="kernel", launch=0),
            event("l1", 100, 0, kind="launch", nodes=()),
            event("k1", 5, 1, 2, kind="kernel", launch=2),
        )
    )
    found = advise(Setting(Scene(events), GPU), FACTS)
    assert found[0].what == "launch everything at once with a CUDA graph"
    assert found[0].evidence == "the device is idle for 95.1 % of 205 µs; likely 1.61× – 2.17×"
    assert "--cuda-graph" in found[0].command


def test_time_between_nodes_asks_for_fewer_of_them() -> None:
    found = advise(Setting(Scene(chain(1, 1, 1, gap=9))), FACTS)
    assert found[0].what.startswith("have fewer nodes")
    assert found[0].confidence == "bound"
    assert found[0].gain == pytest.approx(10.0)


def test_a_fusion_that_was_refused_is_told_with_reason_remedy_and_bound() -> None:
    facts = dataclasses.replace(
        FACTS, refusals=(RefusedFusion("gelu", "n1", "the constant is 1.5", "export it with erf"),)
    )
    found = advise(Setting(Scene(chain(10, 30, 10))), facts)
    assert found[0].what == "let gelu fuse n1: export it with erf"
    assert found[0].evidence == "refused: the constant is 1.5"
    assert found[0].gain == pytest.approx(50 / 20)


def test_fusions_that_the_engine_leaves_undone_are_offered_with_the_command() -> None:
    result = Outcome("apply gelu", ("fuse a", "fuse b"), 4, 1e-3, 8e-3, 10e-3, 7e-3, 9e-3, None)
    found = advise(
        Setting(Scene(chain(1))), dataclasses.replace(FACTS, fusions=(("gelu", result),))
    )
    assert found[0].what == "fuse with gelu: 2 places"
    assert found[0].gain == pytest.approx(1.25)
    assert found[0].command == "burnish optimize 'my model.onnx' --only gelu -o optimized.onnx"


def test_when_nothing_is_left_it_says_how_far_the_limit_is() -> None:
    limit = limit_seconds(Setting(Scene(chain(4000), RELUS), LAPTOP))
    assert limit is not None
    graph = EventGraph((dataclasses.replace(event("n0", 1), duration_s=limit),))
    (only,) = advise(Setting(Scene(graph, RELUS), LAPTOP), FACTS)
    assert only.what == "nothing left that is worth it"
    assert only.evidence == "within 0.0 % of the limit of this device"
    assert limit_seconds(Setting(Scene(graph))) is None


def test_a_report_tells_which_part_of_the_limit_is_reached() -> None:
    report = AdviseReport("m", "e", baseline_s=4.0, limit_s=1.0, device="d", advice=())
    assert report.reached == 0.25
    assert dataclasses.replace(report, limit_s=None).reached is None
