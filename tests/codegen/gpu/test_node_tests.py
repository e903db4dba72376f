"""A sample of ONNX's own node tests through Triton kernels, in the interpreter."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from burnish.core.arrays import Array
from burnish.tile.connect import singles
from burnish.tile.graph import TileGraph
from burnish.tile.simplify import simplify
from codegen.gpu.interpreting import run_groups
from tile.node_tests import Case, cases, run

pytestmark = [pytest.mark.slow, pytest.mark.torch]

PARTS = 8
EVERY = 2
"""Each part runs one of so many of its tests here; the card runs them all."""

BY_BITS = ("bf16", "bfloat16")
"""Triton's interpreter multiplies matrices of bfloat16 by their bits; a card does not."""


def kernels(graph: TileGraph, inputs: Mapping[str, Array]) -> dict[str, Array]:
    """Return a graph's outputs as Triton kernels compute them, nest by nest."""
    simple = simplify(graph)
    return run_groups(simple, [(group, {}) for group in singles(simple)], inputs)


def runnable(part: int) -> list[Case]:
    """Return the tests of a part that the judge runs and the interpreter can."""
    mine = cases()[part :: PARTS * EVERY]
    return [c for c in mine if c.obstacle is None and not any(b in c.name for b in BY_BITS)]


@pytest.mark.parametrize("part", range(PARTS))
def test_node_tests_pass_through_triton_kernels(part: int) -> None:
    failures = {}
    for case in runnable(part):
        try:
            run(case, kernels)
        except Exception as error:  # every failure is told
            failures[case.name] = f"{type(error).__name__}: {error}"[:300]
    assert not failures
    assert len(runnable(part)) > 40
