from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from burnish.codegen.cpu.backend import CpuBackend
from burnish.codegen.cpu.target import TARGETS, InstructionSet, available
from burnish.codegen.cpu.winograd import TRANSFORMS, Choose, Transform, convolution, in_blocks
from burnish.core.arrays import Array
from burnish.hw.spec import load
from burnish.rewrite.static import static
from burnish.tile.expr import Accumulated, Argument, Constant, Guard, call
from burnish.tile.graph import Read, TensorType, TileGraph, TileOp
from burnish.tile.group import Group
from burnish.tile.index import at
from burnish.tile.lower import lower
from burnish.tile.machine import machine
from burnish.tile.reference import evaluate
from burnish.tile.schedule import Schedule
from burnish.tile.semantics import axes_for
from burnish.tile.simplify import simplify
from codegen.cpu.nests import windows
from codegen.cpu.test_kernel import check
from codegen.models import model, weights

APART = st.sampled_from([(1, 1), (1, 1), (2, 2), (3, 3), (1, 2), (4, 1), (9, 9)])
"""How far taps are from their neighbours."""

BACKEND = CpuBackend(TARGETS["avx512"], machine(load("x86-zen4")), "a core of Zen 4")


def always(way: int) -> Choose:
    """Return what prefers the way of this number, whatever it costs."""

    def choose(ways: Sequence[TileGraph]) -> int:
        assert len(ways) == 1 + len(TRANSFORMS)
        return way

    return choose


def padded(graph: TileGraph, border: int) -> TileGraph:
    """Return a convolution whose image is a smaller one with zeros around it, and ends in ReLU."""
    shape = graph.tensors["x"].shape
    axes = axes_for(shape)
    inner = (*shape[:2], *(max(extent - 2 * border, 1) for extent in shape[2:]))
    guards = tuple(
        Guard(at(axis), border, border + size)
        for axis, size in zip(axes[2:], inner[2:], strict=True)
    )
    there = (at(axes[0]), at(axes[1]), at(axes[2]) - border, at(axes[3]) - border)
    pad = TileOp("padded", axes, (Read("x", there, guards, 0.0),), Argument(0, "f32"))
    last = graph.ops[-1]
    read = replace(last.reads[0], tensor="padded")
    finish = call("maximum", Accumulated("f32"), Constant(0.0, "f32"))
    op = replace(last, reads=(read, *last.reads[1:]), finish=finish)
    tensors = {**graph.tensors, "x": TensorType("f32", inner), "padded": TensorType("f32", shape)}
    return replace(graph, tensors=tensors, ops=(pad, op))


def outputs(graph: TileGraph) -> Array:
    data = np.random.default_rng(3).standard_normal(graph.tensors["x"].shape).astype(np.float32)
    return evaluate(graph, {"x": data})["y"]


@pytest.mark.parametrize("by", TRANSFORMS, ids=lambda by: f"blocks of {by.outputs}")
def test_matrices_convolve_and_are_exact_in_f32(by: Transform) -> None:
    random = np.random.default_rng(0)
    image, weights = random.standard_normal(by.places), random.standard_normal(3)
    found = by.result @ ((by.weights @ weights) * (by.image @ image))
    np.testing.assert_allclose(found, np.correlate(image, weights, "valid"), rtol=1e-12)
    for matrix in (by.image, by.result):
        assert (matrix.astype(np.float32) == matrix).all()


@pytest.mark.parametrize("way", [1, 2])
@given(data=st.data())
@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
def test_any_convolution_in_blocks_gives_what_the_judge_gives(
    way: int, data: st.DataObject
) -> None:
    channels = (data.draw(st.integers(2, 9)), data.draw(st.integers(2, 9)))
    size = (data.draw(st.integers(3, 9)), data.draw(st.integers(3, 9)))
    graph = windows(channels, size, 3, apart=data.draw(APART))
    if data.draw(st.booleans()):
        graph = padded(graph, 1)
    blocks = in_blocks(graph, always(way))
    assert len(blocks.ops) > len(graph.ops)
    assert blocks.inputs == graph.inputs
    np.testing.assert_allclose(outputs(blocks), outputs(graph), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("way", [1, 2])
def test_several_images_are_taken_apart_each_by_itself(way: int) -> None:
    text = """two (float[2, 3, 6, 5] x) => (float[2, 4, 6, 5] y)
    { y = Conv<pads = [1, 1, 1, 1]>(x, w) }"""
    bound = static(model(text, weights(("w", (4, 3, 3, 3)))), {})
    graph = simplify(lower(tuple(bound.graph)).graph)
    blocks = in_blocks(graph, always(way))
    assert "y.products" in {op.output for op in blocks.ops}
    np.testing.assert_allclose(outputs(blocks), outputs(graph), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("way", [1, 2])
@pytest.mark.parametrize("apart", [2, 5, 12])
def test_taps_may_be_apart(way: int, apart: int) -> None:
    text = f"""dilated (float[1, 3, 13, 14] x) => (float[1, 4, 13, 14] y)
    {{ c = Conv<pads = [{apart}, {apart}, {apart}, {apart}], dilations = [{apart}, {apart}]>(x, w)
      y = Relu(c) }}"""
    bound = static(model(text, weights(("w", (4, 3, 3, 3)))), {})
    graph = simplify(lower(tuple(bound.graph)).graph)
    blocks = in_blocks(graph, always(way))
    assert "y.products" in {op.output for op in blocks.ops}
    np.testing.assert_allclose(outputs(blocks), outputs(graph), rtol=1e-4, atol=1e-4)


def test_what_pads_an_image_pads_it_up_to_whole_blocks_too() -> None:
    graph = padded(windows((4, 4), (5, 5), 3), 1)
    names = [op.output for op in in_blocks(graph, always(2)).ops]
    assert names[0] == "y.grown"
    assert "padded" not in names


@pytest.mark.parametrize("target", available(), ids=lambda target: target.name)
@given(data=st.data())
@settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck))
def test_kernels_of_blocks_give_what_the_judge_gives_for_any_tile(
    target: InstructionSet, data: st.DataObject
) -> None:
    size = (data.draw(st.sampled_from([4, 7, 8])), data.draw(st.sampled_from([5, 8])))
    graph = padded(windows((16, 20), size, 3, apart=data.draw(APART)), 1)
    blocks = in_blocks(graph, always(data.draw(st.sampled_from([1, 2]))))
    tile = tuple(data.draw(st.sampled_from([1, n, -(-n // 2)])) for n in blocks.ops[-1].shape)
    layouts = {name: (0, 2, 3, 1) for name in ("x", "y") if data.draw(st.booleans())}
    check(Group(blocks.ops, blocks.outputs), Schedule(tile), blocks, target, layouts)


@pytest.mark.parametrize(
    "graph",
    [
        windows((4, 4), (5, 5), 3, stride=2),
        windows((4, 4), (5, 5), 5),
        windows((4, 4), (5, 5), 3, groups=2),
        windows((1, 4), (5, 5), 3),
        replace(windows((4, 4), (5, 5), 3), inputs=("x", "w"), constants={}),
    ],
    ids=["in steps", "5×5", "in groups", "one channel", "weights that are computed"],
)
def test_other_convolutions_stay(graph: TileGraph) -> None:
    assert convolution(graph.ops[-1], graph) is None
    assert in_blocks(graph, always(1)).ops == graph.ops


def test_blocks_are_taken_where_they_are_predicted_to_gain() -> None:
    def nests(channels: int, size: int) -> list[str]:
        graph = padded(windows((channels, channels), (size, size), 3), 1)
        return [op.output for op in BACKEND.adapted(graph).ops]

    assert nests(64, 56)[-2] == "y.rows"
    assert nests(2, 4) == ["padded", "y"]
    # nearly all of what such blocks read is padding
    far = windows((64, 64), (8, 8), 3, apart=(7, 7))
    assert [op.output for op in BACKEND.adapted(far).ops] == ["y"]


def test_equal_convolutions_are_priced_once() -> None:
    asked: list[int] = []
    graph = windows((4, 4), (6, 6), 3)
    second = replace(graph.ops[0], output="z")
    tensors = {**graph.tensors, "z": graph.tensors["y"]}
    twice = replace(graph, tensors=tensors, outputs=("y", "z"), ops=(*graph.ops, second))

    def choose(ways: Sequence[TileGraph]) -> int:
        asked.append(len(ways))
        return 1

    found = in_blocks(twice, choose)
    assert asked == [1 + len(TRANSFORMS)]
    assert {"y.rows", "z.rows"} <= {op.output for op in found.ops}
