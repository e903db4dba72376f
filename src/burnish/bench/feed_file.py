"""Arrays on disk for worker processes, in any element type that NumPy or ml_dtypes knows.

An .npz keeps no name for the types of ml_dtypes (bf16, f8, i4 …), so each array is stored as its
bytes, and a list beside them says what they are.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np

from burnish.core.arrays import Array, Arrays


def write(path: Path, arrays: Arrays) -> None:
    """Write arrays so that `read` gives them back, bit for bit."""
    entries = [_entry(name, array) for name, array in arrays.items()]
    pieces: dict[str, Any] = {"entries": np.array(json.dumps(entries))}
    for index, array in enumerate(arrays.values()):
        pieces[f"array_{index}"] = _bytes_of(array)
    with path.open("wb") as stream:
        np.savez(stream, **pieces)


def read(path: Path) -> dict[str, Array]:
    """Return the arrays that `write` stored."""
    import ml_dtypes  # noqa: F401  (makes NumPy know bfloat16 and its kin by name)

    with np.load(path, allow_pickle=False) as stored:
        entries = json.loads(str(stored["entries"]))
        return {
            entry["name"]: _array(entry, stored[f"array_{index}"])
            for index, entry in enumerate(entries)
        }


def key(arrays: Arrays) -> str:
    """Return the sha256 of the arrays: names, types, shapes and elements."""
    digest = hashlib.sha256()
    for name in sorted(arrays):
        digest.update(json.dumps(_entry(name, arrays[name])).encode())
        digest.update(_bytes_of(arrays[name]).data)
    return digest.hexdigest()


def _entry(name: str, array: Array) -> dict[str, Any]:
    return {"name": name, "dtype": array.dtype.name, "shape": list(array.shape)}


def _bytes_of(array: Array) -> Array:
    if array.dtype == object:
        return np.frombuffer(json.dumps(array.reshape(-1).tolist()).encode(), dtype=np.uint8)
    return np.frombuffer(np.ascontiguousarray(array).tobytes(), dtype=np.uint8)


def _array(entry: dict[str, Any], content: Array) -> Array:
    shape = tuple(entry["shape"])
    if entry["dtype"] == "object":
        return np.array(json.loads(content.tobytes()), dtype=object).reshape(shape)
    return np.frombuffer(content.tobytes(), dtype=np.dtype(entry["dtype"])).reshape(shape).copy()
