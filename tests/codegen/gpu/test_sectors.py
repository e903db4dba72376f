"""What memory hands over beside what lanes ask for, and what threads hand to each other."""

from __future__ import annotations

import pytest

from burnish.codegen.gpu.blocks import AxisBlock
from burnish.codegen.gpu.sectors import Sectors
from burnish.tile.index import Axis, Index, at, floor_divide, remainder

M, N = AxisBlock(Axis("m", 4096), "m", 64), AxisBlock(Axis("n", 256), "n", 16)
m, n = at(M.axis), at(N.axis)
PAIR = AxisBlock(Axis("pair", 2), "pair", 2)


@pytest.mark.parametrize(
    ("offset", "dtype", "wanted"),
    [
        (m * 256 + n, "f16", 1.0),
        (m * 256, "f16", 16.0),
        (m * 256, "f32", 8.0),
        (m * 256 + at(PAIR.axis), "f16", 8.0),
        (m * 2, "f16", 1.0),
        (remainder(m, 64) + floor_divide(m, 64) * 8192, "f16", 1.0),
        (remainder(m, 8) + floor_divide(m, 8) * 8192, "f32", 1.0),
        (remainder(m, 4) + floor_divide(m, 4) * 8192, "f32", 2.0),
        (m * 4 + at(PAIR.axis), "f16", 1.0),
        (floor_divide(m, 512), "f16", 1.0),
        (Index(), "f16", 1.0),
    ],
)  # fmt: skip
def test_sectors_are_whole(offset: Index, dtype: str, wanted: float) -> None:
    used = [block for block in (M, N, PAIR) if str(block.axis.name) in str(offset)]
    assert Sectors().of("x", offset, dtype, used) == wanted


def test_what_the_first_load_fetched_the_next_ones_find() -> None:
    sectors = Sectors()
    assert sectors.of("x", m * 256, "f16", [M]) == 16.0
    assert sectors.of("x", m * 256 + 1, "f16", [M]) == 1.0
    assert sectors.of("x", m * 256 + 4096, "f16", [M]) == 16.0
    assert sectors.of("y", m * 256, "f16", [M]) == 16.0


def test_lanes_behind_the_end_fetch_nothing() -> None:
    half = AxisBlock(Axis("m", 32), "m", 64)
    assert Sectors().of("x", at(half.axis) * 256, "f16", [half]) == 8.5


def test_the_fewer_rows_lie_side_by_side_the_more_is_handed_over() -> None:
    terms = AxisBlock(Axis("r", 128), "r", 128)
    found = []
    for count in (8, 16, 64, 256):
        rows = AxisBlock(Axis("c", 256), "c", count)
        sectors = Sectors()
        sectors.of("x", at(terms.axis) * 256 + at(rows.axis), "f16", [rows, terms])
        found.append(sectors.handed_over(terms.axis, [rows], 4))
        assert sectors.handed_over(rows.axis, [terms], 4) == 0.0
    assert found == sorted(found, reverse=True)
    assert found[-1] == 0.0
