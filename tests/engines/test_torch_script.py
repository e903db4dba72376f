"""TorchScript: one graph for each set of sizes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from burnish.engines.base import ENGINES, EngineOptions
from burnish.store.stored import StoredModel, TorchSource

FACTORY = """
import torch

class BySize(torch.nn.Module):
    def forward(self, x, flag=True):
        return {"y": x * (2 if x.shape[0] > 1 else 3)}

def by_size():
    return BySize(), (torch.zeros(1, 2),)
"""


@pytest.mark.torch
def test_what_a_module_decides_by_sizes_is_decided_for_each(
    stored: Callable[..., StoredModel], tmp_path: Path
) -> None:
    pytest.importorskip("torch")
    (tmp_path / "factory.py").write_text(FACTORY)
    graph = "(float[n, 2] x) => (float[n, 2] y) { y = Identity(x) }"
    model = stored(graph, torch=TorchSource("function", "factory.py:by_size", {}))
    with ENGINES["torch-script"].open(model, EngineOptions()) as session:
        assert session.placement.notes == ("traced and frozen for the sizes of its inputs",)
        for rows, factor in ((1, 3), (2, 2), (1, 3)):
            outputs = session.run({"x": np.ones((rows, 2), np.float32)})
            np.testing.assert_array_equal(outputs["y"], np.full((rows, 2), factor))
