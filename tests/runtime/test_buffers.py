"""Buffers that live at the same time never overlap, and dead ones make room."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from burnish.core.placing import ALIGNMENT
from burnish.runtime.buffers import SLACK_BYTES, Uses, arena, lifetimes, padded


@st.composite
def programs(draw: st.DrawFn) -> tuple[list[Uses], dict[str, int]]:
    """Return steps that each write a new tensor and read some of the earlier ones."""
    count = draw(st.integers(1, 12))
    steps, sizes = [], {}
    for number in range(count):
        earlier = sorted(sizes)
        reads = draw(st.lists(st.sampled_from(earlier), max_size=3)) if earlier else []
        sizes[f"t{number}"] = draw(st.integers(0, 500))
        steps.append(Uses(tuple(reads), (f"t{number}",)))
    return steps, sizes


@given(programs())
def test_no_two_live_buffers_overlap(program: tuple[list[Uses], dict[str, int]]) -> None:
    steps, sizes = program
    found = arena(steps, sizes)
    lives = lifetimes(steps, sizes)
    for a, b in combinations(lives, 2):
        if lives[a].overlaps(lives[b]):
            first, second = sorted((a, b), key=lambda name: found.offsets[name])
            assert found.offsets[first] + padded(sizes[first]) <= found.offsets[second]


@given(programs())
def test_buffers_are_aligned_inside_the_arena_and_have_slack(
    program: tuple[list[Uses], dict[str, int]],
) -> None:
    steps, sizes = program
    found = arena(steps, sizes)
    for name, offset in found.offsets.items():
        assert offset % ALIGNMENT == 0
        assert offset + sizes[name] + SLACK_BYTES <= found.bytes
    lives = lifetimes(steps, sizes)
    for number in range(len(steps)):
        needed = [name for name, life in lives.items() if life.first <= number <= life.last]
        assert found.bytes >= sum(padded(sizes[name]) for name in needed)


def test_a_chain_needs_two_buffers_however_long_it_is() -> None:
    steps = [Uses((f"t{n - 1}",) if n else (), (f"t{n}",)) for n in range(50)]
    found = arena(steps, {f"t{n}": 1000 for n in range(50)})
    assert found.bytes == 2 * padded(1000)


def test_what_is_written_does_not_lie_on_what_the_same_step_reads() -> None:
    found = arena([Uses((), ("a",)), Uses(("a",), ("b",))], {"a": 8, "b": 8})
    assert found.offsets["a"] != found.offsets["b"]


def test_a_tensor_that_no_step_uses_has_no_place() -> None:
    assert arena([Uses((), ("a",))], {"a": 8, "b": 8}).offsets.keys() == {"a"}


def test_nothing_needs_no_memory() -> None:
    assert arena([], {}).bytes == 0
