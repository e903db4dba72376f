from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import numpy_helper

EXAMPLE = Path(__file__).parents[2] / "examples" / "bert-mini"
VARIANTS = ("torchscript", "dynamo")
DATA_SETS = ("test_data_set_0", "test_data_set_1")


def _file(variant: str) -> Path:
    return EXAMPLE / variant / f"bert-mini_{variant}.onnx"


def _tensors(folder: Path, kind: str) -> dict[str, np.ndarray]:
    tensors = map(onnx.load_tensor, sorted(folder.glob(f"{kind}_*.pb")))
    return {tensor.name: numpy_helper.to_array(tensor) for tensor in tensors}


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("data_set", DATA_SETS)
def test_onnx_runtime_gives_what_pytorch_recorded(variant: str, data_set: str) -> None:
    folder = EXAMPLE / variant / data_set
    session = onnxruntime.InferenceSession(_file(variant), providers=["CPUExecutionProvider"])
    (logits,) = session.run(["logits"], _tensors(folder, "input"))
    np.testing.assert_allclose(logits, _tensors(folder, "output")["logits"], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("variant", VARIANTS)
def test_batch_and_sequence_are_dynamic(variant: str) -> None:
    graph = onnx.load(_file(variant)).graph
    shapes = {
        value.name: tuple(
            dim.dim_param or dim.dim_value for dim in value.type.tensor_type.shape.dim
        )
        for value in (*graph.input, *graph.output)
    }
    assert shapes == {
        "input_ids": ("batch", "sequence"),
        "attention_mask": ("batch", "sequence"),
        "token_type_ids": ("batch", "sequence"),
        "logits": ("batch", "sequence", 9),
    }


@pytest.mark.parametrize("variant", VARIANTS)
def test_one_data_set_pads_on_the_right_and_the_other_on_the_left(variant: str) -> None:
    right, left = (
        _tensors(EXAMPLE / variant / data_set, "input")["attention_mask"] for data_set in DATA_SETS
    )
    assert right.shape != left.shape
    assert right[:, 0].all()
    assert not right.all()
    assert left[:, -1].all()
    assert not left.all()


def test_torchscript_variant_leaves_layer_norm_and_gelu_to_fuse() -> None:
    operators = {node.op_type for node in onnx.load(_file("torchscript")).graph.node}
    assert {"Erf", "ReduceMean", "Softmax"} <= operators
    assert not {"Gelu", "LayerNormalization"} & operators


@pytest.mark.parametrize("variant", VARIANTS)
def test_onnx_runtime_knows_the_files_version(variant: str) -> None:
    assert onnx.load(_file(variant)).ir_version <= 13


def test_all_of_it_is_a_few_megabytes() -> None:
    assert sum(path.stat().st_size for path in EXAMPLE.rglob("*") if path.is_file()) < 6e6


@pytest.mark.slow
@pytest.mark.torch
def test_source_builds_the_module_that_was_exported() -> None:
    import torch

    from burnish.zoo.factory import module_and_inputs

    source = json.loads((EXAMPLE / "dynamo" / "source.json").read_text())
    module, inputs = module_and_inputs(**source["arguments"])
    recorded = _tensors(EXAMPLE / "dynamo" / "test_data_set_0", "output")["logits"]
    with torch.inference_mode():
        (logits,) = module(**inputs)
    np.testing.assert_allclose(logits.numpy(), recorded, rtol=1e-4, atol=1e-5)
