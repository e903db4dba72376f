from __future__ import annotations

import pytest

from burnish.core.tensors import TensorSpec
from burnish.parity.pairing import differing_inputs, pair_outputs
from burnish.store.interface import Interface


def outputs(*specs: tuple[str, str, tuple[int | str, ...]]) -> Interface:
    return Interface((), tuple(TensorSpec(*spec) for spec in specs))


def inputs(*specs: tuple[str, str, tuple[int | str, ...]]) -> Interface:
    return Interface(tuple(TensorSpec(*spec) for spec in specs), ())


def test_names_go_before_positions() -> None:
    first = outputs(("a", "f32", (2,)), ("b", "f32", (2,)))
    second = outputs(("b", "f32", (2,)), ("a", "f32", (2,)))
    assert pair_outputs(first, second).candidates == {"a": "a", "b": "b"}


def test_what_is_left_is_paired_by_position() -> None:
    first = outputs(("a", "f32", (2,)), ("b", "f32", ("n", 4)))
    second = outputs(("c", "f32", ("batch", 4)), ("a", "f32", (2,)))
    pairing = pair_outputs(first, second)
    assert pairing.candidates == {"a": "a", "b": "c"}
    assert pairing.notes == (
        "the models name their outputs differently; compared by position: b with c",
    )


@pytest.mark.parametrize(
    "other",
    [("c", "f16", ("n", 4)), ("c", "f32", ("n", 5)), ("c", "f32", ("n", 4, 1))],
    ids=["type", "size", "rank"],
)
def test_outputs_that_cannot_be_the_same_are_not_paired(
    other: tuple[str, str, tuple[int | str, ...]],
) -> None:
    pairing = pair_outputs(outputs(("b", "f32", ("n", 4))), outputs(other))
    assert pairing.candidates == {}
    assert pairing.notes == ("the candidate's output 'c' has no counterpart and was not compared",)


def test_an_unknown_rank_fits_any() -> None:
    pairing = pair_outputs(outputs(("b", "f32", ("...",))), outputs(("c", "f32", (2, 3))))
    assert pairing.candidates == {"b": "c"}


def test_inputs_may_stand_in_any_order() -> None:
    first = inputs(("a", "f32", (2,)), ("b", "i64", ("n",)))
    second = inputs(("b", "i64", ("m",)), ("a", "f32", (2,)))
    assert differing_inputs(first, second) == ()


def test_outputs_that_are_declared_otherwise_are_told() -> None:
    first = outputs(("a", "f32", ("n", 8)), ("b", "f32", ("n",)))
    second = outputs(("a", "f32", ("n", 9)), ("b", "f32", (3,)))
    pairing = pair_outputs(first, second)
    assert pairing.candidates == {"a": "a", "b": "b"}
    (note,) = pairing.notes
    assert note.startswith("the candidate declares a: f32[n, 9], the reference a: f32[n, 8]")
