from __future__ import annotations

import hashlib
from pathlib import Path

from burnish.core import hashing


def test_a_file_is_known_by_its_content(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x" * 3_000_000)
    assert hashing.file_key(tmp_path / "a") == hashlib.sha256(b"x" * 3_000_000).hexdigest()


def test_the_order_of_keys_does_not_matter() -> None:
    assert hashing.value_key({"a": 1, "b": [2]}) == hashing.value_key({"b": [2], "a": 1})
    assert hashing.value_key({"a": 1}) != hashing.value_key({"a": 2})
