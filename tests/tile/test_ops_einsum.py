from __future__ import annotations

import pytest

from burnish.core.errors import ModelError
from tile.one_node import assert_as_runtime, lowered, numbers, one_node

SIZES = {"b": 2, "h": 3, "i": 4, "j": 5, "k": 6}


@pytest.mark.parametrize(
    "equation",
    [
        "ij,jk->ik", "bhik,bhjk->bhij", "bij,jk", "ij->ji", "ij->i", "ij->", "ij,ij->ij", "i,j->ij",
        "bij , bjk -> bik", "ijk->kj", "ij,kj->ik", "i,i->", "bhij,hjk,bih->bik", "ij,jk,kh->ih",
        "i,j,k->kij", "ij,ij,ij,i->j", "bi,bj,bk->",
    ],
)  # fmt: skip
def test_it_is_as_in_onnx_runtime(equation: str) -> None:
    terms = equation.partition("->")[0].replace(" ", "").split(",")
    inputs = {
        f"x{n}": numbers([SIZES[label] for label in term], seed=n) for n, term in enumerate(terms)
    }
    assert_as_runtime(one_node("Einsum", inputs, equation=equation), inputs, atol=1e-5)


@pytest.mark.parametrize(
    ("equation", "shapes"),
    [
        ("...ij,...jk->...ik", [(2, 3, 4, 5), (2, 3, 5, 6)]),
        ("...ij,jk->...ik", [(2, 3, 4, 5), (5, 6)]),
        ("b...j,bj->b...", [(2, 3, 5), (2, 5)]),
        ("...ij->...ji", [(2, 3, 4)]),
        ("...i", [(2, 3)]),
    ],
)
def test_dots_stand_for_the_other_dimensions(equation: str, shapes: list[tuple[int, ...]]) -> None:
    inputs = {f"x{n}": numbers(shape, seed=n) for n, shape in enumerate(shapes)}
    assert_as_runtime(one_node("Einsum", inputs, equation=equation), inputs, atol=1e-5)


def test_a_repeated_label_is_a_diagonal() -> None:
    inputs = {"x": numbers((3, 4, 4))}
    assert_as_runtime(one_node("Einsum", inputs, equation="bii->bi"), inputs)


@pytest.mark.parametrize(
    ("equation", "count", "reason"),
    [
        ("ij->ij", 2, "its equation 'ij->ij' is not for 2 operands"),
        ("ij->ii", 1, "a label of its output is repeated"),
        ("ijk->i", 1, "an operand of rank 2 has 3 labels"),
    ],
)
def test_what_is_not_covered_says_why(equation: str, count: int, reason: str) -> None:
    inputs = {f"x{n}": numbers((4, 4)) for n in range(count)}
    with pytest.raises(ModelError, match=reason):
        lowered(one_node("Einsum", inputs, equation=equation))
