from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from burnish.hw.unit import CORE
from burnish.tile.collisions import strides_of
from burnish.tile.graph import TensorType, TileGraph
from burnish.tile.index import at
from burnish.tile.semantics import NestBuilder, axes_for
from burnish.tile.signature import signature
from burnish.tile.spacing import spaced
from tile_samples import whole


def chain(shape: tuple[int, ...], dtype: str = "f32") -> TileGraph:
    """Return two copies one after the other: only the first is internal."""
    builder = NestBuilder({"x": TensorType(dtype, shape)}, {})
    for name, source in (("inner", "x"), ("y", "inner")):
        axes = axes_for(shape)
        builder.view(name, source, [at(axis) for axis in axes], axes)
    return TileGraph(builder.tensors, ("x",), ("y",), tuple(builder.ops))


@pytest.mark.parametrize(
    ("shape", "dtype", "strides"),
    [
        ((1, 64, 256, 256), "f32", (64 * 66576, 66576, 256, 1)),
        ((2, 64, 32, 32), "f32", (64 * 1040, 1040, 32, 1)),
        ((1, 128, 3072), "f32", None),
        ((1, 64, 64, 64), "u8", (64 * 4160, 4160, 64, 1)),
        ((1, 12, 256, 256), "f32", None),
        ((1, 64, 255, 256), "f32", None),
        ((64, 1024, 1), "f32", None),
        ((64, 64, 1, 64), "f32", (4112, 64, 64, 1)),
        ((1, 8, 512, 1023), "f32", (8 * 512 * 1040, 512 * 1040, 1040, 1)),
        ((2, 2046), "f32", (2064, 1)),
        ((2, 300), "f32", (304, 1)),
        ((1, 300), "f32", None),
        ((197, 197), "f32", None),
        ((64, 1024), "f32", None),
        ((4096,), "f32", None),
        ((5, 0, 64, 1024), "f32", None),
        ((), "f32", None),
    ],
)
def test_planes_that_share_sets_and_rows_that_end_within_a_line_get_room(
    shape: tuple[int, ...], dtype: str, strides: tuple[int, ...] | None
) -> None:
    assert spaced(chain(shape, dtype), {}, CORE).tensors["inner"].strides == strides


def test_what_others_see_or_what_lies_in_another_order_stays_dense() -> None:
    graph = chain((1, 64, 256, 256))
    found = spaced(graph, {}, CORE)
    assert [name for name, kind in found.tensors.items() if kind.strides] == ["inner"]
    assert spaced(graph, {"inner": (0, 2, 3, 1)}, CORE) == graph


def test_a_kernel_for_spaced_planes_is_another() -> None:
    graph = chain((1, 64, 256, 256))
    found = spaced(graph, {}, CORE)
    assert signature(whole(graph), graph) != signature(whole(graph), found)


@given(st.lists(st.sampled_from([1, 2, 13, 16, 32, 64, 1023, 1024]), max_size=4))
def test_no_two_elements_share_a_place_and_little_is_wasted(sizes: list[int]) -> None:
    kind = spaced(chain(tuple(sizes)), {}, CORE).tensors["inner"]
    reach = 1
    for extent, stride in zip(reversed(kind.shape), reversed(strides_of(kind)), strict=True):
        assert stride >= reach
        reach += (extent - 1) * stride
    assert reach <= math.prod(sizes) * (1 + 4160 / 65536)
