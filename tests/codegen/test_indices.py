"""Indices that are none are an error where they are fed, and lead nowhere else in any case."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from burnish.codegen.place import BuiltPlan
from burnish.core.errors import UsageError
from burnish.rewrite.static import static
from burnish.runtime.load import LoadedModel
from burnish.runtime.plan import TensorLook
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


def looks(made: BuiltPlan) -> list[TensorLook]:
    """Return what is looked at when a plan runs."""
    return [look for step in made.plan.kernel_steps for look in step.looks]


@pytest.mark.parametrize("ids", [(0, 5, 10), (-1, -11, 3)])
def test_every_index_of_a_table_is_taken(tmp_path: Path, ids: tuple[int, ...]) -> None:
    made, compiled = loaded(LOOK_UP, tmp_path / "c")
    assert looks(made) == [TensorLook("ids", "ids", "place", ROWS)]
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


@pytest.mark.parametrize("wrong", [11, 2**20, 2**31, -(2**31)])
def test_a_computed_place_that_does_not_exist_is_refused(tmp_path: Path, wrong: int) -> None:
    made, compiled = loaded(COMPUTED, tmp_path / "c")
    assert looks(made) == [TensorLook("same", "same", "place", ROWS)]
    right = {"a": np.array([1, -2, 2]), "b": np.array([0, 4, 1])}
    with compiled:
        found = compiled.run(right)["y"]
        np.testing.assert_array_equal(found, TABLE["table"][[1, 4, 9]])
        with pytest.raises(UsageError) as caught:
            compiled.run({"a": np.array([1, wrong, 2]), "b": np.array([0, 0, 0])})
        np.testing.assert_array_equal(compiled.run(right)["y"], found)
    holds = int(np.array(wrong) * np.array(wrong))
    assert caught.value.problem == (
        f"computed 'same' holds {holds}, and what it points into has 11 entries"
    )
    assert caught.value.hint == "feed what makes whole numbers from -11 to 10 of it"


def test_of_several_places_each_is_looked_at_before_its_memory_is_another_s(
    tmp_path: Path,
) -> None:
    text = """several (int64[3] a, float[3, 16] x) => (float[3, 16] y)
    { [one] p = Mul(a, a) [look] s = Gather(table, p) [two] q = Add(p, a) [more] t = Gather(x, q)
      [sum] u = Add(s, t) [roots] v = Softmax(u) [end] y = MatMul(v, square) }"""
    fixed = static(model(text, weights(("table", (ROWS, 16)), ("square", (16, 16)))), {})
    feeds = {"a": np.array([0, -1, 1]), "x": np.ones((3, 16), np.float32)}
    with opened(built(fixed), fixed, tmp_path / "c") as compiled:
        compiled.run(feeds)
        for wrong, holds in ((-4, "computed 'p' holds 16"), (2, "computed 'q' holds 6")):
            with pytest.raises(UsageError, match=holds):
                compiled.run({**feeds, "a": np.array([0, wrong, 1])})


ALWAYS = {
    "clipped": "[c] i = Clip(a, zero, ten)",
    "a remainder": "[c] i = Mod(a, eleven)",
    "a maximum's": "[c] i = ArgMax <axis = 1, keepdims = 0> (x)",
    "of the best": "[c] b, i = TopK <axis = 0> (r, three)",
}


@pytest.mark.parametrize("text", ALWAYS.values(), ids=ALWAYS)
def test_places_that_always_exist_are_not_looked_at(tmp_path: Path, text: str) -> None:
    known = {
        "zero": np.array(0), "ten": np.array(10), "eleven": np.array(11), "three": np.array([3]),
    }  # fmt: skip
    whole = f"""always (int64[3] a, float[3, 11] x, float[11] r) => (float[3, 16] y)
    {{ {text} [look] y = Gather(table, i) }}"""
    fixed = static(model(whole, {**TABLE, **known}), {})
    assert not looks(built(fixed))


def test_text_may_be_fed(tmp_path: Path) -> None:
    text = """text (string[2] t, float[2] x) => (string[2] u, float[2] y)
    { [copy] u = Identity(t) [twice] y = Add(x, x) }"""
    fixed = static(model(text), {})
    feeds = {"t": np.array(["a", "b"], object), "x": np.ones(2, np.float32)}
    with opened(built(fixed), fixed, tmp_path / "c") as compiled:
        found = compiled.run(feeds)
    assert found["u"].tolist() == ["a", "b"]
    assert found["y"].tolist() == [2, 2]
