"""What is sent is what is received, bit for bit, however the stream cuts it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays_of

from burnish.core.arrays import Array
from burnish.process.wire import Incoming, Message, packed

TYPES = [
    np.float64, np.float32, np.float16, np.int64, np.int32, np.int16, np.int8, np.uint8, np.uint16,
    np.bool_, np.complex64, ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2,
    ml_dtypes.int4, ml_dtypes.uint4, ">f4", "<U3",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Parcel:
    arrays: Mapping[str, Array] = field(default_factory=dict)
    code: bytes = b""
    place: Path | None = None
    share: float = 0.5
    inner: tuple[Array, ...] = ()


def through(value: object, cut: int = 1 << 16) -> Message:
    """Return a message as it arrives in pieces of `cut` bytes."""
    stream = memoryview(b"".join(packed("parcel", value)))
    incoming = Incoming()
    while stream:
        count = min(len(stream), len(incoming.room), cut)
        incoming.room[:count] = stream[:count]
        stream = stream[count:]
        if (message := incoming.advance(count)) is not None:
            assert not stream
            return message
    raise AssertionError("the message never became whole")


@pytest.mark.parametrize("dtype", TYPES)
def test_every_element_type_survives(dtype: type | str) -> None:
    array = np.array([[0, 1, 1], [1, 0, 1]]).astype(dtype)
    found = through(Parcel({"input/ids:0": array})).value(Parcel).arrays["input/ids:0"]
    assert found.dtype == array.dtype
    assert found.shape == (2, 3)
    assert found.tobytes() == array.tobytes()


def test_text_survives() -> None:
    array = np.array([["a", "größer"], ["", "b"]], dtype=object)
    found = through(Parcel({"text": array})).value(Parcel).arrays["text"]
    assert found.dtype == object
    assert found.tolist() == array.tolist()


def test_records_with_bytes_paths_and_odd_numbers_survive() -> None:
    parcel = Parcel(code=b"\x7fELF\0", place=Path("/a b"), share=float("inf"))
    assert through(parcel).value(Parcel) == parcel


@given(
    st.dictionaries(
        st.text(min_size=1),
        arrays_of.arrays(
            st.sampled_from([np.float32, np.int64, np.bool_]),
            arrays_of.array_shapes(min_dims=0, min_side=0, max_dims=3),
        ),
        max_size=3,
    ),
    st.binary(),
    st.integers(1, 50),
)
def test_however_it_is_cut_it_is_the_same(
    arrays: dict[str, np.ndarray], code: bytes, cut: int
) -> None:
    found = through(Parcel(arrays, code, inner=tuple(arrays.values())), cut).value(Parcel)
    assert list(found.arrays) == list(arrays)
    assert found.code == code
    for (name, array), inner in zip(arrays.items(), found.inner, strict=True):
        for other in (found.arrays[name], inner):
            assert (other.dtype, other.shape) == (array.dtype, array.shape)
            assert other.tobytes() == array.tobytes()


def test_what_is_received_may_be_written_to_and_arrays_in_any_order_are_whole() -> None:
    turned = np.arange(6, dtype=np.float32).reshape(2, 3).T
    found = through(Parcel({"x": turned})).value(Parcel).arrays["x"]
    found[0, 0] = 7
    assert turned[0, 0] == 0
    np.testing.assert_array_equal(found[1:], turned[1:])


def test_a_mapping_that_looks_like_a_place_is_a_mapping() -> None:
    assert through({"piece": 0, "dtype": "float32"}).value(Mapping[str, object]) == {
        "piece": 0, "dtype": "float32",
    }  # fmt: skip


def test_arrays_are_sent_from_where_they_are() -> None:
    array = np.zeros(1000, np.float32)
    _, piece, _ = packed("parcel", Parcel({"x": array}))
    array[0] = 1
    assert np.frombuffer(piece, np.float32)[0] == 1


def test_what_is_neither_a_record_nor_an_array_cannot_be_sent() -> None:
    with pytest.raises(TypeError, match="object cannot be sent"):
        packed("parcel", object())


def test_what_begins_like_no_message_is_refused() -> None:
    incoming = Incoming()
    incoming.room[:] = b"\xff" * 8
    with pytest.raises(ValueError, match="a message cannot begin with"):
        incoming.advance(8)
