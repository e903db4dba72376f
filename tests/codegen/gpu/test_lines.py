"""Lines of memory that loads take little of."""

from __future__ import annotations

from math import prod

import hypothesis.strategies as st
import numpy as np
import onnx
import onnx_ir as ir
import pytest
from hypothesis import given

from burnish.codegen.gpu.blocks import AxisBlock
from burnish.codegen.gpu.choose import GpuPredicted, priced
from burnish.codegen.gpu.kernel import GpuTarget
from burnish.codegen.gpu.layout import orders_of
from burnish.codegen.gpu.lines import LINE, LINE_BYTES, SHORT_BYTES, first_line, unused_bytes
from burnish.hw.spec import load
from burnish.rewrite.static import static
from burnish.tile.graph import TileGraph
from burnish.tile.group import Group
from burnish.tile.index import Axis, Index
from burnish.tile.lower import lower
from burnish.tile.schedule import Schedule
from burnish.tile.simplify import simplify
from codegen.gpu.models import HEAD

H200 = load("nvidia-h200")


def product(terms: int, columns: int) -> TileGraph:
    """Return a product of a single row and a constant."""
    text = f"p (float16[1,{terms}] x) => (float16[1,{columns}] y) {{ y = MatMul(x, w) }}"
    proto = onnx.parser.parse_model(HEAD + text)
    weights = onnx.numpy_helper.from_array(np.ones((terms, columns), np.float16), "w")
    proto.graph.initializer.append(weights)
    return simplify(lower(tuple(static(ir.from_proto(proto), {}).graph)).graph)


def seconds(graph: TileGraph, rows: int, target: GpuTarget) -> float:
    """Return what a graph of one nest should take with so many outputs for each program."""
    schedule = Schedule((), settings={"m": rows, "warps": 4, "stages": 1})
    return priced(Group(graph.ops, graph.outputs), schedule, graph, H200, target).seconds


@given(
    run=st.sampled_from([1, 2, 8, 16, 64]),
    steps=st.lists(st.sampled_from([2, 4, 8]), min_size=1, max_size=2),
    apart=st.integers(1, 3),
    dtype=st.sampled_from(["f16", "f32"]),
)
def test_what_is_unused_is_what_counting_lines_finds(
    run: int, steps: list[int], apart: int, dtype: str
) -> None:
    size = {"f16": 2, "f32": 4}[dtype]
    terms, blocks, places, step = [], {}, np.zeros(1, np.int64), 1
    for count in (run, *steps):
        axis = Axis(f"a{step}", count)
        terms.append((axis, step))
        blocks[axis] = AxisBlock(axis, axis.name, count)
        places = (places[:, None] + np.arange(count) * step).ravel()
        step = max(step * count, 64 * apart)
    index = Index(tuple(terms))
    lines = len(np.unique(places * size // LINE_BYTES))
    wanted = lines * LINE_BYTES - len(places) * size if run * size < SHORT_BYTES else 0
    assert unused_bytes(index, blocks, blocks, dtype) == wanted
    assert prod(steps) * run == len(places)


def test_taps_of_a_window_begin_in_one_line_and_halves_of_a_row_do_not() -> None:
    lanes = Axis("m", 32)

    def begun(step: int, constant: int) -> int:
        return first_line(Index(((lanes, step),), constant))

    assert begun(256, 0) == begun(256, 256) == begun(256, 512 + LINE // 2)
    assert begun(5632, 0) != begun(5632, 2816)


def test_a_column_of_a_constant_takes_longer_than_a_row() -> None:
    graph = product(2048, 512)
    plain, turned = GpuTarget(), GpuTarget(orders=orders_of(graph))
    assert seconds(graph, 1, plain) > 3 * seconds(graph, 1, turned)
    assert seconds(graph, 8, plain) < seconds(graph, 1, plain)


@pytest.mark.parametrize(("terms", "columns"), [(512, 512), (2048, 512), (1024, 4096)])
def test_products_of_a_single_row_take_not_much_more_than_their_constants(
    terms: int, columns: int
) -> None:
    graph = product(terms, columns)
    target = GpuTarget(orders=orders_of(graph), early=True, own_functions=True)
    best = GpuPredicted(H200, target).best(Group(graph.ops, graph.outputs), graph)
    read_s = 2 * terms * columns / H200.memory[-1].bandwidth_bytes_per_s
    (price,) = best.prices
    assert price.seconds - price.launch_s < 2.5 * read_s + 2e-7
    assert best.launches[0].tally.unused_bytes == {}
