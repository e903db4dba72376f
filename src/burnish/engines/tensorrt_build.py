"""What TensorRT is told to build: decisions that need neither TensorRT nor a GPU."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from burnish.core.errors import BurnishError, MissingCapabilityError, ModelError, UsageError
from burnish.core.tensors import TensorSpec
from burnish.store.stored import StoredModel

Shapes = Mapping[str, tuple[int, ...]]

LAST_WEAKLY_TYPED = 10
"""TensorRT 11 takes every type from the model; up to 10 a flag let it choose narrower ones."""
_BUILDER_FLAGS = {"f16": "FP16", "bf16": "BF16"}


@dataclass(frozen=True, slots=True)
class BuildPlan:
    """Flags by the names that TensorRT gives them."""

    network_flags: tuple[str, ...]
    builder_flags: tuple[str, ...]
    cleared_flags: tuple[str, ...]
    precision: str
    notes: tuple[str, ...] = ()


def build_plan(major: int, asked: str | None, model_type: str) -> BuildPlan:
    """Return the flags for a precision; by default TensorRT keeps to the model's own types.

    TF32 is on unless it is cleared, and rounds the products of f32 models.
    """
    typed = ("STRONGLY_TYPED",) if major <= LAST_WEAKLY_TYPED else ()
    if asked == "tf32" and model_type == "f32":
        return BuildPlan(typed, ("TF32",), (), "tf32")
    if asked in (None, model_type):
        return BuildPlan(typed, (), ("TF32",), model_type)
    if asked in _BUILDER_FLAGS and model_type == "f32" and major <= LAST_WEAKLY_TYPED:
        note = f"TensorRT chooses between {asked} and f32 for each layer"
        return BuildPlan((), (_BUILDER_FLAGS[asked],), ("TF32",), asked, (note,))
    raise MissingCapabilityError(
        f"precision {asked} was asked for, the model is in {model_type} and TensorRT {major} "
        "takes every type from the model",
        hint=f"give it a model in {asked}",
    )


def shapes_of(inputs: Sequence[TensorSpec]) -> Shapes | None:
    """Return the shapes of inputs that all have fixed ones; None: they are known when fed."""
    shapes = {spec.name: spec.shape for spec in inputs}
    if any(isinstance(dim, str) for shape in shapes.values() for dim in shape):
        return None
    return {
        name: tuple(dim for dim in shape if isinstance(dim, int)) for name, shape in shapes.items()
    }


def profile_shapes(inputs: Sequence[TensorSpec], shapes: Shapes) -> Shapes:
    """Return the sizes that an optimisation profile needs: those of inputs with symbolic ones."""
    return {spec.name: shapes[spec.name] for spec in inputs if spec.symbols}


def explain(messages: Sequence[str], model: StoredModel) -> BurnishError:
    """Return what the user should read when TensorRT refused a model."""
    reason = next((text.strip() for text in messages if text.strip()), "no reason given")
    lowered = " ".join(messages).lower()
    if "out of memory" in lowered or "insufficient memory" in lowered:
        return MissingCapabilityError(
            f"{model.onnx}: not enough GPU memory to build or run it ({reason})",
            hint="bind smaller sizes with --shape, or use a GPU with more memory",
        )
    if "no importer registered" in lowered or "plugin not found" in lowered:
        return ModelError(
            f"{model.onnx}: TensorRT does not know an operator ({reason})",
            hint="use --engine onnxruntime-cuda",
        )
    return ModelError(
        f"{model.onnx}: TensorRT cannot use it ({reason})", hint="use --engine onnxruntime-cuda"
    )


def fixed_shape(name: str, shape: Sequence[int]) -> tuple[int, ...]:
    """Return an output's shape; one that depends on the values fed has no place to go."""
    if any(size < 0 for size in shape):
        raise UsageError(
            f"the shape of output {name!r} depends on the values that are fed",
            hint="use --engine onnxruntime-cuda",
        )
    return tuple(shape)
