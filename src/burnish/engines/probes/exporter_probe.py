"""Export a module of two layers: `python -m burnish.engines.probes.exporter_probe dynamo`."""

from __future__ import annotations

import sys
import warnings

from burnish.core import units
from burnish.engines.base import ENGINES, EngineOptions
from burnish.engines.probes import tiny
from burnish.process.scratch import scratch
from burnish.store.stored import StoredModel

EXPORTERS = ("dynamo", "torchscript")


def probe(exporter: str) -> str:
    """Export the tiny module, run the result, compare with NumPy, and return what was checked."""
    import torch

    module, inputs = tiny.module_and_inputs()
    warnings.simplefilter("ignore")  # both exporters warn about their own insides
    with scratch("probe") as folder:
        path = folder / "exported.onnx"
        torch.onnx.export(
            module, tuple(inputs.values()), str(path), input_names=["x"], output_names=["y"],
            dynamo=exporter == "dynamo", verbose=False,
        )  # fmt: skip
        model = StoredModel(path, "exported")
        with ENGINES["onnxruntime-cpu"].open(model, EngineOptions()) as session:
            error = tiny.error_of(session.run({"x": tiny.INPUT})["y"])
    if not error <= tiny.TOLERANCE:
        raise ArithmeticError(f"wrong result: off by {units.error(error)}")
    return "exported, ran and agreed"


if __name__ == "__main__":
    sys.stdout.write(f"\n{probe(sys.argv[1])}")
