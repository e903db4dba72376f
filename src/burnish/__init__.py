"""Burnish makes neural networks run fast at inference, and proves it.

The names below are the public API (docs/python.md); each is loaded when it is first used.
"""

from __future__ import annotations

import importlib
import sys
import types
from typing import TYPE_CHECKING, Any

from burnish.core import settings
from burnish.version import __version__

if TYPE_CHECKING:
    from burnish.api import (
        TorchModule,
        advise,
        bench,
        compare,
        compile,
        execute,
        explain,
        export,
        gate,
        graph,
        optimize,
        profile,
        prune,
        reduce,
        run,
        sensitivity,
        show,
        verify,
        whatif,
    )
    from burnish.core.errors import BurnishError
    from burnish.runtime.load import load

settings.force()

__all__ = [
    "BurnishError", "TorchModule", "__version__", "advise", "bench", "compare", "compile",
    "execute", "explain", "export", "gate", "graph", "load", "optimize", "profile", "prune",
    "reduce", "run", "sensitivity", "show", "verify", "whatif",
]  # fmt: skip
_ELSEWHERE = {"BurnishError": "burnish.core.errors", "load": "burnish.runtime.load"}


class _Package(types.ModuleType):
    """Keeps `burnish.bench` the function: importing the package of that name must not bind it."""

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in __all__ and isinstance(value, types.ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package


def __getattr__(name: str) -> Any:  # noqa: ANN401  (any of the public names)
    if name not in __all__:
        raise AttributeError(f"module 'burnish' has no attribute {name!r}")
    return getattr(importlib.import_module(_ELSEWHERE.get(name, "burnish.api")), name)


def __dir__() -> list[str]:
    return sorted(__all__)
