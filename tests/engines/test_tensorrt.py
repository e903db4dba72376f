"""Without TensorRT or a GPU, the engine says which of them is missing and how to get it."""

from __future__ import annotations

import pytest

from burnish.engines import tensorrt
from burnish.engines.base import ENGINES

ENGINE = ENGINES["tensorrt"]


@pytest.mark.parametrize(
    ("gpu", "installed", "reason", "remedy"),
    [
        (False, {}, "no NVIDIA GPU on this machine", "pip install 'burnish[tensorrt]'"),
        (True, {}, "tensorrt is not installed", "pip install 'burnish[tensorrt]'"),
        (True, {"tensorrt": "11.1"}, "torch, which holds the tensors", "pip install torch"),
    ],
)
def test_what_is_missing_is_named(
    monkeypatch: pytest.MonkeyPatch,
    gpu: bool,
    installed: dict[str, str],
    reason: str,
    remedy: str,
) -> None:
    monkeypatch.setattr(tensorrt, "has_nvidia_gpu", lambda: gpu)
    monkeypatch.setattr(tensorrt, "version_of", lambda name, *_: installed.get(name))
    available = ENGINE.availability()
    assert not available.ok
    assert reason in available.reason
    assert remedy in available.remedy


def test_with_everything_in_place_it_is_available(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tensorrt, "has_nvidia_gpu", lambda: True)
    monkeypatch.setattr(tensorrt, "version_of", lambda *_: "11.1")
    assert ENGINE.availability().ok
