"""Make the bundled example again: `bert-mini` of the zoo, from both PyTorch exporters.

    python examples/make_bert_mini.py [FOLDER]

Needs the extra [torch]. The weights are random but seeded, so that the files differ between runs
only where another version of an exporter writes another graph. The outputs in each
`test_data_set_N` are PyTorch's.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import onnx
import torch

from burnish.core import files
from burnish.store import datasets, layout, onnx_files
from burnish.zoo.entry import BuiltModel, NetworkOptions, Tensors
from burnish.zoo.factory import build, source_of

NAME = "bert-mini"
OPTIONS = NetworkOptions()
OPSETS = {
    "torchscript": 14,  # the last without a Gelu or LayerNormalization of its own: all to fuse
    "dynamo": 20,
}


def main(root: Path) -> None:
    """Write both variants below `root`, each with two data sets and its source."""
    for variant, opset in OPSETS.items():
        built = build(NAME, OPTIONS)
        path = layout.place(root, NAME, variant)
        with files.written_beside(path) as beside:
            export(built, beside / path.name, variant=variant, opset=opset)
        interface = onnx_files.interface(onnx_files.read(path))
        for number, inputs in enumerate((built.inputs, built.second_inputs)):
            folder = path.parent / f"test_data_set_{number}"
            datasets.write(folder, recorded(built, inputs), interface)
        layout.write_source(path, source_of(NAME, OPTIONS))
        print(f"{path}: {path.stat().st_size:,} bytes")


def export(built: BuiltModel, path: Path, *, variant: str, opset: int) -> None:
    """Write one ONNX file with dynamic batch and sequence."""
    names = {"input_names": list(built.input_names), "output_names": list(built.output_names)}
    arguments = tuple(built.inputs.values())
    with warnings.catch_warnings(), torch.inference_mode(mode=False):
        warnings.simplefilter("ignore")  # both exporters warn about their own insides
        if variant == "dynamo":
            torch.onnx.export(
                built.module, arguments, path, opset_version=opset, dynamo=True, verbose=False,
                external_data=False, dynamic_shapes=dynamic_shapes(built), **names,
            )  # fmt: skip
        else:
            logits_axes = {name: {0: "batch", 1: "sequence"} for name in built.output_names}
            torch.onnx.export(
                built.module, arguments, path, opset_version=opset, dynamo=False,
                dynamic_axes={**built.dynamic_axes, **logits_axes}, **names,
            )  # fmt: skip
    onnx.save(without_stack_traces(onnx.load(path)), path)


def dynamic_shapes(built: BuiltModel) -> dict[str, dict[int, object]]:
    """Return the axes as `torch.export` wants them: the same name, the same object."""
    symbols = {symbol for axes in built.dynamic_axes.values() for symbol in axes.values()}
    dims = {symbol: torch.export.Dim(symbol) for symbol in symbols}
    return {
        name: {axis: dims[symbol] for axis, symbol in axes.items()}
        for name, axes in built.dynamic_axes.items()
    }


def without_stack_traces(model: onnx.ModelProto) -> onnx.ModelProto:
    """Return the model without the exporter's notes about the machine it ran on."""
    for node in model.graph.node:
        kept = [entry for entry in node.metadata_props if "stack_trace" not in entry.key]
        del node.metadata_props[:]
        node.metadata_props.extend(kept)
        node.ClearField("doc_string")
    return model


def recorded(built: BuiltModel, inputs: Tensors) -> datasets.DataSet:
    """Return inputs and what PyTorch makes of them."""
    with torch.inference_mode():
        outputs = dict(zip(built.output_names, built.module(**inputs), strict=True))
    return datasets.DataSet(
        {name: tensor.numpy() for name, tensor in inputs.items()},
        {name: tensor.numpy() for name, tensor in outputs.items()},
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
