"""Memory is shared with other libraries, once, and given back."""

from __future__ import annotations

import gc

import numpy as np
import pytest
import torch

from burnish.cuda import dlpack
from burnish.cuda.dlpack import LentMemory, lend, take


class Kept:
    """Notes when it is gone."""

    def __init__(self, gone: list[str]) -> None:
        self._gone = gone

    def __del__(self) -> None:
        self._gone.append("gone")


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (torch.float32, "f32"), (torch.float16, "f16"), (torch.bfloat16, "bf16"),
        (torch.int64, "i64"), (torch.uint8, "u8"), (torch.bool, "bool"), (torch.float64, "f64"),
    ],
)  # fmt: skip
def test_a_tensor_is_taken_as_it_is(kind: torch.dtype, name: str) -> None:
    tensor = torch.zeros((2, 3, 4), dtype=kind)[1]
    found = take(tensor.__dlpack__())
    assert (found.address, found.dtype, found.shape) == (tensor.data_ptr(), name, (3, 4))
    assert found.contiguous
    assert found.device == (dlpack.CPU, 0)
    found.release()


def test_other_layouts_are_seen() -> None:
    assert not take(torch.zeros(3, 4).t().__dlpack__()).contiguous
    assert take(torch.zeros(3, 1, 4).transpose(0, 1).__dlpack__()).contiguous


def test_a_capsule_is_taken_once() -> None:
    capsule = torch.zeros(3).__dlpack__()
    take(capsule)
    with pytest.raises(ValueError, match="was taken before"):
        take(capsule)


class Lender:
    def __init__(self, array: np.ndarray, name: str, gone: list[str]) -> None:
        self._piece = LentMemory(array.ctypes.data, name, array.shape, (dlpack.CPU, 0))
        self._kept = Kept(gone)

    def __dlpack_device__(self) -> tuple[int, int]:
        return dlpack.CPU, 0

    def __dlpack__(self, **_options: object) -> dlpack.Capsule:
        return lend(self._piece, self._kept)


def test_what_is_lent_is_kept_until_the_last_reader_is_gone() -> None:
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    gone: list[str] = []
    one = torch.from_dlpack(Lender(array, "f32", gone))
    assert one.data_ptr() == array.ctypes.data
    part = one[0]
    del one
    gc.collect()
    assert not gone
    np.testing.assert_array_equal(part.numpy(), array[0])
    del part
    gc.collect()
    assert gone == ["gone"]


def test_a_capsule_that_nobody_takes_keeps_nothing() -> None:
    gone: list[str] = []
    lender = Lender(np.zeros(3, np.float32), "f32", gone)
    capsule = lender.__dlpack__()
    del lender, capsule
    gc.collect()
    assert gone == ["gone"]


def test_element_types_that_dlpack_has_no_name_for_are_not_lent() -> None:
    with pytest.raises(ValueError, match="elements of type f8e4m3fn cannot be lent"):
        lend(LentMemory(64, "f8e4m3fn", (1,), (2, 0)), None)
