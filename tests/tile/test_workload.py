from __future__ import annotations

import numpy as np
import pytest

from burnish.tile.expr import Argument, Constant, call, cast
from burnish.tile.graph import Read, TensorType, TileGraph
from burnish.tile.group import Group
from burnish.tile.index import Axis, at, fetched
from burnish.tile.parse import parse
from burnish.tile.semantics import Reduction
from burnish.tile.workload import NestFacts, is_contraction, padded_in_place, workload
from tile_samples import Sketch, attention, chain_of_layers, feed_forward, first, scores, whole


def facts(graph: TileGraph, output: str) -> NestFacts:
    found = workload(whole(graph), graph).nests
    return next(nest for nest in found if nest.op.output == output)


def alone(graph: TileGraph, output: str) -> NestFacts:
    op = next(op for op in graph.ops if op.output == output)
    return workload(Group((op,), (output,)), graph).nests[0]


def test_sums_of_products_are_contractions() -> None:
    ops = scores(8, 4, 16).ops
    assert [is_contraction(op) for op in ops] == [True, False, False, False, False]
    squares = feed_forward(4, 4, 8).ops[1]
    assert squares.output == "variance$0"
    assert not is_contraction(squares)


def test_a_multiply_add_counts_two_and_other_operations_take_its_place() -> None:
    graph = chain_of_layers(8, 4, 1)
    assert facts(graph, "product$0").flops == 2 * 4
    assert facts(graph, "relu$0").flops == 2
    assert facts(graph, "product$0").work * 32 == graph.ops[0].work


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


def test_whole_inner_axes_are_walked_as_one() -> None:
    sketch = Sketch(x=(2, 3, 4, 5), y=(2, 3, 4, 5))
    graph = sketch.graph(sketch.pointwise("add", "x", "y"))
    assert facts(graph, "add$0").choices[0].positions == (3, 2, 1, 0)
    gated = Sketch(x=(2, 8, 4, 5))
    graph = gated.graph(gated.gate("x"))
    assert facts(graph, "gate$0").choices[0].positions == (3, 2, 1)


def test_it_matters_how_neighbouring_elements_lie() -> None:
    sketch = Sketch(x=(4, 6, 8))
    graph = sketch.graph(sketch.transpose("x", (2, 1, 0)))
    assert facts(graph, "moved$0").choices[0].lying == ("apart",)
    product = attention(2, 8, 4)
    assert facts(product, "product$0").choices[0].lying == ("same", "side by side")


def test_every_second_element_lies_near() -> None:
    sketch = Sketch(x=(4, 16))
    row, column = Axis("row", 4), Axis("column", 8)
    sketch.builder.add("y", [row, column], [Read("x", (at(row), at(column) * 2))], first())
    assert facts(sketch.graph("y"), "y").choices[0].lying == ("near",)


def test_scratch_is_laid_out_for_its_reader_and_memory_is_not() -> None:
    sketch = Sketch(x=(4, 8))
    graph = sketch.graph(sketch.transpose(sketch.relu("x"), (1, 0)))
    assert facts(graph, "moved$0").choices[0].lying == ("side by side",)
    assert alone(graph, "moved$0").choices[0].lying == ("apart",)


def test_what_a_nest_reads_first_is_told_from_what_it_reads_again() -> None:
    graph = feed_forward(4, 4, 8)
    assert facts(graph, "mean$0").first_reads == ("x",)
    assert facts(graph, "variance$0").first_reads == ()
    assert dict(facts(graph, "variance$0").again) == {"x": 4, "mean$0": 4, "variance$0": 4}


def test_fetched_indices_are_read_too() -> None:
    sketch = Sketch(table=(5, 8))
    sketch.builder.tensors["ids"] = TensorType("i64", (3,))
    row, column = Axis("row", 3), Axis("column", 8)
    read = Read("table", (fetched("ids", [at(row)], 5), at(column)))
    sketch.builder.add("y", [row, column], [read], first())
    graph = TileGraph(sketch.builder.tensors, ("table", "ids"), ("y",), tuple(sketch.builder.ops))
    nest = facts(graph, "y")
    assert [(read.tensor, read.width_bytes) for read in nest.reads] == [("table", 4), ("ids", 8)]
    assert nest.choices[0].lying == ("side by side", "same")


def test_a_plain_sum_may_be_added_up_along_any_of_its_axes() -> None:
    sketch = Sketch(x=(8, 4, 16))
    axes = [Axis(name, size) for name, size in (("c", 8), ("h", 4), ("w", 16))]
    one = Axis("one", 1)
    read = Read("x", tuple(map(at, axes)))
    sketch.builder.add("y", [one], [read], first(), Reduction(tuple(axes), "sum"))
    graph = sketch.graph("y")
    orders = {"x": (1, 2, 0)}
    found = workload(Group(graph.ops, ("y",)), graph, orders).nests[0].choices
    assert [(each.reduced_length, each.lying) for each in found] == [
        (8, ("side by side",)),
        (4, ("apart",)),
        (16, ("apart",)),
    ]


@pytest.mark.parametrize(("dtype", "rate"), [("f16", "f16"), ("f32", "f32"), ("i8", "f32")])
def test_the_rate_is_that_of_the_operands(dtype: str, rate: str) -> None:
    sketch = Sketch()
    sketch.builder.tensors.update(a=TensorType(dtype, (4, 8)), b=TensorType(dtype, (8, 4)))
    row, column, k = Axis("row", 4), Axis("column", 4), Axis("k", 8)
    wide = [cast(Argument(position, dtype), "f32") for position in (0, 1)]
    reads = [Read("a", (at(row), at(k))), Read("b", (at(k), at(column)))]
    sketch.builder.add("y", [row, column], reads, call("multiply", *wide), Reduction((k,), "sum"))
    graph = TileGraph(sketch.builder.tensors, ("a", "b"), ("y",), tuple(sketch.builder.ops))
    assert facts(graph, "y").rate_dtype == rate


def test_a_nest_without_reads_is_plain_work() -> None:
    sketch = Sketch()
    sketch.builder.add("y", [Axis("i", 4)], [], Constant(1.0, "f32"))
    graph = TileGraph(sketch.builder.tensors, (), ("y",), tuple(sketch.builder.ops))
    assert facts(graph, "y").flops == 0


@pytest.mark.parametrize("rows", [16, 200])
def test_vectors_may_run_along_channels_however_many_rows_an_image_has(rows: int) -> None:
    graph = parse(
        f"in x: f32[1, 3, {2 * rows + 1}, 401]\nconst w: f32[48, 3, 3, 3]\n"
        f"y: f32[b=1, c=48, h={rows}, w=200] = "
        "sum(i=3, m=3, n=3) x[0, i, 2*h + m, 2*w + n] * w[c, i, m, n]\nout y",
        {"w": np.ones((48, 3, 3, 3), np.float32)},
    )
    easy = [each for each in facts(graph, "y").choices if "side by side" in each.lying]
    along = [(each.positions, each.lying, each.output_apart) for each in easy if each.positions]
    assert along == [((1,), ("same", "side by side"), True)]
