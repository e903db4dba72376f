"""What the generator decides before it writes: vectors, blocks, copies and places."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from burnish.codegen.cpu.alias import insertions, padded_in_place
from burnish.codegen.cpu.blocking import Blocking, choose
from burnish.codegen.cpu.carry import carried
from burnish.codegen.cpu.form import form
from burnish.codegen.cpu.kernel import generate
from burnish.codegen.cpu.layout import places, scratch_strides
from burnish.codegen.cpu.segments import segments
from burnish.codegen.cpu.stage import staged
from burnish.codegen.cpu.target import TARGETS, available
from burnish.tile.collisions import strides_of
from burnish.tile.graph import TensorType, TileGraph
from burnish.tile.group import Group
from burnish.tile.index import Index
from burnish.tile.parse import parse
from burnish.tile.reference import evaluate
from burnish.tile.region import DimensionSpan, propagate
from burnish.tile.schedule import Schedule
from codegen.cpu.calling import load_kernel
from codegen.cpu.nests import blurred, joined, product, scores
from tile_samples import Sketch

AVX512 = TARGETS["avx512"]


def whole(graph: TileGraph) -> Group:
    return Group(graph.ops, graph.outputs)


def blocking(graph: TileGraph, tile: tuple[int, ...], nest: int = -1) -> Blocking:
    group = whole(graph)
    tiles = propagate(group, tile)
    where = places(group, tiles, graph.tensors, {}, graph.constants.keys(), AVX512)
    op = group.ops[nest]
    return choose(form(op, tiles.boxes[op.output], where), AVX512)


def test_a_product_keeps_rows_times_vectors_in_registers() -> None:
    found = blocking(product(64, 32, 96), (64, 96))
    assert found.vector is not None
    assert found.block is not None
    assert (found.vector.name, found.block.name, found.horizontal) == ("i1", "i0", False)
    assert found.rows * found.vectors + found.vectors + 2 <= AVX512.registers
    assert found.rows * found.vectors >= 16


def test_long_numbers_behind_a_sum_do_not_halve_its_vectors() -> None:
    text = """in x: f32[32, 64]
    in place: i64[48]
    in length: i64[32]
    const w: f32[64, 48]
    out y
    y: f32[i=32, j=48] = sum(k=64) x[i, k] * w[k, j] then where(length[i] <= place[j], acc, 0.0)"""
    random = np.random.default_rng(0)
    graph = parse(text, {"w": random.standard_normal((64, 48)).astype(np.float32)})
    assert blocking(graph, (32, 48)).width == 16
    fed = {"x": random.standard_normal((32, 64)).astype(np.float32)}
    fed |= {"place": np.arange(48), "length": random.integers(0, 48, 32)}
    wanted = evaluate(graph, fed)["y"]
    for target in available():
        kernel = generate(whole(graph), Schedule((32, 48)), graph, target)
        found = {"y": np.zeros((32, 48), np.float32)}
        load_kernel(kernel, target).bound({**fed, **graph.constants, **found}).run()
        np.testing.assert_allclose(found["y"], wanted, rtol=1e-4, atol=1e-4)


def test_taps_of_a_stencil_are_unrolled() -> None:
    found = blocking(blurred(8, 64), (8, 64))
    assert [axis.name for axis in found.unrolled] == ["k"]


def test_a_constant_operand_lies_in_panels() -> None:
    kernel = generate(whole(product(64, 32, 96)), Schedule((64, 96)), product(64, 32, 96), AVX512)
    (name,) = kernel.packed
    assert kernel.packed[name].shape[-2] == 32
    assert "w" not in kernel.arguments
    assert kernel.arguments == ("x", name, "y")


def test_an_operand_that_is_read_across_is_copied_first() -> None:
    graph = scores(64, 32)
    group = staged(whole(graph), (64, 64), graph.tensors, {}, (), AVX512)
    assert [op.output for op in group.ops] == ["k~y~1", "y"]


def test_an_operand_that_is_used_too_rarely_is_not_copied() -> None:
    graph = scores(4, 32)
    assert len(staged(whole(graph), (4, 4), graph.tensors, {}, (), AVX512).ops) == 1


def mixed_channels(width: int) -> TileGraph:
    """Return a convolution of 64 planes with 64 filters of one element each."""
    sketch = Sketch(x=(1, 64, 32, width))
    return sketch.graph(sketch.convolution("x", 64))


def test_planes_that_collide_in_the_cache_are_copied_first() -> None:
    graph = mixed_channels(32)
    small, large = (1, 64, 32, 32), (1, 64, 32, 33)
    group = staged(whole(graph), small, graph.tensors, {}, graph.constants.keys(), AVX512)
    assert len(group.ops) == 2
    graph = mixed_channels(33)
    group = staged(whole(graph), large, graph.tensors, {}, graph.constants.keys(), AVX512)
    assert len(group.ops) == 1


def apart(graph: TileGraph, room: int) -> TileGraph:
    """Return a graph whose input `x` has room behind each plane, in elements."""
    kind = graph.tensors["x"]
    batch, count, height, width = kind.shape
    plane = height * width + room
    spaced = replace(kind, strides=(batch * count * plane, plane, width, 1))
    return replace(graph, tensors={**graph.tensors, "x": spaced})


def test_planes_with_room_between_them_collide_no_more() -> None:
    graph = apart(mixed_channels(32), 16)
    tile = (1, 64, 32, 32)
    group = staged(whole(graph), tile, graph.tensors, {}, graph.constants.keys(), AVX512)
    assert len(group.ops) == 1


def prefetches(graph: TileGraph, tile: tuple[int, ...]) -> int:
    """Return how often a kernel's code has what it reads fetched before it does."""
    last = Group(graph.ops[-1:], graph.outputs)
    text = generate(last, Schedule(tile), graph, AVX512).ir_text
    # the second argument tells that it is for reading, the third how near it is brought
    return len(re.findall(r"call void @.?llvm\.prefetch[^\n]*, i32 0, i32 2,", text))


def test_the_next_piece_of_each_far_plane_is_fetched_while_rows_pass() -> None:
    assert prefetches(apart(mixed_channels(256), 16), (1, 64, 32, 256))
    # near planes are in a cache already, and one block of rows leaves no time
    assert not prefetches(apart(mixed_channels(48), 16), (1, 64, 32, 48))
    assert not prefetches(apart(mixed_channels(256), 16), (1, 4, 32, 256))


def test_steps_of_a_window_are_not_fetched_one_by_one() -> None:
    sketch = Sketch(x=(1, 64, 32, 256))
    graph = sketch.graph(sketch.convolution("x", 64, size=3))
    assert not prefetches(graph, (1, 64, 32, 256))


@given(data=st.data())
@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
def test_products_over_far_planes_are_right_however_these_lie(data: st.DataObject) -> None:
    height, width = data.draw(st.sampled_from([(128, 128), (64, 256), (90, 201)]))
    count, filters = data.draw(st.integers(17, 24)), data.draw(st.integers(1, 40))
    sketch = Sketch(x=(1, count, height, width))
    graph = sketch.graph(sketch.convolution("x", filters))
    room = data.draw(st.sampled_from([0, 16, 1040]))
    graph = apart(graph, room) if room else graph
    tile = tuple(
        data.draw(st.sampled_from([n, -(-n // 2), min(n, 7)])) for n in graph.ops[-1].shape
    )
    target = data.draw(st.sampled_from(available()))
    kernel = generate(whole(graph), Schedule(tile), graph, target)
    random = np.random.default_rng(count)
    memory = random.standard_normal((count, height * width + room)).astype(np.float32)
    (name,) = graph.outputs
    found = {name: np.zeros(graph.ops[-1].shape, np.float32)}
    load_kernel(kernel, target).bound({"x": memory, **graph.constants, **found}).run()
    (weights,) = graph.constants.values()
    planes = memory[:, : height * width].astype(np.float64)
    wanted = weights.reshape(filters, count).astype(np.float64) @ planes
    np.testing.assert_allclose(found[name].reshape(wanted.shape), wanted, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(("width", "is_far"), [(16, False), (256, True)])
def test_planes_that_no_cache_holds_are_walked_in_long_pieces(width: int, is_far: bool) -> None:
    graph = mixed_channels(width)
    found = blocking(graph, (1, 64, 32, width))
    assert (found.vectors > found.rows) is is_far


def test_what_is_too_large_to_stay_near_is_not_copied() -> None:
    sketch = Sketch(x=(1, 64, 64, 64))
    graph = sketch.graph(sketch.convolution("x", 64))
    group = staged(whole(graph), (1, 64, 64, 64), graph.tensors, {}, graph.constants.keys(), AVX512)
    assert len(group.ops) == 1


def test_a_stencil_walks_row_by_row_and_a_product_panel_by_panel() -> None:
    assert not blocking(product(64, 32, 96), (64, 96)).rows_first
    sketch = Sketch(x=(1, 4, 64, 64))
    graph = sketch.graph(sketch.depthwise("x"))
    found = blocking(graph, (1, 4, 64, 64))
    assert found.block is not None
    assert (found.block.name, found.rows_first) == ("i2", True)


@pytest.mark.parametrize("rows", [49, 50, 128, 196])
def test_panels_that_no_first_cache_holds_serve_many_rows(rows: int) -> None:
    found = blocking(product(rows, 768, 128), (rows, 128))
    assert found.rows >= 6
    assert found.rows * found.vectors >= 20


def test_tiles_begin_with_a_panel() -> None:
    found = blocking(product(49, 320, 1280), (49, 80))
    assert 80 % (found.vectors * found.width) == 0


@pytest.mark.parametrize(("columns", "horizontal"), [(10, True), (48, False)])
def test_weights_that_no_panel_holds_are_read_as_they_lie(columns: int, horizontal: bool) -> None:
    graph = parse(
        "in x: f32[1, 1280]\nconst w: f32[1000, 1280]\n"
        "y: f32[i=1, j=1000] = sum(k=1280) x[i, k] * w[j, k]\nout y",
        {"w": np.ones((1000, 1280), np.float32)},
    )
    assert blocking(graph, (1, columns)).horizontal is horizontal


def test_the_next_panel_is_fetched_while_rows_pass() -> None:
    graph = product(64, 768, 128)
    text = generate(whole(graph), Schedule((64, 64)), graph, AVX512).ir_text
    assert "llvm.prefetch" in text
    graph = product(4, 768, 128)
    assert "llvm.prefetch" not in generate(whole(graph), Schedule((4, 64)), graph, AVX512).ir_text


def test_what_is_padded_lies_inside_the_padded_tensor() -> None:
    group = whole(blurred(8, 64))
    found = insertions(group)
    assert {source: one.shifts for source, one in found.items()} == {"relu": (0, 1)}
    assert padded_in_place(group.ops[1], found) is found["relu"]


def test_what_is_concatenated_lies_inside_the_concatenation() -> None:
    found = insertions(whole(joined(4, 16, 32)))
    assert {source: one.shifts for source, one in found.items()} == {
        "half a": (0, 0),
        "half b": (0, 16),
    }


def test_a_concatenation_is_cut_where_its_parts_meet() -> None:
    cut = segments(joined(4, 16, 32).ops[2])
    assert [(part.low, part.high) for part in cut] == [(0, 16), (16, 48)]
    assert [[read.tensor for read in part.op.reads] for part in cut] == [["half a"], ["half b"]]
    assert all(not read.guards for part in cut for read in part.op.reads)


def test_strides_follow_the_order_of_dimensions() -> None:
    kind = TensorType("f32", (2, 3, 4, 5))
    assert strides_of(kind) == (60, 20, 5, 1)
    assert strides_of(kind, (0, 2, 3, 1)) == (60, 1, 15, 3)
    assert strides_of(replace(kind, strides=(90, 30, 6, 1))) == (90, 30, 6, 1)


def test_rows_of_scratch_are_an_odd_number_of_lines_apart() -> None:
    box = tuple(DimensionSpan(Index(), size) for size in (8, 4, 256))
    row, column, element = scratch_strides(box, 2)
    assert (column, element) == (256, 1)
    assert row >= 4 * 256
    assert (row // 16) % 2 == 1
    assert scratch_strides((), 0) == ()


def test_rows_that_tiles_share_are_kept() -> None:
    graph = blurred(64, 64)
    group = whole(graph)
    schedule = Schedule((4, 16), carried=1, run=2)
    tiles = propagate(group, schedule.tile)
    kept = carried(group, tiles, schedule, insertions(group))
    assert {name: (each.dimension, each.step, each.overlap) for name, each in kept.items()} == {
        "relu": (1, 16, 2),
        "padded": (1, 16, 2),
    }
    kernel = generate(group, schedule, graph, AVX512)
    assert kernel.tiles == 16 * 2
    assert "llvm.memmove" in kernel.ir_text


def test_what_all_tiles_of_a_run_share_is_computed_once_with_weights_in_panels() -> None:
    text = """
        in x: f32[64, 32]
        const w: f32[32, 96]
        out y
        h: f32[i=64, j=96] = sum(k=32) x[i, k] * w[k, j]
        t: f32[n=1] = sum(a=64, b=96) h[a, b]
        y: f32[i=64, j=96] = h[i, j] - t[0]
    """
    graph = parse(text, {"w": np.ones((32, 96), np.float32)})
    schedule = Schedule((8, 96), carried=0, run=8)
    group = whole(graph)
    kept = carried(group, propagate(group, schedule.tile), schedule, {})
    assert {name for name, part in kept.items() if part.stays} == set(group.scratch)
    assert generate(group, schedule, graph, AVX512).packed
