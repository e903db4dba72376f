"""Channels innermost through frames, groups of channels, phases and weights that are computed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import onnx
import onnx_ir as ir
import pytest

from burnish.codegen.gpu.choose import GpuPredicted
from burnish.codegen.gpu.kernel import GpuTarget
from burnish.codegen.gpu.layout import Order, orders_of
from burnish.codegen.gpu.sequence import simplified
from burnish.core.arrays import Array
from burnish.hw.spec import load
from burnish.tile.graph import TileGraph
from burnish.tile.vectors import is_sum_of_products
from codegen.gpu.compiled import feeds_of, reference
from codegen.gpu.interpreting import run_groups
from codegen.gpu.models import HEAD

pytestmark = pytest.mark.torch

SHAPES: Mapping[str, tuple[int, ...]] = {
    "w": (16, 16, 3, 3), "b": (16,), "first": (16, 4, 3, 3), "last": (3, 16, 3, 3),
    "up": (16, 16, 3, 3), "ones": (4,), "gain": (16, 1, 1), "styles": (8, 16),
}  # fmt: skip
WHOLE = {
    "frame": [0, 0, 1, 1, 0, 0, 1, 1], "groups": [1, 4, 384], "image": [1, 16, 8, 12],
    "row": [1, 1, 16, 1, 1], "rows": [2, 1, 16, 1, 1], "kernels": [32, 16, 3, 3],
    "beside": [1, 32, 8, 12], "apart": [2, 16, 8, 12], "taps": [2, 3, 4], "kernel": [16, 16, 3, 3],
}  # fmt: skip

FRAMED = """framed (float16[1,4,8,12] x) => (float16[1,3,8,12] y)
    {{ p = Pad<mode="{mode}">(x, frame) c = Conv(p, first, b) r = Relu(c)
       q = Pad<mode="{mode}">(r, frame) d = Conv(q, w) s = Pad<mode="{mode}">(d, frame)
       y = Conv(s, last) }}"""
NORMED = """normed (float16[1,4,8,12] x) => (float16[1,3,8,12] y)
    { c = Conv<pads=[1,1,1,1]>(x, first, b) g = Reshape(c, groups)
      n = InstanceNormalization(g, ones, ones) h = Reshape(n, image) i = Mul(h, gain)
      s = Sigmoid(i) a = Mul(i, s) d = Conv<pads=[1,1,1,1]>(a, w, b) e = Add(d, c)
      y = Conv<pads=[1,1,1,1]>(e, last) }"""
RAISED = """raised (float16[1,4,8,12] x) => (float16[1,3,16,24] y)
    { c = Conv<pads=[1,1,1,1]>(x, first, b)
      u = ConvTranspose<strides=[2,2], pads=[1,1,1,1], output_padding=[1,1]>(c, up, b)
      r = Relu(u) y = Conv<pads=[1,1,1,1]>(r, last) }"""
STYLED = """styled (float16[1,8] z, float16[1,4,8,12] x) => (float16[1,3,8,12] y)
    { c = Conv<pads=[1,1,1,1]>(x, first, b) t = MatMul(z, styles) f = Reshape(t, row)
      m = Mul(w, f) o = Mul(m, m) q = ReduceSum<keepdims=1>(o, taps) l = Sqrt(q)
      v = Div(m, l) k = Reshape(v, kernel)
      d = Conv<pads=[1,1,1,1]>(c, k) r = Relu(d) y = Conv<pads=[1,1,1,1]>(r, last) }"""

STYLED_EACH = """styled_each (float16[2,8] z, float16[2,4,8,12] x) => (float16[2,3,8,12] y)
    { c = Conv<pads=[1,1,1,1]>(x, first, b) t = MatMul(z, styles) f = Reshape(t, rows)
      m = Mul(w, f) o = Mul(m, m) q = ReduceSum<keepdims=1>(o, taps) l = Sqrt(q)
      v = Div(m, l) k = Reshape(v, kernels) g = Reshape(c, beside)
      d = Conv<pads=[1,1,1,1], group=2>(g, k) h = Reshape(d, apart) r = Relu(h)
      y = Conv<pads=[1,1,1,1]>(r, last) }"""


def model_of(text: str, folder: Path) -> Path:
    """Return the file of a model, with the constants that it names."""
    proto = onnx.parser.parse_model(HEAD + text)
    random = np.random.default_rng(0)
    known: dict[str, Array] = {n: np.array(numbers) for n, numbers in WHOLE.items()}
    known |= {n: (random.standard_normal(s) / 6).astype(np.float16) for n, s in SHAPES.items()}
    known |= {"ones": np.ones(4, np.float16), "taps": np.array([2, 3, 4])}
    used = {name for node in proto.graph.node for name in node.input}
    for name in sorted(used & set(known)):
        proto.graph.initializer.append(onnx.numpy_helper.from_array(known[name], name))
    path = folder / f"{proto.graph.name}.onnx"
    onnx.save(proto, path)
    return path


def require_same(text: str, folder: Path) -> tuple[TileGraph, dict[str, Order]]:
    """Run a model as it is planned; it must give what ONNX Runtime gives."""
    path = model_of(text, folder)
    graph = simplified(ir.load(path))
    orders = orders_of(graph)
    feeds = feeds_of(path)
    choices = GpuPredicted(load("nvidia-h200"), GpuTarget(orders=orders))(graph)
    groups = [(c.group, c.schedule.settings) for c in choices if c.schedule is not None]
    assert len(groups) == len(choices)
    found = run_groups(graph, groups, feeds, orders)
    for name, wanted in reference(path, feeds).items():
        np.testing.assert_allclose(
            found[name].astype(np.float64), wanted.astype(np.float64), rtol=0.02, atol=0.02
        )
    return graph, orders


@pytest.mark.parametrize("mode", ["reflect", "edge", "wrap"])
def test_frames_of_an_images_own_elements_lie_as_what_they_frame(mode: str, tmp_path: Path) -> None:
    graph, orders = require_same(FRAMED.format(mode=mode), tmp_path)
    images = {op.output for op in graph.ops} - set(graph.outputs)
    assert {orders[name] for name in images} == {(0, 2, 3, 1)}


def test_groups_of_channels_lie_side_by_side_between_convolutions(tmp_path: Path) -> None:
    graph, orders = require_same(NORMED, tmp_path)
    parts = [op for op in graph.ops if op.shape[:3] == (1, 4, 4)]
    assert parts
    assert {orders[op.output] for op in parts} == {(0, 3, 4, 1, 2)}


def test_phases_of_transposed_convolutions_and_their_readers_have_channels_innermost(
    tmp_path: Path,
) -> None:
    graph, orders = require_same(RAISED, tmp_path)
    (phases,) = (op for op in graph.ops if ".phases" in op.output)
    assert orders[phases.output] == (0, 2, 3, 4, 5, 1)
    readers = [op for op in graph.ops if phases.output in op.inputs and not op.reduced]
    assert {orders[op.output] for op in readers} == {(0, 2, 3, 1)}
    # weights of as many taps for each phase are a constant, not computed by each kernel
    weight = phases.reads[1].tensor
    assert graph.constants[weight].shape == (16, 16, 4, 4)
    assert orders[weight] == (2, 3, 1, 0)


def test_weights_that_are_computed_have_taps_outermost(tmp_path: Path) -> None:
    graph, orders = require_same(STYLED, tmp_path)
    computed = {op.output for op in graph.ops}
    (convolution,) = (
        op for op in graph.ops if len(op.reads) > 1 and len(op.reduced) == 3
        if {each.tensor for each in op.reads[:2]} <= computed
    )  # fmt: skip
    weight = convolution.reads[1].tensor
    rank = len(graph.tensors[weight].shape)
    assert orders[weight][-4:] == (rank - 2, rank - 1, rank - 4, rank - 3)
    assert orders[convolution.output] == (0, 2, 3, 1)
    norms = [op for op in graph.ops if op.combine and not is_sum_of_products(op)]
    assert [[axis.extent for axis in op.reduced] for op in norms] == [[3, 3, 16]]


def test_weights_of_each_image_have_taps_outermost_behind_the_images(tmp_path: Path) -> None:
    graph, orders = require_same(STYLED_EACH, tmp_path)
    weight = next(op for op in graph.ops if op.shape == (2, 16, 16, 3, 3))
    assert orders[weight.output] == (0, 3, 4, 1, 2)
