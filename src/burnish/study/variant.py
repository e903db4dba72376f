"""Give a rewritten model its place in the store, beside the one it came from."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from burnish.core.files import Kind, folder_written_beside
from burnish.store import external_data, layout, onnx_files
from burnish.store.stored import StoredModel
from burnish.study.requests.apart import require_other

SUFFIX = "optimized"
_NOTHING = Kind("a copied data set", lambda _folder: "it came while that was copied")


def target_of(model: StoredModel, suffix: str = SUFFIX) -> Path:
    """Return where the optimised variant of a model belongs: in its store, or else beside it."""
    if model.variant is None:
        return model.onnx.with_name(f"{model.onnx.stem}_{suffix}.onnx")
    store = model.onnx.absolute().parents[2]
    return layout.place(store, model.name, f"{model.variant}_{suffix}")


def size_bytes(onnx: Path) -> int:
    """Return what a model takes on disk, with the files that hold its weights."""
    files = (onnx, *external_data.files(onnx_files.read(onnx)))
    return sum(file.stat().st_size for file in files)


def share_data_sets(model: StoredModel, target: Path) -> None:
    """Put the recorded data of a model beside its variant too; files are linked if possible."""
    for folder in model.data_sets:
        destination = target.parent / folder.name
        if not destination.exists():
            with folder_written_beside(destination, _NOTHING) as fresh:
                shutil.copytree(folder, fresh, copy_function=_link, dirs_exist_ok=True)


def _link(source: str, destination: str) -> None:
    try:
        os.link(source, destination)
    except OSError:
        shutil.copy2(source, destination)


def require_apart(model: StoredModel, target: Path) -> None:
    """Raise if a model would take the place of the one that it is made from, or of its weights."""
    read = [(model.onnx, "MODEL")]
    if target.is_file():
        weights = external_data.files(onnx_files.read(model.onnx))
        read += [(file, f"a file of {model.onnx.name}'s weights") for file in weights]
    require_other(target, read, "-o")
