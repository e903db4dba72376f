"""Tokens are sorted where attentions gain by it, and come back as they were, however masked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx_ir as ir
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from burnish.rewrite.options import OptimizeOptions
from burnish.rewrite.pipeline import optimize
from rewriting import Graph, checked, op_types, run, samples

WIDTH, HEADS = 8, 2
HALF, BOOL, LOWEST = ir.DataType.FLOAT16, ir.DataType.BOOL, -65504.0
MS = "com.microsoft"
GPU = {"target": "cuda", "tolerance": 2e-2}


def weight(*shape: int, seed: int) -> npt.NDArray[Any]:
    return (0.3 * samples(*shape, seed=seed)).astype(np.float16)


def layer(g: Graph, x: ir.Value, bias: ir.Value, seed: int) -> ir.Value:
    q, k, v = (g.op("MatMul", x, weight(WIDTH, WIDTH, seed=seed + i)) for i in range(3))
    q = g.op("Add", q, weight(WIDTH, seed=seed + 3))
    attended = g.op("MultiHeadAttention", q, k, v, None, None, bias, domain=MS, num_heads=HEADS)
    inner = g.op("BiasGelu", g.op("MatMul", attended, weight(WIDTH, 3 * WIDTH, seed=seed + 4)),
                 weight(3 * WIDTH, seed=seed + 5), domain=MS)  # fmt: skip
    back = g.op("MatMul", inner, weight(3 * WIDTH, WIDTH, seed=seed + 6))
    return g.op("SkipLayerNormalization", back, x, weight(WIDTH, seed=seed + 7) + 1,
                weight(WIDTH, seed=seed + 8), domain=MS)  # fmt: skip


def build(
    *, layers: int = 2, fill: float = LOWEST, swapped: bool = False, hidden: bool = False,
    mask: tuple[int | str, ...] = ("batch", 1, 1, "length"), other: bool = False,
) -> ir.Model:  # fmt: skip
    g = Graph(dtype=HALF)
    x = g.input("x", ["batch", "length", WIDTH])
    flags = g.input("mask", mask, BOOL)
    numbers = (fill, 0.0) if swapped else (0.0, fill)
    chosen = g.op("Where", flags, *(np.array(n, np.float16) for n in numbers))
    rows = g.op("Slice", g.op("Shape", x), np.array([1]), np.array([2]))
    spread = g.op("Expand", chosen, g.op("Concat", np.array([1, 1]), rows, np.array([1]), axis=0))
    results = []
    for number in range(layers):
        x = layer(g, x, spread, 10 * number)
        results.append(x)
    extra = [g.op("Relu", spread)] if other else []
    return g.model(*(results if hidden else results[-1:]), *extra)


def feeds(mask: npt.NDArray[np.bool_]) -> Mapping[str, Any]:
    batch, length = mask.shape[0], mask.shape[-1]
    return {"x": samples(batch, length, WIDTH).astype(np.float16), "mask": mask}


def shaped(rows: list[list[int]]) -> npt.NDArray[np.bool_]:
    return np.array(rows, bool)[:, None, None, :]


MASKS = {
    "full": [[1, 1, 1, 1, 1], [1, 1, 1, 1, 1]],
    "right": [[1, 1, 1, 0, 0], [1, 1, 1, 1, 0]],
    "left": [[0, 0, 1, 1, 1], [0, 1, 1, 1, 1]],
    "holes": [[1, 0, 1, 0, 1], [0, 1, 0, 1, 0]],
    "one": [[0, 0, 1, 0, 0], [0, 0, 0, 0, 1]],
}


@pytest.mark.parametrize("mask", list(MASKS))
def test_an_encoder_with_a_mask_is_sorted(mask: str) -> None:
    result = checked(build(), feeds(shaped(MASKS[mask])), **GPU)
    assert [fusion.rule for fusion in result.report.fusions].count("attention-lengths") == 1
    assert "Expand" not in op_types(result.model)
    heads = [node for node in result.model.graph if node.op_type == "MultiHeadAttention"]
    assert all(len(node.inputs) == 5 and node.inputs[4] is not None for node in heads)


def test_a_mask_that_names_what_to_leave_out_is_one_too() -> None:
    kept = shaped(MASKS["holes"])
    result = checked(build(swapped=True), feeds(~kept), **GPU)
    assert "Not" in op_types(result.model)


@settings(max_examples=15, deadline=None)
@given(data=st.data(), batch=st.integers(1, 4), length=st.integers(1, 9))
def test_any_mask_that_keeps_something_gives_the_same(
    data: st.DataObject, batch: int, length: int
) -> None:
    row = st.lists(st.integers(0, 1), min_size=length, max_size=length).filter(any)
    rows = data.draw(st.lists(row, min_size=batch, max_size=batch))
    checked(build(), feeds(shaped(rows)), **GPU)


def test_in_a_sample_of_padding_alone_every_key_counts() -> None:
    fed = feeds(shaped([[0, 0, 0, 0, 0], [1, 1, 0, 0, 0]]))
    full = feeds(shaped([[1, 1, 1, 1, 1], [1, 1, 0, 0, 0]]))
    model = optimize(build(), OptimizeOptions(target="cuda")).model
    assert np.array_equal(run(model, fed)[0], run(model, full)[0])


def test_nodes_keep_their_names() -> None:
    before = {node.name for node in build().graph if node.op_type != "Add"}
    after = {node.name for node in optimize(build(), OptimizeOptions(target="cuda")).model.graph}
    gone = {name for name in before - after if name is not None}
    assert {name.split("_")[0] for name in gone} <= {"where", "slice", "shape", "concat", "expand"}


NEAR = {
    "for each query": ({"mask": ("batch", 1, "length", "length")}, "is not a mask of keys"),
    "infinite": ({"fill": -np.inf}, "is not a mask of keys"),
    "weak": ({"fill": -10.0}, "is not a mask of keys"),
    "one layer": ({"layers": 1}, "1 values would have to be sorted and 1 to be put back for 1"),
    "all layers": ({"hidden": True}, "1 values would have to be sorted and 2 to be put back for 2"),
    "other readers": ({"other": True}, "3 nodes read the mask"),
}


@pytest.mark.parametrize("case", list(NEAR))
def test_near_misses_stay_and_say_why(case: str) -> None:
    arguments, reason = NEAR[case]
    result = optimize(build(**arguments), OptimizeOptions(target="cuda"))
    assert "attention-lengths" not in {fusion.rule for fusion in result.report.fusions}
    reasons = [miss.reason for miss in result.report.misses if miss.rule == "attention-lengths"]
    assert reasons
    assert all(reason in found for found in reasons)


def test_where_nothing_is_known_to_be_gained_there_is_no_candidate() -> None:
    result = optimize(build(), OptimizeOptions(target="cpu"))
    assert "attention-lengths" not in {miss.rule for miss in result.report.misses}
    assert "attention-lengths" not in {fusion.rule for fusion in result.report.fusions}


def test_the_remedies_are_told() -> None:
    def remedy(**arguments: Any) -> str:  # noqa: ANN401
        misses = optimize(build(**arguments), OptimizeOptions(target="cuda")).report.misses
        return next(miss.remedy for miss in misses if miss.rule == "attention-lengths")

    assert remedy(fill=-np.inf) == (
        "mask keys alone, with torch.finfo(dtype).min: lengths are faster than a bias here"
    )
    assert remedy(hidden=True) == (
        "do not ask the model for the results of its layers: output_hidden_states=False"
    )
    assert remedy(other=True) == "none: the mask would have to be computed in both forms"
