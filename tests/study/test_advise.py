from __future__ import annotations

from pathlib import Path

import onnx
import onnx_ir as ir
import pytest
from onnx import parser

import burnish
from burnish.analyze.advise import Advice
from burnish.engines.base import EngineOptions
from burnish.store.stored import StoredModel
from burnish.study import type_factors
from burnish.study.advise import advise_on
from burnish.study.timeline import TimelineRequest
from rewriting import Graph, samples

GELU = """
<ir_version: 9, opset_import: ["" : 20]>
g (float[batch, 256] x) => (float[batch, 256] y)
<float root = {1.4142135}, float one = {1.0}, float half = {0.5}>
{
    [div] a = Div(x, root)
    [erf] b = Erf(a)
    [add] c = Add(b, one)
    [mul] d = Mul(x, c)
    [halve] y = Mul(d, half)
}
"""


def test_a_fusion_that_the_engine_leaves_undone_is_found_and_simulated(tmp_path: Path) -> None:
    path = tmp_path / "gelu.onnx"
    onnx.save(parser.parse_model(GELU), path)
    request = TimelineRequest(
        model=StoredModel(path, "gelu"),
        options=EngineOptions(threads=1, graph_level="off"),
        shape={"batch": 64},
        runs=3,
        plain_s=0.0,
        hw="x86-avx2",
    )
    report = advise_on(request)
    assert report.device == "x86-avx2"
    assert report.reached is not None
    fused = [one for one in report.advice if one.what == "fuse with gelu: 1 place"]
    assert fused
    assert fused[0].gain is not None
    assert fused[0].gain > 1
    assert any("--threads 1" in one.command for one in report.advice)


def perceptron(path: Path) -> Path:
    g = Graph(opset=17)
    x = g.input("x", ["batch", 256])
    inner = g.op("Relu", g.op("MatMul", x, samples(256, 512)))
    y = g.op("MatMul", inner, samples(512, 256, seed=1))
    y.shape = ir.Shape(["batch", 256])
    onnx.save(ir.serde.serialize_model(g.model(y)), path)
    return path


def test_fewer_bits_and_fewer_weights_come_with_a_gain_and_what_makes_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(type_factors, "product_factor", lambda *_, **__: 4.0)
    path = perceptron(tmp_path / "my model.onnx")
    request = TimelineRequest(
        model=StoredModel(path, "perceptron"),
        options=EngineOptions(threads=1),
        shape={"batch": 64},
        runs=3,
        plain_s=0.0,
        hw="x86-avx2",
    )
    found = {one.what: one for one in advise_on(request).advice}
    bits = found["multiply in int8 (-p int8)"]
    assert bits.gain is not None
    assert 1.5 < bits.gain <= 4
    assert bits.command == f"burnish optimize '{path}' -p int8 -o int8.onnx --shape batch=64"
    cut = found["cut neurons, 50.0 % of the operations left"]
    assert cut.gain is not None
    assert 1.2 < cut.gain <= 2
    assert cut.command.startswith(f"burnish prune '{path}' --keep 0.5 -o pruned.onnx --shape")


def test_a_run_ends_with_what_could_be_made_smaller(tmp_path: Path) -> None:
    path = perceptron(tmp_path / "model.onnx")
    report = burnish.run(
        path, output=tmp_path / "out", shape={"batch": 64}, engine="onnxruntime-cpu", rounds=2,
        budget=2.0,
    )  # fmt: skip
    (cut,) = (one for one in report.smaller if one.what.startswith("cut neurons"))
    shown = burnish.show(report).replace("\\", "")
    assert cut.command in shown
    assert "predicted: cut neurons" in shown


def test_a_model_of_which_nothing_can_be_made_smaller_gets_no_such_advice(tmp_path: Path) -> None:
    path = tmp_path / "gelu.onnx"
    onnx.save(parser.parse_model(GELU), path)
    request = TimelineRequest(
        model=StoredModel(path, "gelu"), shape={"batch": 8}, runs=3, plain_s=0.0, hw="x86-avx2"
    )
    advice: tuple[Advice, ...] = advise_on(request).advice
    assert not [one for one in advice if "prune" in one.command or "int8" in one.command]
