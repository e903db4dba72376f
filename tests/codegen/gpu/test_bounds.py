"""Kernels looked at for accesses outside of their tensors, without a device and without memory."""

from __future__ import annotations

import dataclasses
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from burnish.codegen.gpu.bounds import Breach, breaches, plan_breaches
from burnish.codegen.gpu.choose import GpuPredicted
from burnish.codegen.gpu.kernel import GpuTarget, emit
from burnish.codegen.gpu.lanes import (
    BlockLanes,
    IndexType,
    between,
    chosen,
    known,
    larger,
    smaller,
)
from burnish.codegen.gpu.launch import Launch
from burnish.codegen.gpu.layout import orders_of
from burnish.codegen.gpu.sequence import sequenced
from burnish.hw.spec import load
from burnish.tile.group import Group
from burnish.tile.reference import evaluate
from burnish.tile.schedule import Schedule
from codegen.gpu.interpreting import run_groups
from codegen.gpu.models import MODELS, graph_of, inputs_of, parsed

SPLIT = {"product", "normed_product", "large_product", "long_pool"}
LARGE = {
    "product": (
        "(float16[16,4096] x, float16[4096,600000] w) => (float16[16,600000] y){ y = MatMul(x, w) }"
    ),
    "columns": "(float[60,40000000] x) => (float[60,40000000] y) { y = Softmax<axis=0>(x) }",
    "rows": "(float16[600000,5000] x) => (float16[600000,5000] y) { y = Softmax<axis=-1>(x) }",
    "gather": (
        "(float16[3000000,1024] x, int64[50] i) => (float16[50,1024] y){ y = Gather<axis=0>(x, i) }"
    ),
}
"""Models with tensors of more elements than 32 bits count."""


def found_in(
    launch: Launch, name: str, *, smaller_by: int = 0, of: str | None = None
) -> tuple[Breach, ...]:
    """Return what a model's kernel accesses outside, where a tensor is smaller than it should be"""
    elements = {each: kind.size for each, kind in graph_of(name).tensors.items()}
    if of is not None:
        elements[of] -= smaller_by
    return breaches(launch, elements, all_programs=True)


def launches_of(name: str, **settings: int) -> tuple[Launch, ...]:
    graph = graph_of(name)
    return emit(Group(graph.ops, graph.outputs), Schedule((), settings=settings), graph)


@pytest.mark.parametrize("name", MODELS)
def test_kernels_of_every_kind_stay_inside_and_use_all_of_it(name: str) -> None:
    kinds = [{"m": 16, "n": 16, "k": 16}, {"m": 64, "n": 32, "k": 32}]
    for settings in (*kinds, *([{**kinds[0], "split": 4}] if name in SPLIT else [])):
        for launch in launches_of(name, **settings):
            assert found_in(launch, name) == ()
            for each in launch.outputs:
                (last,) = found_in(launch, name, smaller_by=1, of=each)
                assert (last.tensor, last.high) == (each, last.elements)


@pytest.mark.parametrize("name", ["each", "softmax", "product", "attention", "convolution"])
def test_a_planted_index_outside_is_found_where_it_is(name: str) -> None:
    (launch,) = launches_of(name, m=16, n=16, k=16)
    loads = re.findall(r"tl\.load\(t\d+ \+ ", launch.source)
    planted = launch.source.replace(loads[0], f"{loads[0]}100000 + ", 1)
    breach = found_in(dataclasses.replace(launch, source=planted), name)[0]
    assert "+ 100000 + " in breach.statement
    assert breach.low >= 100_000
    assert f"{launch.name}, program {breach.program}: {breach.tensor!r} has " in str(breach)


def test_a_mask_that_is_missing_is_found() -> None:
    (launch,) = launches_of("softmax", m=4)
    bare = re.sub(r", mask=.*?, other=0", "", launch.source)
    assert bare != launch.source
    assert found_in(dataclasses.replace(launch, source=bare), "softmax")


def test_scratch_that_is_too_small_is_found() -> None:
    first, second = launches_of("product", m=16, n=16, k=16, split=4)
    assert first.scratch
    less = {name: size - 4 for name, size in first.scratch.items()}
    for launch in (first, second):
        (breach,) = found_in(dataclasses.replace(launch, scratch=less), "product")
        assert breach.tensor in less


def test_an_address_of_data_that_nothing_bounds_is_an_error() -> None:
    (launch,) = launches_of("moved", m=64)
    loose = re.sub(r"tl\.minimum\((tl\.maximum\(.*, 0\)), \d+\)", r"\1", launch.source)
    assert loose != launch.source
    with pytest.raises(TypeError, match="an address of 'x' depends on data that nothing bounds"):
        found_in(dataclasses.replace(launch, source=loose), "moved")


@pytest.mark.torch
def test_windows_at_places_that_are_fetched_stay_inside_and_are_right() -> None:
    graph = parsed(
        """spread (float[1,2,12] x, float[2,3,3] w, int64[9] i) => (float[1,3,9] y)
        { c = ConvTranspose<dilations=[2], strides=[3], pads=[0,1]>(x, w)
          y = Gather<axis=2>(c, i) }"""
    )
    (launch,) = emit(Group(graph.ops, graph.outputs), Schedule((), settings={}), graph)
    elements = {each: kind.size for each, kind in graph.tensors.items()}
    assert breaches(launch, elements, all_programs=True) == ()
    inputs = {**inputs_of(graph), "i": np.array([0, 1, 2, 5, -1, -2, 36, 17, 4])}
    found = run_groups(graph, [(Group(graph.ops, graph.outputs), {})], inputs)
    np.testing.assert_allclose(found["y"], evaluate(graph, inputs)["y"], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", LARGE)
def test_offsets_into_tensors_beyond_32_bits_are_not_cut_off(name: str) -> None:
    graph = parsed(f"{name} {LARGE[name]}")
    elements = {each: kind.size for each, kind in graph.tensors.items()}
    (launch,) = emit(Group(graph.ops, graph.outputs), Schedule((), settings={"k": 512}), graph)
    assert breaches(launch, elements) == ()
    short = launch.source.replace("tl.int64", "tl.int32")
    assert breaches(dataclasses.replace(launch, source=short), elements) or name == "gather"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["attention", "inverted_residual", "large_product", "perceptron"])
def test_plans_for_a_card_stay_inside(name: str) -> None:
    graph = graph_of(name)
    target = GpuTarget(orders=orders_of(graph), own_functions=True, rounds_late=True)
    plan = sequenced(graph, GpuPredicted(load("nvidia-h200"), target), target)
    assert plan_breaches(plan, all_programs=True) == ()


NUMBERS = st.lists(st.integers(-(2**20), 2**20), min_size=2, max_size=2).map(sorted)
COMPUTED = {
    "+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b,
    "<": lambda a, b: a < b, ">=": lambda a, b: a >= b, "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b, "larger": larger, "smaller": smaller,
    "//": lambda a, _: a // 7, "%": lambda a, _: a % 7,
    "where": lambda a, b: chosen(a < b, a, b),
    "sign": lambda a, b: (a > b).to(IndexType(64)) - (a < b).to(IndexType(64)),
}  # fmt: skip


@pytest.mark.parametrize("name", COMPUTED)
@given(a=NUMBERS, b=NUMBERS, data=st.data())
def test_ends_of_a_number_hold_whatever_lies_between(
    name: str, a: list[int], b: list[int], data: st.DataObject
) -> None:
    one, two = data.draw(st.integers(*a)), data.draw(st.integers(*b))
    exact = COMPUTED[name](known(np.array([one])), known(np.array([two])))
    wide = COMPUTED[name](between(*a), between(*b))
    assert isinstance(exact, BlockLanes)
    assert isinstance(wide, BlockLanes)
    assert exact.low == exact.high
    assert wide.low <= exact.low <= wide.high
    if name in ("//", "%"):  # as Triton divides: towards zero
        assert exact.low == (int(np.fix(one / 7)) if name == "//" else int(np.fmod(one, 7)))
