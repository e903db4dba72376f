"""The elements of small whole values are known after they were moved through several axes."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from burnish.infer.shapes import infer
from burnish.operators.size import Size, named
from burnish.rewrite.facts import Facts
from rewriting import Graph, run, samples

I64 = ir.DataType.INT64
BATCH, LENGTH = named("batch"), named("length")


def ints(*numbers: int) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    return np.array(numbers, np.int64)


def whole(graph: Graph) -> None:
    for node in graph.nodes:
        for output in node.outputs:
            output.type = output.type or ir.TensorType(I64)


@settings(max_examples=40)
@given(
    start=st.integers(-5, 5), end=st.integers(-5, 5), step=st.sampled_from([-2, -1, 1, 2]),
    axis=st.integers(-2, 1), turned=st.booleans(),
)  # fmt: skip
def test_what_is_known_is_what_the_runtime_gives(
    start: int, end: int, step: int, axis: int, turned: bool
) -> None:
    graph = Graph()
    x = graph.input("x", [2, 5, 3, 7, 4, 6])
    table = graph.op("Reshape", graph.op("Shape", x), ints(3, 2))
    cut = graph.op("Slice", table, ints(start), ints(end), ints(axis), ints(step))
    flat = graph.op("Reshape", graph.op("Transpose", cut, perm=[int(turned), int(not turned)]),
                    ints(-1))  # fmt: skip
    whole(graph)
    model = graph.model(flat)
    found = infer(Facts(model)).elements(flat)
    (given_,) = run(model, {"x": samples(2, 5, 3, 7, 4, 6)})
    assert found is None or list(found) == given_.tolist()
    extent = (3, 2)[axis]
    if -extent <= start < extent:  # ONNX moves another start to an end of the axis
        assert found is not None or not given_.size


@pytest.mark.parametrize("known", [True, False])
def test_pads_that_are_turned_over_as_a_table_give_sizes(known: bool) -> None:
    """As TorchScript pads a length up to the next multiple of 8."""
    graph = Graph()
    x = graph.input("x", ["batch", "length", 4])
    length = graph.op("Gather", graph.op("Shape", x), ints(1))
    more = graph.op("Mod", graph.op("Neg", length), ints(8))
    before = ints(0) if known else graph.input("before", [1], I64)
    pads = graph.op("Concat", ints(0), ints(0), before, more, ints(0), ints(0), axis=0)
    rows = graph.op("Reshape", pads, ints(-1, 2))
    upside = graph.op("Slice", rows, ints(-1), ints(-(2**63) + 1), ints(0), ints(-1))
    flat = graph.op("Reshape", graph.op("Transpose", upside, perm=[1, 0]), ints(-1))
    whole(graph)
    padded = graph.op("Pad", x, flat, np.float32(0))
    model = graph.model(padded)
    shape = infer(Facts(model)).of(padded)
    assert shape is not None
    blocks: Size = named("length + Mod(-length, 8)")
    assert (shape[0], shape[2]) == (BATCH, 4)
    assert (shape[1] == blocks) == known
    feeds = {"x": samples(2, 13, 4)} | ({} if known else {"before": ints(0)})
    assert run(model, feeds)[0].shape == (2, 16, 4)
