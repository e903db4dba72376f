"""`torch.compile` needs a compiler, and tells its graph breaks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from burnish.core.errors import UsageError
from burnish.engines import torch_compile
from burnish.engines.base import ENGINES, EngineOptions
from burnish.store.stored import StoredModel, TorchSource

Stored = Callable[..., StoredModel]

FACTORY = """
import torch

class Broken(torch.nn.Module):
    def forward(self, x):
        y = x + 1
        torch._dynamo.graph_break()
        return y * 2

def broken():
    return Broken(), (torch.zeros(1, 2),)
"""


@pytest.mark.torch
def test_without_a_compiler_the_remedy_is_a_command(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    monkeypatch.setattr(torch_compile.shutil, "which", lambda _: None)
    available = ENGINES["torch-compile"].availability()
    assert (available.ok, available.reason) == (False, "no C++ compiler")
    assert available.remedy == "apt install g++"


@pytest.mark.torch
@pytest.mark.slow
def test_graph_breaks_are_counted(stored: Stored, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    (tmp_path / "factory.py").write_text(FACTORY)
    graph = "(float[n, 2] x) => (float[n, 2] y) { y = Identity(x) }"
    model = stored(graph, torch=TorchSource("function", "factory.py:broken", {}))
    with ENGINES["torch-compile"].open(model, EngineOptions()) as session:
        outputs = session.run({"x": np.ones((1, 2), np.float32)})
        assert session.placement.notes == ("compiled with 1 graph break so far",)
    np.testing.assert_array_equal(outputs["y"], [[4, 4]])


@pytest.mark.torch
def test_a_mode_may_be_a_back_end_and_what_is_neither_is_refused(
    stored: Stored, tmp_path: Path
) -> None:
    pytest.importorskip("torch")
    (tmp_path / "factory.py").write_text(FACTORY)
    graph = "(float[n, 2] x) => (float[n, 2] y) { y = Identity(x) }"
    model = stored(graph, torch=TorchSource("function", "factory.py:broken", {}))
    with ENGINES["torch-compile"].open(model, EngineOptions(mode="eager")) as session:
        outputs = session.run({"x": np.ones((1, 2), np.float32)})
    np.testing.assert_array_equal(outputs["y"], [[4, 4]])
    assert torch_compile._chosen("max-autotune") == {"mode": "max-autotune"}
    with pytest.raises(
        UsageError, match="has neither a mode nor a back end 'max-autotun'"
    ) as error:
        ENGINES["torch-compile"].open(model, EngineOptions(mode="max-autotun"))
    assert "max-autotune" in error.value.hint
