from __future__ import annotations

from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays_of

from burnish.bench import feed_file

TYPES = [
    np.float64, np.float32, np.float16, np.int64, np.int32, np.int16, np.int8, np.uint8, np.uint16,
    np.bool_, np.complex64, ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2,
    ml_dtypes.int4, ml_dtypes.uint4,
]  # fmt: skip


@pytest.mark.parametrize("dtype", TYPES)
def test_every_element_type_survives(tmp_path: Path, dtype: type) -> None:
    array = np.array([[0, 1, 1], [1, 0, 1]]).astype(dtype)
    feed_file.write(tmp_path / "feeds.npz", {"input/ids:0": array})
    found = feed_file.read(tmp_path / "feeds.npz")["input/ids:0"]
    assert found.dtype == array.dtype
    assert found.shape == (2, 3)
    assert found.tobytes() == array.tobytes()


def test_text_survives(tmp_path: Path) -> None:
    array = np.array([["a", "größer"], ["", "b"]], dtype=object)
    feed_file.write(tmp_path / "feeds.npz", {"text": array})
    found = feed_file.read(tmp_path / "feeds.npz")["text"]
    assert found.dtype == object
    assert found.tolist() == array.tolist()


def test_what_is_read_may_be_written_to(tmp_path: Path) -> None:
    feed_file.write(tmp_path / "feeds.npz", {"x": np.zeros(3, np.float32)})
    feed_file.read(tmp_path / "feeds.npz")["x"][0] = 1


@given(
    st.dictionaries(
        st.text(min_size=1),
        arrays_of.arrays(
            st.sampled_from([np.float32, np.int64, np.bool_]),
            arrays_of.array_shapes(min_dims=0, min_side=0, max_dims=3),
        ),
        max_size=3,
    )
)
def test_writing_then_reading_changes_nothing(
    tmp_path_factory: pytest.TempPathFactory, arrays: dict[str, np.ndarray]
) -> None:
    path = tmp_path_factory.mktemp("feeds") / "feeds.npz"
    feed_file.write(path, arrays)
    found = feed_file.read(path)
    assert list(found) == list(arrays)
    assert feed_file.key(found) == feed_file.key(arrays)


def test_the_key_sees_names_types_shapes_and_elements() -> None:
    zeros = np.zeros((2, 3), np.float32)
    variants = [
        {"x": zeros}, {"y": zeros}, {"x": zeros.astype(np.float16)}, {"x": zeros.reshape(3, 2)},
        {"x": zeros + 1},
    ]  # fmt: skip
    assert len({feed_file.key(arrays) for arrays in variants}) == len(variants)
    assert feed_file.key({"a": zeros, "b": zeros}) == feed_file.key({"b": zeros, "a": zeros})
