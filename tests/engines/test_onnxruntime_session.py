"""A session keeps what it needs, frees it when it is left, and traces what it was asked to."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable

import numpy as np
import pytest

from burnish.core.errors import ModelError
from burnish.engines.base import ENGINES, EngineOptions
from burnish.store.stored import StoredModel

Stored = Callable[..., StoredModel]

GRAPH = """(float[n, 2] x) => (float[n, 2] y, int64[k, 2] z)
{ y = Relu(x) t = NonZero(y) z = Transpose(t) }"""


def test_leaving_a_session_frees_it(stored: Stored) -> None:
    with ENGINES["onnxruntime-cpu"].open(stored(GRAPH), EngineOptions()) as session:
        inner = weakref.ref(session._session)
    gc.collect()
    assert inner() is None


def test_an_output_whose_shape_depends_on_values_is_bound(stored: Stored) -> None:
    with ENGINES["onnxruntime-cpu"].open(stored(GRAPH), EngineOptions()) as session:
        feeds = {"x": np.array([[1, 0], [2, 3]], np.float32)}
        call = session.prepare(feeds)
        call()
        assert session.run(feeds)["z"].shape == (3, 2)


def test_a_prepared_call_keeps_its_inputs_alive(stored: Stored) -> None:
    with ENGINES["onnxruntime-cpu"].open(stored(GRAPH), EngineOptions()) as session:
        call = session.prepare({"x": np.array([[1, 0], [2, 3]], np.float32)})
        gc.collect()
        for _ in range(3):
            call()
        positions = call.binding.get_outputs()[1].numpy()
    np.testing.assert_array_equal(positions, [[0, 0], [1, 0], [1, 1]])


@pytest.mark.parametrize("level", ["off", "basic", "extended", "all"])
def test_every_graph_level_gives_the_same_numbers(stored: Stored, level: str) -> None:
    options = EngineOptions(graph_level=level)
    with ENGINES["onnxruntime-cpu"].open(stored(GRAPH), options) as session:
        outputs = session.run({"x": np.array([[-1, 2]], np.float32)})
    np.testing.assert_array_equal(outputs["y"], [[0, 2]])


def test_weights_that_are_used_as_they_lie_give_the_same_numbers(
    stored: Stored, monkeypatch: pytest.MonkeyPatch
) -> None:
    import onnxruntime

    asked: list[str] = []
    add = onnxruntime.SessionOptions.add_session_config_entry

    def seen(settings: onnxruntime.SessionOptions, key: str, value: str) -> None:
        asked.append(f"{key}={value}")
        add(settings, key, value)

    monkeypatch.setattr(onnxruntime.SessionOptions, "add_session_config_entry", seen)
    model = stored(
        "(float[2,3] x) => (float[2,2] y) <float[3,2] w = {1,2,3,4,5,6}> { y = MatMul(x, w) }"
    )
    feeds = {"x": np.arange(6, dtype=np.float32).reshape(2, 3)}
    for frugal in (False, True):
        with ENGINES["onnxruntime-cpu"].open(model, EngineOptions(frugal=frugal)) as session:
            assert session.run(feeds)["y"].tolist() == [[13, 16], [40, 52]]
        assert ("session.disable_prepacking=1" in asked) == frugal


def test_a_tensor_that_is_given_twice_is_given_once(stored: Stored) -> None:
    twice = stored("(float[2] x) => (float[2] y, float[2] y) { y = Relu(x) }")
    with ENGINES["onnxruntime-cpu"].open(twice, EngineOptions()) as session:
        feeds = {"x": np.array([-1, 2], np.float32)}
        session.prepare(feeds)()
        assert {name: array.tolist() for name, array in session.run(feeds).items()} == {"y": [0, 2]}


def test_a_prepared_call_that_fails_says_so_in_words(stored: Stored) -> None:
    slim = stored("(float[2] x, int64[1] s) => (float[k] y) { y = Reshape(x, s) }")
    with ENGINES["onnxruntime-cpu"].open(slim, EngineOptions()) as session:
        sizes = np.array([2], np.int64)
        call = session.prepare({"x": np.ones(2, np.float32), "s": sizes})
        call.inputs[1].update_inplace(np.array([7], np.int64))
        with pytest.raises(ModelError, match="Reshape"):
            call()


def test_a_call_for_nothing_says_so_in_words(stored: Stored) -> None:
    model = stored("""(string[2] x) => () <string[1] word = {"a"}> { y = Equal(x, word) }""")
    with ENGINES["onnxruntime-cpu"].open(model, EngineOptions()) as session:
        call = session.prepare({"x": np.array(["a", "b"], object)})
        with pytest.raises(ModelError, match="At least one output should be requested"):
            call()
