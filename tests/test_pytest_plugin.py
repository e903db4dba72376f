"""The plugin in a pytest of its own: what passes, what fails, what is skipped, what is imported."""

from __future__ import annotations

import importlib.metadata
import subprocess
import sys
from pathlib import Path

import pytest

from burnish.store import onnx_files
from burnish.store.history import History
from rewriting import Graph

TESTS = """
import dataclasses
from burnish.core.errors import CheckFailedError, MissingCapabilityError


def test_same(assert_parity):
    assert assert_parity("a.onnx", "a.onnx", budget=0).passed


def test_differs(assert_parity):
    assert_parity("a.onnx", "b.onnx", budget=0)


def test_slower(assert_not_slower, monkeypatch):
    from burnish.study import gate

    def slow(asked):
        raise CheckFailedError("m is slower", hint="look at it")

    monkeypatch.setattr(gate, "answer", slow)
    assert_not_slower("a.onnx", "baseline.json")


def test_unseen(assert_not_slower, tmp_path):
    assert_not_slower("a.onnx", tmp_path)
"""


def write(path: Path, op: str) -> None:
    graph = Graph()
    model = graph.model(graph.op(op, graph.input("x", (2, 3))))
    onnx_files.write(model, path, history=History("", ()))


@pytest.mark.slow
def test_the_fixtures_pass_fail_and_skip_as_they_say(tmp_path: Path) -> None:
    write(tmp_path / "a.onnx", "Relu")
    write(tmp_path / "b.onnx", "Abs")
    (tmp_path / "test_models.py").write_text(TESTS)
    # installations older than the entry point do not load it by themselves
    known = importlib.metadata.entry_points(group="pytest11", name="burnish")
    loaded = [] if known else ["-p", "burnish.pytest_plugin"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *loaded, "-rA", "-q", "."],
        cwd=tmp_path, capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert "During handling" not in done.stdout
    told = done.stdout
    assert "PASSED test_models.py::test_same" in told
    assert "FAILED test_models.py::test_differs" in told
    assert "FAILED test_models.py::test_slower" in told
    assert "m is slower" in told
    assert "has no baseline of this machine" in told
    assert "1 passed, 1 skipped" in told or "2 failed, 1 passed, 1 skipped" in told


def test_loading_the_plugin_imports_nothing_heavy() -> None:
    code = (
        "import sys, burnish.pytest_plugin; "
        "print(sorted({'numpy', 'onnx', 'onnxruntime', 'torch', 'click'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=600, check=True
    )
    assert done.stdout.strip() == "[]"
