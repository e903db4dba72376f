"""Tensors in host memory, by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

# Not NDArray: records look at the class, and from NumPy 2.5 on that is the name of an alias.
Array = np.ndarray[tuple[Any, ...], np.dtype[np.generic]]
Arrays = Mapping[str, Array]
"""Tensors by name; extension types (bf16, f8 …) are `ml_dtypes` arrays."""
