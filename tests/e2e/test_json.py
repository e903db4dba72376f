"""With --json, stdout is exactly one document that fits its published schema."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import numpy as np
import onnx
import onnx.parser
import pytest

from burnish.cli.commands import COMMANDS
from burnish.cli.main import run
from burnish.cli.reference import document_types
from burnish.core import records
from e2e.conftest import Burnish

pytestmark = pytest.mark.slow

MODEL = """
<ir_version: 8, opset_import: ["": 17]>
agraph (float[batch, 8] x) => (float[batch, 8] y)
<float one = {1.0}, float half = {0.5}, float root = {1.4142135}>
{
    product = MatMul(x, wide)
    scaled = Div(product, root)
    curve = Erf(scaled)
    shifted = Add(curve, one)
    gated = Mul(product, shifted)
    middle = Mul(gated, half)
    y = MatMul(middle, narrow)
}
"""
"""The least in which something can be fused, cut out and compiled."""
QUICK = ("--engine", "onnxruntime-cpu", "--rounds", "1", "--budget", "1")
CALLS = {
    "run": ("{model}", "-o", "out", *QUICK),
    "optimize": ("{model}", "-o", "m.onnx"),
    "prune": ("{model}", "-o", "small.onnx", "--keep", "0.8", "--budget", "0"),
    "sensitivity": ("{model}", "--samples", "4"),
    "compile": ("{model}", "-o", "c", "--shape", "batch=2", "--no-tune"),
    "explain": ("{model}",),
    "distill": ("{model}", "--pattern", "gelu", "-o", "parts"),
    "verify": ("{model}",),
    "bench": ("{model}", *QUICK),
    "profile": ("{model}",),
    "graph": ("{model}", "-o", "g.svg"),
    "whatif": ("{model}", "--sweep"),
    "advise": ("{model}",),
    "inputs": ("{model}", "-o", "x.npz"),
    "model list": ("--store", "{store}"),
    "model show": ("{model}",),
    "doctor": ("--engine", "onnxruntime-cpu"),
    "doctor --probe": ("cpu", "-o", "cpu.toml"),
    "zoo list": (),
    "zoo show": ("bert-base",),
}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a small model, with weights that matter."""
    proto = onnx.parser.parse_model(MODEL)
    rng = np.random.default_rng(0)
    for name, shape in {"wide": (8, 16), "narrow": (16, 8)}.items():
        values = rng.standard_normal(shape, np.float32)
        proto.graph.initializer.append(onnx.numpy_helper.from_array(values, name))
    onnx.save(proto, path := tmp_path_factory.mktemp("model") / "model.onnx")
    return path


@pytest.mark.parametrize("command", CALLS)
def test_the_document_fits_its_schema(
    model: Path,
    example: Path,
    command: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    places = {"model": str(model), "store": str(example.parents[1])}
    words = [word.format(**places) for word in CALLS[command]]
    code = run(["-q", *command.split(), *words, "--json"])
    told, noise = capfd.readouterr()  # of the process and of all that it starts
    assert (code, noise) == (0, "")
    kind, schema = document_types(command.partition(" --")[0])["--" in command]
    jsonschema.validate(json.loads(told), records.json_schema(kind, schema=schema))


ELSEWHERE = {
    "export", "reduce", "exec", "study", "compare", "gate", "history", "dashboard", "time",
}  # fmt: skip
"""They need PyTorch, models that differ, a compiled folder, a file, measurements, a card: other
tests look at their documents."""


def test_every_document_is_tried() -> None:
    assert set(CALLS) | ELSEWHERE == {*COMMANDS, "doctor --probe"}


def test_running_what_was_compiled_is_a_document(burnish: Burnish, model: Path) -> None:
    sizes = ("--shape", "batch=2")
    assert burnish("compile", model, "-o", "c", *sizes, "--no-tune").returncode == 0
    assert burnish("inputs", model, "-o", "x.npz", *sizes).returncode == 0
    done = burnish("-q", "exec", "c", "--input", "x.npz", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    ((kind, schema),) = document_types("exec")
    jsonschema.validate(json.loads(done.stdout), records.json_schema(kind, schema=schema))


def test_a_no_is_still_a_document(burnish: Burnish, example: Path) -> None:
    done = burnish("verify", example, "--atol", "0", "--rtol", "0", "--json")
    assert done.returncode == 1
    assert json.loads(done.stdout)["passed"] is False
    assert "hint: find the node where they part: burnish verify" in done.stderr
