from __future__ import annotations

import numpy as np
import pytest

from burnish.tile.graph import Read
from burnish.tile.group import Group
from burnish.tile.index import Axis, at
from burnish.tile.parse import parse
from burnish.tile.semantics import Reduction
from burnish.tile.vectors import is_sum_of_products
from burnish.tile.workload import workload
from tile_samples import (
    Sketch,
    attention,
    facts_alone,
    facts_of_nest,
    feed_forward,
    first,
    scores,
)


def test_sums_of_products_are_contractions() -> None:
    ops = scores(8, 4, 16).ops
    assert [is_sum_of_products(op) for op in ops] == [True, False, False, False, False]
    squares = feed_forward(4, 4, 8).ops[1]
    assert squares.output == "variance$0"
    assert not is_sum_of_products(squares)


def test_whole_inner_axes_are_walked_as_one() -> None:
    sketch = Sketch(x=(2, 3, 4, 5), y=(2, 3, 4, 5))
    graph = sketch.graph(sketch.pointwise("add", "x", "y"))
    assert facts_of_nest(graph, "add$0").choices[0].positions == (3, 2, 1, 0)
    gated = Sketch(x=(2, 8, 4, 5))
    graph = gated.graph(gated.gate("x"))
    assert facts_of_nest(graph, "gate$0").choices[0].positions == (3, 2, 1)


def test_it_matters_how_neighbouring_elements_lie() -> None:
    sketch = Sketch(x=(4, 6, 8))
    graph = sketch.graph(sketch.transpose("x", (2, 1, 0)))
    assert facts_of_nest(graph, "moved$0").choices[0].lying == ("apart",)
    product = attention(2, 8, 4)
    assert facts_of_nest(product, "product$0").choices[0].lying == ("same", "side by side")


def test_every_second_element_lies_near() -> None:
    sketch = Sketch(x=(4, 16))
    row, column = Axis("row", 4), Axis("column", 8)
    sketch.builder.add("y", [row, column], [Read("x", (at(row), at(column) * 2))], first())
    assert facts_of_nest(sketch.graph("y"), "y").choices[0].lying == ("near",)


def test_scratch_is_laid_out_for_its_reader_and_memory_is_not() -> None:
    sketch = Sketch(x=(4, 8))
    graph = sketch.graph(sketch.transpose(sketch.relu("x"), (1, 0)))
    assert facts_of_nest(graph, "moved$0").choices[0].lying == ("side by side",)
    assert facts_alone(graph, "moved$0").choices[0].lying == ("apart",)


def test_a_plain_sum_may_be_added_up_along_any_of_its_axes() -> None:
    sketch = Sketch(x=(8, 4, 16))
    axes = [Axis(name, size) for name, size in (("c", 8), ("h", 4), ("w", 16))]
    one = Axis("one", 1)
    read = Read("x", tuple(map(at, axes)))
    sketch.builder.add("y", [one], [read], first(), Reduction(tuple(axes), "sum"))
    graph = sketch.graph("y")
    orders = {"x": (1, 2, 0)}
    found = workload(Group(graph.ops, ("y",)), graph, orders).nests[0].choices
    assert [(each.reduced_length, each.lying) for each in found] == [
        (8, ("side by side",)),
        (4, ("apart",)),
        (16, ("apart",)),
    ]


@pytest.mark.parametrize("rows", [16, 200])
def test_vectors_may_run_along_channels_however_many_rows_an_image_has(rows: int) -> None:
    graph = parse(
        f"in x: f32[1, 3, {2 * rows + 1}, 401]\nconst w: f32[48, 3, 3, 3]\n"
        f"y: f32[b=1, c=48, h={rows}, w=200] = "
        "sum(i=3, m=3, n=3) x[0, i, 2*h + m, 2*w + n] * w[c, i, m, n]\nout y",
        {"w": np.ones((48, 3, 3, 3), np.float32)},
    )
    easy = [each for each in facts_of_nest(graph, "y").choices if "side by side" in each.lying]
    along = [(each.positions, each.lying, each.output_apart) for each in easy if each.positions]
    assert along == [((1,), ("same", "side by side"), True)]
