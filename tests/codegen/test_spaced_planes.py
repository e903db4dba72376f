"""Planes that would share sets of a cache lie with room between them, and stay what they are."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from burnish.codegen.pipeline import PlanOptions, plan, prepare
from burnish.codegen.schedule import Predicted
from burnish.store.compiled import PLAN
from codegen.models import PORTABLE, model, opened, reference, weights

GATE = """
gate (float[1, 32, 64, 64] x) => (float[1, 32, 64, 64] y)
{
    [one] a = Conv<pads = [2, 2, 2, 2]>(x, w)
    [pool] p = GlobalAveragePool(a)
    [gate] s = Mul(a, p)
    [two] y = Conv(s, v)
}
"""
"""The first convolution is in memory when its average is known; a plane of it is 16,384 bytes."""


def test_a_model_with_spaced_planes_computes_the_same(tmp_path: Path) -> None:
    given = model(GATE, weights(("w", (32, 32, 5, 5)), ("v", (32, 32, 1, 1))))
    made = plan(prepare(given, {}), PlanOptions(PORTABLE, Predicted(PORTABLE)))
    spaced = {n: t for n, t in made.plan.tensors.items() if t.strides is not None}
    assert spaced
    for tensor in spaced.values():
        assert tensor.home == "arena"
        assert tensor.strides == (32 * 4112, 4112, 64, 1)
        assert tensor.bytes == 4 * (31 * 4112 + 4096)
        assert str(tensor).endswith("strides 131584 4112 64 1")
    x = np.random.default_rng(1).standard_normal((1, 32, 64, 64)).astype(np.float32)
    with opened(made, given, tmp_path / "c", threads=2) as loaded:
        found = loaded.run({"x": x})["y"]
    np.testing.assert_allclose(found, reference(given, {"x": x})["y"], rtol=1e-4, atol=2e-3)
    written = json.loads((tmp_path / "c" / PLAN).read_text())
    assert "131584" in json.dumps(written)
