"""Parts of a model in ONNX Runtime, run on memory that is given; needs nothing that compiles."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from burnish.core.array_types import array_type
from burnish.core.arrays import Array
from burnish.core.errors import MissingCapabilityError, ModelError
from burnish.core.tensors import ONNX_NUMBERS
from burnish.runtime.plan import OrtStep, PlanTensor
from burnish.store.runtime_types import short_name

OrtSession = Any
OrtBinding = Any
"""`onnxruntime.InferenceSession` and `IOBinding`: the package has no types."""

QUIET = 4
"""Fatal messages only: whatever else matters comes back as an exception."""


def load(path: Path, threads: int) -> OrtSession:
    """Return ONNX Runtime's session for a part, with `threads` threads that rest between runs."""
    try:
        import onnxruntime
    except ModuleNotFoundError as error:
        raise MissingCapabilityError(
            f"{path}: is a part of the model that ONNX Runtime runs, and onnxruntime is not"
            " installed",
            hint="pip install onnxruntime",
        ) from error
    settings = onnxruntime.SessionOptions()
    settings.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
    settings.intra_op_num_threads = threads
    settings.inter_op_num_threads = 1
    settings.log_severity_level = QUIET
    # its threads would otherwise go on spinning for some time on the cores that kernels need
    settings.add_session_config_entry("session.force_spinning_stop", "1")
    onnxruntime.set_default_logger_severity(QUIET)
    try:
        return onnxruntime.InferenceSession(str(path), settings, providers=["CPUExecutionProvider"])
    except Exception as error:
        raise _explained(error, path) from error


def findings(
    session: OrtSession, step: OrtStep, tensors: Mapping[str, PlanTensor]
) -> Iterator[str]:
    """Yield where a part takes or gives something else than the step that runs it."""
    sides = ((step.inputs, session.get_inputs()), (step.outputs, session.get_outputs()))
    for names, found in sides:
        told = [each.name for each in found]
        if set(told) != set(names):
            yield f"it has {told}, its step {list(names)}"
        for each in found:
            tensor = tensors.get(each.name)
            if tensor is None or tensor.shape is None:
                continue
            dims = zip(each.shape, tensor.shape, strict=False)
            fits = all(dim == size for dim, size in dims if isinstance(dim, int))
            if len(each.shape) != len(tensor.shape) or not fits:
                yield f"{each.name!r} is {each.shape}, its step's is {list(tensor.shape)}"
            if short_name(each.type) != tensor.dtype:
                yield f"{each.name!r} is {each.type}, its step's is {tensor.dtype}"


@dataclass(slots=True)
class BoundPart:
    """A part with the memory of what it reads and writes; one call runs it once."""

    session: OrtSession
    step: OrtStep
    tensors: Mapping[str, PlanTensor]
    binding: OrtBinding

    @classmethod
    def of(cls, session: OrtSession, step: OrtStep, tensors: Mapping[str, PlanTensor]) -> BoundPart:
        """Return a part that is bound to nothing yet."""
        return cls(session, step, tensors, session.io_binding())

    @property
    def names(self) -> tuple[str, ...]:
        """Return what must be bound before the first run."""
        return (*self.step.inputs, *self.step.outputs)

    def bind(self, name: str, address: int) -> None:
        """Say where a tensor of fixed size lies."""
        tensor = self.tensors[name]
        bind = self.binding.bind_input if name in self.step.inputs else self.binding.bind_output
        bind(name, "cpu", 0, element_type(tensor.dtype), list(tensor.shape or ()), address)

    def run(self) -> None:
        """Run once; what it writes lies where it was bound."""
        try:
            self.session.run_with_iobinding(self.binding)
        except Exception as error:
            raise _explained(error, Path(self.step.file)) from error


@dataclass(slots=True)
class LoosePart:
    """A part that reads or writes text, or something whose size is not known: run with copies."""

    session: OrtSession
    step: OrtStep

    def run(self, values: Mapping[str, Array]) -> dict[str, Any]:
        """Return what the part gives."""
        try:
            found = self.session.run(
                list(self.step.outputs), {name: values[name] for name in self.step.inputs}
            )
        except Exception as error:
            raise _explained(error, Path(self.step.file)) from error
        given = zip(self.step.outputs, found, strict=True)
        return {name: v if isinstance(v, list) else np.asarray(v) for name, v in given}

    def unexpected(self, name: str, shape: tuple[int, ...], planned: tuple[int, ...]) -> ModelError:
        """Return what to say of an output whose shape is not the plan's."""
        return ModelError(
            f"{self.step.file}: gives {name!r} as {list(shape)}, its plan expects {list(planned)}",
            hint="compile the model again with burnish compile",
        )


def element_type(dtype: str) -> Any:  # noqa: ANN401  (NumPy's type, or ONNX's number of one)
    """Return what ONNX Runtime calls an element type when memory is bound."""
    kind = array_type(dtype)
    if kind.isbuiltin == 1:
        return kind.type
    return next(number for number, short in ONNX_NUMBERS.items() if short == dtype)


def _explained(error: Exception, path: Path) -> Exception:
    own = type(error).__module__.startswith("onnxruntime")
    if not own and not isinstance(error, RuntimeError):
        return error
    reason = str(error).strip().partition("\n")[0]
    return ModelError(
        f"{path}: ONNX Runtime cannot run this part of the model ({reason})",
        hint="run the whole model with --engine onnxruntime-cpu",
    )
