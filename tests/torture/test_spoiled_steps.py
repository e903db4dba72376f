"""Errors are planted in replacements, found by the check of steps, and taken out again."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir
import pytest

from burnish.rewrite.match import Proposal
from burnish.rewrite.rule import Match
from rewriting import Graph
from torture.bases.kinds import transformer
from torture.spoiled_steps import asked_about_steps, plants


def planted(op_type: str, *inputs: np.ndarray, **attributes: float) -> list[str]:
    graph = Graph()
    made = graph.op(op_type, graph.input("x", ["n", 4]), *inputs, **attributes)
    proposal = Proposal("mine", Match((), made, {}), tuple(graph.model(made).graph), ())
    return [plant.title for plant in plants(proposal)]


ONE, TWO = np.array([1]), np.array([2])


@pytest.mark.parametrize(("found", "titles"), [
    (planted("Concat", ONE, ONE, axis=0), ["Concat last input dropped"]),
    (planted("Concat", ONE, TWO, axis=0),
     ["Concat inputs 1, 2 swapped", "Concat last input dropped"]),
    (planted("Equal", np.float32(-np.inf)), ["Equal constant 1 × 0"]),
    (planted("Max", np.float32(-1e30)), ["Max constant 1 × 0"]),
    (planted("Max", np.float32(-1.0)), ["Max constant 1 × 1.01", "Max constant 1 × 0"]),
    (planted("Add", np.zeros(4, np.float32)), []),
    (planted("Slice", ONE, TWO, ONE, ONE), ["Slice inputs 1, 2 swapped"]),
    (planted("LeakyRelu", alpha=0.5), ["LeakyRelu.alpha × 1.02"]),
])  # fmt: skip
def test_what_changes_no_number_is_not_planted(found: list[str], titles: list[str]) -> None:
    assert found == titles


def test_the_check_of_steps_finds_what_is_planted_and_nothing_else() -> None:
    model = ir.from_proto(transformer().model)
    before = ir.to_proto(model).SerializeToString()
    found = asked_about_steps(model)
    assert {each.error == "" for each in found} == {False, True}
    assert [each for each in found if not each.is_right] == []
    assert ir.to_proto(model).SerializeToString() == before
