"""Tensors in host memory, by name."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.generic]
Arrays = Mapping[str, Array]
"""Tensors by name; extension types (bf16, f8 …) are `ml_dtypes` arrays."""
