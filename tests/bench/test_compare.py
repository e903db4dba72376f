from __future__ import annotations

import dataclasses
import math
import statistics

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from burnish.bench import student
from burnish.bench.compare import ERROR_RATE, compare, rounds_missing
from burnish.bench.evidence import MOST_FORESEEN, rounds_until
from burnish.bench.measure import Measurement, TimedBlock, Verdict


def measured(subject: str, *rounds: list[float], failure: str | None = None) -> Measurement:
    blocks = tuple(
        TimedBlock(number, cycle, 0, (median,))
        for number, medians in enumerate(rounds)
        for cycle, median in enumerate(medians)
    )
    return Measurement(
        subject=subject, model_key="", engine="e", options={}, bindings={}, launches=(),
        blocks=blocks, placement=None, failure=failure,
    )  # fmt: skip


BASELINE = measured("base", [1.0, 1.1, 1.0], [1.0, 0.9, 1.0], [1.2, 1.0, 1.0])
TWICE_AS_FAST = measured("fast", [0.5, 0.55, 0.49], [0.5, 0.46, 0.51], [0.6, 0.5, 0.5])


def test_half_the_time_is_a_speed_up_of_two() -> None:
    comparison = compare(BASELINE, [TWICE_AS_FAST])[0]
    assert comparison.verdict is Verdict.FASTER
    assert comparison.ratio == pytest.approx(2.0, rel=0.02)
    assert comparison.low is not None
    assert comparison.low > 1
    assert comparison.confidence == pytest.approx(1 - ERROR_RATE)


def test_who_computes_something_else_is_not_called_faster() -> None:
    wrong = dataclasses.replace(TWICE_AS_FAST, status="wrong")
    for first, second in ((BASELINE, wrong), (wrong, BASELINE)):
        (comparison,) = compare(first, [second])
        assert comparison.verdict is Verdict.NOT_ENOUGH
        assert comparison.reason.startswith("fast computes something else")
        assert comparison.ratio is not None, "what was measured is told"


def test_twice_the_time_is_slower() -> None:
    comparison = compare(TWICE_AS_FAST, [BASELINE])[0]
    assert comparison.verdict is Verdict.SLOWER
    assert comparison.ratio == pytest.approx(0.5, rel=0.02)


def test_the_same_measurement_shows_no_difference() -> None:
    comparison = compare(BASELINE, [BASELINE])[0]
    assert comparison.verdict is Verdict.NO_DIFFERENCE
    assert (comparison.ratio, comparison.low, comparison.high) == (1.0, 1.0, 1.0)


def test_the_estimate_is_the_plain_one() -> None:
    other = measured("other", [0.5, 0.6, 0.4], [0.4], [0.6, 0.5])
    # Of three blocks the middle one counts, of two or one all do: that is the middle third.
    ours = [math.log(0.5), math.log(0.4), (math.log(0.6) + math.log(0.5)) / 2]
    logs = [-value for value in ours]
    error = statistics.stdev(logs) / math.sqrt(3)
    comparison = compare(BASELINE, [other])[0]
    assert comparison.round_ratios == pytest.approx([math.exp(value) for value in logs])
    assert comparison.low == pytest.approx(
        math.exp(statistics.fmean(logs) - 6.9646 * error), rel=1e-4
    )
    assert comparison.minimum_detectable_effect == pytest.approx(
        math.exp((6.9646 + 1.0607) * error) - 1, rel=1e-4
    )


def test_two_rounds_are_not_enough_data() -> None:
    comparison = compare(measured("a", [1.0], [1.0]), [measured("b", [0.5], [0.5])])[0]
    assert comparison.verdict is Verdict.NOT_ENOUGH
    assert comparison.reason == "2 rounds of fresh processes, 3 are needed"
    assert comparison.ratio == pytest.approx(2.0)
    assert comparison.low is comparison.high is None


def test_nothing_measured_is_not_enough_data_and_has_no_ratio() -> None:
    comparison = compare(BASELINE, [measured("b")])[0]
    assert comparison.verdict is Verdict.NOT_ENOUGH
    assert comparison.ratio is None
    assert comparison.round_ratios == ()


@pytest.mark.parametrize("broken", ["base", "fast"])
def test_a_failure_on_either_side_is_not_enough_data_and_says_why(broken: str) -> None:
    pair = [
        measured(name, [1.0], [1.0], [1.0], failure="ended by SIGKILL" if name == broken else None)
        for name in ("base", "fast")
    ]
    comparison = compare(pair[0], [pair[1]])[0]
    assert comparison.verdict is Verdict.NOT_ENOUGH
    assert comparison.reason == f"{broken} failed: ended by SIGKILL"


def test_noise_that_hides_a_quarter_is_not_enough_data() -> None:
    noisy = measured("noisy", [0.7], [1.0], [1.4])
    comparison = compare(measured("base", [1.0], [1.0], [1.0]), [noisy])[0]
    assert comparison.verdict is Verdict.NOT_ENOUGH
    assert comparison.reason.startswith("differences below ")
    assert "are hidden by the noise" in comparison.reason


def test_noise_does_not_hide_a_difference_that_is_larger_still() -> None:
    fast = measured("fast", [0.01], [0.012], [0.009])
    assert compare(measured("base", [1.0], [1.1], [0.9]), [fast])[0].verdict is Verdict.FASTER


def test_only_rounds_that_both_have_count() -> None:
    base = measured("base", [1.0], [1.0], [1.0], [9.0])
    other = measured("other", [0.5], [0.5], [0.5])
    assert compare(base, [other])[0].round_ratios == pytest.approx((2.0, 2.0, 2.0))


def test_rounds_are_missing_until_the_difference_would_show_or_is_clear() -> None:
    base = measured("base", *[[1.0]] * 6)
    noisy = compare(base, [measured("noisy", *[[1.0 + sign * 0.1] for sign in (1, -1) * 3])])[0]
    more = rounds_missing(noisy, 0.05)
    assert 40 < more < 80
    assert rounds_missing(noisy, 0.3) == 0
    clear = compare(base, [measured("clear", *[[0.5 + sign * 0.05] for sign in (1, -1) * 3])])[0]
    assert (clear.minimum_detectable_effect or 0) > 0.05
    assert rounds_missing(clear, 0.05) == 0
    assert rounds_missing(compare(base, [measured("one", [1.0])])[0], 0.05) == 2


@settings(deadline=None)
@given(st.lists(st.floats(0.9, 1.1), min_size=6, max_size=12), st.floats(0.01, 0.2))
def test_as_many_rounds_as_are_missing_show_it_if_the_noise_stays(
    times: list[float], visible: float
) -> None:
    logs = [math.log(time) for time in times]
    more = rounds_until(logs, visible, ERROR_RATE)
    if len(logs) + more >= MOST_FORESEEN:
        return
    rounds, spread = len(logs) + more, statistics.stdev(logs)
    both = student.quantile(1 - ERROR_RATE / 2, rounds - 1) + student.quantile(0.8, rounds - 1)
    assert math.expm1(both * spread / math.sqrt(rounds)) <= visible * (1 + 1e-9)


def test_many_comparisons_are_corrected_step_by_step() -> None:
    base = measured("base", [1.0], [1.0], [1.0], [1.0], [1.0])
    clear = measured("clear", [0.5], [0.505], [0.495], [0.5], [0.5])
    unclear = measured("unclear", [0.97], [0.98], [1.0], [0.97], [0.99])
    alone = compare(base, [unclear])[0]
    first, second, third = compare(base, [unclear, clear, measured("same", *[[1.0]] * 5)])
    assert first.confidence == pytest.approx(1 - ERROR_RATE / 2)
    assert second.confidence == pytest.approx(1 - ERROR_RATE / 3)
    assert third.confidence == first.confidence
    assert first.low is not None
    assert alone.low is not None
    assert first.low < alone.low


times = st.lists(st.floats(0.1, 10.0), min_size=3, max_size=6)


@given(times, st.data())
def test_swapping_the_two_inverts_ratio_and_interval(
    ours: list[float], data: st.DataObject
) -> None:
    theirs = data.draw(st.lists(st.floats(0.1, 10.0), min_size=len(ours), max_size=len(ours)))
    a = measured("a", *[[value] for value in ours])
    b = measured("b", *[[value] for value in theirs])
    forth, back = compare(a, [b])[0], compare(b, [a])[0]
    assert forth.ratio == pytest.approx(1 / (back.ratio or 0))
    assert forth.low == pytest.approx(1 / (back.high or math.inf), rel=1e-6)
    opposite = {Verdict.FASTER: Verdict.SLOWER, Verdict.SLOWER: Verdict.FASTER}
    assert forth.verdict is opposite.get(back.verdict, back.verdict)


@given(st.lists(times, min_size=1, max_size=4))
def test_a_verdict_is_what_its_interval_says(candidates: list[list[float]]) -> None:
    base = measured("base", *[[1.0 + index / 50] for index in range(6)])
    subjects = [
        measured(str(index), *[[value] for value in values])
        for index, values in enumerate(candidates)
    ]
    for comparison in compare(base, subjects):
        assert comparison.low is not None
        assert comparison.high is not None
        assert (comparison.verdict is Verdict.FASTER) == (comparison.low > 1)
        assert (comparison.verdict is Verdict.SLOWER) == (comparison.high < 1)


def test_noise_beyond_all_bounds_is_not_given_as_a_figure() -> None:
    noisy = measured("noisy", [0.1], [1.0], [40.0])
    comparison = compare(measured("base", [1.0], [1.0], [1.0]), [noisy])[0]
    assert comparison.reason.startswith("any difference is hidden by the noise")
