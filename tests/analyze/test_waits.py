"""What was waited for: records of waiting hide no work, copies block, streams wait for streams."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from burnish.analyze.dependencies import as_executed
from burnish.analyze.scenario import Action, Scenario
from burnish.analyze.selector import Scene, Selector
from burnish.analyze.simulate import simulate
from burnish.analyze.transform import Setting
from burnish.analyze.whatif import outcome
from burnish.trace.events import Span, Trace
from burnish.trace.readers import kineto
from kineto_events import event, launch, written
from kineto_events import kernel as dumped
from timelines import US

CPU, STREAM, OTHER = "thread 1/1", "GPU 0 stream 7", "GPU 0 stream 9"


def at(name: str, category: str, start: float, length: float, track: str, **more: object) -> Span:
    return Span(name, category, start * US, length * US, track, 0, **more)  # type: ignore[arg-type]


def kernel(start: float, length: float, cause: int, *, stream: int = 7, name: str = "k") -> Span:
    track = f"GPU 0 stream {stream}"
    return at(name, "kernel", start, length, track, cause=cause, device=0, stream=stream)


def record(
    kind: str, start: float, length: float, cause: int, stream: int | None, **facts: object
) -> Span:
    """Return what CUPTI writes of a wait: on the device's track, caused by the call."""
    track = f"GPU 0 stream {stream}"
    return at(kind, "sync", start, length, track, cause=cause, device=0, stream=stream,
              attributes=facts)  # fmt: skip


def recorded(*spans: Span) -> Trace:
    whole = Span("all", "run", 0.0, max(span.end_s for span in spans), "inference", 0)
    return Trace(spans=(*spans, whole), source="by hand", runs=1)


def free_us(trace: Trace, *, kernels: Sequence[str] = ("*",)) -> float:
    """Return how long the inference takes if kernels cost nothing."""
    chosen = tuple(Selector("kernel", name) for name in kernels)
    free = Scenario("free", (Action("scale", chosen, float("inf")),))
    return outcome(free, Setting(Scene(as_executed(trace)))).wall_s / US


@pytest.mark.parametrize("stream", [7, None], ids=["of the stream", "of the whole context"])
def test_a_record_of_waiting_does_not_hide_the_kernel_that_is_waited_for(
    stream: int | None,
) -> None:
    trace = recorded(
        at("cudaLaunchKernel", "launch", 0, 5, CPU),
        kernel(6, 300, 0),
        at("cudaStreamSynchronize", "sync", 8, 302, CPU),
        record("Stream Sync", 9, 300, 2, stream),
        at("cudaLaunchKernel", "launch", 315, 5, CPU),
        kernel(321, 20, 4),
    )
    assert simulate(as_executed(trace)).wall_s == pytest.approx(341 * US)
    assert free_us(trace) == pytest.approx(341 - 320 + 0, abs=6)


def test_a_wait_for_a_whole_context_is_a_wait_for_its_kernels(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        launch(0, 1),
        dumped("k", 6, 300, 1),
        event("cuda_runtime", "cudaDeviceSynchronize", 8, 302, correlation=2),
        event("cuda_sync", "Context Sync", 9, 300, pid=0, tid=-1, device=0, stream=-1,
              correlation=2),
        launch(315, 3),
        dumped("k", 321, 20, 3),
    )  # fmt: skip
    assert free_us(kineto.read(path)) < 30


def test_waiting_for_one_stream_is_not_waiting_for_another() -> None:
    trace = recorded(
        at("cudaLaunchKernel", "launch", 0, 5, CPU),
        kernel(6, 10, 0, name="short"),
        at("cudaLaunchKernel", "launch", 5, 2, CPU),
        kernel(8, 500, 2, stream=9, name="long"),
        at("cudaStreamSynchronize", "sync", 8, 12, CPU),
        record("Stream Sync", 9, 10, 4, 7),
    )
    graph = as_executed(trace)
    sync = next(event for event in graph.events if event.kind == "sync")
    assert [graph.events[place].name for place in sync.after] == ["cudaLaunchKernel", "short"]


@pytest.mark.parametrize("name", ["cudaMemcpy", "hipMemcpyWithStream"])
def test_a_blocking_copy_waits_for_the_kernels_before_it(name: str) -> None:
    trace = recorded(
        at("cudaLaunchKernel", "launch", 0, 5, CPU),
        kernel(6, 300, 0),
        at(name, "launch", 8, 310, CPU),
        at("Memcpy DtoH", "copy", 307, 8, STREAM, cause=2, device=0, stream=7),
        at("cudaLaunchKernel", "launch", 320, 5, CPU),
        kernel(326, 20, 4),
    )
    assert simulate(as_executed(trace)).wall_s == pytest.approx(346 * US)
    assert free_us(trace) < 60


def test_a_launch_that_returns_late_does_not_wait_for_its_kernel() -> None:
    trace = recorded(
        at("cudaLaunchKernel", "launch", 0, 20, CPU),
        kernel(8, 5, 0),
        at("cudaLaunchKernel", "launch", 25, 5, CPU),
        kernel(31, 10, 2),
    )
    assert free_us(trace) == pytest.approx(31, abs=0.1)


def test_kernels_of_one_stream_that_overlap_are_counted_once() -> None:
    trace = recorded(
        at("cudaLaunchKernel", "launch", 0, 2, CPU),
        at("cudaLaunchKernel", "launch", 2, 2, CPU),
        kernel(5, 20, 0, name="first"),
        kernel(20, 20, 1, name="second, launched before the first ended"),
    )
    graph = as_executed(trace)
    assert graph.work_s == pytest.approx(35 * US)
    assert simulate(graph).wall_s == pytest.approx(40 * US)


def test_a_stream_that_waits_for_an_event_waits_for_the_work_before_it() -> None:
    trace = recorded(
        at("cudaLaunchKernel", "launch", 0, 5, CPU),
        kernel(6, 100, 0, stream=9, name="made elsewhere"),
        at("cudaStreamWaitEvent", "other", 8, 2, CPU),
        record("Stream Wait Event", 8, 0, 2, 7, wait_on_stream=9),
        at("cudaLaunchKernel", "launch", 12, 5, CPU),
        kernel(108, 10, 4, name="used here"),
    )
    assert simulate(as_executed(trace)).wall_s == pytest.approx(118 * US)
    assert free_us(trace, kernels=["made elsewhere"]) == pytest.approx(29, abs=2)
