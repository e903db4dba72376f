"""Names that nothing has."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from burnish.core.free_names import FreeNames


@given(st.sets(st.sampled_from(["a", "a_2", "a_3", "b"])), st.lists(st.sampled_from("ab")))
def test_every_name_is_new(taken: set[str], stems: list[str]) -> None:
    names = FreeNames(taken)
    given_out = [names.unused(stem) for stem in stems]
    assert len({*given_out, *taken}) == len(given_out) + len(taken)
    assert names.taken == {*given_out, *taken}


def test_numbers_begin_at_two() -> None:
    names = FreeNames(["a"])
    assert [names.unused("a"), names.unused("a"), names.unused("b")] == ["a_2", "a_3", "b_2"]
