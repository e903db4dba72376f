from __future__ import annotations

import pytest

from burnish.analyze.event_graph import EventGraph
from burnish.analyze.selector import Scene, Selector, chains, parse, select
from burnish.core.errors import UsageError
from burnish.store.graph import GraphNode
from event_graphs import event, node, record

GRAPH = record(
    node("mm", "MatMul", "x w", "a"),
    node("bias", "Add", "a b", "c"),
    node("act", "Relu", "c", "d"),
    node("sum", "Add", "d x", "y"),
)
SCENE = Scene(
    EventGraph(
        (
            event("l", 1, kind="launch", nodes=()),
            event("gemm<64>", 9, 0, kind="kernel", nodes=("mm", "bias"), op_type="aten::addmm"),
            event("relu_kernel", 2, 1, kind="kernel", nodes=("act",), op_type="aten::relu"),
            event("add_kernel", 3, 2, kind="kernel", nodes=("sum",), op_type="aten::add"),
        )
    ),
    GRAPH,
    {"bias-gemm": frozenset({"mm", "bias"})},
)  # fmt: skip


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("name:act", (2,)),
        ("act", (2,)),
        ("relu_kernel", (2,)),
        ("op:RELU", (2,)),
        ("relu", (2,)),
        ("MatMul", (1,)),
        ("op:Add", (3,)),
        ("matmul+add", (1,)),
        ("op:aten::addmm", (1,)),
        ("glob:*_kernel", (2, 3)),
        ("s*", (3,)),
        ("re:^(act|sum)$", (2, 3)),
        ("kernel:gemm", (1,)),
        ("layer:net", (1, 2, 3)),
        ("layer:net/act", (2,)),
        ("pattern:Relu>Add", (2, 3)),
        ("pattern:Bias-GEMM", (1,)),
        ("bias-gemm", (1,)),
        ("top:2", (1, 3)),
        ("id:0", (1,)),
    ],
)
def test_each_way_of_selecting(text: str, places: tuple[int, ...]) -> None:
    assert select(parse(text), SCENE) == places


@pytest.mark.parametrize(
    ("text", "problem", "hint"),
    [
        ("op:Reluu", "op:Reluu selects nothing", "the nearest: Relu"),
        ("name:actt", "name:actt selects nothing", "the nearest: act"),
        ("Softmax", "Softmax selects nothing", "the nearest:"),
        ("layer:net/nothing", "layer:net/nothing selects nothing", "the nearest: net/"),
        ("id:3", "id:3 selects nothing", "events are numbered from 0 to 2, as they ran"),
        ("id:²", "id:² is not a number", "write top:3 for the three longest, id:7 for one"),
        ("top:many", "top:many is not a number", "write top:3 for the three longest, id:7 for one"),
        ("re:(", "re:( is no regular expression", "select by name with * and ? instead"),
    ],
)
def test_what_selects_nothing_is_an_error_with_the_nearest_names(
    text: str, problem: str, hint: str
) -> None:
    with pytest.raises(UsageError) as caught:
        select(parse(text), SCENE)
    assert caught.value.problem.startswith(problem)
    assert caught.value.hint.startswith(hint)


def test_layers_need_the_model() -> None:
    with pytest.raises(UsageError) as caught:
        select(parse("layer:net"), Scene(SCENE.graph))
    assert caught.value.hint == "give the model too: --model MODEL"


def test_chains_follow_who_feeds_whom() -> None:
    assert chains(GRAPH, ["matmul", "add", "relu"]) == (("mm", "bias", "act"),)
    assert chains(GRAPH, ["relu", "matmul"]) == ()


def test_a_selector_is_written_as_it_is_read() -> None:
    for text in ("op:Relu", "a/b", "top:3"):
        assert str(parse(text)) == text
    assert parse("op:") == Selector("any", "op:")


def test_an_id_is_that_of_the_graphs_list_where_there_is_a_graph() -> None:
    graph = EventGraph((event("late", 5), event("early", 5, 0)))
    scene = Scene(graph, ids=(("early",), ("late", "with"), ("inside",)))
    assert select(parse("id:0"), scene) == (1,)
    assert select(parse("id:1"), scene) == (0,)
    with pytest.raises(UsageError) as inside:
        select(parse("id:2"), scene)
    assert inside.value.hint == (
        "it is inside, which took no time of its own: select what it runs in"
    )
    with pytest.raises(UsageError) as beyond:
        select(parse("id:3"), scene)
    assert beyond.value.hint == "nodes are numbered from 0 to 2, in the order of the graph's list"


def test_a_layer_is_found_inside_of_whatever_it_is_in() -> None:
    inner = GraphNode("n0", "Add", "", (), (), {}, ("bert", "encoder", "layer.0", "output"))
    other = GraphNode("n1", "Add", "", (), (), {}, ("bert", "encoder", "layer.01"))
    scene = Scene(EventGraph((event("n0", 5), event("n1", 5))), record(inner, other))
    assert select(parse("layer:encoder/layer.0"), scene) == (0,)
    assert select(parse("layer:bert"), scene) == (0, 1)
