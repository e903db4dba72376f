"""Look for packages, programs and devices without importing or starting them."""

from __future__ import annotations

import importlib.metadata
import importlib.util
from pathlib import Path


def version_of(module: str, *more_distributions: str) -> str | None:
    """Return the version of an installed module, whichever distribution brought it; None: none."""
    if importlib.util.find_spec(module) is None:
        return None
    for distribution in (module, *more_distributions):
        try:
            return importlib.metadata.version(distribution)
        except importlib.metadata.PackageNotFoundError:
            continue
    return "unknown"


def has_nvidia_gpu() -> bool:
    """Return whether the kernel driver offers an NVIDIA device."""
    return any(Path("/dev").glob("nvidia[0-9]*"))
