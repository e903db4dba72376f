"""Attention fuses in every spelling, and comes out the same, whatever is masked."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx_ir as ir
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from burnish.rewrite.options import Operators, OptimizeOptions
from burnish.rewrite.pipeline import optimize
from rewriting import Graph, checked, op_types, run, samples

HEADS, SIZE = 4, 8
CAUSAL = np.tril(np.ones((1, 1, 5, 8), bool))
LOWEST = float(np.finfo(np.float32).min)
BOOL = ir.DataType.BOOL
Array = npt.NDArray[Any]
Body = Callable[[Graph, ir.Value, ir.Value, ir.Value, ir.Value], ir.Value]
SPLIT = np.array([0, 0, HEADS, SIZE], np.int64)
JOIN = np.array([0, 0, HEADS * SIZE], np.int64)


def heads(g: Graph, x: ir.Value) -> ir.Value:
    return g.op("Transpose", g.op("Reshape", x, SPLIT), perm=[0, 2, 1, 3])


def product(g: Graph, q: ir.Value, k: ir.Value) -> ir.Value:
    return g.op("MatMul", q, g.op("Transpose", k, perm=[0, 1, 3, 2]))


def scaled(g: Graph, q: ir.Value, k: ir.Value) -> ir.Value:
    return g.op("Div", product(g, q, k), math.sqrt(SIZE))


def masked(g: Graph, mask: ir.Value, fill: float = LOWEST) -> ir.Value:
    return g.op("Where", mask, 0.0, fill)


def weigh(g: Graph, scores: ir.Value, v: ir.Value) -> ir.Value:
    return g.op("MatMul", g.op("Softmax", scores, axis=-1), v)


def guarded(g: Graph, scores: ir.Value, v: ir.Value) -> ir.Value:
    weights = g.op("Softmax", scores, axis=-1)
    return g.op("MatMul", g.op("Where", g.op("IsNaN", weights), 0.0, weights), v)


def joined(g: Graph, x: ir.Value) -> ir.Value:
    return g.op("Reshape", g.op("Transpose", x, perm=[0, 2, 1, 3]), JOIN)


def build(body: Body, *, mask: list[int | str] | None = None, opset: int = 17) -> ir.Model:
    g = Graph(opset=opset)
    parts = [heads(g, g.input(name, ["batch", length, HEADS * SIZE])) for name, length in
             (("q", "rows"), ("k", "columns"), ("v", "columns"))]  # fmt: skip
    m = g.input("mask", mask or ["batch", 1, 1, "columns"], BOOL)
    return g.model(joined(g, body(g, parts[0], parts[1], parts[2], m)))


def feeds(
    shape: tuple[int, ...] = (2, 1, 1, 6), *, batch: int = 2, rows: int = 5
) -> dict[str, Any]:
    mask = np.random.default_rng(3).random(shape) > 0.4
    mask.reshape(-1)[0] = False
    mask[..., -1] = True
    columns, width = shape[-1], HEADS * SIZE
    return {"q": samples(batch, rows, width), "k": samples(batch, columns, width, seed=1),
            "v": samples(batch, columns, width, seed=2), "mask": mask}  # fmt: skip


def fix(model: ir.Model, sizes: Mapping[str, int]) -> None:
    """Give numbers to some of the named axes of the inputs."""
    for value in model.graph.inputs:
        names = [dim if isinstance(dim, int) else dim.value for dim in value.shape or ()]
        value.shape = ir.Shape([sizes.get(str(name), name) for name in names])


SPELLINGS: dict[str, Body] = {
    "divided, added": lambda g, q, k, v, m: weigh(g, g.op("Add", scaled(g, q, k), masked(g, m)), v),
    "mask first": lambda g, q, k, v, m: weigh(g, g.op("Add", masked(g, m), scaled(g, q, k)), v),
    "multiplied": lambda g, q, k, v, m: weigh(
        g, g.op("Add", g.op("Mul", product(g, q, k), 0.25), masked(g, m)), v
    ),
    "scale first": lambda g, q, k, v, m: weigh(
        g, g.op("Add", g.op("Mul", 0.25, product(g, q, k)), masked(g, m)), v
    ),
    "scale on q": lambda g, q, k, v, m: weigh(
        g, g.op("Add", product(g, g.op("Div", q, 3.0), k), masked(g, m)), v
    ),
    "roots on q and k": lambda g, q, k, v, m: weigh(
        g,
        g.op(
            "Add",
            g.op(
                "MatMul",
                g.op("Mul", q, 0.6),
                g.op("Mul", g.op("Transpose", k, perm=[0, 1, 3, 2]), 0.6),
            ),
            masked(g, m),
        ),
        v,
    ),
    "no scale": lambda g, q, k, v, m: weigh(g, g.op("Add", product(g, q, k), masked(g, m)), v),
    "filled by Where": lambda g, q, k, v, m: weigh(g, g.op("Where", m, scaled(g, q, k), LOWEST), v),
    "filled where not": lambda g, q, k, v, m: weigh(
        g, g.op("Where", g.op("Not", m), LOWEST, scaled(g, q, k)), v
    ),
    "filled with -10000 by a table": lambda g, q, k, v, m: weigh(
        g,
        g.op(
            "Where",
            g.op("Cast", g.op("Slice", CAUSAL, *(np.array([i]) for i in (0, 6, 3, 1))), to=9),
            scaled(g, q, k),
            -10000.0,
        ),
        v,
    ),
    "minus infinity": lambda g, q, k, v, m: weigh(
        g, g.op("Add", scaled(g, q, k), masked(g, m, -math.inf)), v
    ),
    "guarded": lambda g, q, k, v, m: guarded(
        g, g.op("Add", scaled(g, q, k), masked(g, m, -math.inf)), v
    ),
    "taken away": lambda g, q, k, v, m: weigh(
        g, g.op("Sub", scaled(g, q, k), g.op("Where", m, 0.0, -LOWEST)), v
    ),
    "as TensorFlow": lambda g, q, k, v, m: weigh(
        g,
        g.op(
            "Add",
            g.op("Mul", product(g, q, k), 0.35),
            g.op("Mul", g.op("Sub", 1.0, g.op("Cast", m, to=1)), -10000.0),
        ),
        v,
    ),
    "two biases": lambda g, q, k, v, m: weigh(
        g,
        g.op(
            "Add",
            g.op("Add", scaled(g, q, k), masked(g, m)),
            g.constant(samples(1, HEADS, 5, 6, seed=9)),
        ),
        v,
    ),
    "positive axis": lambda g, q, k, v, m: g.op(
        "MatMul", g.op("Softmax", g.op("Add", scaled(g, q, k), masked(g, m)), axis=3), v
    ),
    "floored": lambda g, q, k, v, m: weigh(
        g, g.op("Max", g.op("Add", scaled(g, q, k), masked(g, m)), LOWEST), v
    ),
    "scaled after the mask": lambda g, q, k, v, m: weigh(
        g, g.op("Mul", g.op("Add", product(g, q, k), masked(g, m, -1e35)), 0.3), v
    ),
    "no mask": lambda g, q, k, v, m: weigh(g, scaled(g, q, k), v),
    "merged for the transpose": lambda g, q, k, v, m: weigh(
        g,
        g.op(
            "MatMul",
            q,
            g.op(
                "Reshape",
                g.op(
                    "Transpose",
                    g.op("Reshape", k, np.array([-1, 6, SIZE], np.int64)),
                    perm=[0, 2, 1],
                ),
                np.array([-1, HEADS, SIZE, 6], np.int64),
            ),
        ),
        v,
    ),
}


def fused(model: ir.Model) -> int:
    """Return how many attentions a model has."""
    return sum(node.op_type in ("Attention", "MultiHeadAttention") for node in model.graph)


@pytest.mark.parametrize("ops", ["auto", "contrib"])
@pytest.mark.parametrize("name", SPELLINGS)
def test_every_spelling_fuses_to_the_same_numbers(name: str, ops: str) -> None:
    model = build(SPELLINGS[name])
    if name in ("merged for the transpose", "two biases", "filled with -10000 by a table"):
        fix(model, {"rows": 5, "columns": 6})
    result = checked(model, feeds(), ops=ops)
    assert "Softmax" not in op_types(result.model)
    assert fused(result.model) == 1
    assert result.report.fusion_counts["attention"] == 1


@pytest.mark.parametrize(
    ("rows", "mask", "ops", "expected"),
    [("rows", "no mask", "auto", "MultiHeadAttention"), (64, "no mask", "auto", "Attention"),
     (512, "no mask", "auto", "MultiHeadAttention"), ("rows", "guarded", "auto", "Attention"),
     ("rows", "guarded", "contrib", "MultiHeadAttention")],
)  # fmt: skip
def test_the_faster_operator_is_written(
    rows: int | str, mask: str, ops: Operators, expected: str
) -> None:
    model = build(SPELLINGS[mask])
    if isinstance(rows, int):
        fix(model, {"rows": rows})
    assert expected in op_types(optimize(model, OptimizeOptions(ops=ops)).model)


def test_heads_are_read_joined() -> None:
    result = checked(build(SPELLINGS["no mask"]), feeds())
    assert op_types(result.model) == ["MultiHeadAttention"]


@pytest.mark.parametrize(
    "shape",
    [["batch", 1, "rows", "columns"], [1, 1, "rows", "columns"], ["rows", "columns"],
     ["batch", HEADS, "rows", "columns"], ["columns"], [1, HEADS, 1, "columns"]],
)  # fmt: skip
@pytest.mark.parametrize("fill", [LOWEST, -math.inf])
@pytest.mark.parametrize("guard", [False, True])
def test_masks_of_all_shapes_keep_their_meaning(
    shape: list[int | str], fill: float, guard: bool
) -> None:
    ending = guarded if guard else weigh
    model = build(
        lambda g, q, k, v, m: ending(g, g.op("Add", scaled(g, q, k), masked(g, m, fill)), v),
        mask=shape,
    )
    sizes = tuple({"batch": 2, "rows": 5, "columns": 6}.get(str(size), size) for size in shape)
    given = feeds(tuple(int(size) for size in sizes))
    for ops in ("auto", "contrib"):
        assert fused(checked(model, given, ops=ops).model) == 1


@pytest.mark.parametrize("ops", ["auto", "contrib"])
@pytest.mark.parametrize("name", ["divided, added", "filled by Where", "guarded", "minus infinity"])
def test_rows_that_are_masked_throughout_come_out_as_before(name: str, ops: Operators) -> None:
    model = build(SPELLINGS[name])
    given = feeds()
    given["mask"][1] = False
    result = optimize(model, OptimizeOptions(ops=ops)).model
    assert fused(result) == 1
    expected, found = run(model, given)[0], run(result, given)[0]
    np.testing.assert_allclose(found, expected, rtol=2e-5, atol=2e-5)
    assert np.isnan(expected).any() == (name == "minus infinity")


def _padded(side: str) -> Mapping[str, Array]:
    given = feeds()
    mask = np.ones((2, 1, 1, 6), bool)
    mask[0, ..., {"left": slice(0, 2), "right": slice(4, 6), "hole": slice(2, 4)}[side]] = False
    return {**given, "mask": mask}


@pytest.mark.parametrize("side", ["left", "right", "hole"])
def test_no_padding_side_is_assumed(side: str) -> None:
    checked(build(SPELLINGS["guarded"]), _padded(side))


@pytest.mark.parametrize("fill", [-65504.0, -math.inf])
def test_half_precision_keeps_rows_that_are_masked_throughout(fill: float) -> None:
    g = Graph(dtype=ir.DataType.FLOAT16)
    q, k, v = (g.input(name, ["batch", HEADS, "length", SIZE]) for name in "qkv")
    mask = g.input("mask", ["batch", 1, 1, "length"], BOOL)
    scores = g.op("Add", g.op("Mul", product(g, q, k), 0.35), masked(g, mask, fill))
    model = g.model(guarded(g, scores, v))
    given: dict[str, Any] = {
        name: samples(2, HEADS, 5, SIZE, seed=i, dtype=np.float16) for i, name in enumerate("qkv")
    }
    given["mask"] = np.array([[True, True, False, True, True], [False] * 5])[:, None, None]
    assert fused(checked(model, given, tolerance=4e-3).model) == 1


def test_sizes_may_change_from_run_to_run() -> None:
    model = build(SPELLINGS["divided, added"])
    for batch, rows, columns in ((1, 1, 1), (3, 7, 2), (2, 1, 9)):
        checked(model, feeds((batch, 1, 1, columns), batch=batch, rows=rows))


def test_a_custom_scale_is_kept() -> None:
    model = build(lambda g, q, k, v, m: weigh(g, g.op("Mul", product(g, q, k), 1.7), v))
    fused = next(iter(checked(model, feeds()).model.graph))
    assert fused.attributes["scale"].as_float() == pytest.approx(1.7)


@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_random_respellings_fuse(data: st.DataObject) -> None:
    flip = data.draw(st.lists(st.booleans(), min_size=4, max_size=4))
    shares = data.draw(st.lists(st.floats(0.3, 3.0), min_size=3, max_size=3))

    def both(g: Graph, op_type: str, a: ir.Value, b: ir.Value | float, swap: bool) -> ir.Value:
        return g.op(op_type, b, a) if swap else g.op(op_type, a, b)

    def body(g: Graph, q: ir.Value, k: ir.Value, v: ir.Value, m: ir.Value) -> ir.Value:
        turned = g.op("Transpose", k, perm=[0, 1, 3, 2])
        scores = g.op("MatMul", both(g, "Mul", q, shares[0], flip[0]),
                      both(g, "Mul", turned, shares[1], flip[1]))  # fmt: skip
        scores = both(g, "Mul", scores, shares[2], flip[2])
        return guarded(g, both(g, "Add", scores, masked(g, m, -math.inf), flip[3]), v)

    result = checked(build(body), feeds(), tolerance=1e-4)
    assert fused(result.model) == 1


def repeated(g: Graph, x: ir.Value, length: str) -> ir.Value:
    wide = g.op("Unsqueeze", x, np.array([2], np.int64))
    wide = g.op("Expand", wide, np.array([1, 1, 2, 1, 1], np.int64))
    return g.op("Reshape", wide, np.array([0, HEADS, -1, SIZE], np.int64))


def grouped(fill: float, *, guard: bool, opset: int = 17) -> ir.Model:
    g = Graph(opset=opset)
    q = heads(g, g.input("q", ["batch", "rows", HEADS * SIZE]))
    k, v = (g.input(name, ["batch", 2, "columns", SIZE]) for name in "kv")
    mask = g.input("mask", ["batch", 1, 1, "columns"], BOOL)
    scores = scaled(g, q, repeated(g, k, "columns"))
    ending = guarded if guard else weigh
    done = ending(g, g.op("Add", scores, masked(g, mask, fill)), repeated(g, v, "columns"))
    return g.model(joined(g, done))


@pytest.mark.parametrize(("fill", "guard"), [(LOWEST, False), (LOWEST, True), (-math.inf, True)])
def test_keys_of_groups_are_not_repeated(fill: float, guard: bool) -> None:
    model = grouped(fill, guard=guard)
    given = {**feeds(), "k": samples(2, 2, 6, SIZE, seed=5), "v": samples(2, 2, 6, SIZE, seed=6)}
    given["mask"][1] = False
    expected = run(model, given)[0]
    result = optimize(model)
    found = run(result.model, given)[0]
    np.testing.assert_allclose(found, expected, rtol=2e-5, atol=2e-5)
    assert "Attention" in op_types(result.model)
    repeats = [node for node in result.model.graph if node.op_type == "Expand"
               and len(node.outputs[0].shape or ()) == 5]  # fmt: skip
    assert repeats == []


def test_groups_whose_empty_rows_are_not_numbers_keep_them() -> None:
    model = grouped(-math.inf, guard=False)
    given = {**feeds(), "k": samples(2, 2, 6, SIZE, seed=5), "v": samples(2, 2, 6, SIZE, seed=6)}
    given["mask"][1] = False
    result = optimize(model)
    assert "MultiHeadAttention" in op_types(result.model)
    np.testing.assert_allclose(
        run(result.model, given)[0], run(model, given)[0], rtol=2e-5, atol=2e-5
    )


def test_one_head_of_keys_serves_all() -> None:
    g = Graph()
    q = heads(g, g.input("q", ["batch", "rows", HEADS * SIZE]))
    k, v = (g.input(name, ["batch", 1, "columns", SIZE]) for name in "kv")
    model = g.model(joined(g, weigh(g, scaled(g, q, k), v)))
    given = {"q": samples(2, 5, HEADS * SIZE), "k": samples(2, 1, 6, SIZE, seed=1),
             "v": samples(2, 1, 6, SIZE, seed=2)}  # fmt: skip
    assert "Attention" in op_types(checked(model, given).model)


def test_a_cache_stays_an_output() -> None:
    g = Graph()
    q = heads(g, g.input("q", ["batch", "rows", HEADS * SIZE]))
    past, new = (g.input(name, ["batch", HEADS, name, SIZE]) for name in ("past", "rows"))
    key = g.op("Concat", past, new, axis=2)
    model = g.model(joined(g, weigh(g, scaled(g, q, key), key)), key)
    given = {"q": samples(2, 3, HEADS * SIZE), "past": samples(2, HEADS, 4, SIZE, seed=1),
             "rows": samples(2, HEADS, 3, SIZE, seed=2)}  # fmt: skip
    assert fused(checked(model, given).model) == 1


def test_a_batch_of_single_heads_fuses() -> None:
    g = Graph()
    q, k, v = (g.input(name, ["batch", "length", SIZE]) for name in "qkv")
    mask = g.input("mask", ["batch", 1, "length"], BOOL)
    scores = g.op("Mul", g.op("MatMul", q, g.op("Transpose", k, perm=[0, 2, 1])), 0.2)
    model = g.model(weigh(g, g.op("Where", mask, scores, LOWEST), v))
    given = {name: samples(3, 4, SIZE, seed=i) for i, name in enumerate("qkv")}
    result = checked(model, {**given, "mask": np.ones((3, 1, 4), bool)})
    assert "MultiHeadAttention" in op_types(result.model)


def test_leading_axes_are_merged() -> None:
    g = Graph()
    q, k, v = (g.input(name, ["batch", 3, HEADS, 6, SIZE]) for name in "qkv")
    scores = g.op("MatMul", q, g.op("Transpose", k, perm=[0, 1, 2, 4, 3]))
    scores = g.op("Add", scores, g.constant(samples(3, 1, 6, 6, seed=8)))
    model = g.model(weigh(g, scores, v))
    given = {name: samples(2, 3, HEADS, 6, SIZE, seed=i) for i, name in enumerate("qkv")}
    assert fused(checked(model, given).model) == 1


def test_heads_merged_into_the_batch_fuse() -> None:
    g = Graph()
    q, k, v = (g.input(name, ["batch", HEADS, "length", SIZE]) for name in "qkv")
    mask = g.input("mask", ["batch", 1, 1, "length"], BOOL)
    merged = [g.op("Reshape", x, np.array([-1, 6, SIZE], np.int64)) for x in (q, k, v)]
    scores = g.op("MatMul", merged[0], g.op("Transpose", merged[1], perm=[0, 2, 1]))
    scores = g.op("Reshape", scores, np.array([-1, HEADS, 6, 6], np.int64))
    weights = g.op("Softmax", g.op("Add", scores, masked(g, mask)), axis=-1)
    weights = g.op("Reshape", weights, np.array([-1, 6, 6], np.int64))
    model = g.model(g.op("MatMul", weights, merged[2]))
    fix(model, {"length": 6})
    given = {name: samples(2, HEADS, 6, SIZE, seed=i) for i, name in enumerate("qkv")}
    result = checked(model, {**given, "mask": _padded("left")["mask"]})
    assert fused(result.model) == 1


def test_windows_with_a_mask_for_each_fuse() -> None:
    g = Graph()
    q, k, v = (g.input(name, ["windows", HEADS, 6, SIZE]) for name in "qkv")
    scores = g.op("Reshape", scaled(g, q, k), np.array([-1, 3, HEADS, 6, 6], np.int64))
    scores = g.op("Add", scores, g.constant(samples(3, 1, 6, 6, seed=8)[None]))
    scores = g.op("Reshape", scores, np.array([-1, HEADS, 6, 6], np.int64))
    model = g.model(weigh(g, scores, v))
    for value in model.graph.inputs:
        value.shape = ir.Shape([6, HEADS, 6, SIZE])
    given = {name: samples(6, HEADS, 6, SIZE, seed=i) for i, name in enumerate("qkv")}
    assert fused(checked(model, given).model) == 1


def test_biases_of_rows_and_columns_of_an_image_fuse() -> None:
    g = Graph()
    q, k, v = (g.input(name, ["heads", 6, SIZE]) for name in "qkv")
    scores = g.op("MatMul", q, g.op("Transpose", k, perm=[0, 2, 1]))
    scores = g.op("Reshape", scores, np.array([-1, 2, 3, 2, 3], np.int64))
    scores = g.op("Add", scores, g.input("down", ["heads", 2, 3, 2, 1]))
    scores = g.op("Add", scores, g.input("across", ["heads", 2, 3, 1, 3]))
    model = g.model(weigh(g, g.op("Reshape", scores, np.array([-1, 6, 6], np.int64)), v))
    given = {name: samples(4, 6, SIZE, seed=i) for i, name in enumerate("qkv")}
    given |= {"down": samples(4, 2, 3, 2, 1, seed=8), "across": samples(4, 2, 3, 1, 3, seed=9)}
    assert fused(checked(model, given).model) == 1


def test_a_length_that_no_input_has_is_read_from_the_queries() -> None:
    g = Graph()
    x = g.input("x", ["batch", "samples", HEADS * SIZE])
    frames = g.op("Slice", x, np.array([0]), np.array([2**62]), np.array([1]), np.array([2]))
    frames.shape = ir.Shape(["batch", "(samples + 1)//2", HEADS * SIZE])
    q, k, v = (heads(g, g.op(name, frames)) for name in ("Relu", "Abs", "Neg"))
    loud = g.op("Unsqueeze", g.op("ReduceMax", frames, axes=[-1], keepdims=0), np.array([1, 2]))
    model = g.model(joined(g, weigh(g, g.op("Add", scaled(g, q, k), loud), v)))
    assert fused(checked(model, {"x": samples(2, 7, HEADS * SIZE)}).model) == 1


@pytest.mark.parametrize("how", range(32))
def test_factors_that_fused_products_turn_are_read(how: int) -> None:
    """ONNX Runtime writes such products at its extended level."""
    turns = [bool(how & 1 << bit) for bit in range(5)]

    def given(g: Graph, name: str, length: int, *, swapped: bool, rows_first: bool) -> ir.Value:
        shape: list[int | str] = [2, HEADS, *((SIZE, length) if swapped else (length, SIZE))]
        order = [2, 0, 1, 3] if rows_first else [0, 1, 2, 3]
        return g.input(name, [shape[axis] for axis in order])

    g = Graph()
    q = given(g, "q", 5, swapped=turns[0], rows_first=turns[1])
    k = given(g, "k", 6, swapped=not turns[2], rows_first=turns[3])
    v = given(g, "v", 6, swapped=False, rows_first=turns[4])
    flags = {
        "transA": turns[0],
        "transBatchA": turns[1],
        "transB": turns[2],
        "transBatchB": turns[3],
    }
    scores = g.op("FusedMatMul", q, k, domain="com.microsoft", alpha=0.3,
                  **{name: int(flag) for name, flag in flags.items()})  # fmt: skip
    weights = g.op("Softmax", scores, axis=-1)
    out = g.op("FusedMatMul", weights, v, domain="com.microsoft", transBatchB=int(turns[4]),
               alpha=0.7 if turns[0] else 1.0)  # fmt: skip
    model = g.model(out)
    model.opset_imports["com.microsoft"] = 1
    feed = {
        value.name or "": samples(*[int(str(size)) for size in value.shape or ()], seed=seed)
        for seed, value in enumerate(model.graph.inputs)
    }
    assert fused(checked(model, feed).model) == 1


def test_weights_whose_shape_is_read_fuse() -> None:
    model = build(
        lambda g, q, k, v, m: (
            lambda w: g.op(
                "Reshape",
                g.op("MatMul", w, v),
                g.op("Concat",
                     g.op("Slice", g.op("Shape", w), np.array([0]), np.array([1])),
                     np.array([HEADS]),
                     g.op("Slice", g.op("Shape", w), np.array([-2]), np.array([-1])),
                     np.array([SIZE]), axis=0),
            )
        )(g.op("Softmax", g.op("Add", scaled(g, q, k), masked(g, m)), axis=-1))
    )  # fmt: skip
    assert fused(checked(model, feeds()).model) == 1


@pytest.mark.parametrize("target", ["cpu", "cuda"])
def test_the_standard_operator_is_written_when_asked_for(target: str) -> None:
    result = checked(build(SPELLINGS["guarded"]), feeds(), ops="standard", target=target)
    assert ("Where" in op_types(result.model)[-1:]) == (target == "cuda")
    assert "Attention" in op_types(result.model)
    assert all(node.domain == "" for node in result.model.graph)


@pytest.mark.parametrize(("inner", "outer"), [(2.0, 2.0), (3.0, 2.0), (-3.0, -2.0), (3.0, 1.0)])
def test_a_soft_cap_is_kept(inner: float, outer: float) -> None:
    model = build(
        lambda g, q, k, v, m: weigh(
            g,
            g.op("Add", g.op("Mul", g.op("Tanh", g.op("Div", scaled(g, q, k), inner)), outer),
                 masked(g, m)),
            v,
        )
    )  # fmt: skip
    result = checked(model, feeds())
    fused = next(node for node in result.model.graph if node.op_type == "Attention")
    assert fused.attributes["softcap"].as_float() == pytest.approx(abs(outer))


NEAR_MISSES: dict[str, tuple[Body, str]] = {
    "weights are read elsewhere": (
        lambda g, q, k, v, m: (
            lambda w: g.op("Add", g.op("MatMul", w, v), g.op("ReduceMax", w, axes=[-1]))
        )(g.op("Softmax", scaled(g, q, k), axis=-1)),
        "are read by MatMul",
    ),
    "weights of two values": (
        lambda g, q, k, v, m: (
            lambda w: g.op("MatMul", w, g.op("MatMul", w, v))
        )(g.op("Softmax", scaled(g, q, k), axis=-1)),
        "are used twice, by MatMul",
    ),
    "scores are read elsewhere": (
        lambda g, q, k, v, m: (
            lambda s: g.op("Add", weigh(g, s, v), g.op("ReduceMax", s, axes=[-1]))
        )(product(g, q, k)),
        "must stay: the value",
    ),
    "softmax over another axis": (
        lambda g, q, k, v, m: g.op("MatMul", g.op("Softmax", scaled(g, q, k), axis=2), v),
        "runs over axis 2, expected the last one",
    ),
    "a mask that is too mild": (
        lambda g, q, k, v, m: weigh(g, g.op("Where", m, scaled(g, q, k), -100.0), v),
        "puts -100 in place of masked scores",
    ),
    "a table that masks the first key": (
        lambda g, q, k, v, m: weigh(g, g.op("Where", CAUSAL[..., 1:7], scaled(g, q, k), -1e4), v),
        "puts -10000 in place of masked scores",
    ),
    "a mask behind the table": (
        lambda g, q, k, v, m: weigh(
            g, g.op("Add", g.op("Where", CAUSAL[..., :6], scaled(g, q, k), -1e4), masked(g, m)), v
        ),
        "puts -10000 in place of masked scores",
    ),
    "a fill that is computed": (
        lambda g, q, k, v, m: weigh(
            g, g.op("Where", m, scaled(g, q, k), g.op("ReduceMax", q)), v
        ),
        "expected a constant",
    ),
    "an activation in between": (
        lambda g, q, k, v, m: weigh(g, g.op("Clip", scaled(g, q, k), -1.0, 1.0), v),
        "stands between the product and the softmax",
    ),
    "negative scores": (
        lambda g, q, k, v, m: weigh(g, g.op("Sub", masked(g, m), scaled(g, q, k)), v),
        "takes the scores away",
    ),
    "weights that weigh nothing": (
        lambda g, q, k, v, m: g.op(
            "MatMul",
            g.op("Relu", g.op("Softmax", scaled(g, q, k), axis=-1)),
            v,
        ),
        "are read by Relu",
    ),
    "a limit that matters": (
        lambda g, q, k, v, m: weigh(g, g.op("Max", scaled(g, q, k), -1.0), v),
        "raises scores",
    ),
    "a bias before the cap": (
        lambda g, q, k, v, m: weigh(
            g,
            g.op("Mul", g.op("Tanh", g.op("Div", g.op("Add", product(g, q, k), masked(g, m)),
                                          3.0)), 3.0),
            v,
        ),
        "before they are capped",
    ),
    "a negative scale": (
        lambda g, q, k, v, m: weigh(g, g.op("Mul", product(g, q, k), -0.25), v),
        "is multiplied by -0.25, expected more than 0",
    ),
    "a scale of nothing": (
        lambda g, q, k, v, m: weigh(g, g.op("Mul", product(g, q, k), 0.0), v),
        "is multiplied by 0, expected more than 0",
    ),
    "two caps": (
        lambda g, q, k, v, m: weigh(
            g, g.op("Mul", g.op("Tanh", g.op("Tanh", product(g, q, k))), 2.0), v
        ),
        "bends the scores again",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", NEAR_MISSES)
def test_near_misses_stay_and_are_explained(name: str) -> None:
    body, reason = NEAR_MISSES[name]
    result = optimize(build(body))
    assert "Softmax" in op_types(result.model)
    reasons = [miss.reason for miss in result.report.misses if miss.rule == "attention"]
    assert any(reason in found for found in reasons), reasons


def test_half_precision_has_no_lowest_number_that_swallows_scores() -> None:
    g = Graph()
    half = ir.DataType.FLOAT16
    q, k, v = (g.input(name, ["batch", HEADS, "length", SIZE], half) for name in "qkv")
    m = g.input("m", ["batch", 1, 1, "length"], BOOL)
    filled = g.op("Where", m, product(g, q, k), np.float16(-65504))
    (miss,) = [
        miss
        for miss in optimize(g.model(weigh(g, filled, v))).report.misses
        if miss.rule == "attention"
    ]
    assert "in place of masked scores of FLOAT16, expected -inf: at -65504" in miss.reason
    assert miss.remedy == "mask with -inf, behind a guard against NaN, in the source"


def test_a_mask_of_unknown_length_is_refused() -> None:
    model = build(SPELLINGS["divided, added"], mask=["other", 1, 1, "elsewhere"])
    result = optimize(model)
    assert "Softmax" in op_types(result.model)
    (miss,) = [miss for miss in result.report.misses if miss.rule == "attention"]
    assert miss.reason == (
        "axis -4 of the mask or bias 'v9_0' is other, not proven to be 1 or that of the scores,"
        " batch"
    )
    assert miss.remedy == (
        "give the axes of the graph's inputs names, the same for the same size, or fix their sizes"
    )


def test_weights_that_are_cleared_by_a_mask_of_unknown_length_are_refused() -> None:
    def body(g: Graph, q: ir.Value, k: ir.Value, v: ir.Value, m: ir.Value) -> ir.Value:
        weights = g.op("Softmax", g.op("Where", m, scaled(g, q, k), LOWEST), axis=-1)
        return g.op("MatMul", g.op("Where", m, weights, 0.0), v)

    result = optimize(build(body, mask=["batch", 1, 1, "elsewhere"]))
    (miss,) = [miss for miss in result.report.misses if miss.rule == "attention"]
    assert miss.reason == (
        "axis -1 of the mask or bias 'mask' is elsewhere, not proven to be 1 or that of the scores,"
        " columns"
    )


def test_weights_that_something_else_is_put_in_place_of_are_refused() -> None:
    def body(g: Graph, q: ir.Value, k: ir.Value, v: ir.Value, m: ir.Value) -> ir.Value:
        weights = g.op("Softmax", g.op("Where", m, scaled(g, q, k), LOWEST), axis=-1)
        return g.op("MatMul", g.op("Where", m, weights, 0.5), v)

    result = optimize(build(body, mask=["batch", 1, 1, "columns"]))
    (miss,) = [miss for miss in result.report.misses if miss.rule == "attention"]
    assert "and that it is 0 and stretches none of their axes cannot be proven" in miss.reason


def test_weights_that_choose_one_value_are_refused() -> None:
    """As GroupViT assigns each pixel to one group, with a gradient for all."""

    def body(g: Graph, q: ir.Value, k: ir.Value, v: ir.Value, _: ir.Value) -> ir.Value:
        weights = g.op("Softmax", scaled(g, q, k), axis=-1)
        best = g.op("ArgMax", weights, axis=-1, keepdims=1)
        chosen = g.op("Sub", g.op("Cast", best, to=1), weights)
        return g.op("MatMul", g.op("Add", chosen, weights), v)

    (miss,) = [miss for miss in optimize(build(body)).report.misses if miss.rule == "attention"]
    assert "are read by ArgMax" in miss.reason
    assert miss.reason.endswith("expected a product with values")
    assert miss.remedy == "none: a fused operator gives no weights to anybody else"


def test_weights_whose_axes_are_moved_in_an_unknown_way_are_refused() -> None:
    g = Graph()
    q, k, v = (g.input(name, ["batch", HEADS, "length", SIZE]) for name in "qkv")
    shape = g.input("shape", [4], ir.DataType.INT64)
    weights = g.op("Reshape", g.op("Softmax", scaled(g, q, k), axis=-1), shape)
    result = optimize(g.model(g.op("MatMul", weights, v)))
    (miss,) = [miss for miss in result.report.misses if miss.rule == "attention"]
    assert "are read by Reshape" in miss.reason
    assert miss.remedy == (
        "give the axes of the graph's inputs names, so that reshapes can be followed"
    )


def test_queries_and_keys_of_different_batches_are_refused() -> None:
    g = Graph()
    q, k = (g.input(name, [f"{name}_batch", 2, "length", SIZE]) for name in "qk")
    result = optimize(g.model(weigh(g, scaled(g, q, k), k)))
    (miss,) = [miss for miss in result.report.misses if miss.rule == "attention"]
    assert "queries 'q' of (q_batch, 2, length), keys 'k' of (k_batch, 2, length)" in miss.reason


def test_a_number_of_heads_that_is_left_over_is_told_as_unknown() -> None:
    """As in JetMoE after onnxslim, which states how many rows experts give, of every batch."""
    g = Graph()
    x, k = g.input("x", [24, 2 * SIZE]), g.input("k", ["batch", 2, "length", SIZE])
    shape = g.op("Shape", k)
    ahead = [g.op("Gather", shape, np.array([axis])) for axis in (0, 2)]
    rows = g.op("Concat", *ahead, np.array([-1, SIZE]), axis=0)
    q = g.op("Transpose", g.op("Reshape", x, rows), perm=[0, 2, 1, 3])
    result = optimize(g.model(weigh(g, scaled(g, q, k), k)))
    (miss,) = [miss for miss in result.report.misses if miss.rule == "attention"]
    assert "of (batch, ?, length), keys 'k' of (batch, 2, length)" in miss.reason
    assert "are not proven to have one batch and number of heads" in miss.reason
    assert miss.remedy == (
        "say how many heads there are where they are split, and give the axes of the graph's"
        " inputs names, the same for the same size"
    )


@pytest.mark.parametrize("factor", [0.5, -3.0, 0.0])
def test_a_factor_of_the_values_is_one_of_the_result(factor: float) -> None:
    model = build(lambda g, q, k, v, m: weigh(g, scaled(g, q, k), g.op("Mul", v, factor)))
    result = checked(model, feeds())
    assert fused(result.model) == 1
    assert "Softmax" not in op_types(result.model)


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        (["columns", SIZE], "have rank 2, expected 3 or more: values of each sample"),
        (None, "are of unknown rank"),
    ],
)
def test_values_that_are_not_one_set_for_each_sample_are_refused(
    values: list[int | str] | None, reason: str
) -> None:
    g = Graph()
    q, k = (g.input(name, ["batch", 2, "columns", SIZE]) for name in "qk")
    v = g.input("v", values or ["columns", SIZE])
    if values is None:
        v.shape = None
    (miss,) = [
        miss
        for miss in optimize(g.model(weigh(g, scaled(g, q, k), v))).report.misses
        if miss.rule == "attention"
    ]
    assert reason in miss.reason


def test_weights_behind_the_values_are_refused() -> None:
    g = Graph()
    q, k, v = (g.input(name, ["batch", 2, "length", SIZE]) for name in "qkv")
    weights = g.op("Softmax", scaled(g, q, k), axis=-1)
    result = optimize(g.model(g.op("MatMul", g.op("Transpose", v, perm=[0, 1, 3, 2]), weights)))
    (miss,) = [miss for miss in result.report.misses if miss.rule == "attention"]
    assert "has the attention weights turned, or behind the values" in miss.reason


def test_a_classifier_is_no_near_miss() -> None:
    g = Graph()
    x = g.input("x", ["batch", SIZE])
    result = optimize(g.model(g.op("Softmax", g.op("MatMul", x, np.ones((SIZE, 3))), axis=-1)))
    assert [miss for miss in result.report.misses if miss.rule == "attention"] == []


@pytest.mark.parametrize("turned_round", [False, True])
@pytest.mark.parametrize("fill", [LOWEST, -np.inf])
def test_weights_that_are_cleared_where_scores_are_masked_fuse(
    fill: float, turned_round: bool
) -> None:
    def body(g: Graph, q: ir.Value, k: ir.Value, v: ir.Value, m: ir.Value) -> ir.Value:
        def chosen(where: ir.Value, then: object, other: object) -> ir.Value:
            if turned_round:
                return g.op("Where", g.op("Not", where), other, then)  # type: ignore[arg-type]
            return g.op("Where", where, then, other)  # type: ignore[arg-type]

        weights = g.op("Softmax", chosen(m, scaled(g, q, k), fill), axis=-1)
        return g.op("MatMul", chosen(m, weights, 0.0), v)

    given = feeds((2, 1, 5, 6))
    given["mask"][0, 0, 2] = False  # a row that is masked throughout
    model = build(body, mask=["batch", 1, "rows", "columns"])
    assert "Softmax" not in op_types(checked(model, given).model)


def test_weights_that_are_cleared_elsewhere_stay_and_are_explained() -> None:
    def body(g: Graph, q: ir.Value, k: ir.Value, v: ir.Value, m: ir.Value) -> ir.Value:
        weights = g.op("Softmax", scaled(g, q, k), axis=-1)
        return g.op("MatMul", g.op("Where", m, weights, 0.0), v)

    result = optimize(build(body, mask=["batch", 1, "rows", "columns"]))
    assert "Softmax" in op_types(result.model)
    (miss,) = [miss for miss in result.report.misses if miss.rule == "attention"]
    assert "are made zero where 'mask' is false" in miss.reason
