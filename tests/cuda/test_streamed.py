"""Plans that run in less memory than they need, on a card that is none."""

from __future__ import annotations

import numpy as np
import pytest

from burnish.core.errors import MissingCapabilityError, UsageError
from burnish.cuda.memory import aligned
from burnish.cuda.streamed import StreamedExecutable, work_of
from cuda_samples import SCRATCH, TWO_STEPS, WEIGHT, ZEROED, N, Sample
from fake_driver import FakeDriver

LINE = aligned(4 * N)


def streamed(
    driver: FakeDriver, sample: Sample, limit: int, **changes: object
) -> StreamedExecutable:
    kernels = sample.kernels(driver, **changes)
    with driver.current():
        return StreamedExecutable(driver, sample.plan, kernels, sample.constants, limit)


@pytest.fixture
def driver() -> FakeDriver:
    return FakeDriver()


X = np.linspace(1, 2, N, dtype=np.float32)


@pytest.mark.parametrize("lines", [1, 2, 3, 4, 5])
def test_results_are_the_same_in_any_memory(driver: FakeDriver, lines: int) -> None:
    found = streamed(driver, TWO_STEPS, lines * LINE)
    for x in (X, 3 * X):
        np.testing.assert_allclose(found.to_host({"x": x})["z"], 2 * x + WEIGHT, rtol=1e-6)
    found.close()
    assert driver.allocations == 0


def test_no_more_of_the_card_is_taken_than_allowed(driver: FakeDriver) -> None:
    before = driver.free_bytes()
    streamed(driver, TWO_STEPS, 3 * LINE)
    assert before - driver.free_bytes() <= 3 * LINE


def test_each_prepared_run_is_on_its_own_inputs(driver: FakeDriver) -> None:
    found = streamed(driver, TWO_STEPS, 3 * LINE)
    first, second = found.prepare({"x": X}), found.prepare({"x": 3 * X})
    for run in (first, second, first):
        run()
    np.testing.assert_allclose(found._given_out()["z"], 2 * X + WEIGHT, rtol=1e-6)


def test_steps_are_timed_with_their_waits(driver: FakeDriver) -> None:
    found = streamed(driver, TWO_STEPS, 3 * LINE)
    times = found.step_times({"x": X}, warmup=1, runs=2)
    assert [[each.duration_s for each in run] for run in times] == [pytest.approx([2e-6, 3e-6])] * 2


def test_what_must_be_zero_lies_on_the_card_and_is(driver: FakeDriver) -> None:
    found = streamed(driver, ZEROED, LINE)
    assert found.residency.aside == {0: frozenset("x")}
    for _ in range(2):
        np.testing.assert_array_equal(found.to_host({"x": X})["z"], X)


def test_scratch_and_the_programs_own_memory_count(driver: FakeDriver) -> None:
    changes = {"program_bytes": 128, "trailing": 2}
    found = streamed(driver, SCRATCH, 3 * LINE + aligned(5 * 128), **changes)
    np.testing.assert_array_equal(found.to_host({"x": X})["z"], 2 * X)
    assert found.residency.aside == {}
    with pytest.raises(MissingCapabilityError, match="'with_scratch' needs 256 B of the card"):
        streamed(driver, SCRATCH, aligned(5 * 128), **changes)


def test_a_kernel_that_does_not_fit_is_one_line_with_the_option(driver: FakeDriver) -> None:
    with pytest.raises(MissingCapabilityError) as raised:
        streamed(driver, ZEROED, LINE - 1)
    assert raised.value.problem == (
        "the kernel 'accumulate' needs 256 B of the card's memory for itself, and 255 B are allowed"
    )
    assert raised.value.hint.startswith("allow more: --device-memory 256, or compile for smaller")


def test_wrong_inputs_are_refused_as_ever(driver: FakeDriver) -> None:
    found = streamed(driver, TWO_STEPS, 3 * LINE)
    with pytest.raises(UsageError, match="the inputs are y, the model's x"):
        found.to_host({"y": X})
    with pytest.raises(UsageError, match=r"input 'x' is \[3\], not \[8\]"):
        found.to_host({"x": X[:3]})


def test_constants_may_stay_and_are_never_touched_aside() -> None:
    work = work_of(TWO_STEPS.plan)
    assert work.lasting == frozenset({"weight"}) == work.fixed
    assert work.given == frozenset({"x", "weight"})
    assert work.wanted == frozenset("z")
