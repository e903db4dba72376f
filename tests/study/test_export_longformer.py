"""Longformer with plain operators: equal to PyTorch at three lengths, with and without globals."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from burnish.engines.base import ENGINES, EngineOptions
from burnish.store import layout
from burnish.study.export import ExportPlan, export
from burnish.zoo.entry import NetworkOptions
from burnish.zoo.exporting.request import Exporter, ExportRequest, ZooSource
from burnish.zoo.factory import build

pytestmark = [pytest.mark.torch, pytest.mark.slow, pytest.mark.filterwarnings("ignore")]
LENGTHS = (5, 16, 33)  # less than a window of 8, windows without a rest, and with one


@pytest.mark.parametrize("exporter", ["dynamo", "torchscript"])
def test_any_length_with_and_without_global_tokens(tmp_path: Path, exporter: Exporter) -> None:
    import torch

    options = NetworkOptions(small=True, layers=1)
    plan = ExportPlan(tmp_path, "longformer", exporter)
    report = export(ExportRequest(ZooSource("longformer"), options, exporter), plan)
    with ENGINES["onnxruntime-cpu"].open(layout.stored(report.onnx), EngineOptions()) as session:
        for length in LENGTHS:
            built = build("longformer", NetworkOptions(small=True, layers=1, sequence=length))
            for has_global in (True, False):
                inputs = dict(built.inputs)
                if not has_global:
                    inputs["global_attention_mask"] = torch.zeros_like(inputs["input_ids"])
                with torch.inference_mode():
                    expected = built.module(**inputs)[0].numpy()
                found = session.run({name: tensor.numpy() for name, tensor in inputs.items()})
                np.testing.assert_allclose(
                    found["last_hidden_state"], expected, atol=5e-5, rtol=1e-4
                )
