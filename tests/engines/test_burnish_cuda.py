"""The engine of generated kernels on cards: where it works, what it takes, what it tells."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from burnish.core.errors import MissingCapabilityError
from burnish.engines import burnish_cuda, burnish_engine
from burnish.engines.base import ENGINES, EngineOptions
from burnish.runtime.cuda import runner
from burnish.store import layout
from burnish.store.stored import StoredModel
from burnish.study.compile import CompileRequest, compile_model
from codegen.gpu.compiled import MIXED, compiled, feeds_of, reference
from codegen.gpu.interpreted_card import interpreted_card
from engines.conftest import Stored

pytest.importorskip("triton")

ENGINE = ENGINES["burnish-cuda"]
OPTIONS = EngineOptions(threads=1)


@pytest.fixture(autouse=True)
def a_card_seems_to_be_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(burnish_cuda, "has_nvidia_gpu", lambda: True)
    monkeypatch.setattr(runner, "_OPEN", [])


def folder_of(tmp_path: Path) -> StoredModel:
    compiled(MIXED, tmp_path)
    return layout.resolve(str(tmp_path / "c"), tmp_path)


def test_a_folder_runs_and_the_placement_names_the_card(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = folder_of(tmp_path)
    interpreted_card(monkeypatch, tmp_path / "c")
    feeds = feeds_of(model.onnx)
    with ENGINE.open(model, OPTIONS) as session:
        found = session.run(feeds)
        placement = session.placement
    np.testing.assert_allclose(found["y"], reference(model.onnx, feeds)["y"], rtol=1e-5)
    assert placement.device == "cuda:0"
    assert placement.nodes_by_provider == {"burnish": 2, "ONNX Runtime": 1}
    assert placement.notes[0] == "runs replay a captured CUDA graph"
    assert placement.notes[1].startswith("ONNX Runtime runs 1 node on the CPU: TopK ×1 (")


def test_a_model_is_compiled_for_the_card_when_it_is_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = dataclasses.replace(folder_of(tmp_path), compiled=None)
    interpreted_card(monkeypatch, tmp_path / "c")
    feeds = feeds_of(model.onnx)
    with ENGINE.open(model, OPTIONS) as session:
        assert session.placement.device == "cuda:0"
        found = session.run(feeds)
        call = session.prepare(feeds)
        call()
    np.testing.assert_allclose(found["y"], reference(model.onnx, feeds)["y"], rtol=1e-5)


def test_a_folder_for_cpus_is_refused(stored: Stored, tmp_path: Path) -> None:
    tiny = stored("(float[3] x) => (float[3] y) { y = Relu(x) }")
    compile_model(CompileRequest(tiny, tmp_path / "c", threads=1, samples=1))
    model = layout.resolve(str(tmp_path / "c"), tmp_path)
    with pytest.raises(MissingCapabilityError, match="engine burnish-cuda runs on NVIDIA") as found:
        ENGINE.open(model, OPTIONS)
    assert found.value.hint.endswith(f"--target cuda -o {tmp_path / 'c'}")


def test_another_card_than_the_first_is_refused(stored: Stored) -> None:
    tiny = stored("(float[3] x) => (float[3] y) { y = Relu(x) }")
    with pytest.raises(MissingCapabilityError, match="card 1 was asked for, burnish-cuda runs on"):
        ENGINE.open(tiny, EngineOptions(device_index=1))


def test_without_a_card_it_says_where_to_compile(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(burnish_cuda, "has_nvidia_gpu", lambda: False)
    available = ENGINE.availability()
    assert (available.ok, available.reason) == (False, "no NVIDIA GPU on this machine")
    assert available.remedy == "compile here and run there: burnish compile MODEL --target sm_90"


@pytest.mark.parametrize(("missing", "package"), [("triton", "triton"), ("cuda", "cuda-bindings")])
def test_without_a_package_it_says_what_to_install(
    missing: str, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = lambda *_, module: None if module == missing else "1"  # noqa: E731
    monkeypatch.setattr(burnish_engine, "version_of", found)
    available = ENGINE.availability()
    assert (available.reason, available.remedy) == (
        f"{package} is not installed", f"pip install {package}",
    )  # fmt: skip
