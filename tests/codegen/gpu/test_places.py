"""Computed places that do not exist are an error on cards as they are on CPUs: of real kernels."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest

import burnish
from burnish.core.arrays import Array
from burnish.core.errors import UsageError
from burnish.runtime.load import LoadedModel
from codegen.gpu.compiled import reference
from codegen.gpu.interpreted_card import interpreted_card
from codegen.gpu.models import HEAD

pytest.importorskip("triton")

ROWS = 11
COMPUTED = """computed (int64[3] a, int64[3] b) => (float[3, 16] y)
{ [sum] ids = Add(a, b) [keep] same = Mul(ids, ids) [look] y = Gather(table, same) }"""
SENT = """sent (int64[3, 1] a, float[3, 16] x) => (float[11, 16] y)
{ [keep] at = Mul(a, a) [send] y = ScatterND(table, at, x) }"""
BEHIND = """behind (float[96] s, int64[4] b) => (float[4, 16] y)
{ [best] v, i = TopK<sorted=0>(s, four) [sum] ids = Add(i, b) [look] t = Gather(table, ids)
  y = Relu(t) }"""
"""A part that ONNX Runtime runs makes what leads to the places."""
ALWAYS = """always (float[3, 11] x) => (float[3, 16] y)
{ [best] i = ArgMax<axis=1, keepdims=0>(x) [look] y = Gather(table, i) }"""
DIVIDED = """divided (int64[4] a, int64[4] b) => (int64[4] y, int64[4] z)
{ [less] d = Sub(a, b) [divide] y = Div(a, d) [twice] t = Div(b, a) z = Abs(t) }"""
PAIRS = """pairs (int64[2, 2] a) => (float[2] y, float[2] z)
{ [sum] p = Add(a, a) [computed] y = GatherND(table, p) [fed] z = GatherND(table, a) }"""
PART = """part (int64[4] a) => (float[2, 16] y)
{ [square] s = Mul(a, a) [part] t = Slice(s, one, three) [look] y = Gather(table, t) }"""
TABLE = np.random.default_rng(0).standard_normal((ROWS, 16)).astype(np.float32)
KNOWN = {"table": TABLE, "four": np.array([4]), "one": np.array([1]), "three": np.array([3])}


@pytest.fixture(autouse=True)
def cubins(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Compile no kernel twice."""
    monkeypatch.setenv("BURNISH_CACHE", str(tmp_path_factory.getbasetemp() / "cubins"))


def opened(text: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, LoadedModel]:
    """Return a model's file, and the model on a card that interprets."""
    proto = onnx.parser.parse_model(HEAD + text)
    for name, array in KNOWN.items():
        if any(name in node.input for node in proto.graph.node):
            proto.graph.initializer.append(onnx.numpy_helper.from_array(array, name))
    path = folder / "m.onnx"
    onnx.save(proto, path)
    burnish.compile(path, output=folder / "c", target="sm_90", threads=1)
    interpreted_card(monkeypatch, folder / "c")
    return path, burnish.load(folder / "c", threads=1)


def require_same(path: Path, model: LoadedModel, feeds: dict[str, Array]) -> None:
    for name, array in reference(path, feeds).items():
        np.testing.assert_allclose(model.run(feeds)[name], array, rtol=1e-6)


@pytest.mark.parametrize("wrong", [11, 2**20, 2**31, -(2**31)])
def test_a_place_that_does_not_exist_is_refused(
    wrong: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, model = opened(COMPUTED, tmp_path, monkeypatch)
    right = {"a": np.array([1, -2, 2]), "b": np.array([0, 4, 1])}
    with model:
        require_same(path, model, right)
        with pytest.raises(UsageError) as caught:
            model.run({"a": np.array([1, wrong, 2]), "b": np.array([0, 0, 0])})
        require_same(path, model, right)
    holds = int(np.array(wrong) * np.array(wrong))
    assert caught.value.problem == (
        f"computed 'same' holds {holds}, and what it points into has 11 entries"
    )
    assert caught.value.hint == "feed what makes whole numbers from -11 to 10 of it"


def test_a_place_that_is_written_to_must_exist(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, model = opened(SENT, tmp_path, monkeypatch)
    x = np.arange(48, dtype=np.float32).reshape(3, 16)
    with model:
        require_same(path, model, {"a": np.array([[0], [3], [1]]), "x": x})
        with pytest.raises(UsageError, match="computed 'at' holds 16"):
            model.run({"a": np.array([[0], [4], [1]]), "x": x})


def test_behind_a_part_of_onnx_runtime_places_are_looked_at_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, model = opened(BEHIND, tmp_path, monkeypatch)
    scores = np.zeros(96, np.float32)
    scores[:4] = 1, 2, 3, 4
    with model:
        require_same(path, model, {"s": scores, "b": np.array([0, 1, 2, 7])})
        with pytest.raises(UsageError, match="computed 'ids' holds -15"):
            model.run({"s": scores, "b": np.full(4, -15)})


def test_places_that_always_exist_are_not_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, model = opened(ALWAYS, tmp_path, monkeypatch)
    with model:
        require_same(path, model, {"x": np.random.default_rng(1).random((3, 11), np.float32)})
        assert not any(plan.spans for plan in model.compiled.plans)


@pytest.mark.parametrize(
    ("text", "right", "wrong", "problem"),
    [
        (DIVIDED, ([1, 2, 3, 4], [2, 1, 9, 0]), ([1, 2, 3, 4], [2, 1, 3, 0]),
         "computed 'd' holds 0, and divides whole numbers"),
        (DIVIDED, ([1, 2, 3, 4], [2, 1, 9, 0]), ([1, 0, 3, 4], [2, 1, 9, 0]),
         "input 'a' holds 0, and divides whole numbers"),
        (PAIRS, ([[5, 7], [-5, -8]],), ([[5, 7], [5, 8]],),
         "computed 'p' holds 16, and what it points into has 16 entries"),
        (PAIRS, ([[5, 7], [-5, -8]],), ([[5, 7], [-6, 0]],),
         "computed 'p' holds -12, and what it points into has 11 entries"),
        (PAIRS, ([[5, 7], [-5, -8]],), ([[5, 7], [-12, 0]],),
         "input 'a' holds -12, and what it points into has 11 entries"),
        (PART, ([9, 1, 2, 9],), ([0, 1, 4, 0],),
         "computed 't' holds 16, and what it points into has 11 entries"),
    ],
)  # fmt: skip
def test_the_same_is_refused_as_on_cpus_and_nothing_else_is(
    text: str,
    right: tuple[object, ...],
    wrong: tuple[object, ...],
    problem: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path, model = opened(text, tmp_path, monkeypatch)
    given = [dict(zip("ab", map(np.array, each), strict=False)) for each in (right, wrong)]
    with model:
        require_same(path, model, given[0])
        with pytest.raises(UsageError) as caught:
            model.run(given[1])
        require_same(path, model, given[0])
    assert caught.value.problem == problem
