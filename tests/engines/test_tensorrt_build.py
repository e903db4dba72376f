"""What TensorRT is told follows from its version, the precision and the model's shapes."""

from __future__ import annotations

from pathlib import Path

import pytest

from burnish.core.errors import MissingCapabilityError, ModelError, UsageError
from burnish.core.tensors import TensorSpec
from burnish.engines.tensorrt_build import (
    BuildPlan,
    build_plan,
    explain,
    fixed_shape,
    profile_shapes,
    shapes_of,
)
from burnish.store.stored import StoredModel

MODEL = StoredModel(Path("m.onnx"), "m")
MIXED = "TensorRT chooses between f16 and f32 for each layer"


@pytest.mark.parametrize(
    ("major", "asked", "model_type", "expected"),
    [
        (10, None, "f32", BuildPlan(("STRONGLY_TYPED",), (), ("TF32",), "f32")),
        (11, None, "f32", BuildPlan((), (), ("TF32",), "f32")),
        (10, "tf32", "f32", BuildPlan(("STRONGLY_TYPED",), ("TF32",), (), "tf32")),
        (10, "f16", "f32", BuildPlan((), ("FP16",), ("TF32",), "f16", (MIXED,))),
        (11, "f16", "f16", BuildPlan((), (), ("TF32",), "f16")),
        (10, None, "bf16", BuildPlan(("STRONGLY_TYPED",), (), ("TF32",), "bf16")),
    ],
)
def test_flags_follow_version_and_precision(
    major: int, asked: str | None, model_type: str, expected: BuildPlan
) -> None:
    assert build_plan(major, asked, model_type) == expected


def test_from_version_11_the_model_must_bring_its_types() -> None:
    with pytest.raises(MissingCapabilityError) as caught:
        build_plan(11, "f16", "f32")
    assert caught.value.problem == (
        "precision f16 was asked for, the model is in f32 and TensorRT 11 takes every type from "
        "the model"
    )
    assert caught.value.hint == "give it a model in f16"


FIXED, FREE = TensorSpec("a", "f32", (2, 3)), TensorSpec("b", "f32", ("batch", 3))


def test_fixed_shapes_are_known_before_feeding() -> None:
    assert shapes_of([FIXED]) == {"a": (2, 3)}
    assert shapes_of([FIXED, FREE]) is None


def test_a_profile_covers_the_inputs_with_symbolic_sizes() -> None:
    assert profile_shapes([FIXED, FREE], {"a": (2, 3), "b": (8, 3)}) == {"b": (8, 3)}


@pytest.mark.parametrize(
    ("message", "kind", "problem"),
    [
        ("In node 3: No importer registered for op: Fast", ModelError, "does not know an operator"),
        ("CUDA out of memory", MissingCapabilityError, "not enough GPU memory"),
        ("something else", ModelError, "TensorRT cannot use it (something else)"),
    ],
)
def test_a_refusal_is_explained(message: str, kind: type, problem: str) -> None:
    error = explain([message], MODEL)
    assert isinstance(error, kind)
    assert problem in error.problem
    assert error.hint


def test_a_shape_that_depends_on_values_is_refused() -> None:
    assert fixed_shape("y", [2, 3]) == (2, 3)
    with pytest.raises(UsageError, match="the shape of output 'y' depends on the values"):
        fixed_shape("y", [2, -1])
