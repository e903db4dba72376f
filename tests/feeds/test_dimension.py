from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from burnish.feeds import dimension


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("batch", ("batch",)),
        ("past_sequence_length + sequence_length", ("past_sequence_length", "sequence_length")),
        ("2*s0", ("s0",)),
        ("Max(1, s0)", ("s0",)),
        ("floor(s0/2) + s0", ("s0",)),
        ("12", ()),
        ("batch-size", ("batch-size",)),
        ("batch size", ("batch size",)),
        ("input.1_dim_0", ("input.1_dim_0",)),
        ("None", ("None",)),
        ("?", ("?",)),
        ("f(s0)", ("f(s0)",)),
        ("'text'", ("'text'",)),
    ],
)
def test_atoms_are_the_names_in_an_expression(text: str, names: tuple[str, ...]) -> None:
    assert dimension.atoms(text) == names


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("s0", 7), ("2*s0", 14), ("s0 + s1", 10), ("s0 - s1", 4), ("s0//2", 3), ("s0/2", 3),
        ("s0**2", 49), ("-s1 + s0", 4), ("Max(s0, s1)", 7), ("Min(s0, s1)", 3), ("Mod(s0, 4)", 3),
        ("floor(s0/s1)", 2), ("ceiling(s0/s1)", 3), ("CeilDiv(s0, 2)", 4), ("FloorDiv(s0, 2)", 3),
        ("((s0 - 1)//2) + 1", 4), ("12", 12), ("s0 % 4", 3),
    ],
)  # fmt: skip
def test_expressions_are_evaluated(text: str, size: int) -> None:
    assert dimension.evaluate(text, {"s0": 7, "s1": 3}) == size


@given(st.text(max_size=20))
def test_any_text_has_atoms_that_suffice_to_evaluate_it(text: str) -> None:
    with contextlib.suppress(dimension.NoSizeError):
        dimension.evaluate(text, dict.fromkeys(dimension.atoms(text), 2))
