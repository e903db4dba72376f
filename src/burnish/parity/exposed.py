"""Short-lived copies of a model whose outputs are values from inside it."""

from __future__ import annotations

import dataclasses
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import onnx_ir as ir

from burnish.core.errors import BurnishError
from burnish.process.scratch import file_beside
from burnish.store import external_data, onnx_files
from burnish.store.stored import StoredModel


class Exposed:
    """A model that can be asked for any of its values; makes small files, never larger weights.

    Engines take weights only from the model's own folder, and no links into it: so a copy of a
    model with external weights is a small hidden file beside it. Only where that folder cannot
    be written are the weights copied, to `folder`; weights inside a model are moved there once.
    """

    def __init__(self, model: StoredModel, folder: Path) -> None:
        self._stored = model
        self._model = onnx_files.read(model.onnx)
        self._values = {
            value.name: value for node in self._model.graph for value in node.outputs if value.name
        }
        self._home = home_of(self._model, folder)

    @contextmanager
    def giving(self, names: Sequence[str]) -> Iterator[StoredModel]:
        """Yield a model that gives these values and no others; it is gone afterwards."""
        outputs = self._model.graph.outputs
        outputs.clear()
        outputs.extend(self._values[name] for name in names)
        content = ir.to_proto(self._model).SerializeToString()
        # The ending is not .onnx: whoever lists the models of this folder must not find it.
        stem = self._stored.onnx.stem
        with file_beside(self._home, prefix=f".{stem}.", suffix=".exposed") as path:
            path.write_bytes(content)
            try:
                yield dataclasses.replace(self._stored, onnx=path)
            except BurnishError as error:
                error.name(self._stored.onnx, path)
                raise


def home_of(model: ir.Model, folder: Path) -> Path:
    """Return the folder that copies of `model` are written to, after its weights are there.

    That is where they lie already, if they lie in files of one folder that can be written; else it
    is `folder`.
    """
    homes = {Path(tensor.base_dir).absolute() for tensor in external_data.external_tensors(model)}
    if len(homes) == 1 and _can_be_written(home := homes.pop()):
        return home
    ir.external_data.unload_from_model(
        model, folder, "weights", size_threshold_bytes=external_data.STAYS_INSIDE_BYTES
    )
    return folder


def _can_be_written(folder: Path) -> bool:
    try:
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False
