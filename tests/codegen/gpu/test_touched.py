"""Lines of memory that a block's loads go through."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from burnish.codegen.gpu.touched import LINE_BYTES, WARP, touched_lines
from burnish.tile.index import Axis, Index, at, fetched, floor_divide, remainder

M, R = Axis("m", 65_536), Axis("r", 1024)


def test_neighbours_share_lines_and_lanes_far_apart_have_one_each() -> None:
    assert touched_lines(at(M), ((M, 128),), 32, 128) == 128 * 4 / LINE_BYTES
    assert touched_lines(at(M), ((M, 1024),), 16, 128) == 1024 * 2 / LINE_BYTES
    assert touched_lines(at(M) * 2560, ((M, 128),), 32, 128) == 128


def test_each_warp_asks_for_what_fewer_lanes_than_threads_have() -> None:
    assert touched_lines(at(M) * 2560, ((M, 8),), 32, 128) == 8 * 4
    assert touched_lines(at(M) * 2560, ((M, 8),), 32, 32) == 8
    assert touched_lines(Index(), (), 32, 128) == 4


def test_lanes_of_a_plane_run_first_where_elements_lie_side_by_side() -> None:
    columns = at(R) * 128 + remainder(at(M), 128)
    assert touched_lines(columns, ((M, 8), (R, 1024)), 16, 128) == 1024
    assert touched_lines(columns, ((M, 128), (R, 64)), 16, 128) == 64 * 128 * 2 / LINE_BYTES


def test_a_transposed_read_and_places_that_are_fetched_are_in_lines_of_their_own() -> None:
    turned = remainder(at(M), 256) * 256 + floor_divide(at(M), 256)
    assert touched_lines(turned, ((M, 256),), 16, 128) == 256
    drawn = fetched("places", (at(M),), 1 << 20)
    assert touched_lines(drawn, ((M, 256),), 16, 128) == 256


@given(
    st.integers(0, 11), st.sampled_from([8, 16, 32, 64]), st.integers(1, 4096), st.integers(0, 3)
)
def test_lines_hold_all_elements_and_are_no_more_than_these(
    size: int, bits: int, step: int, warps: int
) -> None:
    elements, threads = 1 << size, WARP << warps
    found = touched_lines(at(M) * step, ((M, elements),), bits, threads)
    asked = max(elements, elements * threads / WARP) if elements < threads else elements
    assert elements * bits / 8 / LINE_BYTES <= found <= max(asked, threads / WARP)
