from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np

from burnish.core import hashing


def test_a_file_is_known_by_its_content(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x" * 3_000_000)
    assert hashing.file_key(tmp_path / "a") == hashlib.sha256(b"x" * 3_000_000).hexdigest()


def test_the_order_of_keys_does_not_matter() -> None:
    assert hashing.value_key({"a": 1, "b": [2]}) == hashing.value_key({"b": [2], "a": 1})
    assert hashing.value_key({"a": 1}) != hashing.value_key({"a": 2})


def test_the_key_of_arrays_sees_names_types_shapes_and_elements() -> None:
    zeros = np.zeros((2, 3), np.float32)
    variants = [
        {"x": zeros}, {"y": zeros}, {"x": zeros.astype(np.float16)}, {"x": zeros.reshape(3, 2)},
        {"x": zeros + 1}, {"x": np.array(["a"], object)}, {"x": np.array(["b"], object)},
    ]  # fmt: skip
    assert len({hashing.arrays_key(arrays) for arrays in variants}) == len(variants)
    assert hashing.arrays_key({"a": zeros, "b": zeros}) == hashing.arrays_key(
        {"b": zeros, "a": zeros}
    )
