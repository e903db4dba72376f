"""One sentence says what holds an inference back, from its events."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given

from burnish.analyze.advise import AdviceFacts
from burnish.analyze.diagnosis import Diagnosis, diagnosis, idle, launches, launches_only
from burnish.analyze.event_graph import Event, EventGraph
from burnish.analyze.selector import Scene
from burnish.analyze.simulate import simulate
from burnish.analyze.transform import Setting
from devices import LAPTOP
from event_graphs import US, chain, event, graphs, node, record

FACTS = AdviceFacts(model="m.onnx", engine="torch-eager")


def told(graph: EventGraph, **more: object) -> Diagnosis:
    facts = dataclasses.replace(FACTS, **more)  # type: ignore[arg-type]
    return diagnosis(Setting(Scene(graph)), facts)


def eager(number: int, *, call: float, work: float, name: str = "gemm") -> EventGraph:
    """Return calls one after the other, each of which launches a kernel; and a wait at the end."""
    events: list[Event] = []
    for _ in range(number):
        at = len(events)
        after = (at - 2, at - 1) if at else ()
        events.append(event("cudaLaunchKernel", call, *after[:1], kind="launch", nodes=()))
        kernel = event(name, work, *((at - 1,) if at else ()), at, gap=1, kind="kernel",
                       resource="gpu", launch=at, nodes=())  # fmt: skip
        events.append(kernel)
    last = len(events) - 1
    events.append(event("sync", 1, last, last - 1, kind="sync", nodes=()))
    return EventGraph(tuple(events))


def test_many_short_kernels_behind_long_calls_are_launch_bound() -> None:
    found = told(eager(200, call=20, work=0.5))
    assert found.holds == "launching"
    assert found.idle is not None
    assert found.share(found.idle.total_s) > 0.9
    assert found.sentence.startswith(
        "the GPU is idle 97.5 %: launch-bound; 200 kernels of 500 ns, and 20.0 µs to launch one;"
        " launch everything at once with a CUDA graph: "
    )
    gain = found.advice[0].gain
    assert gain == pytest.approx(4002.5 / 320.5, rel=0.05)
    assert "--cuda-graph" in found.advice[0].command


def test_long_products_are_compute_bound_and_named() -> None:
    found = told(eager(20, call=2, work=500))
    assert found.holds == "compute"
    assert found.sentence.startswith("the GPU is busy ")
    assert "compute-bound; product takes 100.0 % of the work, in 20 kernels" in found.sentence
    assert (found.kernels[0].name, found.kernels[0].count) == ("gemm", 20)


def test_long_elementwise_kernels_are_memory_bound() -> None:
    assert told(eager(20, call=2, work=500, name="vectorized_elementwise_kernel")).holds == "memory"


def test_copies_and_communication_are_told() -> None:
    copies = eager(20, call=2, work=500)
    events = tuple(
        dataclasses.replace(one, kind="copy", name="Memcpy HtoD") if one.kind == "kernel" else one
        for one in copies.events
    )
    assert told(EventGraph(events)).holds == "copies"
    assert told(eager(20, call=2, work=500, name="ncclDevKernel_AllReduce")).holds == (
        "communication"
    )


def test_on_a_host_what_limits_most_of_the_work_is_told() -> None:
    graph = record(node("n0", "Relu", "x", "a"), shape=(2048, 2048))
    setting = Setting(Scene(chain(4000), graph), LAPTOP)
    assert diagnosis(setting, FACTS).holds == "memory"
    between = told(chain(1, 1, 1, gap=9))
    assert between.holds == "launching"
    assert between.sentence.startswith("at work for 10.0 % of the time: launch-bound")


def test_nodes_that_are_as_short_as_recording_them_are_not_called_idle() -> None:
    found = told(chain(0, 0, 0, gap=9))
    assert found.is_unseen
    assert found.sentence.startswith("no node takes longer than recording it does: launch-bound")
    assert not told(chain(1, 0, gap=9)).is_unseen


def test_a_nodes_name_is_not_taken_for_what_it_does() -> None:
    names = ("/attention/query/MatMul", "/attention/Add")
    graph = EventGraph((event(names[0], 9, op_type="MatMul"), event(names[1], 1, 0)))
    assert list(told(graph).families) == ["product", "elementwise"]


def test_a_trace_is_asked_about_itself() -> None:
    found = told(eager(200, call=20, work=0.5), model="t.json", is_trace=True)
    assert found.advice[0].command == "burnish whatif t.json --cuda-graph"


@given(graphs())
def test_whatever_ran_can_be_diagnosed(graph: EventGraph) -> None:
    found = told(graph)
    assert found.sentence
    assert 0 <= found.busy_s <= found.wall_s + 1e-12


def test_every_idle_instant_has_one_reason() -> None:
    timeline = simulate(eager(3, call=20, work=5))
    why = idle(timeline)
    assert why.total_s == pytest.approx(timeline.wall_s - timeline.busy_s)
    assert (why.launch_s, why.sync_s) == pytest.approx((3 * US, 1 * US))
    assert why.host_s == pytest.approx(timeline.wall_s - 15 * US - 4 * US)
    how = launches(timeline)
    assert (how.number, how.median_call_s, how.median_delay_s) == (
        3, pytest.approx(20 * US), pytest.approx(1 * US),
    )  # fmt: skip


def test_a_host_that_does_its_own_work_needs_no_cuda_graph() -> None:
    found = told(eager(5, call=20_000, work=10), model="t.json", is_trace=True)
    assert found.holds == "host"
    assert "the host does other work than launching" in found.sentence
    assert [one.what for one in found.advice] == ["look at what the host does between launches"]
    assert found.advice[0].command == "burnish profile t.json --trace-out timeline.json"


def test_times_of_launching_are_not_taken_for_the_devices() -> None:
    found = launches_only(Setting(Scene(chain(5, 5))), FACTS)
    assert (found.holds, found.advice) == ("unknown", ())
    assert found.sentence.startswith("the nodes ran on a device whose work was not recorded")


def test_a_device_whose_launches_were_not_recorded_is_not_called_launch_bound() -> None:
    kernels = [event("gemm", 5, *((at - 1,) if at else ()), gap=9, kind="kernel", resource="gpu",
                     nodes=()) for at in range(4)]  # fmt: skip
    found = told(EventGraph(tuple(kernels)))
    assert found.holds == "unknown"
    assert "no launch was recorded, so nothing tells why it waits" in found.sentence
    assert not [one for one in found.advice if "CUDA graph" in one.what]
    assert found.launches is not None
    assert found.launches.median_call_s is found.launches.median_delay_s is None


def test_what_a_cuda_graph_launches_needs_no_other() -> None:
    events = eager(50, call=20, work=2).events
    named = [dataclasses.replace(e, name="cudaGraphLaunch") if e.kind == "launch" else e
             for e in events]  # fmt: skip
    assert [one for one in told(EventGraph(events)).advice if "CUDA graph" in one.what]
    assert not [one for one in told(EventGraph(tuple(named))).advice if "CUDA graph" in one.what]
