"""Panels of weights that serve all rows of an image: when, and with the judge's results."""

from __future__ import annotations

import numpy as np
import pytest

from burnish.codegen.cpu.blocking import choose
from burnish.codegen.cpu.form import form
from burnish.codegen.cpu.kernel import generate
from burnish.codegen.cpu.layout import places
from burnish.codegen.cpu.target import TARGETS, InstructionSet, available
from burnish.tile.graph import TileGraph
from burnish.tile.group import Group
from burnish.tile.parse import parse
from burnish.tile.reference import evaluate
from burnish.tile.region import propagate
from burnish.tile.schedule import Schedule
from codegen.cpu.calling import load_kernel


def image(high: int, wide: int, terms: int, columns: int, room: int = 2) -> TileGraph:
    """Return a product over an image whose rows have room between them, so are no single axis."""
    text = f"""in x: f32[{high}, {wide + room}, {terms}]
    const w: f32[{terms}, {columns}]
    out y
    y: f32[h={high}, i={wide}, j={columns}] = sum(k={terms}) x[h, i, k] * w[k, j] then acc + 1.0"""
    random = np.random.default_rng(0)
    return parse(text, {"w": random.standard_normal((terms, columns)).astype(np.float32)})


def panels_first(graph: TileGraph, tile: tuple[int, ...]) -> bool:
    group = Group(graph.ops, graph.outputs)
    tiles = propagate(group, tile)
    target = TARGETS["avx512"]
    where = places(group, tiles, graph.tensors, {}, graph.constants.keys(), target)
    return choose(form(group.ops[0], tiles.boxes["y"], where), target).panels_first


@pytest.mark.parametrize(
    ("graph", "expected"),
    [
        (image(14, 14, 96, 384), True),
        (image(14, 14, 96, 384, room=0), False),
        (image(14, 14, 16, 32), False),
        (image(2, 200, 96, 384), False),
        (image(64, 64, 96, 384), False),
    ],
    ids=["large weights", "one axis", "near weights", "few rows", "an image beyond caches"],
)
def test_panels_come_first_where_weights_would_be_read_anew(
    graph: TileGraph, expected: bool
) -> None:
    assert panels_first(graph, graph.ops[0].shape) is expected


@pytest.mark.parametrize("target", available(), ids=lambda target: target.name)
@pytest.mark.parametrize("tile", [(14, 13, 400), (5, 13, 400), (14, 4, 400), (14, 13, 96)])
def test_images_times_panels_are_what_the_judge_says(
    target: InstructionSet, tile: tuple[int, ...]
) -> None:
    graph = image(14, 13, 96, 400)
    fed = {"x": np.random.default_rng(1).standard_normal((14, 15, 96)).astype(np.float32)}
    found = {"y": np.full((14, 13, 400), np.nan, np.float32)}
    kernel = generate(Group(graph.ops, graph.outputs), Schedule(tile), graph, target)
    packed = dict(kernel.packed)
    load_kernel(kernel, target).bound({**fed, **graph.constants, **packed, **found}).run()
    np.testing.assert_allclose(found["y"], evaluate(graph, fed)["y"], rtol=1e-4, atol=1e-4)
