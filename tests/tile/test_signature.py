from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given

from burnish.tile.expr import Constant, Coordinate, Inside, call
from burnish.tile.graph import Read, TensorType, TileGraph, TileOp
from burnish.tile.group import Group
from burnish.tile.index import Axis, Fetch, Index, at, fetched, floor_divide, substitute
from burnish.tile.signature import canonical, signature, tensor_order
from burnish.tile.steps.substitution import index_mapped
from tile_samples import Sketch, attention, chain_of_layers, feed_forward, first, whole
from tile_strategies import UNHURRIED, chains


def renamed(graph: TileGraph) -> TileGraph:
    """Return the same graph with other names of tensors, axes and nodes."""
    names = {name: f"other/{name}" for name in graph.tensors}

    def other(fetch: Fetch) -> Index:
        return fetched(names[fetch.tensor], fetch.index, fetch.extent)

    def nest(op: TileOp) -> TileOp:
        axes = {
            axis: Axis(f"z{axis.name}"[::-1], axis.extent) for axis in (*op.spatial, *op.reduced)
        }
        values = {axis: at(other) for axis, other in axes.items()}

        def read(each: Read) -> Read:
            index = [substitute(index_mapped(part, other), values) for part in each.index]
            guards = [
                dataclasses.replace(guard, index=substitute(guard.index, values))
                for guard in each.guards
            ]
            return Read(names[each.tensor], tuple(index), tuple(guards), each.otherwise)

        return dataclasses.replace(
            op,
            output=names[op.output],
            spatial=tuple(axes[axis] for axis in op.spatial),
            reduced=tuple(axes[axis] for axis in op.reduced),
            reads=tuple(map(read, op.reads)),
            nodes=("another",),
        )

    return TileGraph(
        {names[name]: kind for name, kind in graph.tensors.items()},
        tuple(names[name] for name in graph.inputs),
        tuple(names[name] for name in graph.outputs),
        tuple(map(nest, graph.ops)),
        {names[name]: array for name, array in graph.constants.items()},
    )


@UNHURRIED
@given(chains())
def test_names_do_not_matter(graph: TileGraph) -> None:
    other = renamed(graph)
    assert signature(whole(graph), graph) == signature(whole(other), other)
    pairs = zip(tensor_order(whole(graph)), tensor_order(whole(other)), strict=True)
    assert all(b == f"other/{a}" for a, b in pairs)


def test_repeated_layers_have_one_signature() -> None:
    graph = chain_of_layers(64, 16, 3)
    pairs = [Group(graph.ops[k : k + 2], (graph.ops[k + 1].output,)) for k in (0, 2, 4)]
    assert len({signature(pair, graph) for pair in pairs}) == 1


def test_the_values_of_constant_tensors_do_not_matter() -> None:
    graph = chain_of_layers(8, 4, 1)
    zeros = {name: np.zeros_like(array) for name, array in graph.constants.items()}
    other = dataclasses.replace(graph, constants=zeros)
    assert signature(whole(graph), graph) == signature(whole(other), other)


@pytest.mark.parametrize(
    "other",
    [chain_of_layers(9, 4, 1), chain_of_layers(8, 5, 1), attention(2, 4, 8), feed_forward(2, 2, 4)],
)
def test_shapes_and_operators_matter(other: TileGraph) -> None:
    graph = chain_of_layers(8, 4, 1)
    assert signature(whole(graph), graph) != signature(whole(other), other)


def test_it_matters_what_is_written_and_what_is_constant() -> None:
    graph = chain_of_layers(8, 4, 1)
    both = Group(graph.ops, (graph.ops[0].output, graph.ops[1].output))
    fed = dataclasses.replace(graph, constants={}, inputs=("x", "weight$0"))
    texts = {canonical(whole(graph), graph), canonical(both, graph), canonical(whole(fed), fed)}
    assert len(texts) == 3


def test_the_function_and_its_numbers_matter() -> None:
    def clip(function: str, value: float) -> str:
        sketch = Sketch(x=(4,))
        axis = Axis("i", 4)
        body = call(function, first(), Constant(value, "f32"))
        sketch.builder.add("y", [axis], [Read("x", (at(axis),))], body)
        graph = sketch.graph("y")
        return signature(whole(graph), graph)

    assert len({clip("maximum", 0.0), clip("minimum", 0.0), clip("maximum", 1.0)}) == 3
    assert clip("maximum", 0.0) != clip("maximum", -0.0)


def test_every_kind_of_index_is_unrolled() -> None:
    sketch = Sketch(table=(5, 2))
    sketch.builder.tensors["ids"] = TensorType("i64", (3,))
    row, column = Axis("row", 3), Axis("column", 4)
    half = floor_divide(at(column), 2)
    read = Read("table", (fetched("ids", [at(row)], 5), half))
    inside = Inside(())
    place = call("where", inside, Coordinate(at(column)), Coordinate(at(row)))
    sketch.builder.add("y", [row, column], [read], first())
    sketch.builder.add("z", [row, column], [], place)
    graph = TileGraph(
        sketch.builder.tensors, ("table", "ids"), ("y", "z"), tuple(sketch.builder.ops)
    )
    text = canonical(Group(graph.ops, ("y", "z")), graph)
    assert "read t0[1*t1[1*s0+0]<5+0, 1*(1*s1+0)//2+0]" in text
    assert "body where(inside(), at(1*s1+0):i64, at(1*s0+0):i64):i64" in text
