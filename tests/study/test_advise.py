from __future__ import annotations

from pathlib import Path

import onnx
from onnx import parser

from burnish.engines.base import EngineOptions
from burnish.store.stored import StoredModel
from burnish.study.advise import advise_on
from burnish.study.timeline import TimelineRequest

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
