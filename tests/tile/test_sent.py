"""Terms that go to one place each: what is seen of a nest, and that walking them gives the same."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from burnish.hw.spec import for_cores, load
from burnish.tile.candidates import candidates
from burnish.tile.graph import TileGraph, TileOp
from burnish.tile.group import Group
from burnish.tile.machine import machine
from burnish.tile.parse import parse
from burnish.tile.partition import partition
from burnish.tile.reference import evaluate, evaluate_op
from burnish.tile.sent import passes, sent
from burnish.tile.simplify import simplify
from tile_strategies import UNHURRIED

HEAD = "in x: f32[9, 5]\nin at: i64[9]\nin w: f32[4, 5]\nout y\n"
HERE = "0 <= -1*i0 + fetch(at[k0], 4) < 1"


def nest(text: str) -> TileOp:
    return parse(HEAD + text, {}).ops[0]


def rows(body: str, behind: str = "", combine: str = "sum", nothing: str = "0") -> TileOp:
    condition = f"inside({HERE})"
    return nest(
        f"y: f32[i0=4, i1=5] = {combine}(k0=9) where({condition}, {body}, {nothing}){behind}"
    )


def test_terms_are_walked_in_place_of_what_they_are_sent_along() -> None:
    op = rows("x[k0, i1]", " then acc + w[i0, i1]")
    found = sent(op)
    assert found is not None
    assert {a.name: str(place) for a, place in found.places.items()} == {"i0": "at[k0]"}
    assert [axis.name for axis in found.axes] == ["k0", "i1"]
    assert found.terms == 45
    walks = passes(op, found)
    assert walks.update.shape == (9, 5)
    assert walks.end is not None
    assert [read.tensor for read in walks.end.reads] == ["w", "y"]


def test_a_condition_may_be_that_of_a_read() -> None:
    op = nest(f"y: f32[i0=4, i1=5] = sum(k0=9) x[k0, i1 | {HERE} else 0]")
    found = sent(op)
    assert found is not None
    assert not found.reads[0].guards


ELSEWHERE = {
    "what is left out counts": (HERE, "k0", 1),
    "two places get each": ("0 <= -1*i0 + fetch(at[k0], 4) < 2", "k0", 0),
    "some have no place": ("1 <= -1*i0 + fetch(at[k0], 4) < 2", "k0", 0),
    "the place is that of no term": ("0 <= -1*i0 + fetch(at[i1], 4) < 1", "k0", 0),
}


@pytest.mark.parametrize(("here", "along", "nothing"), ELSEWHERE.values(), ids=ELSEWHERE)
def test_what_goes_elsewhere_is_walked_whole(here: str, along: str, nothing: int) -> None:
    body = f"where(inside({here}), x[{along}, i1], {nothing})"
    assert sent(nest(f"y: f32[i0=4, i1=5] = sum(k0=9) {body}")) is None


def test_what_sums_nothing_sends_nothing() -> None:
    assert sent(nest("y: f32[i0=9, i1=5] = x[i0, i1]")) is None


@UNHURRIED
@given(st.sampled_from(["sum", "prod", "max", "min"]), st.integers(0, 2**32 - 1), st.booleans())
def test_walking_the_terms_gives_what_asking_every_place_gives(
    combine: str, seed: int, follows: bool
) -> None:
    nothing = {"sum": "0", "prod": "1", "max": "-inf", "min": "inf"}[combine]
    op = rows("x[k0, i1] * x[k0, i1]", " then acc + w[i0, i1]" * follows, combine, nothing)
    draw = np.random.default_rng(seed)
    values = {
        "x": draw.standard_normal((9, 5)).astype(np.float32),
        "at": draw.integers(-4, 4, 9),
        "w": draw.standard_normal((4, 5)).astype(np.float32),
    }
    assert sent(op) is not None
    asked = evaluate_op(op, values, [(0, 4), (0, 5)])
    np.testing.assert_allclose(evaluate_op(op, values), asked, rtol=1e-5)


def test_what_is_read_for_each_term_is_read_there() -> None:
    graph = simplify(
        parse(
            "in x: f32[7, 5]\nin from: i64[9]\nin at: i64[9]\nout y\n"
            "each: f32[i0=9, i1=5] = x[fetch(from[i0], 7), i1]\n"
            "twice: f32[i0=9, i1=5] = tanh(each[i0, i1])\n"
            f"y: f32[i0=4, i1=5] = sum(k0=9) where(inside({HERE}), twice[k0, i1], 0)",
            {},
        )
    )
    assert [op.output for op in graph.ops] == ["y"]
    assert sent(graph.ops[0]) is not None


def test_all_places_belong_to_a_tile_and_threads_share_what_is_left() -> None:
    graph = wide()
    group = Group(graph.ops, ("y",))
    (alone,) = candidates(group, graph, machine(for_cores(load("x86-avx512"), 1))).candidates
    (shared,) = candidates(group, graph, machine(for_cores(load("x86-avx512"), 2))).candidates
    assert alone.schedule.tile == (4, 640)
    assert shared.schedule.tile == (4, 320)
    assert 0 < alone.cost.seconds < 1e-3


def test_it_is_a_kernel_of_its_own() -> None:
    graph = wide("z: f32[i0=4, i1=640] = max(k0=640) y[i0, k0] * y[i0, i1]")
    device = machine(for_cores(load("x86-avx512"), 1))
    assert len(partition(graph, device).groups) == 2


def wide(more: str = "") -> TileGraph:
    terms = f"y: f32[i0=4, i1=640] = sum(k0=900) where(inside({HERE}), x[k0, i1], 0)"
    head = f"in x: f32[900, 640]\nin at: i64[900]\nout {'z' if more else 'y'}\n"
    return parse(f"{head}{terms}\n{more}", {})


@pytest.mark.parametrize(("then", "nests"), [("n[i0]", 1), ("n[i0] + m[i0] * n[i0]", 1)])
def test_what_reads_nothing_but_places_is_finished_too(then: str, nests: int) -> None:
    # the places of a TopK, flattened: no read of the reduction's own to stand for another
    graph = parse(
        "in at: i64[9]\nin m: i64[4]\nout y\n"
        f"n: i64[i0=4] = max(k0=9) where(inside({HERE}), coordinate(k0), -9223372036854775808)\n"
        f"y: i64[i0=4] = {then}",
        {},
    )
    simple = simplify(graph)
    assert len(simple.ops) == nests
    fed = {"at": np.array([3, 1, 0, 2, 2, 0, 1, 3, 1]), "m": np.array([2, -1, 5, 7])}
    np.testing.assert_array_equal(evaluate(simple, fed)["y"], evaluate(graph, fed)["y"])
