"""The bias of keys goes where it cancels, and stays where it does not."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rewriting import Graph, checked, op_types, samples

HEADS, WIDTH = 2, 8
BIAS = samples(WIDTH, seed=9)
FEEDS = {
    "q": samples(2, 3, WIDTH),
    "k": samples(2, 5, WIDTH, seed=1),
    "v": samples(2, 5, WIDTH, seed=2),
}


def build(
    *, standard: bool = False, swapped: bool = False, mask: bool = False, read: bool = False,
    opset: int = 23, **attributes: float,
) -> ir.Model:  # fmt: skip
    g = Graph(opset=opset)
    q, k, v = (g.input(name, ["batch", f"{name}_length", WIDTH]) for name in "qkv")
    biased = g.op("Add", *((BIAS, k) if swapped else (k, BIAS)))
    added = [g.constant(samples(3, 5, seed=4).reshape(1, 1, 3, 5))] if mask else []
    if standard:
        heads = {"q_num_heads": HEADS, "kv_num_heads": HEADS}
        result = g.op("Attention", q, biased, v, *added, **heads, **attributes)
    else:
        more = [None, None, *added] if mask else []
        result = g.op("MultiHeadAttention", q, biased, v, *more, domain="com.microsoft",
                      num_heads=HEADS, **attributes)  # fmt: skip
    return g.model(result, *([g.op("Relu", biased)] if read else []))


@pytest.mark.parametrize("standard", [False, True])
@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize("mask", [False, True])
def test_the_bias_of_keys_goes(standard: bool, swapped: bool, mask: bool) -> None:
    result = checked(build(standard=standard, swapped=swapped, mask=mask, scale=0.3), FEEDS)
    assert op_types(result.model) == ["Attention" if standard else "MultiHeadAttention"]
    assert [fusion.rule for fusion in result.report.fusions] == ["attention-key-bias"]


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 1000), size=st.floats(0.0, 30.0), heads=st.sampled_from([1, 2, 4]))
def test_a_bias_of_any_size_cancels(seed: int, size: float, heads: int) -> None:
    g = Graph(opset=17)
    q, k, v = (g.input(name, ["batch", f"{name}_length", WIDTH]) for name in "qkv")
    biased = g.op("Add", k, size * samples(WIDTH, seed=seed))
    result = g.op("MultiHeadAttention", q, biased, v, domain="com.microsoft", num_heads=heads)
    assert op_types(checked(g.model(result), FEEDS, tolerance=2e-4).model) == ["MultiHeadAttention"]


def test_fewer_heads_of_keys_than_of_queries_make_no_difference() -> None:
    g = Graph(opset=23)
    q = g.input("q", ["batch", "rows", 2 * WIDTH])
    k, v = (g.input(name, ["batch", "columns", WIDTH]) for name in "kv")
    heads = {"q_num_heads": 2 * HEADS, "kv_num_heads": HEADS}
    model = g.model(g.op("Attention", q, g.op("Add", k, BIAS), v, **heads))
    result = checked(model, {**FEEDS, "q": samples(2, 3, 2 * WIDTH)})
    assert op_types(result.model) == ["Attention"]


def test_a_soft_cap_sees_the_bias() -> None:
    result = checked(build(standard=True, softcap=2.0), FEEDS)
    assert op_types(result.model) == ["Add", "Attention"]
    (miss,) = result.report.misses
    assert miss.reason == (
        "Attention 'attention_1' caps its scores, expected a softmax right behind the product:"
        " the bias 'c0' of the keys does not cancel"
    )
    assert miss.remedy == "none: the soft cap sees the bias"


def test_keys_that_others_read_keep_their_bias() -> None:
    result = checked(build(read=True), FEEDS)
    assert sorted(op_types(result.model)) == ["Add", "MultiHeadAttention", "Relu"]
    (miss,) = result.report.misses
    assert miss.reason == (
        "Add 'add_0' must stay: the value 'v0_0' in between is also read by 'relu_2'"
    )


def test_cached_keys_have_no_bias_that_could_cancel() -> None:
    g = Graph(opset=23)
    q, k, v = (g.input(name, ["batch", f"{name}_length", WIDTH]) for name in "qkv")
    past = [g.input(name, ["batch", HEADS, "past", WIDTH // HEADS]) for name in ("pk", "pv")]
    heads = {"q_num_heads": HEADS, "kv_num_heads": HEADS}
    results = g.ops("Attention", q, g.op("Add", k, BIAS), v, None, *past, outputs=3, **heads)
    cache = {name: samples(2, HEADS, 4, WIDTH // HEADS, seed=7) for name in ("pk", "pv")}
    result = checked(g.model(*results), {**FEEDS, **cache})
    assert "Add" in op_types(result.model)
    (miss,) = result.report.misses
    assert miss.reason == (
        "Attention 'attention_1' has a cache, a padding mask or further results, expected none:"
        " keys may be there that the bias 'c0' is not added to"
    )
    assert miss.remedy == "none: the bias cancels only if all keys have it"


@pytest.mark.parametrize("bias", [np.float32(0.5), samples(1, 5, WIDTH, seed=3)])
def test_what_is_no_bias_of_the_last_axis_is_no_candidate(bias: object) -> None:
    g = Graph(opset=17)
    q, v = (g.input(name, ["batch", f"{name}_length", WIDTH]) for name in "qv")
    k = g.input("k", ["batch", 5, WIDTH])
    attend = g.op("MultiHeadAttention", q, g.op("Add", k, bias), v, domain="com.microsoft",
                  num_heads=HEADS)  # fmt: skip
    result = checked(g.model(attend), FEEDS)
    assert op_types(result.model) == ["Add", "MultiHeadAttention"]
    assert result.report.misses == ()
