"""Indices that are none are an error where they are fed, and lead nowhere else in any case."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from burnish.codegen.place import BuiltPlan
from burnish.core.errors import UsageError
from burnish.rewrite.static import static
from burnish.runtime.load import LoadedModel
from codegen.models import built, model, opened, reference, weights

ROWS = 11
LOOK_UP = """look (int64[3] ids) => (float[3, 16] y) { [look] y = Gather(table, ids) }"""
COMPUTED = """computed (int64[3] a, int64[3] b) => (float[3, 16] y)
{ [sum] ids = Add(a, b) [keep] same = Mul(ids, ids) [look] y = Gather(table, same) }"""
TABLE = weights(("table", (ROWS, 16)))


def loaded(text: str, folder: Path) -> tuple[BuiltPlan, LoadedModel]:
    fixed = static(model(text, TABLE), {})
    made = built(fixed)
    return made, opened(made, fixed, folder)


@pytest.mark.parametrize("ids", [(0, 5, 10), (-1, -11, 3)])
def test_every_index_of_a_table_is_taken(tmp_path: Path, ids: tuple[int, ...]) -> None:
    made, compiled = loaded(LOOK_UP, tmp_path / "c")
    assert made.plan.indices == {"ids": ROWS}
    feeds = {"ids": np.array(ids)}
    with compiled:
        found = compiled.run(feeds)["y"]
    np.testing.assert_array_equal(found, reference(model(LOOK_UP, TABLE), feeds)["y"])


@pytest.mark.parametrize("wrong", [11, -12, 2**62, -(2**63)])
def test_an_input_that_points_elsewhere_is_refused(tmp_path: Path, wrong: int) -> None:
    _, compiled = loaded(LOOK_UP, tmp_path / "c")
    with compiled, pytest.raises(UsageError) as caught:
        compiled.run({"ids": np.array([0, wrong, 1])})
    assert caught.value.problem == (
        f"input 'ids' holds {wrong}, and what it points into has 11 entries"
    )
    assert caught.value.hint == "feed whole numbers from -11 to 10"


@pytest.mark.parametrize("wrong", [2**20, 2**31, -(2**31), 2**40])
def test_a_computed_index_never_leads_out_of_the_table(tmp_path: Path, wrong: int) -> None:
    _, compiled = loaded(COMPUTED, tmp_path / "c")
    with compiled:
        found = compiled.run({"a": np.array([1, wrong, 2]), "b": np.array([0, 0, 0])})["y"]
    np.testing.assert_array_equal(found[0], TABLE["table"][1])
    assert any(np.array_equal(found[1], row) for row in TABLE["table"])


def test_text_may_be_fed(tmp_path: Path) -> None:
    text = """text (string[2] t, float[2] x) => (string[2] u, float[2] y)
    { [copy] u = Identity(t) [twice] y = Add(x, x) }"""
    fixed = static(model(text), {})
    feeds = {"t": np.array(["a", "b"], object), "x": np.ones(2, np.float32)}
    with opened(built(fixed), fixed, tmp_path / "c") as compiled:
        found = compiled.run(feeds)
    assert found["u"].tolist() == ["a", "b"]
    assert found["y"].tolist() == [2, 2]
