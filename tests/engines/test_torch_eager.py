"""Eager PyTorch says how to get it."""

from __future__ import annotations

import pytest

from burnish.core.errors import MissingCapabilityError
from burnish.engines import torch_eager
from burnish.engines.base import ENGINES, EngineOptions
from burnish.store.stored import StoredModel


def test_without_torch_the_remedy_is_a_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch_eager, "version_of", lambda _: None)
    with pytest.raises(MissingCapabilityError) as caught:
        ENGINES["torch-eager"].open(StoredModel("m.onnx", "m"), EngineOptions())
    assert caught.value.problem == "engine torch-eager cannot be used: torch is not installed"
    assert caught.value.hint == "pip install 'burnish[torch]'"
