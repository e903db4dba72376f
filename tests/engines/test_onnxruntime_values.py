"""Tensors of every type go into ONNX Runtime and come back unchanged."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from burnish.core.array_types import array_type
from burnish.core.errors import ModelError
from burnish.engines.base import ENGINES, EngineOptions
from burnish.engines.onnxruntime_values import is_native
from burnish.store.element_types import DATA_TYPES
from burnish.store.runtime_types import SHORT_NAMES
from burnish.store.stored import StoredModel

Stored = Callable[..., StoredModel]

CARRIED = {
    "bfloat16": "bf16", "float16": "f16", "double": "f64", "int8": "i8", "uint16": "u16",
    "bool": "bool", "uint64": "u64",
}  # fmt: skip


def test_only_types_of_less_than_a_byte_cannot_be_fed() -> None:
    assert set(DATA_TYPES) - set(SHORT_NAMES.values()) == {"i4", "u4", "i2", "u2", "f4e2m1"} & set(
        DATA_TYPES
    )


@pytest.mark.parametrize(("onnx_name", "short"), CARRIED.items())
def test_a_tensor_comes_back_as_it_went_in(stored: Stored, onnx_name: str, short: str) -> None:
    model = stored(f"({onnx_name}[n, 3] x) => ({onnx_name}[n, 3] y) {{ y = Identity(x) }}")
    array = np.arange(6).reshape(2, 3).astype(array_type(short))
    with ENGINES["onnxruntime-cpu"].open(model, EngineOptions()) as session:
        outputs = session.run({"x": array})
        session.prepare({"x": array})()
    assert outputs["y"].dtype == array.dtype
    np.testing.assert_array_equal(outputs["y"], array)


def test_an_array_that_is_not_contiguous_is_fed_right(stored: Stored) -> None:
    model = stored("(bfloat16[n, 3] x) => (bfloat16[n, 3] y) { y = Identity(x) }")
    array = np.arange(6).reshape(3, 2).astype(array_type("bf16")).T
    with ENGINES["onnxruntime-cpu"].open(model, EngineOptions()) as session:
        np.testing.assert_array_equal(session.run({"x": array})["y"], array)


def test_text_can_be_fed_and_fetched(stored: Stored) -> None:
    model = stored("(string[n] x) => (string[n] y) { y = Identity(x) }")
    with ENGINES["onnxruntime-cpu"].open(model, EngineOptions()) as session:
        array = np.array(["a", "bc"], object)
        assert list(session.run({"x": array})["y"]) == ["a", "bc"]
        session.prepare({"x": array})()


def test_a_sequence_cannot_be_fed(stored: Stored) -> None:
    model = stored("(seq(float[n]) x) => (float[n] y) <int64 i = {0}> { y = SequenceAt(x, i) }")
    with pytest.raises(ModelError) as caught:
        ENGINES["onnxruntime-cpu"].open(model, EngineOptions())
    assert "'x' is a seq(tensor(float)), which burnish cannot feed or fetch" in caught.value.problem
    assert "plain tensors" in caught.value.hint


def test_a_scalar_keeps_its_rank(stored: Stored) -> None:
    model = stored("(bfloat16 x) => (bfloat16 y) { y = Identity(x) }")
    with ENGINES["onnxruntime-cpu"].open(model, EngineOptions()) as session:
        assert session.run({"x": np.array(2, array_type("bf16"))})["y"].shape == ()


def test_numpys_own_types_are_native() -> None:
    assert is_native("f16")
    assert is_native("str")
    assert not is_native("bf16")
