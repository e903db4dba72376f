"""The attack on kernels for cards: it sees what is wrong with them, and knows its models again."""

from __future__ import annotations

from types import MappingProxyType

import numpy as np
import pytest

from burnish.codegen.gpu import backend, spelling
from burnish.core.errors import ModelError
from torture import random_cards
from torture.card_ways import CARD_WAYS
from torture.finding import Finding
from torture.growing import FINE, Growing
from torture.random_models import gone, runs

pytestmark = pytest.mark.torch

PREDICTED = {"card": CARD_WAYS["card"]}


def scaled() -> Growing:
    """Return a model that multiplies, adds and sums."""
    grow = Growing(np.random.default_rng(0), FINE)
    x = grow.input(grow.numbers(5, 40))
    y = grow.add("Add", grow.add("Mul", x, grow.constant(grow.numbers(40))), x)
    grow.add("ReduceSum", y, grow.constant([1]))
    return grow


def found_in(grow: Growing) -> list[Finding]:
    return list(gone(grow, grow.model(), PREDICTED, "a model"))


def test_right_kernels_pass_and_wrong_ones_do_not(monkeypatch: pytest.MonkeyPatch) -> None:
    grow = scaled()
    assert found_in(grow) == []
    wrong = {**spelling._PLAIN, "multiply": "({0} + {1})"}
    monkeypatch.setattr(spelling, "_PLAIN", MappingProxyType(wrong))
    (finding, *_) = found_in(grow)
    assert (finding.kind, finding.where) == ("wrong", "a model, card")


def test_a_model_that_cannot_be_compiled_is_told_with_the_place(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*_: object) -> None:
        raise ModelError("no kernel", hint="none")

    monkeypatch.setattr(backend, "breaches", refuse)
    (finding,) = found_in(scaled())
    assert finding.kind == "refused"
    assert finding.what.startswith("ModelError: no kernel (test_cards.py:")


@pytest.mark.parametrize("number", [3, 4])
def test_a_number_is_a_model_of_one_type_that_the_engine_runs(number: int) -> None:
    grow, again = random_cards.grown(number), random_cards.grown(number)
    assert [str(node) for node in grow.nodes] == [str(node) for node in again.nodes]
    kinds = {str(array.dtype) for array in grow.inputs.values()} - {"int64", "bool"}
    assert kinds == {"float16" if number % 2 else "float32"}
    assert runs(grow, random_cards.made(grow, number))


def test_long_constants_are_left_out_of_what_is_printed() -> None:
    grow = scaled()
    text = random_cards.described(grow.model())
    assert len(text) < 1000
    assert "c0" in text
