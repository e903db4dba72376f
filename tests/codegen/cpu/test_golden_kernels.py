"""The LLVM IR of small kernels: a change of generated code is seen in review."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from burnish.codegen.cpu.kernel import generate
from burnish.codegen.cpu.target import TARGETS
from burnish.tile.graph import TileGraph
from burnish.tile.group import Group
from burnish.tile.schedule import Schedule
from codegen.cpu.nests import blurred, product


@pytest.mark.parametrize(
    ("graph", "tile"),
    [(product(4, 3, 16), (4, 16)), (blurred(2, 16), (1, 16))],
    ids=["product", "blurred"],
)
def test_kernels_are_written_as_they_were(
    graph: TileGraph, tile: tuple[int, ...], golden: Callable[..., None]
) -> None:
    group = Group(graph.ops, graph.outputs)
    kernel = generate(group, Schedule(tile), graph, TARGETS["avx2"])
    again = generate(group, Schedule(tile), graph, TARGETS["avx2"])
    assert kernel.ir_text == again.ir_text
    golden(kernel.ir_text, suffix="ll")
