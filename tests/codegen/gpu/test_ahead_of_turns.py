"""What is loaded for the next turn of a softmax's loop, and the powers of two that weights are."""

from __future__ import annotations

import numpy as np
import onnx
import onnx_ir as ir
import pytest
from hypothesis import given
from hypothesis import strategies as st

from burnish.codegen.gpu.guards import run_of
from burnish.codegen.gpu.loads import LEAST_BITS
from burnish.rewrite.static import static
from burnish.tile.graph import TileGraph
from burnish.tile.index import Axis, Index
from burnish.tile.lower import lower
from burnish.tile.reference import evaluate
from burnish.tile.simplify import simplify
from codegen.gpu.interpreting import run_groups
from codegen.gpu.models import HEAD, inputs_of, parsed
from codegen.gpu.test_products import BLOCKS, source_of, whole

SHIFTED = """(float16[3,20,16] q, float16[3,20,16] k, float16[3,20,16] v, float16[3,20,21] r,
    bool[1,20,20] hidden) => (float16[3,20,16] y)
    { t = Transpose<perm=[0,2,1]>(k) s = MatMul(q, t) p = Slice(r, one, end, last)
      a = Add(s, p) b = Mul(a, scale) c = Where(hidden, lowest, b)
      w = Softmax<axis=-1>(c) y = MatMul(w, v) }"""


def shifted(scale: float, columns: int = 21, begin: int = 1) -> TileGraph:
    """Return an attention whose scores are moved by what lies in rows of odd length."""
    text = SHIFTED.replace("20,21", f"20,{columns}")
    proto = onnx.parser.parse_model(f"{HEAD}model {text}")
    numbers = {"scale": np.float16([scale]), "lowest": np.float16([-65504])}
    numbers |= {"one": np.array([begin]), "end": np.array([begin + 20]), "last": np.array([2])}
    proto.graph.initializer.extend(
        onnx.numpy_helper.from_array(each, name) for name, each in numbers.items()
    )
    return simplify(lower(tuple(static(ir.from_proto(proto), {}).graph)).graph)


def test_rows_of_odd_length_and_masks_are_loaded_one_turn_ahead() -> None:
    lines = [line.strip() for line in source_of(shifted(0.25)).splitlines()]
    begun = lines.index("for step_1 in range(2):")
    ahead = [line for line in lines[begun:] if "_ahead_1 = tl.load(" in line]
    assert len(ahead) == 2, "what is added, and what hides it"
    assert all("k_1_next_1" in line for line in ahead)
    assert sum("_ahead_1 = tl.load(" in line for line in lines[:begun]) == 2
    first = next(place for place, line in enumerate(lines) if "tl.dot(" in line)
    assert all(lines.index(line) < first for line in ahead), "before anything waits"


def test_rows_of_even_length_are_left_to_triton() -> None:
    source = source_of(shifted(0.25, 22, 0))
    assert source.count("_ahead_1 = tl.load(") == 2, "the mask, before the loop and in it"


@pytest.mark.torch
@pytest.mark.parametrize("scale", [0.25, -0.5, 0.0, 8.0])
def test_weights_are_what_the_judge_gives_whatever_scores_are_multiplied_with(
    scale: float,
) -> None:
    graph = shifted(scale)
    draw = np.random.default_rng(3)
    inputs = {
        name: (draw.random(kind.shape) < 0.3)
        if kind.dtype == "bool"
        else draw.standard_normal(kind.shape).astype(np.float16)
        for name, kind in graph.tensors.items()
        if name in graph.inputs
    }
    found = run_groups(graph, [(whole(graph), BLOCKS)], inputs)["y"]
    wanted = evaluate(graph, inputs)["y"]
    np.testing.assert_allclose(found.astype(np.float32), wanted.astype(np.float32), atol=6e-3)


@pytest.mark.torch
def test_a_row_that_is_masked_altogether_has_equal_weights() -> None:
    graph = parsed("""masked (float[2,20,16] q, float[2,20,16] k, float[2,20,16] v,
        float[20,20] mask) => (float[2,20,16] y)
        { t = Transpose<perm=[0,2,1]>(k) s = MatMul(q, t) m = Add(s, mask)
          w = Softmax<axis=-1>(m) y = MatMul(w, v) }""")
    inputs = inputs_of(graph)
    mask = np.zeros((20, 20), np.float32)
    mask[3] = np.finfo(np.float32).min  # as a padded token's row is
    inputs["mask"] = mask
    found = run_groups(graph, [(whole(graph), BLOCKS)], inputs)["y"]
    assert "below_1" in source_of(graph), "block by block"
    np.testing.assert_allclose(found, evaluate(graph, inputs)["y"], rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(found[:, 3], inputs["v"].mean(1), rtol=1e-4, atol=1e-4)


@given(
    bits=st.sampled_from([8, 16, 32]), factor=st.integers(0, 9), constant=st.integers(0, 9),
    step=st.sampled_from([0, 1, 2]),
)  # fmt: skip
def test_runs_are_as_long_as_lie_side_by_side_wherever_one_may_begin(
    bits: int, factor: int, constant: int, step: int
) -> None:
    row, lane = Axis("m", 8), Axis("k", 16)
    terms = tuple((axis, by) for axis, by in ((row, factor), (lane, step)) if by)
    together = 32 // bits
    starts = [m * factor + k * step + constant for m in range(8) for k in range(0, 16, together)]
    whole_loads = together == 1 or (step == 1 and all(start % together == 0 for start in starts))
    if factor != 1:  # rows that lie one element apart are lanes, too
        run = run_of(Index(terms, constant), (), frozenset({row, lane}))
        assert (run * bits >= LEAST_BITS) == whole_loads
