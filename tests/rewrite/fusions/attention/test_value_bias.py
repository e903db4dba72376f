"""The bias of values moves behind the attention, where every row has weights that add up to one."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx_ir as ir
import pytest

from burnish.rewrite.options import OptimizeOptions
from burnish.rewrite.pipeline import optimize
from rewriting import Graph, checked, op_types, samples

HEADS, WIDTH, RESULT = 2, 8, 6
BOOL = ir.DataType.BOOL
LOWEST = float(np.finfo(np.float32).min)
MASKS = {
    "none": np.ones((2, 1, 3, 5), bool),
    "holes": np.random.default_rng(0).random((2, 1, 3, 5)) > 0.5,
    "all": np.zeros((2, 1, 3, 5), bool),
}


def build(
    *, standard: bool = False, fill: float | None = None, groups: int = HEADS,
    shift: bool = True, read: bool = False, truth: bool = False,
) -> ir.Model:  # fmt: skip
    g = Graph(opset=23)
    q = g.input("q", ["batch", "rows", WIDTH])
    k, v = (g.input(name, ["batch", "columns", WIDTH * groups // HEADS]) for name in "kv")
    biased = g.op("Add", v, 3 * samples(WIDTH * groups // HEADS, seed=8))
    mask = g.input("mask", ["batch", 1, "rows", "columns"], BOOL)
    added = None if fill is None else g.op("Where", mask, 0.0, fill)
    if standard:
        result = g.op("Attention", q, k, biased, mask if truth else added,
                      q_num_heads=HEADS, kv_num_heads=groups)  # fmt: skip
    else:
        result = g.op("MultiHeadAttention", q, k, biased, None, None, added,
                      domain="com.microsoft", num_heads=HEADS)  # fmt: skip
    product = g.op("MatMul", result, samples(WIDTH, RESULT, seed=5))
    last = g.op("Add", product, samples(RESULT, seed=6)) if shift else g.op("Relu", product)
    return g.model(last, *([g.op("Relu", biased)] if read else []))


def feeds(mask: str = "holes", groups: int = HEADS) -> dict[str, Any]:
    width = WIDTH * groups // HEADS
    return {"q": samples(2, 3, WIDTH), "k": samples(2, 5, width, seed=1),
            "v": samples(2, 5, width, seed=2), "mask": MASKS[mask]}  # fmt: skip


@pytest.mark.parametrize("standard", [False, True])
@pytest.mark.parametrize("fill", [None, -100.0])
@pytest.mark.parametrize("mask", list(MASKS))
def test_the_bias_of_values_moves(standard: bool, fill: float | None, mask: str) -> None:
    result = checked(build(standard=standard, fill=fill), feeds(mask))
    assert op_types(result.model).count("Add") == 1
    assert [fusion.rule for fusion in result.report.fusions] == ["attention-value-bias"]


def test_the_lowest_number_is_a_number_too() -> None:
    result = checked(build(fill=LOWEST), feeds("all"))
    assert op_types(result.model).count("Add") == 1


def test_values_of_one_head_serve_several_of_queries() -> None:
    result = checked(build(standard=True, groups=1), feeds(groups=1))
    assert op_types(result.model).count("Add") == 1


@pytest.mark.parametrize("case", [{"fill": -np.inf}, {"standard": True, "truth": True}])
def test_a_mask_that_may_leave_nothing_keeps_the_bias(case: dict[str, Any]) -> None:
    result = optimize(build(**case))
    assert op_types(result.model).count("Add") == 2
    (miss,) = [miss for miss in result.report.misses if miss.rule == "attention-value-bias"]
    mask = "mask" if "truth" in case else "v1_0"
    name = (
        "Attention 'attention_1'"
        if "truth" in case
        else "MultiHeadAttention 'multiheadattention_2'"
    )
    assert miss.reason == (
        f"what is added to the scores of {name}, {mask!r}, may be -inf or a mask of truth values,"
        " expected finite numbers: a row that is masked throughout gets nothing of the bias 'c0'"
    )
    assert miss.remedy == "mask with the lowest number, torch.finfo(dtype).min, not with -inf"


def test_without_a_bias_behind_it_nothing_is_gained() -> None:
    result = checked(build(shift=False), feeds())
    (miss,) = result.report.misses
    assert miss.reason == (
        "the result of MultiHeadAttention 'multiheadattention_1' is not read by a product with"
        " weights and a bias alone, expected one that can take in the bias 'c0'"
    )
    assert miss.remedy == "none: without a product behind it the bias must be added anyway"


def test_values_that_others_read_keep_their_bias() -> None:
    result = checked(build(read=True), feeds())
    (miss,) = result.report.misses
    assert miss.reason == (
        "Add 'add_0' must stay: the value 'v0_0' in between is also read by 'relu_4'"
    )


def test_a_padding_mask_keeps_the_bias() -> None:
    g = Graph(opset=17)
    q, k, v = (g.input(name, ["batch", "length", WIDTH]) for name in "qkv")
    lengths = g.input("lengths", ["batch"], ir.DataType.INT32)
    attend = g.op("MultiHeadAttention", q, k, g.op("Add", v, samples(WIDTH)), None, lengths,
                  domain="com.microsoft", num_heads=HEADS)  # fmt: skip
    product = g.op("MatMul", attend, samples(WIDTH, RESULT, seed=5))
    result = optimize(g.model(g.op("Add", product, samples(RESULT, seed=6))), OptimizeOptions())
    (miss,) = result.report.misses
    assert miss.reason == (
        "MultiHeadAttention 'multiheadattention_1' has a cache, a padding mask or further results,"
        " expected none: the bias 'c0' may not be added to all values"
    )
    assert miss.remedy == "none: the bias moves only if all values have it"
