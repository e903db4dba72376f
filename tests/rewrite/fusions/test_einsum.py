"""Sums over one index become matrix products."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir
import pytest

from burnish.rewrite.pipeline import optimize
from rewriting import Graph, checked, op_types, samples

SIZES = {"b": 2, "h": 3, "q": 4, "k": 5, "d": 6, "n": 7}


def build(equation: str) -> ir.Model:
    g = Graph()
    left, right = equation.split("->")[0].split(",")
    factors = [g.input(name, list(letters)) for name, letters in (("l", left), ("r", right))]
    return g.model(g.op("Einsum", *factors, equation=equation))


def feeds(equation: str) -> dict[str, np.ndarray[tuple[int, ...], np.dtype[np.float32]]]:
    left, right = equation.split("->")[0].split(",")
    return {
        "l": samples(*(SIZES[c] for c in left)),
        "r": samples(*(SIZES[c] for c in right), seed=1),
    }


@pytest.mark.parametrize(
    "equation",
    ["bhqd,bhkd->bhqk", "bqhd,bkhd->bhqk", "bhqk,bkhd->bqhd", "qd,kd->qk", "qd,dk->kq",
     "qbhd,kbhd->bhqk", "bhqk,bhkd->bhqd",
     # axes that one factor has alone beside its rows
     "bqhd,khd->bhqk", "qhd,bkhd->bhqk", "bhnqd,bhkd->bhnqk", "bhnqk,bhkd->bhnqd",
     "bnhqd,bhkd->bqknh"],
)  # fmt: skip
def test_products_are_found(equation: str) -> None:
    result = checked(build(equation), feeds(equation))
    assert "Einsum" not in op_types(result.model)
    assert op_types(result.model).count("MatMul") == 1


@pytest.mark.parametrize(
    ("equation", "axes"),
    [("...qhd,...khd->...hqk", ("bnqhd", "bnkhd")), ("...hqk,...khd->...qhd", ("bhqk", "bkhd")),
     ("...qd,...kd->...qk", ("qd", "kd")), ("...qd,dk->...qk", ("bhqd", "dk"))],
)  # fmt: skip
def test_dots_stand_for_all_other_axes(equation: str, axes: tuple[str, str]) -> None:
    g = Graph()
    factors = [g.input(name, list(letters)) for name, letters in zip("lr", axes, strict=True)]
    model = g.model(g.op("Einsum", *factors, equation=equation))
    given = {name: samples(*(SIZES[c] for c in letters), seed=seed)
             for seed, (name, letters) in enumerate(zip("lr", axes, strict=True))}  # fmt: skip
    assert "Einsum" not in op_types(checked(model, given).model)


def test_dots_that_the_result_has_not_stay() -> None:
    g = Graph()
    factors = [g.input(name, ["b", "q", "d"]) for name in "lr"]
    model = g.model(g.op("Einsum", *factors, equation="...qd,...kd->qk"))
    assert "Einsum" in op_types(optimize(model).model)


@pytest.mark.parametrize(
    "equation", ["bqd,bkd->bq", "bhd,bhd->bh", "bd,hd->bhd", "bhqd,bnkd->bhnqk"]
)
def test_other_sums_stay(equation: str) -> None:
    result = optimize(build(equation))
    assert op_types(result.model) == ["Einsum"]


def test_what_is_no_product_is_explained() -> None:
    (miss,) = [m for m in optimize(build("bhqd,bhkd->bqk")).report.misses if m.rule == "einsum"]
    assert "expected one index that is summed" in miss.reason
    assert miss.remedy == "none: this is not one matrix product"


def test_attention_is_found_between_two_sums() -> None:
    g = Graph()
    q, k, v = (g.input(name, ["batch", "length", 4, 8]) for name in "qkv")
    scores = g.op("Mul", g.op("Einsum", q, k, equation="bqhd,bkhd->bhqk"), 0.3)
    weights = g.op("Softmax", scores, axis=-1)
    result = g.op("Einsum", weights, v, equation="bhqk,bkhd->bqhd")
    model = g.model(g.op("Reshape", result, np.array([0, 0, 32], np.int64)))
    given = {name: samples(2, 5, 4, 8, seed=i) for i, name in enumerate("qkv")}
    assert "attention" in {fusion.rule for fusion in checked(model, given).report.fusions}


@pytest.mark.parametrize(
    "equation",
    ["bqd,dhk->bqhk", "bqhd,hdk->bqk", "dhk,bqd->bqhk", "bqd,dk->bqk", "bqd,dhk->bhqk",
     "qd,hkd->hkq"],
)  # fmt: skip
def test_projections_over_several_axes_are_products(equation: str) -> None:
    g = Graph()
    left, right = equation.split("->")[0].split(",")
    sizes = [["batch" if c == "b" else "rows" if c == "q" else SIZES[c] for c in letters]
             for letters in (left, right)]  # fmt: skip
    factors = [g.input(name, shape) for name, shape in zip("lr", sizes, strict=True)]
    model = g.model(g.op("Einsum", *factors, equation=equation))
    result = checked(model, feeds(equation))
    assert "Einsum" not in op_types(result.model)
    assert op_types(result.model).count("MatMul") == 1


def test_merged_axes_of_unknown_size_are_explained() -> None:
    g = Graph()
    x, w = g.input("x", ["b", "q", 6]), g.input("w", [6, "h", "k"])
    model = g.model(g.op("Einsum", x, w, equation="bqd,dhk->bqhk"))
    (miss,) = optimize(model).report.misses
    assert "expected numbers where several axes are merged" in miss.reason


def test_a_stretched_axis_is_explained() -> None:
    g = Graph()
    x, w = g.input("x", [2, 3, 1]), g.input("w", [6, 4])
    model = g.model(g.op("Einsum", x, w, equation="bqd,dk->bqk"))
    (miss,) = optimize(model).report.misses
    assert "stretches axis d of one factor" in miss.reason


def test_keys_in_front_of_queries_need_no_turned_scores() -> None:
    g = Graph()
    q, k, v = (g.input(name, ["batch", "length", 4, 8]) for name in "qkv")
    scores = g.op("Mul", g.op("Einsum", k, q, equation="aecd,abcd->acbe"), 0.3)
    weights = g.op("Softmax", scores, axis=3)
    model = g.model(g.op("Relu", g.op("Einsum", weights, v, equation="acbe,aecd->abcd")))
    given = {name: samples(2, 5, 4, 8, seed=i) for i, name in enumerate("qkv")}
    assert "attention" in {fusion.rule for fusion in checked(model, given).report.fusions}
