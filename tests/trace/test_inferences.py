from __future__ import annotations

from dataclasses import replace

from burnish.trace.inferences import with_inferences
from timelines import US, run, span


def test_work_of_the_host_alone_is_one_inference_too() -> None:
    *spans, whole = with_inferences([span("a", 10, 5), span("b", 30, 5)])
    assert {each.run for each in spans} == {0}
    assert (whole.category, whole.start_s, whole.duration_s) == ("run", 10 * US, 25 * US)


def test_nothing_at_all_is_no_inference() -> None:
    assert with_inferences([]) == ()


def test_device_work_goes_to_the_inference_that_launched_it() -> None:
    kernel = replace(span("k", 120, 10, category="kernel", track="gpu"), cause=1, device=0)
    spans = [run(0, 50), span("launch", 10, 2, category="launch"), run(100, 50), kernel]
    found = with_inferences(spans)
    assert [each.run for each in found] == [0, 0, 1, 0]
    assert found[0].end_s == kernel.end_s


def test_what_the_host_does_between_inferences_is_of_none() -> None:
    assert [each.run for each in with_inferences([run(0, 10), span("a", 20, 5)])] == [0, -1]
