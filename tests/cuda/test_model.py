"""Everything that can be wrong with a card, or with what is fed, is one line and a way out."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from burnish.core.errors import BurnishError, MissingCapabilityError, ModelError
from burnish.cuda.driver import DriverError
from cuda_samples import TWO_STEPS, N, loaded
from fake_driver import H200, FakeDriver

X = np.arange(N, dtype=np.float32)


def lines(error: BurnishError) -> str:
    return f"{error.problem}\n{error.hint}"


def test_a_card_that_it_was_not_built_for_is_refused() -> None:
    older = dataclasses.replace(H200, name="Fake A100", capability=(8, 0))
    with pytest.raises(MissingCapabilityError) as caught:
        loaded(FakeDriver(device=older), TWO_STEPS)
    assert lines(caught.value) == (
        "folder: its kernels are for sm_90a, and this card is Fake A100 (sm_80)\n"
        "compile it for this card: burnish compile --target sm_80"
    )


def test_a_newer_card_of_the_same_family_runs_what_is_not_for_one_card_only() -> None:
    newer = dataclasses.replace(H200, capability=(8, 9))
    loaded(FakeDriver(device=newer), TWO_STEPS, architecture="sm_80").run({"x": X})


def test_a_driver_that_is_too_old_is_refused() -> None:
    old = dataclasses.replace(H200, driver=(12, 4))
    with pytest.raises(MissingCapabilityError) as caught:
        loaded(FakeDriver(device=old), TWO_STEPS, toolkit="13.0")
    assert lines(caught.value) == (
        "folder: its kernels were written by CUDA 13.0, and the driver here knows 12.4 at most\n"
        "update NVIDIA's driver to one for CUDA 13 or newer"
    )


def test_more_shared_memory_than_a_card_has_is_refused() -> None:
    with pytest.raises(MissingCapabilityError) as caught:
        loaded(FakeDriver(), TWO_STEPS, shared_bytes=300 << 10)
    assert lines(caught.value) == (
        "folder: its kernel 'add' needs 300 KiB of shared memory, and a program on Fake H200 can"
        " have 227 KiB\n"
        "compile it for this card: burnish compile --target sm_90"
    )


def test_a_kernel_that_does_not_load_is_named() -> None:
    driver = FakeDriver()
    driver.refuses["load"] = DriverError(
        "cuModuleLoadData", "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"
    )
    with pytest.raises(ModelError) as caught:
        loaded(driver, TWO_STEPS)
    assert lines(caught.value) == (
        "folder: the kernel 'add' (sm_90a, CUDA 12.8) cannot be loaded: cuModuleLoadData:"
        " CUDA_ERROR_INVALID_IMAGE (device kernel image is invalid)\n"
        "compile it again: burnish compile, or update NVIDIA's driver, which knows CUDA 13.0"
    )


def test_a_function_that_is_not_in_its_file_is_named() -> None:
    with pytest.raises(ModelError, match="CUDA_ERROR_NOT_FOUND"):
        loaded(FakeDriver(), TWO_STEPS, entry="subtract")


@pytest.mark.parametrize(
    ("size", "what"), [(64, "folder: its constants"), (1200, "the model"), (1600, "one more run")]
)
def test_no_memory_says_how_much_is_needed(size: int, what: str) -> None:
    small = dataclasses.replace(H200, memory_bytes=size)
    with pytest.raises(MissingCapabilityError, match=f"{what} needs .* on Fake H200") as caught:
        loaded(FakeDriver(device=small), TWO_STEPS, program_bytes=256).run({"x": X})
    assert f"of whose {size if size < 1024 else ''}" in caught.value.problem
    assert "are free" in caught.value.problem
    assert caught.value.hint == (
        "end what else uses the card (nvidia-smi lists it), or compile for smaller sizes:"
        " burnish compile --shape"
    )


def test_a_run_that_fails_on_the_card_says_so() -> None:
    driver = FakeDriver()
    model = loaded(driver, TWO_STEPS)
    driver.refuses["synchronize"] = DriverError("cuStreamSynchronize", "CUDA_ERROR_ILLEGAL_ADDRESS")
    with pytest.raises(ModelError) as caught:
        model.run({"x": X})
    assert lines(caught.value) == (
        "a run on Fake H200 failed: cuStreamSynchronize: CUDA_ERROR_ILLEGAL_ADDRESS\n"
        "try it in a new process; if it fails there, too, compile it again with burnish compile"
    )
