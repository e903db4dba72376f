from __future__ import annotations

from burnish.feeds.joint_sizes import alike, joined, multiplied, telling_numbers


def test_axes_and_steps_are_no_sizes() -> None:
    assert telling_numbers((0, 1, 2, -1, 40, 4, 40)) == [40, 4]


def test_all_dimensions_are_made_alike_beyond_every_number() -> None:
    assert {"height": 49, "width": 49} in list(alike(("height", "width"), (48, 2)))


def test_two_dimensions_are_beyond_two_numbers_or_one_of_them_is_one() -> None:
    found = list(joined(("batch", "past", "sequence"), (8, 4)))
    for pair in ({"batch": 5, "past": 9}, {"past": 9, "sequence": 1}, {"batch": 9, "past": 5}):
        assert pair in found
    assert all(max(sizes.values()) > 1 for sizes in found)


def test_rows_of_many_tokens_are_as_many_in_all_as_a_number() -> None:
    meanings = {"batch": "batch", "tokens": "sequence"}
    (found,) = multiplied(meanings, (2000, 1 << 19, 16), 100)
    assert found == {"batch": 21, "tokens": 100}


def test_without_rows_or_tokens_there_are_none_in_all() -> None:
    assert not list(multiplied({"height": "height", "n": "batch"}, (2000,), None))
