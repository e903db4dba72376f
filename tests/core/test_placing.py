from __future__ import annotations

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from burnish.core.placing import ALIGNMENT, Lifetime, aligned, first_fit

LIVES = st.lists(
    st.tuples(st.integers(0, 9), st.integers(0, 9), st.integers(0, 300)), min_size=1, max_size=9
)


@given(LIVES)
def test_what_is_needed_at_one_step_never_overlaps(rows: list[tuple[int, int, int]]) -> None:
    lives = {str(n): Lifetime(min(a, b), max(a, b)) for n, (a, b, _) in enumerate(rows)}
    sizes = {str(n): size for n, (_, _, size) in enumerate(rows)}
    found = first_fit(lives, sizes, lives)
    for name, offset in found.offsets.items():
        assert offset % ALIGNMENT == 0
        assert offset + sizes[name] <= found.bytes
    for a, b in combinations(lives, 2):
        if lives[a].overlaps(lives[b]) and sizes[a] and sizes[b]:
            first, second = sorted((a, b), key=lambda name: found.offsets[name])
            assert found.offsets[first] + aligned(sizes[first]) <= found.offsets[second]


def test_what_is_no_longer_needed_makes_room() -> None:
    lives = {"a": Lifetime(0, 1), "b": Lifetime(1, 2), "c": Lifetime(2, 3)}
    found = first_fit(lives, {"a": 64, "b": 64, "c": 64}, lives)
    assert found.offsets == {"a": 0, "b": 64, "c": 0}
    assert found.bytes == 128
