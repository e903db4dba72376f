"""Means and spreads of an image that the product which writes it gives."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import onnx
import onnx_ir as ir
import pytest

from burnish.codegen.gpu.adapting import adapted
from burnish.codegen.gpu.beginning import BEGUN, block_moments
from burnish.codegen.gpu.bounds import breaches
from burnish.codegen.gpu.choose import GpuPredicted, candidates
from burnish.codegen.gpu.kernel import GpuTarget, emit
from burnish.codegen.gpu.layout import orders_of
from burnish.core.arrays import Array
from burnish.hw.spec import load
from burnish.rewrite.static import static
from burnish.tile.graph import TileGraph
from burnish.tile.group import Group
from burnish.tile.lower import lower
from burnish.tile.schedule import Schedule
from burnish.tile.simplify import simplify
from codegen.gpu.interpreting import compiled, run_groups
from codegen.gpu.models import HEAD


def normed(
    images: int, channels: int, *, taps: int = 1, dtype: str = "float16", shift: float = 0.0
) -> TileGraph:
    """Return the nests of a convolution, its norm over 32 by 40 pixels, and a ReLU."""
    image = f"{images},{channels},32,40"
    text = f"""({dtype}[{images},16,32,40] x) => ({dtype}[{image}] y)
        {{ c = Conv<pads=[{taps // 2},{taps // 2},{taps // 2},{taps // 2}]>(x, kernel, bias)
           n = InstanceNormalization(c, one, zero) y = Relu(n) }}"""
    proto = onnx.parser.parse_model(f"{HEAD}normed {text}")
    random = np.random.default_rng(2)
    kind = np.float32 if dtype == "float" else np.float16
    held = {
        "kernel": random.standard_normal((channels, 16, taps, taps)) / 4,
        "bias": np.full(channels, shift), "one": np.ones(channels), "zero": np.zeros(channels),
    }  # fmt: skip
    for name, array in held.items():
        proto.graph.initializer.append(onnx.numpy_helper.from_array(array.astype(kind), name))
    return adapted(simplify(lower(tuple(static(ir.from_proto(proto), {}).graph)).graph))


def writing(graph: TileGraph) -> Group:
    """Return what writes the image, with the moments of its parts."""
    last = max(k for k, op in enumerate(graph.ops) if op.output.endswith(".parts"))
    ops = graph.ops[: last + 1]
    return Group(ops, tuple(op.output for op in ops[-3:]))


def blocks(terms: int) -> list[dict[str, int]]:
    """Return blocks whose rows are parts of so many terms."""
    return [
        {"m": terms, "n": n, "k": 16, "warps": 4, "stages": stages, BEGUN: 1}
        for n, stages in ((16, 3), (64, 1))
    ]


def x_of(graph: TileGraph) -> Array:
    random = np.random.default_rng(4)
    kind = np.float32 if graph.tensors["x"].dtype == "f32" else np.float16
    return random.standard_normal(graph.tensors["x"].shape).astype(kind)


CASES = {
    "one": (1, 48, 1, "float16", 0.0),
    "two": (2, 40, 1, "float16", 0.0),
    "window": (1, 48, 3, "float16", 0.0),
    "shifted": (1, 48, 1, "float16", 1000.0),
    "exact": (2, 24, 1, "float", 1000.0),
}


@pytest.mark.torch
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_a_product_gives_the_moments_of_what_it_writes(
    case: tuple[int, int, int, str, float],
) -> None:
    images, channels, taps, dtype, shift = case
    graph = normed(images, channels, taps=taps, dtype=dtype, shift=shift)
    target = GpuTarget(orders=orders_of(graph))
    group = writing(graph)
    found = block_moments(group, target.orders)
    assert found is not None
    inner = replace(graph, outputs=group.outputs)
    for settings in blocks(found.terms):
        got = run_groups(inner, [(group, settings)], {"x": x_of(graph)}, target.orders)
        image, means, spreads = (got[name].astype(np.float64) for name in group.outputs)
        pixels = image.transpose(0, 2, 3, 1).reshape(images, -1, found.terms, channels)
        wanted = pixels.mean(axis=2).transpose(1, 0, 2)
        assert np.allclose(means.reshape(wanted.shape), wanted, rtol=5e-7, atol=1e-6)
        squares = (pixels.var(axis=2) * found.terms).transpose(1, 0, 2)
        assert np.allclose(spreads.reshape(squares.shape), squares, rtol=1e-4)


@pytest.mark.torch
@pytest.mark.parametrize("shift", [0.0, 30.0])
def test_whoever_applies_the_norm_adds_the_moments_up(shift: float) -> None:
    graph = normed(1, 48, shift=shift)
    target = GpuTarget(orders=orders_of(graph))
    moments = block_moments(writing(graph), target.orders)
    assert moments is not None
    settings = blocks(moments.terms)[1]
    rest = Group(graph.ops[len(writing(graph).ops) :], graph.outputs)
    held = next(each for each in candidates(rest, target) if "held" in each)
    x = x_of(graph)
    groups = [(writing(graph), settings), (rest, held)]
    found = run_groups(graph, groups, {"x": x}, target.orders)["y"].astype(np.float64)
    kernel = np.asarray(next(a for a in graph.constants.values() if np.ndim(a) == 4))
    image = np.einsum("bchw,dc->bdhw", x.astype(np.float64), kernel[:, :, 0, 0].astype(np.float64))
    image = (image + shift).astype(np.float16).astype(np.float64)
    mean, spread = (f(image, axis=(2, 3), keepdims=True) for f in (np.mean, np.var))
    wanted = np.maximum((image - mean) / np.sqrt(spread + 1e-5), 0.0)
    assert np.linalg.norm(found - wanted) <= 4e-3 * np.linalg.norm(wanted)


def test_blocks_have_as_many_rows_as_parts_have_terms() -> None:
    graph = normed(8, 128)
    target = GpuTarget(orders=orders_of(graph))
    whole = writing(graph)
    found = block_moments(whole, target.orders)
    assert found is not None
    assert {each["m"] for each in candidates(whole, target) if BEGUN in each} == {found.terms}
    alone = Group(whole.ops[:-1], whole.outputs[:-1])
    assert block_moments(alone, target.orders) is None
    assert block_moments(Group(whole.ops, whole.outputs[1:]), target.orders) is None


def test_an_image_is_not_read_for_its_moments_where_a_product_writes_it() -> None:
    graph = normed(8, 128)
    target = GpuTarget(orders=orders_of(graph))
    choices = GpuPredicted(load("nvidia-h200"), target)(graph)
    assert choices[0].group.outputs == writing(graph).outputs
    assert len(choices) == 2


@pytest.mark.torch
def test_such_a_product_can_be_built_and_stays_inside() -> None:
    graph = normed(1, 40, taps=3)
    target = GpuTarget(orders=orders_of(graph), own_functions=True, early=True)
    group = writing(graph)
    moments = block_moments(group, target.orders)
    assert moments is not None
    settings = blocks(moments.terms)[1]
    (launch,) = emit(group, Schedule(group.anchor.shape, settings=settings), graph, target)
    assert launch.outputs == (*group.outputs[1:], group.outputs[0])
    assert "atomic" not in launch.source
    sizes = {name: kind.size for name, kind in graph.tensors.items()}
    assert breaches(launch, sizes, all_programs=True) == ()
    assert compiled(launch, 90).registers <= 255
