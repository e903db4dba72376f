"""NVIDIA's driver, where there is none and where there is one."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest

from burnish.core.errors import MissingCapabilityError
from burnish.cuda.driver import Start
from burnish.cuda.nvidia import NvidiaDriver


def test_without_bindings_the_error_says_how_to_get_them(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("cuda", "cuda.bindings", "cuda.cuda"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingCapabilityError) as caught:
        NvidiaDriver()
    assert caught.value.problem == (
        "NVIDIA's driver is reached through the package cuda-bindings, which is not installed"
    )
    assert caught.value.hint == "pip install cuda-bindings"


class Bindings:
    """A driver that says no."""

    def __init__(self, code: int, name: str) -> None:
        self.result = type("CUresult", (int,), {"name": name})(code)

    def cuInit(self, flags: int) -> tuple[int]:  # noqa: N802  (NVIDIA's name)
        return (self.result,)

    def cuGetErrorString(self, code: int) -> tuple[int, bytes]:  # noqa: N802
        return 0, b"no CUDA-capable device is detected"

    def cuDeviceGetCount(self) -> tuple[int, int]:  # noqa: N802
        return 0, 1


@pytest.mark.parametrize(
    ("bindings", "ordinal", "reason"),
    [
        (Bindings(100, "CUDA_ERROR_NO_DEVICE"), 0, "the driver finds none"),
        (Bindings(0, ""), 3, "there are 1, and number 3 was asked for"),
        (
            Bindings(803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"),
            0,
            r"cuInit: CUDA_ERROR_SYSTEM_DRIVER_MISMATCH \(no CUDA-capable device is detected\)",
        ),
    ],
)
def test_without_a_card_the_error_says_why(
    bindings: Bindings, ordinal: int, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("burnish.cuda.nvidia.bindings", lambda: bindings)
    problem = f"no NVIDIA card can be used here: {reason}"
    with pytest.raises(MissingCapabilityError, match=problem) as caught:
        NvidiaDriver(ordinal)
    assert caught.value.hint == "look at what the driver sees: nvidia-smi"


def test_a_kernel_that_starts_early_is_started_so() -> None:
    asked: list[tuple[object, ...]] = []

    def start(*given: object) -> tuple[int]:
        asked.append(given)
        return (0,)

    api = SimpleNamespace(
        CUlaunchConfig=SimpleNamespace,
        CUlaunchAttribute=lambda: SimpleNamespace(value=SimpleNamespace()),
        CUlaunchAttributeID=SimpleNamespace(
            CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION=6
        ),
        cuLaunchKernelEx=start,
    )
    driver = NvidiaDriver.__new__(NvidiaDriver)
    driver._api = api
    driver.launch("kernel", Start((5, 6, 7), 128, 1024, (16,), early=True), "stream")
    ((config, function, parameters, extra),) = asked
    (attribute,) = config.attrs
    del config.attrs
    assert vars(config) == {
        "gridDimX": 5, "gridDimY": 6, "gridDimZ": 7, "blockDimX": 128, "blockDimY": 1,
        "blockDimZ": 1, "sharedMemBytes": 1024, "hStream": "stream", "numAttrs": 1,
    }  # fmt: skip
    assert attribute.id == 6
    assert vars(attribute.value) == {"programmaticStreamSerializationAllowed": 1}
    assert (function, parameters[0], extra) == ("kernel", (16,), 0)


@pytest.mark.gpu
def test_the_card_tells_what_it_is(card: NvidiaDriver) -> None:
    device = card.device
    assert device.memory_bytes > 1 << 30
    assert device.capability >= (8, 0)
    assert device.dlpack == (2, 0)
