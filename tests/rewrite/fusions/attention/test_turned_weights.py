"""Values of channels before pixels are weighed the usual way round, and attention fuses."""

from __future__ import annotations

import onnx_ir as ir
import pytest

from burnish.rewrite.pipeline import optimize
from rewriting import Graph, checked, op_types, samples


def build(
    *, leading: list[int | str], fused: bool = False, perm: list[int] | None = None
) -> ir.Model:
    g = Graph()
    q, k, v = (g.input(name, [*leading, 4, 6]) for name in "qkv")
    rank = len(leading) + 2
    swap = [*range(rank - 2), rank - 1, rank - 2]
    scores = g.op("MatMul", g.op("Transpose", q, perm=swap), k)
    weights = g.op("Softmax", g.op("Mul", scores, 0.5), axis=-1)
    if fused:
        result = g.op("FusedMatMul", v, weights, domain="com.microsoft", transB=1)
    else:
        result = g.op("MatMul", v, g.op("Transpose", weights, perm=perm or swap))
    return g.model(result)


@pytest.mark.parametrize("fused", [False, True])
@pytest.mark.parametrize("leading", [[2], [2, 3], ["batch", 3]])
def test_turned_weights_are_turned_back(leading: list[int | str], fused: bool) -> None:
    sizes = [2 if size == "batch" else int(size) for size in leading]
    feeds = {name: samples(*sizes, 4, 6, seed=seed) for seed, name in enumerate("qkv")}
    result = checked(build(leading=leading, fused=fused), feeds)
    assert "Softmax" not in op_types(result.model)


def test_other_turns_stay() -> None:
    assert "Softmax" in op_types(optimize(build(leading=[4, 4], perm=[1, 0, 3, 2])).model)
