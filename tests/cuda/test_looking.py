"""Computed places that do not exist are an error wherever the outputs go, and nothing else is."""

from __future__ import annotations

import dataclasses
import threading

import numpy as np
import pytest
import torch

from burnish.core.arrays import Array
from burnish.core.errors import UsageError
from burnish.core.existing import Wanted
from burnish.cuda.executable import DeviceExecutable
from burnish.cuda.looking import MOST_WAITING
from burnish.cuda.memory import aligned
from burnish.cuda.plan import Buffer, CubinStep
from burnish.cuda.streamed import StreamedExecutable
from burnish.runtime.cuda.card_memory import CardMemory
from cuda_samples import N, Sample, f32, loaded, plan
from fake_driver import FakeDriver, kernel

PLACES = Wanted("at", "place", 20, is_computed=True)
DIVISORS = Wanted("by", "divisor", is_computed=True)


@kernel
def doubled_and_told(
    grid: tuple[int, int, int], x: Array, z: Array, told: Array, *_: Array | None
) -> None:
    f32(z)[:] = 2 * f32(x)
    whole = f32(x).astype(np.int64)
    told[:16].view(np.int64)[:] = (-1 - whole).max(), whole.max()


def sample(wanted: Wanted = PLACES) -> Sample:
    homes = plan({"x": "input", "z": "output"}, CubinStep("doubled_and_told", ("x", "z", "told"),
                 ("z", "told"), (1, 1, 1)))  # fmt: skip
    buffers = {**homes.buffers, "told": Buffer("i64", (2,), "output")}
    return Sample(dataclasses.replace(homes, buffers=buffers, spans={"told": wanted}))


def tensor(values: Array) -> torch.Tensor:
    """Return a tensor that lies, for the fake, on the card, where kernels can read it."""
    raw = torch.empty(N + 4)
    found = raw[-raw.data_ptr() % 16 // 4 :][:N]
    found.copy_(torch.from_numpy(values))
    return found


RIGHT = np.arange(N, dtype=np.float32)
HIGH, LOW = RIGHT + 13, RIGHT - 21
PROBLEM = {
    20: "computed 'at' {} 20{}, and what it points into has 20 entries",
    -21: "computed 'at' {} -21{}, and what it points into has 20 entries",
}
HINT = "feed what makes whole numbers from -20 to 19 of it"
EARLIER = " in an earlier run of this model"


@pytest.fixture
def driver() -> FakeDriver:
    return FakeDriver()


@pytest.fixture
def model(driver: FakeDriver) -> DeviceExecutable:
    return loaded(driver, sample())


def require_refused(caught: pytest.ExceptionInfo[UsageError], held: int, *, later: bool) -> None:
    verb, when = ("held", EARLIER) if later else ("holds", "")
    assert caught.value.problem == PROBLEM[held].format(verb, when)
    assert caught.value.hint == HINT


@pytest.mark.parametrize(("wrong", "held"), [(HIGH, 20), (LOW, -21)])
def test_what_comes_to_the_host_was_looked_at(
    model: DeviceExecutable, wrong: Array, held: int
) -> None:
    for _ in range(3):  # one by one, captured, replayed
        np.testing.assert_array_equal(model.run({"x": RIGHT})["z"], 2 * RIGHT)
        assert list(model.run({"x": RIGHT})) == ["z"]
        with pytest.raises(UsageError) as caught:
            model.run({"x": wrong})
        require_refused(caught, held, later=False)


def test_what_stays_on_the_card_was_looked_at_where_the_run_is_waited_for(
    model: DeviceExecutable,
) -> None:
    np.testing.assert_array_equal(np.asarray(model.run({"x": tensor(RIGHT)})["z"]), 2 * RIGHT)
    with pytest.raises(UsageError) as caught:
        model.run({"x": tensor(HIGH)})
    require_refused(caught, 20, later=False)


def test_a_run_in_a_stream_is_told_of_in_the_next_one(
    driver: FakeDriver, model: DeviceExecutable
) -> None:
    driver.calls.clear()
    found = model.run({"x": tensor(HIGH)}, stream=7)
    assert "synchronize" not in driver.calls
    assert "finish" not in driver.calls
    with pytest.raises(UsageError) as caught:
        model.run({"x": tensor(RIGHT)}, stream=7)
    require_refused(caught, 20, later=True)
    model.run({"x": tensor(RIGHT)}, stream=7)
    assert list(found) == ["z"]


def test_a_stream_that_has_not_come_so_far_is_not_waited_for(
    driver: FakeDriver, model: DeviceExecutable
) -> None:
    driver.behind = True
    model.run({"x": tensor(HIGH)}, stream=7)
    model.run({"x": tensor(RIGHT)}, stream=7)
    driver.behind = False
    with pytest.raises(UsageError) as caught:
        model.run({"x": tensor(RIGHT)})
    require_refused(caught, 20, later=True)


def test_whoever_copies_an_output_is_told(model: DeviceExecutable) -> None:
    found = model.run({"x": tensor(LOW)}, stream=7)["z"]
    with pytest.raises(UsageError) as caught:
        np.asarray(found)
    require_refused(caught, -21, later=True)
    np.testing.assert_array_equal(np.asarray(found), 2 * LOW)


def test_only_so_many_runs_are_left_unseen(driver: FakeDriver, model: DeviceExecutable) -> None:
    driver.behind = True
    model.run({"x": tensor(HIGH)}, stream=7)
    for _ in range(MOST_WAITING - 1):
        model.run({"x": tensor(RIGHT)}, stream=7)
    assert "finish" not in driver.calls
    with pytest.raises(UsageError) as caught:
        model.run({"x": tensor(RIGHT)}, stream=7)
    require_refused(caught, 20, later=True)


def test_prepared_runs_were_looked_at_once(driver: FakeDriver, model: DeviceExecutable) -> None:
    run = model.prepare({"x": RIGHT})
    driver.calls.clear()
    run()
    assert "copy" not in driver.calls
    with pytest.raises(UsageError) as caught:
        model.prepare({"x": HIGH})
    require_refused(caught, 20, later=False)


def test_nothing_is_left_behind(driver: FakeDriver) -> None:
    model = loaded(driver, sample())
    for _ in range(3):
        model.run({"x": tensor(RIGHT)}, stream=7)
    model.close()
    assert driver.allocations == 0


def test_what_nobody_looked_at_is_told_of_when_the_model_is_closed(driver: FakeDriver) -> None:
    model = loaded(driver, sample())
    driver.behind = True
    model.run({"x": tensor(RIGHT)}, stream=7)
    model.run({"x": tensor(HIGH)}, stream=7)
    with pytest.raises(UsageError) as caught:
        model.close()
    require_refused(caught, 20, later=True)
    assert driver.allocations == 0


def test_runs_of_other_plans_of_the_model_tell_of_it_too(driver: FakeDriver) -> None:
    given = sample()
    card = CardMemory(driver, given.kernels(driver), given.constants, "folder")
    one, other = card.opened(given.plan, None), card.opened(given.plan, None)
    assert isinstance(one, DeviceExecutable)
    assert isinstance(other, DeviceExecutable)
    one.run({"x": tensor(HIGH)}, stream=7)
    with pytest.raises(UsageError) as caught:
        other.run({"x": tensor(RIGHT)})
    require_refused(caught, 20, later=True)
    one.close()
    np.testing.assert_array_equal(other.run({"x": RIGHT})["z"], 2 * RIGHT)


def test_whoever_waits_for_its_own_runs_needs_nothing_of_other_plans(driver: FakeDriver) -> None:
    given = sample()
    card = CardMemory(driver, given.kernels(driver), given.constants, "folder")
    one, other = card.opened(given.plan, None), card.opened(given.plan, None)
    assert isinstance(one, DeviceExecutable)
    assert isinstance(other, DeviceExecutable)
    driver.behind = True
    for _ in range(MOST_WAITING):
        one.run({"x": tensor(RIGHT)}, stream=7)
    with driver.current():
        told = {"told": driver.allocate(16)}

    def another() -> None:
        with driver.current():
            one._looks.later(told, driver.stream(7))

    one_more = threading.Thread(target=another, daemon=True)
    with other._looks._lock:  # as where the other plan's next run is being put in line
        one_more.start()
        one_more.join(20)
        assert not one_more.is_alive()


def test_streamed_plans_look_too(driver: FakeDriver) -> None:
    given = sample()
    kernels = given.kernels(driver)
    with driver.current():
        model = StreamedExecutable(driver, given.plan, kernels, given.constants, 2 * aligned(4 * N))
    np.testing.assert_array_equal(model.to_host({"x": RIGHT})["z"], 2 * RIGHT)
    for run in (model.to_host, model.prepare):
        with pytest.raises(UsageError) as caught:
            run({"x": HIGH})
        require_refused(caught, 20, later=False)


def test_divisors_are_looked_at_where_the_run_is_waited_for_and_not_in_streams(
    driver: FakeDriver,
) -> None:
    model = loaded(driver, sample(DIVISORS))
    # what is told of divisors is 1 for each, and 0 for each that is 0
    right, wrong = np.ones(N, np.float32), np.arange(N, dtype=np.float32) % 2
    for feed in (right, tensor(right)):
        model.run({"x": feed})
    for feed in (wrong, tensor(wrong)):
        with pytest.raises(UsageError) as caught:
            model.run({"x": feed})
        assert caught.value.problem == "computed 'by' holds 0, and divides whole numbers"
    driver.calls.clear()
    for _ in range(2):
        model.run({"x": tensor(wrong)}, stream=7)
    assert "copy" not in driver.calls
    np.testing.assert_array_equal(model.run({"x": right})["z"], 2 * right)
