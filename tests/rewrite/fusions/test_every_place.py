"""Two values that are written in place into every other element are put side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx_ir as ir
import pytest

from rewriting import Graph, checked, op_types, samples

HALF = 3
WIDTH = 2 * HALF
FEEDS = {"a": samples(2, 5, HALF), "b": samples(2, 5, HALF, seed=1), "base": samples(2, 5, WIDTH)}


def build(
    *, first: int = 0, second: int = 1, step: int = 2,
    perms: Sequence[tuple[int, ...]] = ((2, 1, 0),) * 2, reduction: str = "none",
) -> ir.Model:  # fmt: skip
    """`out = base; out[..., first::step] = a; out[..., second::step] = b`, as it is exported."""
    g = Graph(opset=18)
    a, b = (g.input(name, ["batch", "length", HALF]) for name in "ab")
    out = g.op("Transpose", g.input("base", ["batch", "length", WIDTH]), perm=perms[0])
    for start, value, perm in ((first, a, perms[0]), (second, b, perms[1])):
        rows = (start + step * np.arange(HALF))[:, None]
        turned = g.op("Transpose", value, perm=perm)
        out = g.op("ScatterND", out, rows, turned, reduction=reduction)
    back = [int(axis) for axis in np.argsort(perms[0])]
    return g.model(g.op("Transpose", out, perm=back))


@pytest.mark.parametrize("perm", [(2, 1, 0), (2, 0, 1)])
@pytest.mark.parametrize("first", [0, 1])
def test_they_are_put_side_by_side(first: int, perm: tuple[int, ...]) -> None:
    result = checked(build(first=first, second=1 - first, perms=(perm, perm)), FEEDS)
    assert [fusion.rule for fusion in result.report.fusions] == ["every-place"]
    assert set(op_types(result.model)) == {"Unsqueeze", "Concat", "Reshape"}


@pytest.mark.parametrize("case", [
    {"second": 0}, {"step": 1, "second": 2}, {"reduction": "add"},
])  # fmt: skip
def test_places_that_keep_something_stay(case: dict[str, Any]) -> None:
    result = checked(build(**case), FEEDS)
    assert "ScatterND" in op_types(result.model)


def test_values_that_are_turned_differently_stay() -> None:
    square = {name: samples(2, 2, width) for name, width in (("a", 3), ("b", 3), ("base", 6))}
    result = checked(build(perms=((2, 1, 0), (2, 0, 1))), square)
    assert "ScatterND" in op_types(result.model)
