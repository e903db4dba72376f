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


@pytest.mark.parametrize(
    "text", ["1/0", "2**9**9**9", "s0//(s1-3)", "9**9**9**9", "max()", "0**-1"]
)
def test_arithmetic_without_a_size_says_so(text: str) -> None:
    with pytest.raises(dimension.NoSizeError, match="cannot have a size with") as caught:
        dimension.evaluate(text, {"s0": 7, "s1": 3})
    assert caught.value.hint.startswith("bind other sizes: --shape ")


@pytest.mark.parametrize("text", ["(" * 5000 + "n", "a+" * 400 + "a", "1if x"])
def test_what_nobody_writes_as_arithmetic_is_a_name(text: str) -> None:
    assert dimension.atoms(text) == (text,)


def test_negative_powers_are_fractions() -> None:
    assert dimension.evaluate("n * 2**-1", {"n": 7}) == 3
