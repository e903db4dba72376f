"""Embeddings are looked up, added and normalised in one go, negative indices too."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import onnx_ir as ir
import pytest

from burnish.rewrite.options import OptimizeOptions
from burnish.rewrite.pipeline import optimize
from rewriting import Graph, checked, op_types, samples

WIDTH, LONGEST = 8, 16
HALF, WHOLE = ir.DataType.FLOAT16, ir.DataType.INT64
GPU = {"target": "cuda", "tolerance": 1e-2}
FEEDS = {
    "ids": np.array([[0, 5, 9, -1], [3, -10, 2, 2]]),
    "kinds": np.array([[0, 1, 1, 0], [1, 1, 0, -2]]),
}


def table(rows: int, seed: int) -> npt.NDArray[Any]:
    return samples(rows, WIDTH, seed=seed).astype(np.float16)


def build(
    *, kinds: bool = True, order: tuple[int, ...] = (0, 1, 2), first: int = 0, axis: int = -1,
    read: bool = False, positions: tuple[str, ...] = (), op_type: str = "Add",
) -> ir.Model:  # fmt: skip
    g = Graph(dtype=HALF)
    ids = g.input("ids", ["batch", "length"], WHOLE)
    types = g.input("kinds", ["batch", "length"], WHOLE)
    if positions:
        at = g.input("at", positions, WHOLE)
    else:
        length = g.op("Slice", g.op("Shape", ids), np.array([1]), np.array([2]))
        at = g.op("Slice", np.arange(LONGEST)[None], np.array([first]), length, np.array([1]))
    terms = [g.op("Gather", table(10, 1), ids), g.op("Gather", table(LONGEST, 2), at)]
    terms += [g.op("Gather", table(2, 3), types)] if kinds else []
    terms = [terms[index] for index in order if index < len(terms)]
    total = terms[0]
    for term in terms[1:]:
        total = g.op(op_type, total, term)
    norm = g.op("LayerNormalization", total, table(1, 4)[0], table(1, 5)[0], axis=axis)
    return g.model(norm, *([g.op("Relu", total)] if read else []))


@pytest.mark.parametrize("kinds", [False, True])
@pytest.mark.parametrize("order", [(0, 1, 2), (1, 0, 2), (2, 0, 1)])
@pytest.mark.parametrize("op_type", ["Add", "Sum"])
def test_an_embedding_fuses(kinds: bool, order: tuple[int, ...], op_type: str) -> None:
    result = checked(build(kinds=kinds, order=order, op_type=op_type), FEEDS, **GPU)
    assert "EmbedLayerNormalization" in op_types(result.model)
    assert "LayerNormalization" not in op_types(result.model)
    assert op_types(result.model).count("Mod") == 1 + kinds


@pytest.mark.parametrize("shape", [(1, 4), (2, 4)])
def test_positions_may_be_fed(shape: tuple[int, int]) -> None:
    named = (1 if shape[0] == 1 else "batch", "length")
    fed = {**FEEDS, "at": np.arange(-4, 4).reshape(2, 4)[: shape[0]]}
    result = checked(build(positions=named), fed, **GPU)  # type: ignore[arg-type]
    assert "EmbedLayerNormalization" in op_types(result.model)


@pytest.mark.parametrize("case", [
    {"first": 1}, {"positions": (1, 1)}, {"positions": ("length",)}, {"positions": (1, "other")},
    {"axis": 1},
])  # fmt: skip
def test_near_misses_stay_and_say_why(case: dict[str, Any]) -> None:
    result = optimize(build(**case), OptimizeOptions(target="cuda", only=("embedding",)))
    assert "EmbedLayerNormalization" not in op_types(result.model)
    reasons = [miss.reason for miss in result.report.misses if miss.rule == "embedding"]
    (norm,) = [node for node in build(**case).graph if node.op_type == "LayerNormalization"]
    assert reasons == [
        (
            f"the tables in front of LayerNormalization {norm.name!r} are not indexed by (batch,"
            " length) each, but one by (1, length), or it normalises more than rows"
        )
    ]


def test_a_sum_that_others_read_stays() -> None:
    result = optimize(build(read=True), OptimizeOptions(target="cuda", only=("embedding",)))
    (miss,) = [miss for miss in result.report.misses if miss.rule == "embedding"]
    assert "must stay" in miss.reason


def test_where_it_was_not_measured_nothing_changes() -> None:
    result = optimize(build(), OptimizeOptions(target="cpu"))
    assert "embedding" not in {miss.rule for miss in result.report.misses}
    assert "EmbedLayerNormalization" not in op_types(result.model)
