"""Write a model as text after every step that changed it."""

from __future__ import annotations

from pathlib import Path

import onnx_ir as ir

from burnish.core.errors import UsageError
from burnish.core.files import write_text
from burnish.rewrite import edit
from burnish.version import __version__


class Dump:
    """An observer that writes `NN_<stage>.onnxtxt` files into a folder."""

    def __init__(self, folder: Path) -> None:
        if folder.is_dir() and any(folder.glob("*.onnxtxt")):
            raise UsageError(
                f"{folder}: holds the dump of an earlier run", hint="name a new folder with --dump"
            )
        self._folder = folder
        self._number = 0

    def __call__(self, stage: str, model: ir.Model) -> None:
        """Write the model as it is after a stage."""
        path = self._folder / f"{self._number:02}_{stage}.onnxtxt"
        write_text(path, f"# burnish {__version__}, after {stage}\n{as_text(model)}\n")
        self._number += 1


def as_text(model: ir.Model) -> str:
    """Return a model in ONNX's text form; weights are shown as inputs, without their numbers."""
    import onnx.printer

    with edit.weights_as_inputs(model.graph):
        proto = ir.serde.serialize_model(model)
    return str(onnx.printer.to_text(proto))
