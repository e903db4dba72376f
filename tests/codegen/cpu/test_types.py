"""Element types: sizes, and the way into registers and back."""

from __future__ import annotations

import numpy as np
import pytest

from burnish.codegen.cpu.target import InstructionSet
from burnish.codegen.cpu.types import ELEMENT_TYPES, memory_type, register_type, size_in_bytes
from burnish.core.array_types import array_type
from burnish.core.errors import ModelError
from burnish.tile.expr import Argument
from codegen.cpu.element_kernels import evaluate, on_each_target, widths


@pytest.mark.parametrize("dtype", ELEMENT_TYPES)
def test_sizes_are_those_of_numpy(dtype: str) -> None:
    assert size_in_bytes(dtype) == array_type(dtype).itemsize


@on_each_target
@pytest.mark.parametrize("dtype", ELEMENT_TYPES)
def test_bits_survive_a_load_and_a_store(dtype: str, target: InstructionSet) -> None:
    kind = array_type(dtype)
    raw = np.random.default_rng(0).integers(0, 256, 64 * kind.itemsize).astype(np.uint8)
    x = (raw & (1 if dtype == "bool" else 255)).view(kind)
    for width in widths(target):
        found = evaluate(Argument(0, dtype), [x], target, width)
        assert found.tobytes() == x.tobytes()


def test_one_lane_is_a_scalar() -> None:
    assert str(register_type("f32")) == "float"
    assert str(register_type("bool", 8)) == "<8 x i1>"
    assert str(memory_type("bool", 8)) == "<8 x i8>"
    assert str(register_type("bf16", 4)) == "<4 x i16>"


def test_other_types_are_refused() -> None:
    with pytest.raises(ModelError, match="generated kernels have no element type 'c64'") as caught:
        register_type("c64")
    assert caught.value.hint.startswith("they have: f32, f64, f16, bf16, i8")
    assert caught.value.hint.endswith("leave the node to ONNX Runtime")
