"""A model that is compiled when it is fed is compiled once, and again when it must be."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from burnish.codegen import cached
from burnish.codegen.backend import Backend
from burnish.codegen.cached import ModelSource, compiled_for, with_shapes
from burnish.runtime.folder import CONSTANTS
from burnish.store.stored import StoredModel
from codegen.models import mlp, reference, save


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModelSource:
    monkeypatch.setenv("BURNISH_CACHE", str(tmp_path / "cache"))
    path = save(mlp(), tmp_path / "mlp.onnx")
    return ModelSource(StoredModel(path, "mlp"), mlp(), "f32", 1)


def ran(source: ModelSource, batch: int) -> None:
    x = np.random.default_rng(batch).standard_normal((batch, 8)).astype(np.float32)
    with compiled_for(source, {"x": x.shape}) as loaded:
        found = loaded.run({"x": x})["y"]
    np.testing.assert_allclose(found, reference(mlp(), {"x": x})["y"], rtol=1e-5, atol=1e-5)


def test_each_shape_is_compiled_once(source: ModelSource, monkeypatch: pytest.MonkeyPatch) -> None:
    ran(source, 3)
    ran(source, 4)

    def refuse(*_: object) -> None:
        raise AssertionError("compiled again")

    monkeypatch.setattr(cached, "prepare", refuse)
    ran(source, 3)
    ran(source, 4)


def test_kernels_that_do_not_fit_are_told_whenever_they_run(
    source: ModelSource, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unfit(_: Backend, sources: Mapping[str, str]) -> dict[str, str]:
        return dict.fromkeys(sources, "40 values of each thread are in memory")

    monkeypatch.setattr(Backend, "unfit", unfit)
    for _ in range(2):  # made, then found
        with compiled_for(source, {"x": (3, 8)}) as loaded:
            notes = loaded.compiled.about.notes
        assert notes
        said = "40 values of each thread are in memory, and no other blocks were better"
        assert all(note.endswith(said) for note in notes)


def test_what_is_damaged_is_made_again(source: ModelSource, tmp_path: Path) -> None:
    ran(source, 3)
    (constants,) = (tmp_path / "cache").rglob(CONSTANTS)
    constants.write_bytes(b"")
    ran(source, 3)


def test_shapes_replace_names_of_sizes() -> None:
    given = mlp()
    bound = with_shapes(given, {"x": (5, 8)})
    assert bound.graph.inputs[0].shape == (5, 8)
    assert given.graph.inputs[0].shape != (5, 8)
