"""Content keys: equal content, equal key."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from burnish.core.arrays import Arrays


def file_key(path: Path) -> str:
    """Return the sha256 of a file, read in pieces."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def value_key(value: Any) -> str:  # noqa: ANN401  (anything that JSON can say)
    """Return the sha256 of a JSON value; the order of keys does not matter."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


def arrays_key(arrays: Arrays) -> str:
    """Return the sha256 of arrays: names, types, shapes and elements; their order is no matter."""
    digest = hashlib.sha256()
    for name in sorted(arrays):
        array = arrays[name]
        entry = {"name": name, "dtype": array.dtype.name, "shape": list(array.shape)}
        digest.update(json.dumps(entry).encode())
        texts = array.dtype == object
        digest.update(json.dumps(array.reshape(-1).tolist()).encode() if texts else array.tobytes())
    return digest.hexdigest()
