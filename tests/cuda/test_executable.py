"""A plan on a card that is none: what comes out, what is copied, and what is left behind."""

from __future__ import annotations

import dataclasses
import gc

import numpy as np
import pytest
import torch

from burnish.core.errors import ModelError, UsageError
from burnish.cuda.device_array import DeviceArray
from burnish.cuda.driver import DriverError
from burnish.cuda.executable import DeviceExecutable
from burnish.runtime.cuda.card_memory import CardMemory
from cuda_samples import SCRATCH, TWO_STEPS, WEIGHT, ZEROED, N, loaded
from fake_driver import FakeDriver

X = np.arange(-4, N - 4, dtype=np.float32)


def tensor(values: np.ndarray = X) -> torch.Tensor:
    """Return a tensor that lies, for the fake, on the card, where kernels can read it."""
    raw = torch.empty(N + 4)
    skip = -raw.data_ptr() % 16 // 4
    found = raw[skip : skip + N]
    found.copy_(torch.from_numpy(values))
    return found


def test_arrays_of_the_host_come_back_as_such() -> None:
    found = loaded(FakeDriver(), TWO_STEPS).run({"x": X})["z"]
    assert isinstance(found, np.ndarray)
    np.testing.assert_array_equal(found, 2 * X + WEIGHT)


def test_the_second_run_replays_a_graph() -> None:
    driver = FakeDriver()
    model = loaded(driver, TWO_STEPS)
    model.run({"x": X})
    assert driver.calls.count("launch add") == 2
    assert "replay" not in driver.calls
    driver.calls.clear()
    model.run({"x": X + 1})
    assert driver.calls.count("begin_capture") == driver.calls.count("replay") == 1
    driver.calls.clear()
    np.testing.assert_array_equal(model.run({"x": 3 * X})["z"], 6 * X + WEIGHT)
    assert "launch add" not in driver.calls
    assert driver.calls.count("replay") == 1


def test_kernels_that_wait_start_early_behind_kernels_only() -> None:
    driver = FakeDriver()
    model = loaded(driver, TWO_STEPS, early=True)
    for _ in range(2):  # one by one, and captured
        model.run({"x": X})
        assert driver.early == [False, True]
        driver.early.clear()


def test_kernels_that_do_not_wait_start_when_those_ahead_have_ended() -> None:
    driver = FakeDriver()
    loaded(driver, TWO_STEPS).run({"x": X})
    assert driver.early == [False, False]


def test_what_is_zeroed_first_does_not_start_early() -> None:
    driver = FakeDriver()
    twice = dataclasses.replace(ZEROED.plan, steps=ZEROED.plan.steps * 2)
    loaded(driver, dataclasses.replace(ZEROED, plan=twice), early=True).run({"x": X})
    assert driver.early == [False, False]


def test_what_must_be_zero_is_zeroed_in_every_run() -> None:
    model = loaded(FakeDriver(), ZEROED)
    for _ in range(4):
        np.testing.assert_array_equal(model.run({"x": X})["z"], X)


def test_scratch_and_memory_of_programs_are_given() -> None:
    model = loaded(FakeDriver(), SCRATCH, program_bytes=128)
    for _ in range(3):
        np.testing.assert_array_equal(model.run({"x": X})["z"], 2 * X)


def test_tensors_on_the_card_are_read_where_they_are_and_outputs_stay_there() -> None:
    driver = FakeDriver()
    model = loaded(driver, TWO_STEPS)
    x = tensor()
    driver.calls.clear()
    found = model.run({"x": x})["z"]
    assert isinstance(found, DeviceArray)
    assert (found.shape, found.dtype, found.nbytes) == ((N,), "f32", 4 * N)
    shared = torch.from_dlpack(found)
    assert shared.data_ptr() == found.address
    assert "copy" not in driver.calls
    np.testing.assert_array_equal(shared.numpy(), 2 * X + WEIGHT)
    np.testing.assert_array_equal(np.asarray(found), 2 * X + WEIGHT)
    assert str(found) == "DeviceArray(f32[8] on Fake H200)"


def test_outputs_are_never_overwritten_while_somebody_has_them() -> None:
    model = loaded(FakeDriver(), TWO_STEPS)
    x = tensor()
    first = torch.from_dlpack(model.run({"x": x})["z"])
    for _ in range(5):
        x += 1
        later = torch.from_dlpack(model.run({"x": x})["z"])
        assert later.data_ptr() != first.data_ptr()
    np.testing.assert_array_equal(first.numpy(), 2 * X + WEIGHT)


def test_few_addresses_go_around_so_that_graphs_are_found_again() -> None:
    driver = FakeDriver()
    model = loaded(driver, TWO_STEPS)
    x = tensor()
    found = model.run({"x": x})
    for _ in range(10):
        found = model.run({"x": x})
    assert driver.calls.count("begin_capture") == 2
    assert found["z"].shape == (N,)


def test_no_more_graphs_are_kept_than_a_card_should_hold() -> None:
    driver = FakeDriver()
    model = loaded(driver, TWO_STEPS)
    tensors = [tensor() for _ in range(20)]
    for _ in range(2):
        for x in tensors:
            model.prepare({"x": x})()
    assert driver.calls.count("drop_graph") >= 4


def test_a_tensor_that_vectors_cannot_be_loaded_from_is_moved() -> None:
    driver = FakeDriver()
    model = loaded(driver, TWO_STEPS)
    raw = torch.zeros(N + 8)
    skip = (-raw.data_ptr() % 16) // 4 + 1
    x = raw[skip : skip + N]
    x.copy_(torch.from_numpy(X))
    found = model.run({"x": x}, on_card=False)["z"]
    np.testing.assert_array_equal(found, 2 * X + WEIGHT)


def test_outputs_are_where_the_caller_wants_them() -> None:
    model = loaded(FakeDriver(), TWO_STEPS)
    assert isinstance(model.run({"x": X}, on_card=True)["z"], DeviceArray)
    assert isinstance(model.run({"x": tensor()}, on_card=False)["z"], np.ndarray)


class Stream:
    """As PyTorch's streams are."""

    cuda_stream = 0


class NewStream:
    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, 77


@pytest.mark.parametrize(("stream", "handle"), [(Stream(), 1), (NewStream(), 77), (5, 5)])
def test_work_is_put_into_the_callers_stream(stream: object, handle: int) -> None:
    driver = FakeDriver()
    model = loaded(driver, TWO_STEPS)
    for _ in range(3):
        found = model.run({"x": tensor()}, stream=stream)["z"]
        assert isinstance(found, DeviceArray)
        assert driver.handle(found._stream) == handle
        np.testing.assert_array_equal(torch.from_dlpack(found).numpy(), 2 * X + WEIGHT)


def test_memory_that_another_stream_used_is_waited_for() -> None:
    driver = FakeDriver()
    model = loaded(driver, TWO_STEPS)
    x = tensor()
    model.run({"x": x}, stream=5)
    driver.calls.clear()
    model.run({"x": x}, stream=6)
    assert "wait in 6" in driver.calls


def test_a_run_in_another_stream_waits_for_the_one_that_uses_the_same_memory() -> None:
    driver = FakeDriver()
    model = loaded(driver, TWO_STEPS)
    x = tensor()
    kept = []  # no output's memory is given out again
    for stream, waits in [(5, []), (5, []), (6, ["wait in 6"]), (6, []), (5, ["wait in 5"])]:
        driver.calls.clear()
        kept.append(model.run({"x": x}, stream=stream))
        assert [each for each in driver.calls if each.startswith("wait")] == waits
    for use in (
        model.prepare({"x": X}),
        lambda: model.run({"x": x}),
        lambda: model.times_s({"x": X}, warmup=0, runs=1),
        lambda: model.step_times({"x": X}, warmup=0, runs=1),
    ):
        kept.append(model.run({"x": x}, stream=5))
        driver.calls.clear()
        use()
        begun = next(n for n, each in enumerate(driver.calls) if each.startswith("wait in 1"))
        assert not {"replay", "launch add"} & {*driver.calls[:begun]}


def test_a_prepared_run_can_be_repeated_beside_others() -> None:
    model = loaded(FakeDriver(), ZEROED)
    one, other = model.prepare({"x": X}), model.prepare({"x": 2 * X})
    for _ in range(3):
        one()
        other()


def test_times_are_the_cards_own() -> None:
    model = loaded(FakeDriver(), TWO_STEPS)
    assert model.times_s({"x": X}, warmup=1, runs=3) == pytest.approx([5e-6] * 3)
    (steps,) = model.step_times({"x": X}, warmup=2, runs=1)
    assert [step.duration_s for step in steps] == pytest.approx([2e-6, 3e-6])
    assert [step.start_s for step in steps] == pytest.approx([0, 2e-6])


def test_everything_is_freed() -> None:
    driver = FakeDriver()
    card = CardMemory(driver, TWO_STEPS.kernels(driver), TWO_STEPS.constants, "folder")
    model = card.opened(TWO_STEPS.plan, None)
    assert isinstance(model, DeviceExecutable)
    kept = model.run({"x": X}, on_card=True)["z"]
    model.run({"x": X})
    prepared = model.prepare({"x": X})
    prepared()
    model.close()
    card.close()
    del prepared
    gc.collect()
    assert driver.allocations == 1
    np.testing.assert_array_equal(np.asarray(kept), 2 * X + WEIGHT)
    del kept
    gc.collect()
    assert driver.allocations == 0


def test_a_capture_that_fails_leaves_the_stream_usable() -> None:
    driver = FakeDriver()
    model = loaded(driver, TWO_STEPS)
    model.run({"x": X})
    driver.refuses["launch add"] = DriverError("cuLaunchKernel", "CUDA_ERROR_INVALID_VALUE")
    driver.refuses["drop_graph"] = DriverError("cuGraphExecDestroy", "CUDA_ERROR_INVALID_VALUE")
    with pytest.raises(ModelError, match="a run on Fake H200 failed: cuLaunchKernel"):
        model.run({"x": X})
    np.testing.assert_array_equal(model.run({"x": X})["z"], 2 * X + WEIGHT)


@pytest.mark.parametrize(
    ("feeds", "problem"),
    [
        ({"x": X.astype(np.float16)}, "input 'x' holds f16, not f32"),
        ({"y": X}, "the inputs are y, the model's x"),
        ({}, "the inputs are none, the model's x"),
        ({"x": torch.zeros(2 * N)[::2]}, "input 'x' is not laid out row after row"),
        ({"x": torch.zeros(N, dtype=torch.complex64)}, "input 'x' holds c64, not f32"),
        ({"x": torch.zeros(N, requires_grad=True)}, "input 'x' is not lent by its library: Can't"),
    ],
)
def test_inputs_that_do_not_fit_are_refused(feeds: dict[str, object], problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        loaded(FakeDriver(), TWO_STEPS).run(feeds)


def test_memory_of_another_device_is_refused() -> None:
    class Elsewhere:
        shape = (N,)

        def __dlpack_device__(self) -> tuple[int, int]:
            return 2, 3

    problem = r"input 'x' lies on device \(2, 3\), and the model on \(1, 0\), Fake H200"
    with pytest.raises(UsageError, match=problem):
        loaded(FakeDriver(), TWO_STEPS).run({"x": Elsewhere()})


def test_what_is_no_stream_is_refused() -> None:
    with pytest.raises(UsageError, match="str is no stream"):
        loaded(FakeDriver(), TWO_STEPS).run({"x": X}, stream="mine")
