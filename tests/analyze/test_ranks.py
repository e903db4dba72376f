"""Ranks are told apart by who waits for whom, without a common clock."""

from __future__ import annotations

import pytest

from burnish.analyze.ranks import Ranks, ranks
from burnish.trace.events import Span, Trace
from timelines import US

REDUCE = "ncclDevKernel_AllReduce_Sum_f16_RING_LL"


def timeline(*work: tuple[str, float, float, int], offset: float = 0.0) -> Trace:
    spans = [
        Span(name, "kernel", (offset + start) * US, length * US, f"GPU 0 stream {stream}", 0,
             device=0, stream=stream)
        for name, start, length, stream in work
    ]  # fmt: skip
    end = max(span.end_s for span in spans)
    whole = Span("step", "run", offset * US, end - offset * US, "inference", 0)
    return Trace((*spans, whole), "by hand", 1)


def two() -> Ranks:
    fast = timeline(("gemm", 0, 50, 7), (REDUCE, 50, 60, 9), ("gemm", 60, 20, 7))
    slow = timeline(("gemm", 0, 100, 7), (REDUCE, 100, 10, 9), offset=1e6)
    return ranks({"rank 0": fast, "rank 1": slow})


def test_who_comes_first_waits_for_who_comes_last_whatever_their_clocks_say() -> None:
    found = two()
    fast, slow = found.ranks
    assert (fast.waiting_s, slow.waiting_s) == pytest.approx((50 * US, 0))
    assert found.slowest is slow


def test_communication_that_computation_hides_is_not_exposed() -> None:
    fast, slow = two().ranks
    assert (fast.communication_s, fast.exposed_s) == pytest.approx((60 * US, 40 * US))
    assert fast.overlap == pytest.approx(1 / 3)
    assert (slow.compute_s, slow.exposed_s, slow.overlap) == pytest.approx((100 * US, 10 * US, 0))


def test_a_collective_that_one_rank_lacks_says_nothing() -> None:
    found = ranks({
        "rank 0": timeline((REDUCE, 0, 60, 9)), "rank 1": timeline(("gemm", 0, 10, 7)),
    })  # fmt: skip
    assert found.ranks[0].waiting_s == 0
    assert found.notes == (
        "1 of 1 collective are not in the timelines of all ranks, and say nothing about waiting",
    )
