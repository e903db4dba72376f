"""Look for packages and devices without importing or starting them."""

from __future__ import annotations

import importlib.metadata
import importlib.util
from pathlib import Path


def version_of(*distributions: str, module: str | None = None) -> str | None:
    """Return the version of an importable module, whichever distribution brought it; None: none."""
    if importlib.util.find_spec(module or distributions[0]) is None:
        return None
    for distribution in distributions:
        try:
            return importlib.metadata.version(distribution)
        except importlib.metadata.PackageNotFoundError:
            continue
    return "unknown"


def has_nvidia_gpu(devices: Path = Path("/dev")) -> bool:
    """Return whether the kernel offers an NVIDIA device (`dxg`: the one of Windows' Linux)."""
    return any(devices.glob("nvidia[0-9]*")) or (devices / "dxg").exists()
