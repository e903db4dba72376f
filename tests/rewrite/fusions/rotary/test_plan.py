"""Rotary embeddings fuse, whole or partial, of halves or of neighbours."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx_ir as ir
import pytest

from burnish.rewrite.pipeline import optimize
from rewriting import Graph, checked, op_types, samples

HEADS, SIZE = 3, 8
END = np.array([1 << 62], np.int64)
INVERSE = 1 / 100 ** (np.arange(0, SIZE, 2) / SIZE)
Angles = Callable[[Graph], ir.Value]


def numbers(*items: int) -> npt.NDArray[Any]:
    return np.array(items, np.int64)


def cut(g: Graph, x: ir.Value, start: int, end: npt.NDArray[Any], step: int = 1) -> ir.Value:
    return g.op("Slice", x, numbers(start), end, numbers(-1), numbers(step))


def angles(g: Graph, *, batch: str | int = "batch") -> ir.Value:
    positions = g.input("positions", [batch, "length", 1])
    return g.op("Mul", positions, g.constant(INVERSE))


def halves(g: Graph, x: ir.Value, width: int = SIZE) -> ir.Value:
    first, second = cut(g, x, 0, numbers(width // 2)), cut(g, x, width // 2, END)
    return g.op("Concat", g.op("Neg", second), first, axis=-1)


def turned(g: Graph, x: ir.Value, *, batch: str | int = "batch", axis: int = 1) -> ir.Value:
    once = angles(g, batch=batch)
    both = g.op("Concat", once, once, axis=-1)
    cos, sin = (g.op("Unsqueeze", g.op(name, both), numbers(axis)) for name in ("Cos", "Sin"))
    return g.op("Add", g.op("Mul", x, cos), g.op("Mul", halves(g, x), sin))


def feeds(*, batch: int = 2) -> dict[str, Any]:
    positions = np.random.default_rng(4).integers(0, 50, (batch, 5, 1)).astype(np.float32)
    return {"x": samples(2, HEADS, 5, SIZE), "positions": positions}


def test_halves_are_turned() -> None:
    g = Graph()
    model = g.model(turned(g, g.input("x", ["batch", HEADS, "length", SIZE])))
    result = checked(model, feeds())
    assert op_types(result.model).count("RotaryEmbedding") == 1
    assert "Neg" not in op_types(result.model)


def test_one_row_of_angles_serves_all_samples() -> None:
    g = Graph()
    model = g.model(turned(g, g.input("x", ["batch", HEADS, "length", SIZE]), batch=1))
    result = checked(model, feeds(batch=1))
    assert "RotaryEmbedding" in op_types(result.model)
    assert "Range" not in op_types(result.model)


@pytest.mark.parametrize("batch", ["batch", 1])
def test_the_standard_operator_is_written_when_asked_for(batch: str | int) -> None:
    g = Graph()
    model = g.model(turned(g, g.input("x", ["batch", HEADS, "length", SIZE]), batch=batch))
    result = checked(model, feeds(batch=2 if batch == "batch" else 1), ops="standard")
    assert "RotaryEmbedding" in op_types(result.model)
    assert all(node.domain == "" for node in result.model.graph)


def test_heads_may_come_last() -> None:
    g = Graph()
    x = g.input("x", ["batch", "length", HEADS, SIZE])
    result = checked(g.model(turned(g, x, axis=2)), {**feeds(), "x": samples(2, 5, HEADS, SIZE)})
    assert "RotaryEmbedding" in op_types(result.model)


def test_joined_heads_are_turned_as_they_are() -> None:
    g = Graph()
    whole = g.input("x", ["batch", "length", HEADS * SIZE])
    split = g.op("Reshape", whole, numbers(0, 0, HEADS, SIZE))
    result = turned(g, g.op("Transpose", split, perm=[0, 2, 1, 3]))
    back = g.op("Reshape", g.op("Transpose", result, perm=[0, 2, 1, 3]), numbers(0, 0, -1))
    found = checked(g.model(back), {**feeds(), "x": samples(2, 5, HEADS * SIZE)})
    assert "Transpose" not in op_types(found.model)


def test_what_is_passed_by_is_taken_in() -> None:
    g = Graph()
    x = g.input("x", ["batch", HEADS, "length", SIZE + 4])
    model = g.model(
        g.op("Concat", turned(g, cut(g, x, 0, numbers(SIZE))), cut(g, x, SIZE, END), axis=-1)
    )
    result = checked(model, {**feeds(), "x": samples(2, HEADS, 5, SIZE + 4)})
    fused = next(node for node in result.model.graph if node.op_type == "RotaryEmbedding")
    assert fused.attributes["rotary_embedding_dim"].as_int() == SIZE
    assert fused.inputs[0] is result.model.graph.inputs[0]


def test_neighbours_are_turned() -> None:
    g = Graph()
    x = g.input("x", ["batch", HEADS, "length", SIZE])
    once = g.op("Unsqueeze", angles(g), numbers(-1))
    wide = g.op("Reshape", g.op("Concat", once, once, axis=-1), numbers(0, 0, SIZE))
    cos, sin = (g.op("Unsqueeze", g.op(name, wide), numbers(1)) for name in ("Cos", "Sin"))
    first, second = cut(g, x, 0, END, 2), cut(g, x, 1, END, 2)
    pair = [g.op("Unsqueeze", part, numbers(-1)) for part in (g.op("Neg", second), first)]
    swapped = g.op("Reshape", g.op("Concat", *pair, axis=-1), numbers(0, 0, 0, SIZE))
    model = g.model(g.op("Add", g.op("Mul", swapped, sin), g.op("Mul", cos, x)))
    result = checked(model, feeds())
    fused = next(node for node in result.model.graph if node.op_type == "RotaryEmbedding")
    assert fused.attributes["interleaved"].as_int() == 1


def unbound(g: Graph, x: ir.Value, axis: int, way: str) -> tuple[ir.Value, ir.Value]:
    """Return both elements along an axis of two, as PyTorch's unbind is exported."""
    if way == "Gather":
        one, two = (g.op("Gather", x, np.array(at, np.int64), axis=axis) for at in (0, 1))
        return one, two
    if way == "Slice":
        kept = [g.op("Slice", x, numbers(at), numbers(at + 1), numbers(axis)) for at in (0, 1)]
    else:
        kept = list(g.ops("Split", x, numbers(1, 1), outputs=2, axis=axis))
    first, second = (g.op("Squeeze", part, numbers(axis)) for part in kept)
    return first, second


@pytest.mark.parametrize("way", ["Split", "Slice", "Gather"])
@pytest.mark.parametrize("neighbours", [False, True])
def test_pairs_that_are_unbound_are_turned(neighbours: bool, way: str) -> None:
    """As the transformers of diffusers take them."""
    g = Graph()
    x = g.input("x", ["batch", HEADS, "length", SIZE])
    shape = (0, 0, 0, SIZE // 2, 2) if neighbours else (0, 0, 0, 2, SIZE // 2)
    first, second = unbound(g, g.op("Reshape", x, numbers(*shape)), -1 if neighbours else 3, way)
    once = angles(g)
    if neighbours:
        wide = [g.op("Unsqueeze", part, numbers(-1)) for part in (g.op("Neg", second), first)]
        swapped = g.op("Reshape", g.op("Concat", *wide, axis=-1), numbers(0, 0, 0, SIZE))
        pair = g.op("Unsqueeze", once, numbers(-1))
        both = g.op("Reshape", g.op("Concat", pair, pair, axis=-1), numbers(0, 0, SIZE))
    else:
        swapped = g.op("Concat", g.op("Neg", second), first, axis=-1)
        both = g.op("Concat", once, once, axis=-1)
    cos, sin = (g.op("Unsqueeze", g.op(name, both), numbers(1)) for name in ("Cos", "Sin"))
    model = g.model(g.op("Add", g.op("Mul", x, cos), g.op("Mul", swapped, sin)))
    assert "RotaryEmbedding" in op_types(checked(model, feeds()).model)


@pytest.mark.parametrize(("widths", "fuses"), [((4, 4), True), ((2, 6), True), ((3, 5), False)])
def test_angles_of_several_axes_are_joined_by_whole_pairs(
    widths: tuple[int, int], fuses: bool
) -> None:
    """As pictures are turned by their rows and columns."""
    g = Graph()
    x = g.input("x", ["batch", HEADS, "length", SIZE])
    positions = g.input("positions", ["batch", "length", 1])
    tables = [np.repeat(np.linspace(0.1, 1, 5), 2)[:width] for width in widths]
    if not fuses:
        tables[1] = tables[1][1:].repeat(2)[: widths[1]]
    both = [g.op("Mul", positions, g.constant(table)) for table in tables]
    cos, sin = (
        g.op("Unsqueeze", g.op("Concat", *(g.op(name, part) for part in both), axis=-1), numbers(1))
        for name in ("Cos", "Sin")
    )
    first, second = cut(g, x, 0, END, 2), cut(g, x, 1, END, 2)
    pair = [g.op("Unsqueeze", part, numbers(-1)) for part in (g.op("Neg", second), first)]
    swapped = g.op("Reshape", g.op("Concat", *pair, axis=-1), numbers(0, 0, 0, SIZE))
    model = g.model(g.op("Add", g.op("Mul", swapped, sin), g.op("Mul", cos, x)))
    result = checked(model, feeds())
    assert ("RotaryEmbedding" in op_types(result.model)) == fuses


def test_halves_that_are_computed_apart_are_turned() -> None:
    g = Graph()
    x = g.input("x", ["batch", HEADS, "length", SIZE])
    once = angles(g)
    cos, sin = (g.op("Unsqueeze", g.op(name, once), numbers(1)) for name in ("Cos", "Sin"))
    first, second = g.ops("Split", x, numbers(SIZE // 2, SIZE // 2), outputs=2, axis=-1)
    one = g.op("Sub", g.op("Mul", first, cos), g.op("Mul", second, sin))
    two = g.op("Add", g.op("Mul", second, cos), g.op("Mul", sin, first))
    result = checked(g.model(g.op("Concat", one, two, axis=-1)), feeds())
    assert "RotaryEmbedding" in op_types(result.model)


def tables(g: Graph) -> tuple[ir.Value, ir.Value]:
    once = angles(g)
    cos, sin = (g.op("Unsqueeze", g.op(name, once), numbers(1)) for name in ("Cos", "Sin"))
    return cos, sin


def multiplied(
    g: Graph, first: ir.Value, second: ir.Value, sign: tuple[str, str]
) -> tuple[ir.Value, ir.Value]:
    """Return first · cos ∓ second · sin, second · cos ± first · sin."""
    cos, sin = tables(g)
    one = g.op(sign[0], g.op("Mul", first, cos), g.op("Mul", second, sin))
    two = g.op(sign[1], g.op("Mul", second, cos), g.op("Mul", first, sin))
    return one, two


@pytest.mark.parametrize("sign", [("Sub", "Add"), ("Add", "Sub")])
@pytest.mark.parametrize("step", [1, 2])
def test_pairs_from_anywhere_are_turned_either_way(sign: tuple[str, str], step: int) -> None:
    g = Graph()
    x = g.input("x", ["batch", HEADS, "length", SIZE])
    half = SIZE // 2 if step == 1 else 1
    end = numbers(half) if step == 1 else END
    first, second = cut(g, x, 0, end, step), cut(g, x, half, END, step)
    model = g.model(g.op("Concat", *multiplied(g, first, second, sign), axis=-1))
    result = checked(model, feeds())
    assert op_types(result.model).count("RotaryEmbedding") == 1
    assert ("Neg" in op_types(result.model)) == (sign == ("Add", "Sub"))
    assert ("Slice" in op_types(result.model)) == (step == 2)


def stacked(g: Graph, one: ir.Value, two: ir.Value, width: int = SIZE) -> ir.Value:
    """Return `torch.stack((one, two), -1).flatten(-2)`."""
    wide = [g.op("Unsqueeze", part, numbers(-1)) for part in (one, two)]
    return g.op("Reshape", g.op("Concat", *wide, axis=-1), numbers(0, 0, 0, width))


@pytest.mark.parametrize("sign", [("Sub", "Add"), ("Add", "Sub")])
@pytest.mark.parametrize("way", ["Slice", "Gather", "split heads"])
def test_neighbours_that_are_computed_apart_are_turned(sign: tuple[str, str], way: str) -> None:
    g = Graph()
    x = g.input("x", ["batch", HEADS, "length", SIZE])
    if way == "split heads":
        joined = g.op("Transpose", x, perm=[0, 2, 1, 3])
        flat = g.op("Reshape", joined, numbers(0, 0, HEADS * SIZE))
        apart = g.op("Reshape", flat, numbers(0, 0, HEADS, SIZE // 2, 2))
        apart = g.op("Transpose", apart, perm=[0, 2, 1, 3, 4])
        first, second = unbound(g, apart, -1, "Slice")
    else:
        pairs = g.op("Reshape", x, numbers(0, 0, 0, SIZE // 2, 2))
        first, second = unbound(g, pairs, -1, way)
    model = g.model(stacked(g, *multiplied(g, first, second, sign)))
    result = checked(model, feeds())
    (fused,) = [node for node in result.model.graph if node.op_type == "RotaryEmbedding"]
    assert fused.attributes["interleaved"].as_int() == 1
    assert ("Neg" in op_types(result.model)) == (sign == ("Add", "Sub"))


def test_pairs_that_are_written_in_place_are_turned() -> None:
    """As Wan writes them, into every other element of an empty value."""
    g = Graph(opset=18)
    x = g.input("x", ["batch", HEADS, "length", SIZE])
    first, second = unbound(g, g.op("Reshape", x, numbers(0, 0, 0, SIZE // 2, 2)), -1, "Slice")
    out = g.op("Transpose", g.op("Expand", 0.0, g.op("Shape", x)), perm=[3, 1, 2, 0])
    for start, part in enumerate(multiplied(g, first, second, ("Sub", "Add"))):
        rows = np.arange(start, SIZE, 2)[:, None]
        out = g.op("ScatterND", out, rows, g.op("Transpose", part, perm=[3, 1, 2, 0]))
    result = checked(g.model(g.op("Transpose", out, perm=[3, 1, 2, 0])), feeds())
    assert {"RotaryEmbedding"} < set(op_types(result.model))
    assert "ScatterND" not in op_types(result.model)


def test_two_pairs_that_become_halves_are_not_taken_for_neighbours() -> None:
    g = Graph()
    x = g.input("x", ["batch", HEADS, "length", 4])
    positions = g.input("positions", ["batch", "length", 1])
    once = g.op("Mul", positions, g.constant(INVERSE[:2]))
    cos, sin = (g.op("Unsqueeze", g.op(name, once), numbers(1)) for name in ("Cos", "Sin"))
    first, second = cut(g, x, 0, END, 2), cut(g, x, 1, END, 2)
    one = g.op("Sub", g.op("Mul", first, cos), g.op("Mul", second, sin))
    two = g.op("Add", g.op("Mul", second, cos), g.op("Mul", first, sin))
    rows = [g.op("Unsqueeze", part, numbers(-2)) for part in (one, two)]
    joined = g.op("Reshape", g.op("Concat", *rows, axis=-2), numbers(0, 0, 0, 4))
    result = optimize(g.model(joined))
    assert "RotaryEmbedding" not in op_types(result.model)


def test_turned_pairs_that_are_not_joined_are_told() -> None:
    g = Graph()
    x = g.input("x", ["batch", HEADS, "length", SIZE])
    one, two = multiplied(g, cut(g, x, 0, END, 2), cut(g, x, 1, END, 2), ("Sub", "Add"))
    result = optimize(g.model(g.op("Exp", one), g.op("Exp", two)))
    (miss,) = result.report.misses
    assert miss.reason == (
        "Sub 'sub_9' and Add 'add_12' turn the pairs of 'x', and Exp 'exp_13' and Exp 'exp_14' do"
        " not join them to halves, nor to pairs as they were"
    )
    assert miss.remedy == (
        "join them by Concat(first, second) of the last axis, or by"
        " torch.stack((first, second), -1).flatten(-2)"
    )


def test_what_stands_beside_turned_numbers_stays_beside_them() -> None:
    g = Graph()
    x = g.input("x", ["batch", HEADS, "length", SIZE])
    before, after = (g.input(name, ["batch", HEADS, "length", 2]) for name in ("before", "after"))
    first, second = cut(g, x, 0, END, 2), cut(g, x, 1, END, 2)
    one, two = multiplied(g, first, second, ("Sub", "Add"))
    model = g.model(g.op("Concat", before, one, two, after, axis=3))
    beside = {name: samples(2, HEADS, 5, 2, seed=3) for name in ("before", "after")}
    result = checked(model, {**feeds(), **beside})
    assert op_types(result.model)[-2:] == ["RotaryEmbedding", "Concat"]


def test_a_complex_product_of_two_values_is_no_rotary_embedding() -> None:
    g = Graph()
    a, b, c, d = (g.input(name, ["batch", HEADS, "length", 4]) for name in "abcd")
    one = g.op("Sub", g.op("Mul", a, c), g.op("Mul", b, d))
    two = g.op("Add", g.op("Mul", b, c), g.op("Mul", a, d))
    result = optimize(g.model(g.op("Concat", one, two, axis=-1)))
    assert "RotaryEmbedding" not in op_types(result.model)


@pytest.mark.parametrize("stacked", [False, True])
def test_halves_are_turned_backwards(stacked: bool) -> None:
    g = Graph()
    x = g.input("x", ["batch", HEADS, "length", SIZE])
    once = angles(g)
    if stacked:
        pair = g.op("Unsqueeze", once, numbers(-1))
        both = g.op("Reshape", g.op("Concat", pair, pair, axis=-1), numbers(0, 0, SIZE))
        first, second = cut(g, x, 0, END, 2), cut(g, x, 1, END, 2)
        parts = [g.op("Unsqueeze", part, numbers(-1)) for part in (second, g.op("Neg", first))]
        swapped = g.op("Reshape", g.op("Concat", *parts, axis=-1), numbers(0, 0, 0, SIZE))
    else:
        both = g.op("Concat", once, once, axis=-1)
        first, second = cut(g, x, 0, numbers(SIZE // 2)), cut(g, x, SIZE // 2, END)
        swapped = g.op("Concat", second, g.op("Neg", first), axis=-1)
    cos, sin = (g.op("Unsqueeze", g.op(name, both), numbers(1)) for name in ("Cos", "Sin"))
    model = g.model(g.op("Add", g.op("Mul", x, cos), g.op("Mul", swapped, sin)))
    assert "RotaryEmbedding" in op_types(checked(model, feeds()).model)


def test_different_angles_within_a_pair_are_refused() -> None:
    g = Graph()
    x = g.input("x", ["batch", HEADS, "length", SIZE])
    wide = g.input("angles", ["batch", 1, "length", SIZE])
    cos, sin = g.op("Cos", wide), g.op("Sin", wide)
    model = g.model(g.op("Add", g.op("Mul", x, cos), g.op("Mul", halves(g, x), sin)))
    result = optimize(model)
    assert "RotaryEmbedding" not in op_types(result.model)
    (miss,) = [miss for miss in result.report.misses if miss.rule == "rotary"]
    assert "cannot be proven to be turned by the same angle" in miss.reason
    assert miss.remedy == "compute cosines and sines from Concat(angles, angles)"


def test_a_row_for_each_head_is_refused() -> None:
    g = Graph()
    x = g.input("x", ["batch", HEADS, "length", SIZE])
    once = g.input("angles", ["batch", HEADS, "length", SIZE // 2])
    both = g.op("Concat", once, once, axis=-1)
    cos, sin = g.op("Cos", both), g.op("Sin", both)
    model = g.model(g.op("Add", g.op("Mul", x, cos), g.op("Mul", halves(g, x), sin)))
    (miss,) = [miss for miss in optimize(model).report.misses if miss.rule == "rotary"]
    assert "the same for all heads" in miss.reason


def test_another_use_of_turned_halves_is_refused() -> None:
    g = Graph()
    x = g.input("x", ["batch", HEADS, "length", SIZE])
    model = g.model(g.op("Mul", halves(g, x), 2.0))
    (miss,) = [miss for miss in optimize(model).report.misses if miss.rule == "rotary"]
    assert "do not lead to x · cos + turned · sin" in miss.reason


def test_a_table_with_one_sample_is_made_to_run() -> None:
    g = Graph(opset=23)
    x = g.input("x", ["batch", HEADS, "length", SIZE])
    once = g.input("angles", [1, "length", SIZE // 2])
    cos, sin = g.op("Cos", once), g.op("Sin", once)
    model = g.model(g.op("RotaryEmbedding", x, cos, sin))
    result = optimize(model)
    assert result.report.fusion_counts == {"rotary-table": 1}
    from rewriting import run

    x_in, table = samples(2, HEADS, 5, SIZE), samples(1, 5, SIZE // 2, seed=2)
    (found,) = run(result.model, {"x": x_in, "angles": table})
    c, s = np.cos(table)[:, None], np.sin(table)[:, None]
    a, b = x_in[..., : SIZE // 2], x_in[..., SIZE // 2 :]
    expected = np.concatenate([a * c - b * s, b * c + a * s], -1)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)
