"""Products of bf16 that were written as products of f32."""

from __future__ import annotations

import numpy as np
import pytest

from burnish.core.array_types import array_type
from burnish.core.arrays import Array
from burnish.tile.expr import operations
from burnish.tile.graph import TileGraph
from burnish.tile.reference import evaluate
from burnish.tile.simplify import simplify
from burnish.tile.steps.substitution import is_contraction
from tile.test_simplify_examples import graph_of

ROUNDED = """g (float[6, 16] x, bfloat16[16, 8] w, float[16, 8] v) => (float[6, 8] y)
{ h = Cast<to = 16>(x)  a = Cast<to = 1>(h)  b = Cast<to = 1>(w)  y = MatMul(a, b) }"""


def product_reads(graph: TileGraph) -> list[str]:
    (product,) = (op for op in graph.ops if is_contraction(op))
    return [graph.tensors[read.tensor].dtype for read in product.reads]


@pytest.mark.parametrize("fusion", ["none", "element-wise"])
def test_a_product_reads_bf16_itself_and_gives_the_same_numbers(fusion: str) -> None:
    graph = graph_of(ROUNDED)
    simple = simplify(graph, fusion=fusion)
    assert product_reads(simple) == ["bf16", "bf16"]
    assert len(simple.ops) == 2
    rng = np.random.default_rng(0)
    fed: dict[str, Array] = {
        name: rng.standard_normal(kind.shape).astype(array_type(kind.dtype))
        for name, kind in ((name, graph.tensors[name]) for name in graph.inputs)
    }
    assert (evaluate(simple, fed)["y"] == evaluate(graph, fed)["y"]).all()


def test_one_factor_in_bf16_is_no_reason_to_read_it_so() -> None:
    simple = simplify(graph_of(ROUNDED.replace("MatMul(a, b)", "MatMul(a, v)")))
    assert product_reads(simple) == ["f32", "f32"]


def test_what_is_widened_costs_nothing_where_it_is_multiplied() -> None:
    graph = simplify(graph_of(ROUNDED))
    (product,) = (op for op in graph.ops if is_contraction(op))
    assert operations(product.body) == 3
