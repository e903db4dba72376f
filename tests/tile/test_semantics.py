"""What is refused of a nest as it is added."""

from __future__ import annotations

import pytest

from burnish.tile.expr import Argument, Guard
from burnish.tile.graph import Read, TensorType
from burnish.tile.index import Axis, at, fetched
from burnish.tile.semantics import NestBuilder, NotCoveredError

ROW = Axis("i", 4)
TYPES = {"x": TensorType("f32", (6,)), "p": TensorType("i64", (1,))}
BODY = Argument(0, "f32")


@pytest.mark.parametrize(
    ("index", "said"),
    [
        (at(ROW) + 3, "it reads 'x' at 3 to 6 of a dimension of 6"),
        (at(ROW) - 1, "it reads 'x' at -1 to 2 of a dimension of 6"),
        (fetched("p", (at(Axis("one", 1)),), 6) + at(ROW), "it reads 'x' at 0 to 8 of a"),
    ],
)
def test_a_nest_that_leaves_what_it_reads_is_refused(index: object, said: str) -> None:
    with pytest.raises(NotCoveredError, match=said):
        NestBuilder(TYPES, {}).add("y", (ROW,), [Read("x", (index,))], BODY)


def test_what_stays_inside_or_is_guarded_is_taken() -> None:
    builder = NestBuilder(TYPES, {})
    builder.add("y", (ROW,), [Read("x", (at(ROW) + 2,))], BODY)
    guard = Guard(at(ROW) + 3, 0, 6)
    builder.add("z", (ROW,), [Read("x", (at(ROW) + 3,), (guard,))], BODY)
    builder.add("none", (Axis("j", 0),), [Read("x", (at(Axis("j", 0)) + 6,))], BODY)
    assert [op.output for op in builder.ops] == ["y", "z", "none"]
