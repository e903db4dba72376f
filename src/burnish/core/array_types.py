"""Our short names of the element types of arrays; needs NumPy only, so that records may use it."""

from __future__ import annotations

import re
from functools import cache, lru_cache

import numpy as np

from burnish.core.arrays import Array
from burnish.core.tensors import BITS

_LETTERS = {"float": "f", "int": "i", "uint": "u", "complex": "c"}
_OTHERS = {"bfloat16": "bf16", "float8_e8m0fnu": "f8e8m0", "float4_e2m1fn": "f4e2m1"}
_PARTS = re.compile(r"(?P<kind>float|int|uint|complex)(?P<rest>\d+(?:_e\dm\d\w*)?)")


def name_of(array: Array) -> str:
    """Return the short name of an array's element type; NumPy's own name where we have none."""
    return _name(array.dtype)


@lru_cache(maxsize=64)  # NumPy makes its name anew each time, and every call of a model asks
def _name(dtype: np.dtype[np.generic]) -> str:
    if dtype.kind in "OUST":
        return "str"
    name = dtype.name
    if found := _PARTS.fullmatch(name):
        name = _OTHERS.get(name, _LETTERS[found["kind"]] + found["rest"].replace("_", ""))
    name = _OTHERS.get(name, name)
    return name if name in BITS else str(dtype)


@cache
def array_type(name: str) -> np.dtype[np.generic]:
    """Return NumPy's element type of a short name; those that NumPy lacks are `ml_dtypes`.

    Text is an array of Python objects.
    """
    if name in ("str", "bool"):
        return np.dtype(object if name == "str" else bool)
    kinds = {short: long for long, short in _LETTERS.items()}
    if name[0] in kinds and name[1:].isdigit() and BITS[name] >= 8:
        return np.dtype(f"{kinds[name[0]]}{name[1:]}")
    import ml_dtypes

    own = {short: long for long, short in _OTHERS.items()}
    found = own.get(name) or re.sub(r"^f(\d)(e)", r"float\1_\2", name)
    found = re.sub(r"^([iu])(\d)$", lambda m: f"{kinds[m[1]]}{m[2]}", found)
    kind: np.dtype[np.generic] = np.dtype(getattr(ml_dtypes, found))
    return kind
