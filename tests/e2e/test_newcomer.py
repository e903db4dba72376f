"""The exercise of CONTRIBUTING: an operator is one new file, a back end one file and one entry.

It is done in a copy of the source, as somebody would do it, and everything else is asked for what
was added: compiling, proving, running, comparing, measuring.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx_ir as ir
import pytest

pytestmark = pytest.mark.slow

TESTS = Path(__file__).parents[1]
HERE = "burnish.codegen.numpy_backend"
ENTRY = f'    "numpy": BackendEntry(\n        "{HERE}:RUNNER", "{HERE}:open_numpy"\n    ),\n'
MODEL = """<ir_version: 8, opset_import: ["" : 17, "com.microsoft" : 1]>
g (float[n, 4] x, float[3, 4] y) => (float[a, b] d)
{ h = Relu(x) d = com.microsoft.CDist<metric = "euclidean">(h, y) }"""

BENCH = ["bench", "c", "--engine", "burnish,onnxruntime-cpu", "--rounds", "1"]
COUNT = """
import onnx_ir as ir
from burnish.analyze.work import work_of
from burnish.infer.graph_of import graph_of
graph = graph_of(ir.load("m.onnx"), {"n": 5})
print(list(graph.static("d").shape), work_of(graph.nodes[1], graph).flops)
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with burnish as the newcomer left it, and a model."""
    home = tmp_path_factory.mktemp("newcomer")
    own = home / "src" / "burnish"
    shutil.copytree(
        TESTS.parent / "src" / "burnish", own, ignore=shutil.ignore_patterns("__pycache__")
    )
    shutil.copy(Path(__file__).with_name("newcomer_operator.py"), own / "operators/families")
    shutil.copy(TESTS / "codegen" / "numpy_backend.py", own / "codegen")
    listed = own / "core" / "backends.py"
    text = listed.read_text()
    assert text.count("}  # fmt: skip\n") == 1
    listed.write_text(text.replace("}  # fmt: skip\n", f"{ENTRY}}}  # fmt: skip\n"))
    ir.save(ir.from_onnx_text(MODEL), home / "m.onnx")
    return home


def _said(home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return _python(home, "-m", "burnish", *words)


def _python(home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *words],
        cwd=home,
        env={**os.environ, "PYTHONPATH": str(home / "src"), "BURNISH_CACHE": str(home / "cache")},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )


@pytest.fixture(scope="module")
def compiled(home: Path) -> str:
    """Compile the operator for the back end, and return what was said."""
    words = ["compile", "m.onnx", "--shape", "n=5", "--target", "numpy", "-o", "c"]
    done = _said(home, *words)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_both_are_used_and_shown_to_compute_the_same(compiled: str) -> None:
    assert "n=5: 2 nodes in 1 kernel, 0 with ONNX Runtime" in compiled
    assert "m on burnish equals m on onnxruntime-cpu" in compiled
    assert "written: c (numpy: any" in compiled


@pytest.mark.usefixtures("compiled")
def test_the_folder_runs(home: Path) -> None:
    rng = np.random.default_rng(0)
    x = rng.standard_normal((5, 4), dtype=np.float32)
    y = rng.standard_normal((3, 4), dtype=np.float32)
    np.savez(home / "in.npz", x=x, y=y)
    done = _said(home, "exec", "c", "--data", "in.npz", "-o", "out.npz")
    assert done.returncode == 0, done.stderr
    with np.load(home / "out.npz") as found:
        wanted = np.linalg.norm(np.maximum(x, 0)[:, None] - y[None], axis=-1)
        np.testing.assert_allclose(found["d"], wanted, rtol=1e-5)


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("words", [["verify", "c"], BENCH])
def test_other_commands_take_the_folder(home: Path, words: list[str]) -> None:
    done = _said(home, *words)
    assert done.returncode == 0, done.stderr


def test_the_operator_is_shaped_and_counted(home: Path) -> None:
    done = _python(home, "-c", COUNT)
    assert done.stdout.split() == ["[5,", "3]", "180.0"], done.stderr


def test_both_pass_the_linter_as_they_are(home: Path) -> None:
    own = home / "src" / "burnish"
    places = ["operators/families/newcomer_operator.py", "codegen/numpy_backend.py"]
    words = ["ruff", "check", "--no-cache", "--config", str(TESTS.parent / "pyproject.toml")]
    done = _python(home, "-m", *words, *(str(own / place) for place in [*places, "core"]))
    assert done.returncode == 0, done.stdout


def test_a_misspelt_target_is_led_to_it(home: Path) -> None:
    done = _said(home, "compile", "m.onnx", "--target", "numpi", "-o", "d")
    assert done.returncode == 2
    assert "'numpi' is no back end of burnish" in done.stderr
    assert "did you mean 'numpy'?" in done.stderr
