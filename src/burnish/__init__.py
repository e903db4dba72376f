"""Burnish makes neural networks run fast at inference, and proves it.

The names below are the public API; each is loaded when it is first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from burnish.core import settings
from burnish.version import __version__

if TYPE_CHECKING:
    from burnish.core.errors import BurnishError
    from burnish.runtime.load import load

settings.force()

_HOMES = {
    "BurnishError": "burnish.core.errors",
    "load": "burnish.runtime.load",
}

__all__ = ["BurnishError", "__version__", "load"]


def __getattr__(name: str) -> Any:  # noqa: ANN401  (any of the public names)
    if name not in _HOMES:
        raise AttributeError(f"module 'burnish' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
