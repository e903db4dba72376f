from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from burnish.bench import probe, probe_models
from burnish.core.errors import MissingCapabilityError
from burnish.engines.base import ENGINES, EngineOptions
from burnish.hw.spec import parse
from burnish.store.stored import StoredModel
from devices import GPU, LAPTOP


@pytest.mark.parametrize("device", [LAPTOP, GPU])
def test_a_device_written_and_read_is_the_same(device: object) -> None:
    assert parse(probe.toml_of(device), where="x") == device  # type: ignore[arg-type]


@pytest.mark.parametrize("dtype", probe_models.PRODUCTS)
def test_the_probes_compute_products(tmp_path: Path, dtype: str) -> None:
    model = probe_models.product(dtype, (4, 8, 6))
    path = tmp_path / "p.onnx"
    path.write_bytes(model.content)
    options = EngineOptions(graph_level=model.graph_level)
    with ENGINES["onnxruntime-cpu"].open(StoredModel(path, "p"), options) as session:
        assert session.run(model.feeds)["y"].shape == (4, 6)
    assert model.flops == 2 * 4 * 8 * 6


def test_the_chain_of_small_operators_turns_its_input_around_evenly_often(tmp_path: Path) -> None:
    model = probe_models.chain()
    path = tmp_path / "c.onnx"
    path.write_bytes(model.content)
    with ENGINES["onnxruntime-cpu"].open(StoredModel(path, "c"), EngineOptions()) as session:
        assert session.run(model.feeds)["y"] == np.ones(1, np.float32)


@pytest.mark.slow
def test_this_machine_can_be_probed_and_is_found_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(probe, "_LEAST_S", 0.0)
    report = probe.probed("cpu", None, tmp_path)
    assert report.path == tmp_path / "hw" / "this-cpu.toml"
    found = parse(report.path.read_text(), where="x")
    assert set(found.peak_flops_per_s) == {"f32", "f64", "i8"}
    rates = [level.bandwidth_bytes_per_s for level in found.memory]
    assert rates == sorted(rates, reverse=True)
    assert probe.product_factor("i8", (16, 64, 64), threads=1) > 0


@pytest.mark.torch
def test_a_machine_without_a_gpu_cannot_probe_one(tmp_path: Path) -> None:
    import torch

    if torch.cuda.is_available():
        pytest.skip("there is a GPU here")
    with pytest.raises(MissingCapabilityError, match="no GPU that torch can use"):
        probe.probed("gpu", None, tmp_path)
