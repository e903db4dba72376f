"""Operands that no instruction loads in runs: how they are found, and that they are priced."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from burnish.codegen.gpu.choose import priced
from burnish.codegen.gpu.guards import RUN, run_of
from burnish.codegen.gpu.kernel import GpuTarget, written
from burnish.hw.spec import load
from burnish.tile.expr import Guard
from burnish.tile.graph import TileGraph
from burnish.tile.group import Group
from burnish.tile.index import Axis, Index, at, floor_divide, remainder
from burnish.tile.schedule import Schedule
from codegen.gpu.models import drawn

K = Axis("k", 96)
NUMBERS = st.sampled_from([1, 2, 3, 4, 6, 8, 12, 16, 24])


def value(index: Index, k: int) -> int:
    """Return an index of one axis at a place."""
    return sum(factor * _atom(atom, k) for atom, factor in index.terms) + index.constant


def _atom(atom: object, k: int) -> int:
    if isinstance(atom, Axis):
        return k
    inner = value(atom.of, k)  # type: ignore[attr-defined]
    by: int = atom.by  # type: ignore[attr-defined]
    return inner // by if type(atom).__name__ == "Div" else inner % by


@given(NUMBERS, NUMBERS, NUMBERS, NUMBERS, st.integers(0, 16), st.integers(0, 90))
@settings(max_examples=200, deadline=None)
def test_a_run_lies_side_by_side_from_a_multiple_of_its_length_on(
    divided: int, factor: int, turned: int, step: int, shift: int, low: int
) -> None:
    offset = floor_divide(at(K), divided) * factor + remainder(at(K), turned) * step + shift
    guard = Guard(at(K) + shift, low, 120)
    run = run_of(offset, [guard], [K])
    assert run in (1, 2, 4, RUN)
    for first in range(0, K.extent, run):
        places = [value(offset, k) for k in range(first, first + run)]
        assert places == list(range(places[0], places[0] + run))
        assert places[0] % run == 0
        inside = {
            guard.low <= value(guard.index, k) < guard.high for k in range(first, first + run)
        }
        assert len(inside) == 1


def test_what_is_found_in_plain_cases() -> None:
    m, n = at(Axis("m", 64)), at(Axis("n", 40))
    axes = [Axis("m", 64), Axis("n", 40), K]
    assert run_of(m * 96 + at(K), [], axes) == RUN
    assert run_of(m * 36 + at(K), [], axes) == 4
    assert run_of(m * 97 + at(K), [], axes) == 1
    assert run_of(n * 9 + at(K) * 360, [], axes) == 1
    # what counts twice goes up by two
    assert run_of(at(K) + remainder(at(K), 2), [], axes) == 1
    # taps along a row shift all that lies in runs along it
    assert run_of(remainder(m, 32) + floor_divide(at(K), 32) * 1, [], axes) == 1


def images(order: tuple[int, ...]) -> tuple[TileGraph, Group, GpuTarget]:
    graph, _ = (
        drawn("""seen (float16[1,64,66,66] x, float16[64,64,3,3] w) => (float16[1,64,64,64] y)
        { y = Conv(x, w) }""")
    )
    (op,) = graph.ops
    target = GpuTarget(orders={"x": order, "w": (2, 3, 1, 0)})
    return graph, Group((op,), (op.output,)), target


def test_an_image_that_is_gathered_costs_more_than_one_with_channels_innermost() -> None:
    schedule = Schedule((), settings={"m": 64, "n": 64, "k": 64, "warps": 4, "stages": 3})
    seconds, gathered = [], []
    for order in ((0, 2, 3, 1), (0, 1, 2, 3)):
        graph, group, target = images(order)
        (launch,) = written(group, schedule, graph, target)
        gathered.append(launch.tally.gathered)
        seconds.append(priced(group, schedule, graph, load("nvidia-h200"), target).seconds)
    # each step takes a block of the image
    assert gathered == [0, 64 * 64 * 9]
    assert seconds[1] > 2 * seconds[0]


def test_places_in_a_loop_that_are_loaded_first_are_counted() -> None:
    graph, _ = drawn("""framed (float16[1,64,32,32] x, float16[64,64,7,7] w)
        => (float16[1,64,32,32] y) <int64[8] frame = {0,0,3,3,0,0,3,3}>
        { p = Pad<mode="reflect">(x, frame) y = Conv(p, w) }""")
    target = GpuTarget(orders={"x": (0, 2, 3, 1), "p": (0, 2, 3, 1), "w": (2, 3, 1, 0)})
    schedule = Schedule((), settings={"m": 64, "n": 64, "k": 64, "warps": 4, "stages": 3})
    (launch,) = written(Group(graph.ops, graph.outputs), schedule, graph, target)
    assert launch.tally.placed == 49
