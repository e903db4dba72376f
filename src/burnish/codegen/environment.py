"""What compiling here means: the versions, the folders, how many threads."""

from __future__ import annotations

import datetime as dt
import hashlib
import importlib.metadata
from functools import lru_cache
from pathlib import Path

import onnx_ir as ir

from burnish.codegen.tune.cache import default_path
from burnish.core import settings
from burnish.hw import detect
from burnish.runtime.folder import About
from burnish.store import onnx_files
from burnish.store.stored import StoredModel
from burnish.version import __version__

_PACKAGE = Path(__file__).parents[1]
_SOURCES = ("codegen", "cuda", "hw", "runtime", "tile", "rewrite", "store")
"""What has a say in the plan of a model."""


def tuning_cache() -> Path:
    """Return where measured schedules are kept."""
    return default_path(settings.read().cache)


def default_threads() -> int:
    """Return how many threads a plan uses if nobody says."""
    return detect.cpu().usable_cores


def about(
    model: StoredModel, loaded: ir.Model, precision: str, device: str, options: tuple[str, ...]
) -> About:
    """Return what is to be known of a compiled model besides its plans."""
    interface = onnx_files.interface(loaded)
    return About(
        model=model.label,
        source=str(model.onnx.absolute()),
        source_key=onnx_files.content_key(model.onnx),
        inputs=interface.inputs,
        outputs=interface.outputs,
        precision=precision,
        device=device,
        date=dt.datetime.now(dt.UTC).strftime("%Y-%m-%d %H:%M UTC"),
        versions=versions(),
        options=options,
    )


def versions() -> dict[str, str]:
    """Return the versions that have a say in what a compiled model computes."""
    found = {name: importlib.metadata.version(name) for name in ("llvmlite", "numpy", "onnx")}
    return {"burnish": __version__, "onnxruntime": _onnxruntime(), **found}


def _onnxruntime() -> str:
    import onnxruntime

    return str(onnxruntime.__version__)


@lru_cache(maxsize=1)
def compiler_version() -> str:
    """Return a hash of the sources that turn models into plans."""
    digest = hashlib.sha256()
    for folder in _SOURCES:
        for path in sorted((_PACKAGE / folder).rglob("*.py")):
            digest.update(str(path.relative_to(_PACKAGE)).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]
