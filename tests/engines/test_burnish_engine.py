"""The engine of generated kernels tells what it runs itself, and what it leaves to the library."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest

from burnish.codegen.backend import Backend
from burnish.core.errors import MissingCapabilityError, UsageError
from burnish.engines import burnish_engine
from burnish.engines.base import ENGINES, EngineOptions
from burnish.engines.burnish_engine import ort_notes
from burnish.runtime.plan import OrtStep, Plan
from burnish.store import layout
from burnish.store.stored import StoredModel
from burnish.study.compile import CompileRequest, compile_model
from engines.conftest import Stored

ENGINE = ENGINES["burnish"]
OPTIONS = EngineOptions(threads=2)

GRAPH = """(float[n, 1100] x) => (float[n, 1100] y)
<int64[1] all = {1100}>
{
    [double] d = Add(x, x)
    [order] t, i = TopK (d, all)
    [back] y = Sub(t, x)
}"""


def feeds(rows: int) -> dict[str, np.ndarray]:
    return {"x": np.arange(1100.0 * rows, dtype=np.float32).reshape(rows, 1100)}


def expected(rows: int) -> np.ndarray:
    doubled = 2 * feeds(rows)["x"]
    return -np.sort(-doubled, axis=1) - feeds(rows)["x"]


def test_the_placement_counts_nodes_and_names_what_the_library_runs(stored: Stored) -> None:
    with ENGINE.open(stored(GRAPH), OPTIONS) as session:
        assert session.placement.nodes_by_provider == {}
        np.testing.assert_array_equal(session.run(feeds(3))["y"], expected(3))
        placement = session.placement
    assert placement.nodes_by_provider == {"burnish": 2, "ONNX Runtime": 1}
    assert placement.threads == 2
    (note,) = placement.notes
    assert note.startswith("ONNX Runtime runs 1 node: TopK ×1 (")


def test_a_reason_that_operators_share_is_said_once() -> None:
    reasons = {"a": "it is slow", "b": "it is slow", "c": "it has no kernel"}
    step = OrtStep("part_0.onnx", (), (), tuple(reasons), reasons)
    operators = {"a": "Gemm", "b": "TopK", "c": "Loop"}
    plan = SimpleNamespace(target="cpu: avx2", ort_steps=(step,), operators=operators)
    assert ort_notes(cast("Plan", plan)) == (
        "ONNX Runtime runs 3 nodes: Gemm ×1, TopK ×1 (it is slow); Loop ×1 (it has no kernel)",
    )


def test_the_placement_tells_of_kernels_that_do_not_fit(
    stored: Stored, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("BURNISH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(Backend, "unfit", lambda _, sources: dict.fromkeys(sources, "it spills"))
    with ENGINE.open(stored(GRAPH), OPTIONS) as session:
        session.run(feeds(3))
        notes = session.placement.notes
    assert sum(note.endswith("it spills, and no other blocks were better") for note in notes) == 2


def test_the_trace_shows_kernels_and_the_library(stored: Stored) -> None:
    with ENGINE.open(stored(GRAPH), OPTIONS) as session:
        trace = session.trace(feeds(2), warmup=0, runs=1)
    assert trace is not None
    providers = [span.provider for span in trace.spans if span.category == "node"]
    assert providers == ["burnish", "ONNX Runtime", "burnish"]


def test_a_compiled_folder_is_run_as_it_is(stored: Stored, tmp_path: Path) -> None:
    compile_model(CompileRequest(stored(GRAPH), tmp_path / "c", shapes=({"n": 3},)))
    model = layout.resolve(str(tmp_path / "c"), tmp_path)
    assert (model.onnx, model.compiled) == (tmp_path / "tiny.onnx", tmp_path / "c")
    with ENGINE.open(model, OPTIONS) as session:
        np.testing.assert_array_equal(session.run(feeds(3))["y"], expected(3))
        with pytest.raises(UsageError, match=r"was compiled for n=3, and is fed x: \[2, 1100\]"):
            session.run(feeds(2))


def test_other_precisions_are_refused(stored: Stored) -> None:
    with pytest.raises(MissingCapabilityError, match="precision f16 was asked for"):
        ENGINE.open(stored(GRAPH), dataclasses.replace(OPTIONS, precision="f16"))


def test_without_a_compiler_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(burnish_engine, "version_of", lambda *_, **__: None)
    available = ENGINE.availability()
    assert (available.ok, available.reason) == (False, "llvmlite is not installed")
    assert available.remedy == "pip install llvmlite"
    with pytest.raises(MissingCapabilityError, match="engine burnish cannot be used"):
        ENGINE.open(StoredModel(Path("m.onnx"), "m"), OPTIONS)


def test_a_sequence_is_given_as_one_tensor(stored: Stored) -> None:
    model = stored(
        """(float[n, 1100] x) => (seq(float[n, 1100]) y, float[n, 1100] z)
        { y = SequenceConstruct(x, x)  z = Neg(x) }"""
    )
    with ENGINE.open(model, OPTIONS) as session:
        found = session.run(feeds(2))
    np.testing.assert_array_equal(found["y"], np.stack([feeds(2)["x"]] * 2))
    np.testing.assert_array_equal(found["z"], -feeds(2)["x"])
