"""The four walks read, hash and infer each model once, however many parts of burnish look at it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import onnx
import onnx_ir as ir
import pytest

from burnish.cli.main import run
from burnish.core import hashing, remembered
from burnish.store import onnx_files
from burnish.store.graph import GraphRecord
from burnish.study import inputs

MODEL = """
<ir_version: 8, opset_import: ["": 17]>
agraph (float[batch, 8] x) => (float[batch, 8] y)
<float[8, 8] weight = {WEIGHT}, float one = {1.0}, float half = {0.5}, float root = {1.4142135}>
{
    product = MatMul(x, weight)
    scaled = Div(product, root)
    curve = Erf(scaled)
    shifted = Add(curve, one)
    gated = Mul(product, shifted)
    y = Mul(gated, half)
}
"""


@pytest.fixture
def model(tmp_path: Path) -> Path:
    text = MODEL.replace("WEIGHT", ", ".join(str(number % 5 / 7) for number in range(64)))
    place = tmp_path / "model.onnx"
    onnx.save(onnx.parser.parse_model(text), place)
    return place


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> Mapping[str, Counter[str]]:
    """Return how often files were parsed and hashed in this process, and graphs inferred."""
    monkeypatch.setattr(remembered, "SETTLED_S", -60.0)
    counts: dict[str, Counter[str]] = {"parsed": Counter(), "hashed": Counter(), "graph": Counter()}
    parse, key, infer = onnx_files._parsed, hashing.file_key, inputs.graph_of

    def parsed(path: Path) -> onnx.ModelProto:
        counts["parsed"][path.name] += 1
        return parse(path)

    def hashed(path: Path) -> str:
        counts["hashed"][path.name] += 1
        return key(path)

    def inferred(
        model: ir.Model, sizes: Mapping[str, int], *, shapes: Mapping[str, tuple[int, ...]]
    ) -> GraphRecord:
        counts["graph"][f"{[node.op_type for node in model.graph]} at {sizes}, {shapes}"] += 1
        return infer(model, sizes, shapes=shapes)

    monkeypatch.setattr(onnx_files, "_parsed", parsed)
    monkeypatch.setattr(inputs, "graph_of", inferred)
    monkeypatch.setattr(onnx_files, "file_key", hashed)
    return counts


WALKS = {
    "run": ("run", "-o", "out", "--rounds", "1", "--budget", "1s", "--engine", "onnxruntime-cpu"),
    "optimize": ("optimize", "-o", "optimized.onnx"),
    "compile": ("compile", "-o", "folder", "--no-tune", "--shape", "batch=4"),
    "profile": ("profile", "--runs", "2"),
    "whatif": ("whatif", "--scale", "MatMul=2"),
}


GRAPHS = {"run": 2, "optimize": 0, "compile": 0, "profile": 1, "whatif": 1}
"""How many graphs at given sizes a walk looks at: a run at the original and the optimised one."""


@pytest.mark.slow
@pytest.mark.parametrize("walk", WALKS)
def test_a_walk_reads_hashes_and_infers_its_model_once(
    walk: str,
    model: Path,
    seen: Mapping[str, Counter[str]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    name, *options = WALKS[walk]
    assert run([name, str(model), *options]) == 0
    assert seen["parsed"]["model.onnx"] == 1
    assert seen["hashed"]["model.onnx"] <= 1
    assert max(seen["hashed"].values(), default=0) <= 1
    assert max(seen["graph"].values(), default=0) <= 1
    assert len(seen["graph"]) == GRAPHS[walk]
