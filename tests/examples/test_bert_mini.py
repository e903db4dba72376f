from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import numpy_helper

from burnish.engines.base import ENGINES, EngineOptions
from burnish.store.layout import resolve

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


def test_store_finds_both_variants_with_their_data_and_source() -> None:
    for variant in VARIANTS:
        model = resolve(f"bert-mini/{variant}", EXAMPLE.parent)
        assert model.onnx == _file(variant)
        assert [folder.name for folder in model.data_sets] == list(DATA_SETS)
        assert model.torch is not None
        assert (model.torch.origin, model.torch.name) == ("zoo", "bert-mini")


@pytest.mark.slow
@pytest.mark.torch
def test_pytorch_engine_builds_the_module_that_was_exported() -> None:
    model = resolve("bert-mini/dynamo", EXAMPLE.parent)
    for folder in model.data_sets:
        with ENGINES["torch-eager"].open(model, EngineOptions()) as session:
            logits = session.run(_tensors(folder, "input"))["logits"]
        recorded = _tensors(folder, "output")["logits"]
        np.testing.assert_allclose(logits, recorded, rtol=1e-4, atol=1e-5)
