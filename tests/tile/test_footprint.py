from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from burnish.core.placing import ALIGNMENT
from burnish.tile.footprint import element_bytes, lifetimes, placed
from burnish.tile.graph import TileGraph
from burnish.tile.group import Group
from burnish.tile.region import TileMap, propagate
from tile_samples import Sketch, chain_of_layers, scores, whole
from tile_strategies import UNHURRIED, chains, tiles


def scratch_sizes(group: Group, tile_map: TileMap) -> dict[str, int]:
    kinds = {op.output: op.dtype for op in group.ops}
    return {name: element_bytes(kinds[name], tile_map.elements(name)) for name in group.scratch}


@UNHURRIED
@given(st.data())
def test_no_two_tensors_share_bytes_while_both_are_needed(data: st.DataObject) -> None:
    group = whole(data.draw(chains(steps=6)))
    sizes = scratch_sizes(group, propagate(group, data.draw(tiles(group.anchor.shape))))
    kept = {name for name in group.scratch if data.draw(st.booleans())}
    found = placed(lifetimes(group, kept), sizes)
    lives = lifetimes(group, kept)
    assert set(found.offsets) == set(group.scratch)
    for name, offset in found.offsets.items():
        assert offset % ALIGNMENT == 0
        assert offset + sizes[name] <= found.bytes
        for other, start in found.offsets.items():
            if other != name and lives[name].overlaps(lives[other]):
                assert offset + sizes[name] <= start or start + sizes[other] <= offset


@UNHURRIED
@given(chains(steps=6), st.integers(1, 1000))
def test_larger_tiles_of_a_back_end_take_no_less(graph: TileGraph, padding: int) -> None:
    group = whole(graph)
    sizes = dict.fromkeys(group.scratch, 1000)
    padded = {name: size + padding for name, size in sizes.items()}
    assert placed(lifetimes(group), sizes).bytes <= placed(lifetimes(group), padded).bytes


def test_a_chain_needs_room_for_two_tiles_at_a_time() -> None:
    group = whole(chain_of_layers(rows=64, width=16, depth=6))
    found = placed(lifetimes(group), scratch_sizes(group, propagate(group, (8, 16))))
    assert found.bytes == 2 * 8 * 16 * 4


def test_a_tensor_is_needed_until_its_last_reader() -> None:
    group = whole(scores(8, 4, 16))
    lives = lifetimes(group)
    assert [(life.first, life.last) for life in lives.values()] == [(0, 2), (1, 2), (2, 4), (3, 4)]


def test_what_is_written_to_memory_takes_no_scratch() -> None:
    sketch = Sketch(x=(4, 8))
    kept = sketch.relu("x")
    graph = sketch.graph(kept, sketch.relu(kept))
    group = Group(graph.ops, graph.outputs)
    assert placed(lifetimes(group), {}).bytes == 0
    assert placed(lifetimes(group), {}).offsets == {}


def test_elements_narrower_than_a_byte_are_rounded_up() -> None:
    assert element_bytes("i4", 3) == 2
    assert element_bytes("f32", 3) == 12
