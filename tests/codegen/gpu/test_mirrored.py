"""Places of mirrored and repeated edges that are counted instead of loaded."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from burnish.codegen.gpu.framed import framed
from burnish.codegen.gpu.mirrored import MOST, counted_places
from burnish.tile.reference import evaluate
from codegen.gpu.models import drawn, inputs_of, parsed

FRAMED = """framed (float[1,2,{height},{width}] x) => (float[1,2,{high},{wide}] y)
    <int64[8] frame = {{0, 0, {before}, {before}, 0, 0, {before}, {before}}}>
    {{ p = Pad<mode="{mode}">(x, frame) y = Exp(p) }}"""


@given(
    mode=st.sampled_from(["reflect", "edge", "wrap"]),
    height=st.integers(4, 9),
    width=st.integers(4, 9),
    before=st.integers(1, 3),
)
@settings(max_examples=40, deadline=None)
def test_counted_places_are_those_of_the_table(
    mode: str, height: int, width: int, before: int
) -> None:
    graph = parsed(FRAMED.format(
        mode=mode, height=height, width=width, before=before,
        high=height + 2 * before, wide=width + 2 * before,
    ))  # fmt: skip
    found = counted_places(graph)
    inputs = inputs_of(graph)
    np.testing.assert_array_equal(evaluate(found, inputs)["y"], evaluate(graph, inputs)["y"])
    tables = any(op.fetches for op in found.ops)
    assert tables == (mode != "wrap" and 2 * before > MOST)


@pytest.mark.parametrize("table", ["0, 2, 1, 3", "3, 2, 1, 0", "0, 0, 0, 0"])
def test_other_tables_are_loaded(table: str) -> None:
    graph = parsed(f"""other (float[4,3] x) => (float[4,3] y)
        <int64[4] t = {{{table}}}> {{ g = Gather<axis=0>(x, t) y = Exp(g) }}""")
    assert counted_places(graph).ops == graph.ops


def test_weights_are_framed_once_and_give_the_same() -> None:
    graph, inputs = drawn("""up (float16[1,8,5,5] x, float16[8,16,3,3] w) => (float16[1,16,9,9] y)
        { y = ConvTranspose<strides=[2,2], pads=[1,1,1,1]>(x, w) }""")
    found = framed(graph)
    (product,) = (op for op in found.ops if op.reduced)
    assert found.constants[product.reads[1].tensor].shape == (8, 16, 4, 4)
    for name, wanted in evaluate(graph, inputs).items():
        np.testing.assert_array_equal(evaluate(found, inputs)[name], wanted)


def test_a_frame_that_a_constant_would_grow_much_by_stays() -> None:
    graph, _ = drawn("""far (float16[1,8,5,5] x, float16[8,16,3,3] w) => (float16[1,16,19,19] y)
        { y = ConvTranspose<strides=[4,4]>(x, w) }""")
    grown = [op for op in graph.ops if not op.reduced and op.inputs == ("w",)]
    assert {op.output for op in grown} <= {op.output for op in framed(graph).ops}
