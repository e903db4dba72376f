"""Tiny models on disk, from ONNX text."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import onnx
import pytest

from burnish.store.stored import StoredModel, TorchSource

HEAD = '<ir_version: 10, opset_import: ["": 21, "custom": 1]> tiny '

Stored = Callable[..., StoredModel]


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep what engines remember out of the user's cache."""
    monkeypatch.setenv("BURNISH_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def stored(tmp_path: Path) -> Stored:
    """Return a function that writes ONNX text to disk and says where it is."""

    def write(graph: str, *, head: str = HEAD, torch: TorchSource | None = None) -> StoredModel:
        path = tmp_path / "tiny.onnx"
        path.write_bytes(onnx.parser.parse_model(head + graph).SerializeToString())
        return StoredModel(path, "tiny", torch=torch, trusted=torch is not None)

    return write
