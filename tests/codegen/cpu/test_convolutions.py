"""Convolutions of every kind: what is decided for them, and that it gives what the judge gives."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import onnx
import onnx_ir as ir
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from burnish.codegen.cpu.blocking import Blocking, choose
from burnish.codegen.cpu.form import NestForm, form
from burnish.codegen.cpu.kernel import generate
from burnish.codegen.cpu.layout import places
from burnish.codegen.cpu.target import TARGETS, InstructionSet, available
from burnish.codegen.cpu.window import in_turn, window_of
from burnish.rewrite.static import static
from burnish.tile.graph import TileGraph
from burnish.tile.group import Group
from burnish.tile.lower import lower
from burnish.tile.region import propagate
from burnish.tile.schedule import Schedule
from burnish.tile.simplify import simplify
from codegen.cpu.nests import windows
from codegen.cpu.test_kernel import check

AVX512 = TARGETS["avx512"]
LAST = (0, 2, 3, 1)
"""The order of dimensions with channels innermost."""


def nest(graph: TileGraph, layouts: dict[str, tuple[int, ...]] | None = None) -> NestForm:
    group = Group(graph.ops, graph.outputs)
    tiles = propagate(group, graph.ops[-1].shape)
    constants = graph.constants.keys()
    where = places(group, tiles, graph.tensors, layouts or {}, constants, AVX512)
    return form(graph.ops[-1], tiles.boxes["y"], where)


def blocking(graph: TileGraph, layouts: dict[str, tuple[int, ...]] | None = None) -> Blocking:
    return choose(nest(graph, layouts), AVX512)


def code(graph: TileGraph) -> str:
    schedule = Schedule(graph.ops[-1].shape)
    return generate(Group(graph.ops, graph.outputs), schedule, graph, AVX512).ir_text


@pytest.mark.parametrize("target", available(), ids=lambda target: target.name)
@given(data=st.data())
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
def test_any_convolution_gives_what_the_judge_gives(
    target: InstructionSet, data: st.DataObject
) -> None:
    groups = data.draw(st.sampled_from([1, 2, 4, 32]))
    channels = [groups * data.draw(st.sampled_from([1, 4, 16])) for _ in range(2)]
    size = (data.draw(st.integers(1, 6)), data.draw(st.integers(1, 18)))
    taps, stride = data.draw(st.sampled_from([1, 2, 3, 5, 9, 11])), data.draw(st.integers(1, 3))
    graph = windows((channels[0], channels[1]), size, taps, stride=stride, groups=groups)
    tile = tuple(data.draw(st.sampled_from([1, n, -(-n // 2)])) for n in graph.ops[-1].shape)
    layouts = {name: LAST for name in ("x", "y") if data.draw(st.booleans())}
    check(Group(graph.ops, graph.outputs), Schedule(tile), graph, target, layouts)


def normed(height: int, width: int, taps: int, pad: int) -> TileGraph:
    """Return a convolution of a norm of small images: what is padded is computed in place."""
    rows, columns = height + 2 * pad - taps + 1, width + 2 * pad - taps + 1
    model = onnx.parser.parse_model(
        f"""<ir_version: 10, opset_import: ["": 21]>
        g (float[1,2,{height},{width}] x) => (float[1,3,{rows},{columns}] y)
        <float[2] s = {{0.9, -0.7}}, float[2] b = {{0.4, 0.9}}>
        {{ n = InstanceNormalization(x, s, b) y = Conv<pads=[{pad},{pad},{pad},{pad}]>(n, w) }}"""
    )
    weights = np.random.default_rng(0).normal(size=(3, 2, taps, taps)).astype(np.float32)
    model.graph.initializer.append(onnx.numpy_helper.from_array(weights, "w"))
    return simplify(lower(tuple(static(ir.from_proto(model), {}).graph)).graph)


@given(data=st.data())
@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
def test_what_is_padded_in_place_stays_inside_of_what_a_tile_has_of_it(data: st.DataObject) -> None:
    taps, pad = data.draw(st.sampled_from([(3, 1), (3, 2), (5, 2)]))
    graph = normed(data.draw(st.integers(3, 7)), data.draw(st.integers(3, 7)), taps, pad)
    tile = tuple(data.draw(st.integers(1, n)) for n in graph.ops[-1].shape)
    axis = data.draw(st.sampled_from([None, 2, 3]))
    run = 1 if axis is None else data.draw(st.integers(2, 4))
    target = data.draw(st.sampled_from(available()))
    schedule = Schedule(tile, carried=axis, run=run)
    check(Group(graph.ops, graph.outputs), schedule, graph, target, {})


def test_channels_of_a_group_are_the_lanes_of_a_vector() -> None:
    graph = windows((64, 64), (7, 7), 3, groups=4)
    found = nest(graph)
    assert [each.size for each in found.spatial] == [4, 16, 7, 7]
    assert not any(read.offset.rest for read in found.reads)
    chosen = choose(found, AVX512)
    assert chosen.vector is not None
    assert chosen.vector.extent == 16


def test_groups_that_tiles_cut_are_walked_as_one_axis() -> None:
    graph = windows((64, 64), (7, 7), 3, groups=4)
    group = Group(graph.ops, graph.outputs)
    tiles = propagate(group, (1, 24, 7, 7))
    where = places(group, tiles, graph.tensors, {}, graph.constants.keys(), AVX512)
    assert len(form(graph.ops[-1], tiles.boxes["y"], where).spatial) == 3


def test_sums_are_walked_as_the_image_lies_in_memory() -> None:
    graph = windows((32, 32), (7, 7), 3)
    assert [each.axis.name for each in nest(graph).reduced] == ["c", "p", "q"]
    assert [each.axis.name for each in nest(graph, {"x": LAST}).reduced] == ["p", "q", "c"]


def test_rows_lie_side_by_side_in_memory() -> None:
    chosen = blocking(windows((64, 64), (14, 14), 3))
    assert chosen.block is not None
    assert (chosen.block.name, chosen.rows) == ("i3", 14)


def test_elements_that_rows_share_are_used_in_turn_while_registers_last() -> None:
    by_channel = blocking(windows((64, 64), (14, 14), 5, groups=64), {"x": LAST, "y": LAST})
    assert by_channel.shared == "in turn"
    assert by_channel.stencil is not None
    assert by_channel.stencil.axis.name == "q"


def test_elements_that_no_register_can_keep_are_loaded_anew() -> None:
    assert blocking(windows((64, 64), (14, 14), 3)).shared == "loaded anew"
    assert "~{memory}" in code(windows((64, 64), (14, 14), 3))


def test_elements_that_rows_do_not_share_are_left_to_the_compiler() -> None:
    assert blocking(windows((64, 64), (14, 14), 1)).shared == "kept"
    assert blocking(windows((64, 64), (14, 14), 3, stride=3)).shared == "kept"


def test_blocks_that_lie_across_the_output_are_turned_in_registers() -> None:
    text = code(windows((64, 64), (14, 14), 3))
    assert "masked.scatter" not in text
    assert "store <14 x float>" in text


def test_lanes_that_lie_a_few_apart_are_picked_at_the_end_of_a_row_too() -> None:
    assert "masked.gather" not in code(windows((3, 3), (8, 14), 3, stride=2, groups=3))


def test_rows_that_fall_into_one_set_of_the_cache_are_no_more_than_it_holds() -> None:
    graph = windows((1024, 256), (14, 14), 1)
    narrow = replace(AVX512, unit=replace(AVX512.unit, cache_ways=8))
    found = nest(graph, {"x": LAST, "y": LAST})
    assert choose(found, narrow).rows <= 8
    assert blocking(windows((1008, 256), (14, 14), 1), {"x": LAST, "y": LAST}).rows > 8


@pytest.mark.parametrize("size", [5, 7, 9, 11])
def test_windows_of_planes_are_unrolled_along_the_rows_that_share_them(size: int) -> None:
    """Rows of a block lie below each other, and so do the elements that they share."""
    by_plane = blocking(windows((8, 8), (56, 56), size, groups=8))
    assert by_plane.rows > 1
    assert by_plane.shared == "in turn"
    assert by_plane.stencil is not None
    assert by_plane.stencil.axis.name == "p"


def test_a_sum_over_channels_is_no_window() -> None:
    sliding, summing = windows((64, 64), (14, 14), 3, groups=64), windows((64, 64), (14, 14), 3)
    depth_wise, dense = nest(sliding), nest(summing)
    assert window_of(dense, dense.spatial[-1]) is None
    found = window_of(depth_wise, depth_wise.spatial[-1])
    assert found is not None
    assert found.axis.name == "q"


def test_sharing_takes_a_register_for_each_weight_of_a_window() -> None:
    by_plane = nest(windows((8, 8), (56, 56), 5, groups=8))
    columns = by_plane.spatial[-1]
    assert in_turn(by_plane, columns, (5, 4), by_plane.reduced[0].axis) == 5 * 4 + 5 + 4
