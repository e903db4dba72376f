from __future__ import annotations

import pytest

from burnish.tile.expr import Argument, Constant, call, cast
from burnish.tile.graph import Read, TensorType, TileGraph
from burnish.tile.index import Axis, at, fetched
from burnish.tile.semantics import Reduction
from burnish.tile.workload import padded_in_place, workload
from tile_samples import (
    Sketch,
    chain_of_layers,
    facts_of_nest,
    feed_forward,
    first,
    whole,
)


def test_a_multiply_add_counts_two_and_other_operations_take_its_place() -> None:
    graph = chain_of_layers(8, 4, 1)
    assert facts_of_nest(graph, "product$0").flops == 2 * 4
    assert facts_of_nest(graph, "relu$0").flops == 2
    assert facts_of_nest(graph, "product$0").work * 32 == graph.ops[0].work


def test_a_tensor_that_is_only_padded_lies_in_its_padded_copy() -> None:
    graph = feed_forward(4, 4, 8)
    group = whole(graph)
    assert padded_in_place(group) == {"convolved$0": "padded$0"}
    work = workload(group, graph)
    assert "convolved$0" not in work.lifetimes
    assert work.lifetimes["padded$0"].first == 3
    assert [nest.op.output for nest in work.nests if nest.in_place] == ["padded$0"]


def test_a_tensor_that_others_read_too_is_copied_when_padded() -> None:
    sketch = Sketch(x=(1, 2, 4, 4))
    source = sketch.relu("x")
    graph = sketch.graph(sketch.pointwise("add", sketch.depthwise(source), source))
    assert padded_in_place(whole(graph)) == {}


def test_a_graphs_input_is_copied_when_padded() -> None:
    sketch = Sketch(x=(1, 2, 4, 4))
    graph = sketch.graph(sketch.depthwise("x"))
    assert padded_in_place(whole(graph)) == {}


def test_what_a_nest_reads_first_is_told_from_what_it_reads_again() -> None:
    graph = feed_forward(4, 4, 8)
    assert facts_of_nest(graph, "mean$0").first_reads == ("x",)
    assert facts_of_nest(graph, "variance$0").first_reads == ()
    assert dict(facts_of_nest(graph, "variance$0").again) == {"x": 4, "mean$0": 4, "variance$0": 4}


def test_fetched_indices_are_read_too() -> None:
    sketch = Sketch(table=(5, 8))
    sketch.builder.tensors["ids"] = TensorType("i64", (3,))
    row, column = Axis("row", 3), Axis("column", 8)
    read = Read("table", (fetched("ids", [at(row)], 5), at(column)))
    sketch.builder.add("y", [row, column], [read], first())
    graph = TileGraph(sketch.builder.tensors, ("table", "ids"), ("y",), tuple(sketch.builder.ops))
    nest = facts_of_nest(graph, "y")
    assert [(read.tensor, read.width_bytes) for read in nest.reads] == [("table", 4), ("ids", 8)]
    assert nest.choices[0].lying == ("side by side", "same")


@pytest.mark.parametrize(("dtype", "rate"), [("f16", "f16"), ("f32", "f32"), ("i8", "f32")])
def test_the_rate_is_that_of_the_operands(dtype: str, rate: str) -> None:
    sketch = Sketch()
    sketch.builder.tensors.update(a=TensorType(dtype, (4, 8)), b=TensorType(dtype, (8, 4)))
    row, column, k = Axis("row", 4), Axis("column", 4), Axis("k", 8)
    wide = [cast(Argument(position, dtype), "f32") for position in (0, 1)]
    reads = [Read("a", (at(row), at(k))), Read("b", (at(k), at(column)))]
    sketch.builder.add("y", [row, column], reads, call("multiply", *wide), Reduction((k,), "sum"))
    graph = TileGraph(sketch.builder.tensors, ("a", "b"), ("y",), tuple(sketch.builder.ops))
    assert facts_of_nest(graph, "y").rate_dtype == rate


def test_a_nest_without_reads_is_plain_work() -> None:
    sketch = Sketch()
    sketch.builder.add("y", [Axis("i", 4)], [], Constant(1.0, "f32"))
    graph = TileGraph(sketch.builder.tensors, (), ("y",), tuple(sketch.builder.ops))
    assert facts_of_nest(graph, "y").flops == 0
