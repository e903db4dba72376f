"""Convolutions of groups whose products tensor cores find, whoever reads what they give."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from burnish.codegen.gpu.grouped import FEWEST, by_groups
from burnish.codegen.gpu.layout import orders_of
from burnish.codegen.gpu.operands import contracts
from burnish.tile.connect import singles
from burnish.tile.reference import evaluate
from burnish.tile.simplify import simplify
from codegen.gpu.interpreting import run_groups
from codegen.gpu.models import drawn

pytestmark = pytest.mark.torch

# what is added to it is an output too, so that no loop over all channels can be cut into groups
BESIDE = """beside (float16[1,32,5,6] x, float16[32,16,3,3] w, float16[32] b)
    => (float16[1,32,5,6] y, float16[1,32,5,6] z)
    { c = Conv<group=2, pads=[1,1,1,1]>(x, w, b)  r = Relu(c)  y = Add(r, x)  z = Mul(y, y) }"""


def test_a_convolution_of_groups_whose_result_is_given_out_is_a_product() -> None:
    graph, inputs = drawn(BESIDE)
    assert not any(map(contracts, graph.ops))
    found = by_groups(graph)
    (product,) = filter(contracts, found.ops)
    assert product.shape == (1, 2, 16, 5, 6)
    for name, wanted in evaluate(graph, inputs).items():
        np.testing.assert_array_equal(evaluate(found, inputs)[name], wanted)


def test_its_kernels_give_what_the_convolution_gave() -> None:
    graph, inputs = drawn(BESIDE)
    simple = simplify(by_groups(graph))
    assert any(map(contracts, simple.ops))
    groups = [(group, {"m": 16, "n": 16, "k": 16}) for group in singles(simple)]
    found = run_groups(simple, groups, inputs, orders_of(simple))
    for name, wanted in evaluate(graph, inputs).items():
        np.testing.assert_allclose(
            found[name].astype(np.float64), wanted.astype(np.float64), rtol=0, atol=0.01
        )


def test_groups_of_single_channels_stay_windows() -> None:
    alone = BESIDE.replace("[32,16,3,3]", "[32,1,3,3]").replace("group=2", "group=32")
    graph, _ = drawn(alone)
    assert by_groups(graph) == graph


@given(
    groups=st.integers(2, 4),
    maps=st.sampled_from([4, 8, 9, 16]),
    channels=st.integers(2, 5),
    kernel=st.sampled_from([1, 3]),
)
@settings(max_examples=30, deadline=None)
def test_any_groups_give_the_same(groups: int, maps: int, channels: int, kernel: int) -> None:
    given_shape, wanted_shape = f"[1,{groups * channels},5,6]", f"[1,{groups * maps},5,6]"
    pad = kernel // 2
    graph, inputs = drawn(f"""any (float16{given_shape} x,
        float16[{groups * maps},{channels},{kernel},{kernel}] w) => (float16{wanted_shape} y)
        {{ y = Conv<group={groups}, pads=[{pad},{pad},{pad},{pad}]>(x, w) }}""")
    found = by_groups(graph)
    assert any(map(contracts, found.ops)) == (maps >= FEWEST)
    np.testing.assert_array_equal(evaluate(found, inputs)["y"], evaluate(graph, inputs)["y"])
