from __future__ import annotations

import zlib
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from burnish.hw.spec import for_cores, load
from burnish.tile.candidates import Ranking, candidates
from burnish.tile.connect import NoGroupError, grouped, in_order, singles, wiring
from burnish.tile.graph import TileGraph
from burnish.tile.group import Group
from burnish.tile.machine import machine
from burnish.tile.partition import Fusion, Partition, SearchLimits, chain_order, partition
from burnish.tile.predict import Predictions, Predictor
from burnish.tile.spacing import spaced
from tile_samples import Sketch, attention, chain_of_layers, feed_forward, scores
from tile_strategies import UNHURRIED, chains

AVX2 = machine(for_cores(load("x86-avx2"), 2))
AVX512 = machine(for_cores(load("x86-avx512"), 2))


def names(group: Group) -> list[str]:
    return [op.output.split("$")[0] for op in group.ops]


def diamond() -> TileGraph:
    """Return x → a → b → d and a → c → d."""
    sketch = Sketch(x=(8, 8))
    a = sketch.relu("x")
    b, c = sketch.relu(a), sketch.relu(a)
    return sketch.graph(sketch.pointwise("add", b, c))


def at_random(seed: int) -> Predictor:
    """Return a predictor whose answers have nothing to do with the groups."""

    def predict(group: Group) -> float:
        names = tuple(op.output for op in group.ops)
        value = zlib.crc32(f"{seed} {names}".encode()) % 1000
        if len(names) > 1 and value < 100:
            raise NoGroupError("it is one of those that cannot be")
        return value / 1000 + 0.001

    return predict


def assert_sound(found: Partition, graph: TileGraph) -> None:
    """Assert that every nest is in one group, and each group runs after what it reads."""
    members = [op.output for group in found.groups for op in group.ops]
    assert sorted(members) == sorted(op.output for op in graph.ops)
    known = {*graph.inputs, *graph.constants}
    for group in found.groups:
        assert set(group.inputs) <= known
        known |= set(group.outputs)
    assert set(graph.outputs) <= known


@settings(UNHURRIED, max_examples=60)
@given(chains(steps=6), st.integers(0, 10_000))
def test_every_nest_is_in_one_group_and_groups_can_run_in_order(
    graph: TileGraph, seed: int
) -> None:
    found = partition(graph, AVX2, predictor=at_random(seed))
    assert_sound(found, graph)
    writer = {name: k for k, group in enumerate(found.groups) for name in group.outputs}
    edges = {
        (writer[name], k)
        for k, group in enumerate(found.groups)
        for name in group.inputs
        if name in writer
    }
    outputs = [group.anchor.output for group in found.groups]
    told = {(outputs.index(r.first), outputs.index(r.second)) for r in found.rejections}
    assert told == edges
    assert all(rejection.reason for rejection in found.rejections)


@settings(UNHURRIED, max_examples=15)
@given(chains(steps=3))
def test_the_cost_model_gives_sound_groups(graph: TileGraph) -> None:
    assert_sound(partition(graph, AVX2), graph)


@UNHURRIED
@given(chains(steps=6))
def test_the_order_of_chains_is_an_order_to_run_in(graph: TileGraph) -> None:
    wires = wiring(graph)
    order = chain_order(wires)
    assert sorted(order) == list(range(len(graph.ops)))
    for place, position in enumerate(order):
        assert set(wires.predecessors(position)) <= set(order[:place])


@pytest.mark.parametrize("fusion", ["none", "element-wise"])
def test_without_full_fusion_each_nest_is_a_kernel(fusion: Fusion) -> None:
    graph = attention(2, 16, 8)
    assert partition(graph, AVX2, fusion).groups == singles(graph)


def test_a_graph_without_nests_has_no_groups() -> None:
    graph = Sketch(x=(1,)).graph("x")
    assert partition(graph, AVX2) == Partition(())


def test_attention_is_one_kernel() -> None:
    groups = partition(attention(12, 512, 64), AVX2).groups
    assert [names(group) for group in groups] == [
        ["product", "max", "exp", "sum", "divide", "product"]
    ]


def test_narrow_layers_are_one_kernel() -> None:
    groups = partition(chain_of_layers(16384, 64, 4), AVX512).groups
    assert len(groups) == 1


def test_layers_of_many_rows_are_one_kernel_on_one_core_too() -> None:
    # alone, each layer takes its whole output for a tile, and no scratch holds that of another
    one_core = machine(for_cores(load("x86-avx512"), 1))
    groups = partition(chain_of_layers(2_073_600, 64, 4), one_core).groups
    assert len(groups) == 1


def test_a_matrix_product_and_the_softmax_of_its_rows_are_one_kernel() -> None:
    assert len(partition(scores(98304, 64, 128), AVX2).groups) == 1


def test_thin_images_share_kernels_across_a_depthwise_convolution() -> None:
    groups = partition(feed_forward(48, 128, 256), AVX512).groups
    shared = next(group for group in groups if "depthwise" in names(group))
    assert {"convolved", "padded", "depthwise", "gate"} <= set(names(shared))


@pytest.mark.parametrize(("channels", "hidden"), [(48, 128), (64, 64)])
def test_layers_over_planes_with_room_between_them_share_a_kernel_too(
    channels: int, hidden: int
) -> None:
    # nothing collides, so each convolution alone takes its whole output for a tile
    one_core = machine(for_cores(load("x86-avx512"), 1))
    sketch = Sketch(x=(1, channels, 256, 256))
    wide = sketch.depthwise(sketch.convolution(sketch.relu("x"), 2 * hidden))
    dense = sketch.graph(sketch.convolution(wide, channels))
    graph = spaced(dense, {}, one_core.unit)
    assert graph != dense
    assert len(partition(dense, one_core).groups) == 1
    assert len(partition(graph, one_core).groups) == 1


def test_wide_layers_stay_apart() -> None:
    found = partition(chain_of_layers(128, 4096, 2), AVX2)
    for group in found.groups:
        assert names(group).count("product") <= 1
    assert all(" apart and " in rejection.reason for rejection in found.rejections)


def test_groups_beyond_the_limit_say_so() -> None:
    graph = chain_of_layers(16384, 64, 2)
    found = partition(graph, AVX512, limits=SearchLimits(nests=2))
    assert [len(group.ops) for group in found.groups] == [2, 2]
    reasons = [rejection.reason for rejection in found.rejections]
    assert reasons == ["together they are 4 nests, and 2 is the limit"]


def test_one_bad_early_choice_does_not_block_a_better_grouping() -> None:
    graph = chain_of_layers(64, 8, 2)
    first, second, third, fourth = (op.output for op in graph.ops)
    price = {
        (first,): 1.0, (second,): 1.0, (third,): 1.0, (fourth,): 1.0,
        (second, third): 1.0,  # the greatest gain at first, but it leaves two nests alone
        (first, second): 1.2, (third, fourth): 1.2,
    }  # fmt: skip

    def predict(group: Group) -> float:
        members = tuple(op.output for op in group.ops)
        if members not in price:
            raise NoGroupError("not these")
        return price[members]

    found = partition(graph, AVX2, predictor=predict)
    assert [len(group.ops) for group in found.groups] == [2, 2]


def test_groups_are_no_cheaper_apart_than_what_was_chosen() -> None:
    graph = feed_forward(48, 128, 64)
    predict = Predictions(graph, AVX2)
    found = partition(graph, AVX2, predictor=predict)
    assert sum(map(predict, found.groups)) <= sum(map(predict, singles(graph)))


def test_nests_with_one_between_them_are_no_group() -> None:
    wires = wiring(chain_of_layers(8, 4, 2))
    with pytest.raises(NoGroupError, match=r"^'relu\$0' lies between them and is outside$"):
        grouped(wires, [0, 2, 3])


def test_a_nest_that_the_anchor_does_not_need_is_no_member() -> None:
    wires = wiring(diamond())
    with pytest.raises(NoGroupError, match=r"^'relu\$2' does not need 'relu\$1'$"):
        grouped(wires, [0, 1, 2])


def test_what_others_read_is_written_to_memory() -> None:
    group = grouped(wiring(diamond()), [0, 1])
    assert group.outputs == ("relu$0", "relu$1")
    assert grouped(wiring(diamond()), [0, 1, 2, 3]).outputs == ("add$0",)


def test_groups_are_put_in_an_order_to_run_in() -> None:
    graph = chain_of_layers(8, 4, 3)
    assert in_order(singles(graph)[::-1]) == singles(graph)


def test_a_group_that_computes_too_much_again_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("burnish.tile.predict.MOST_RECOMPUTED", 0.5)
    graph = chain_of_layers(64, 8, 1)
    with pytest.raises(NoGroupError, match=r"^its tiles would compute 1\.0 times the work$"):
        Predictions(graph, AVX2)(Group(graph.ops, graph.outputs))


def test_tiles_are_looked_for_anew_where_those_near_the_last_compute_too_much_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Alone, an anchor may want its whole output as one tile."""
    graph = chain_of_layers(64, 8, 1)
    group = Group(graph.ops, graph.outputs)
    best = candidates(group, graph, AVX2).candidates[0]
    too_much = replace(best, cost=replace(best.cost, operations=1e12))

    def near_or_anew(*given: object) -> Ranking:
        return Ranking((too_much if given[4] else best,))

    monkeypatch.setattr("burnish.tile.predict.candidates", near_or_anew)
    predict = Predictions(graph, AVX2)
    predict._tiles[group.anchor.output] = group.anchor.shape
    assert predict.best(group) == best


def test_an_output_without_elements_is_a_group_of_its_own() -> None:
    sketch = Sketch(x=(0, 8))
    graph = sketch.graph(sketch.relu(sketch.relu("x")))
    assert partition(graph, AVX2).groups == singles(graph)
    with pytest.raises(NoGroupError, match=r"^its output has no element$"):
        Predictions(graph, AVX2)(singles(graph)[0])


def test_repeated_groups_are_searched_once() -> None:
    graph = chain_of_layers(64, 8, 6)
    predict = Predictions(graph, AVX2)
    assert len({predict(group) for group in singles(graph)}) == 2
    assert len(predict._answers) == 2


def test_what_only_the_order_put_into_a_group_is_taken_out() -> None:
    """Keys are computed between the shifted product and the scores that read both."""
    sketch = Sketch(x=(64, 64), y=(64, 64), z=(64, 64))
    early = sketch.matmul("x", "y", name="early")
    source = sketch.matmul("y", "z", name="source")
    late = sketch.matmul(early, source, name="late")
    graph = sketch.graph(late)

    def dislikes_source(group: Group) -> float:
        return 10.0 if len(group.ops) > 2 else 3.0 * len(group.ops) / (len(group.ops) + 1)

    found = partition(graph, AVX2, predictor=dislikes_source)
    assert_sound(found, graph)
    assert sorted(map(len, map(names, found.groups))) == [1, 2]


def test_a_nest_that_others_of_its_group_need_is_not_taken_out() -> None:
    graph = chain_of_layers(64, 16, 3)

    def likes_long_groups(group: Group) -> float:
        return 1.0 / len(group.ops)

    found = partition(graph, AVX2, predictor=likes_long_groups)
    assert len(found.groups) == 1
