"""A PyTorch module that is fed and read by the names in its ONNX file; both torch engines use it.

It runs on the first GPU that PyTorch sees, else on the CPU.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from burnish.core.arrays import Array, Arrays
from burnish.core.closing import Closing
from burnish.core.errors import MissingCapabilityError, ModelError, UsageError
from burnish.core.tensors import FLOATS, TensorSpec
from burnish.engines.base import EngineOptions, Placement
from burnish.engines.generation import Continuation
from burnish.engines.torch_captured import CapturedCall
from burnish.engines.torch_generation import writer
from burnish.engines.torch_source import ExampleInputs, TorchModule, module_and_inputs
from burnish.engines.torch_values import TORCH_NAMES, Tensor, array_of, tensor_of, torch_type
from burnish.feeds.check import check_feeds
from burnish.store import onnx_files
from burnish.store.interface import Interface
from burnish.store.stored import StoredModel
from burnish.trace.events import Trace

_CASTS = ("f64", "f32", "f16", "bf16")


@dataclass(frozen=True, slots=True)
class TorchModel:
    """A module ready to be called, and how the ONNX file's names fit it."""

    module: TorchModule
    examples: ExampleInputs
    interface: Interface
    device: str
    precision: str
    cast_to: str | None
    """The type that floating-point inputs are cast to, where one was asked for."""


def load(model: StoredModel, options: EngineOptions) -> TorchModel:
    """Build the module on its device, in the precision that was asked for."""
    import torch

    module, examples = module_and_inputs(model)
    device = f"cuda:{options.device_index}" if torch.cuda.is_available() else "cpu"
    if options.precision not in (None, "tf32", *_CASTS):
        raise UsageError(
            f"PyTorch modules cannot be cast to {options.precision!r}",
            hint=f"choose one of: {', '.join(('tf32', *_CASTS))}",
        )
    if options.precision == "tf32" and device == "cpu":
        raise MissingCapabilityError(
            "precision tf32 was asked for, the CPU has none", hint="leave --precision away"
        )
    cast_to = options.precision if options.precision in _CASTS else None
    if cast_to is not None:
        module = module.to(torch_type(cast_to))
    return TorchModel(
        module=module.to(device),
        examples=examples,
        interface=onnx_files.interface(onnx_files.look(model.onnx)),
        device=device,
        precision=options.precision or _weight_type(module),
        cast_to=cast_to,
    )


def _weight_type(module: TorchModule) -> str:
    sizes: dict[str, int] = {}
    for weight in module.parameters():
        name = str(weight.dtype).removeprefix("torch.")
        sizes[name] = sizes.get(name, 0) + weight.numel()
    most = max(sizes, key=lambda name: sizes[name], default="float32")
    return next((short for short, name in TORCH_NAMES.items() if name == most), most)


def arguments_by_name(
    feeds: Mapping[str, Tensor], examples: ExampleInputs, parameters: Sequence[str]
) -> dict[str, Tensor]:
    """Return the tensors by the names of `forward`.

    Names that `forward` knows go there; the rest are taken in order, as exporters number inputs
    in the order of `forward`. Inputs that the exporter dropped keep their example values.
    """
    names = list(examples) if isinstance(examples, Mapping) else list(parameters)[: len(examples)]
    values = list(examples.values()) if isinstance(examples, Mapping) else list(examples)
    given = dict(zip(names, values, strict=True))
    if set(feeds) <= set(names):
        return {**given, **feeds}
    if len(feeds) != len(names):
        raise ModelError(
            f"the model has the inputs {', '.join(feeds)}, its PyTorch module takes "
            f"{', '.join(names)}",
            hint="export it with the names of forward's parameters as input names",
        )
    return dict(zip(names, feeds.values(), strict=True))


def flat_outputs(result: Any) -> list[Tensor]:  # noqa: ANN401  (what a module returns is untyped)
    """Return the tensors that a module gave back, in order, whatever they are packed in."""
    import torch

    if isinstance(result, torch.Tensor):
        return [result]
    if isinstance(result, Mapping):
        result = list(result.values())
    if isinstance(result, Sequence) and not isinstance(result, str):
        return [tensor for part in result for tensor in flat_outputs(part)]
    return []


class TorchSession(Closing):
    """A module on its device; leaving it as a context gives the thread count back."""

    def __init__(
        self,
        model: TorchModel,
        options: EngineOptions,
        *,
        call: Callable[..., Any],
        notes: Callable[[], tuple[str, ...]],
    ) -> None:
        import torch

        self._model: TorchModel | None = model
        self._specs = model.interface.inputs
        self._outputs = model.interface.outputs
        self._call = call
        self._notes = notes
        self._threads_before = torch.get_num_threads()
        if options.threads:
            torch.set_num_threads(options.threads)
        allow_tf32 = options.precision == "tf32"
        torch.backends.cuda.matmul.allow_tf32 = allow_tf32
        torch.backends.cudnn.allow_tf32 = allow_tf32

    @property
    def placement(self) -> Placement:
        """Return what was obtained."""
        import torch

        model = self._opened()
        threads = torch.get_num_threads() if model.device == "cpu" else None
        return Placement(model.device, model.precision, {}, threads, self._notes())

    def run(self, feeds: Arrays) -> dict[str, Array]:
        """Run once with inputs from, and outputs to, host memory."""
        outputs = flat_outputs(self._blocking(self._arguments(feeds))())
        if len(outputs) != len(self._outputs):
            raise ModelError(
                f"the PyTorch module returns {len(outputs)} tensors, "
                f"the ONNX model has {len(self._outputs)} outputs",
                hint="export it again from this module",
            )
        pairs = zip(self._outputs, outputs, strict=True)
        return {spec.name: array_of(tensor) for spec, tensor in pairs}

    def prepare(self, feeds: Arrays) -> Callable[[], None]:
        """Put `feeds` on the device; return one blocking run."""
        call = self._blocking(self._arguments(feeds))
        call()

        def run() -> None:
            call()

        return run

    def prepare_generation(self, feeds: Arrays, how: Continuation) -> Callable[[], Array]:
        """Return what writes tokens after `feeds`; keys and values stay where they are."""
        import torch

        begin, call = self._arguments(feeds), self._call
        if isinstance(call, CapturedCall):
            raise MissingCapabilityError(
                "a captured CUDA graph has fixed sizes, and a past grows",
                hint="measure it without: --engine torch-eager",
            )
        names = [spec.name for spec in self._outputs]
        text = writer(lambda fed: flat_outputs(call(**fed)), begin, names, how)
        cuda = self._opened().device != "cpu"

        def run() -> Array:
            written = text()
            if cuda:
                torch.cuda.synchronize()
            return array_of(written)

        return run

    def trace(self, feeds: Arrays, *, warmup: int, runs: int) -> Trace | None:
        """Return a timeline from PyTorch's own profiler, with the modules of an eager one."""
        from burnish.engines.torch_profile import recorded

        model = self._opened()
        eager = model.module if self._call is model.module else None
        call = self._blocking(self._arguments(feeds))
        for _ in range(warmup):
            call()
        return recorded(call, runs=runs, modules_of=eager, on_gpu=model.device != "cpu")

    def card_times_s(self, feeds: Arrays, *, warmup: int, runs: int) -> tuple[float, ...]:
        """Return the seconds between events around each run; empty on a CPU."""
        import torch

        if self._opened().device == "cpu":
            return ()
        arguments = self._arguments(feeds)
        found = []
        with torch.inference_mode():
            for _ in range(warmup + runs):
                begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
                begin.record()
                self._call(**arguments)
                end.record()
                end.synchronize()
                found.append(begin.elapsed_time(end) / 1e3)
        return tuple(found[warmup:])

    def close(self) -> None:
        """Forget the module, and give its memory back."""
        import torch

        torch.set_num_threads(self._threads_before)
        on_gpu = self._model is not None and self._model.device != "cpu"
        self._model, self._call = None, _closed
        if on_gpu:
            torch.cuda.empty_cache()

    def _opened(self) -> TorchModel:
        if self._model is None:
            raise ValueError("the session is closed")
        return self._model

    def _arguments(self, feeds: Arrays) -> dict[str, Tensor]:
        check_feeds(feeds, self._specs)
        model = self._opened()
        tensors = {spec.name: _fed(feeds[spec.name], spec, model) for spec in self._specs}
        parameters = list(inspect.signature(model.module.forward).parameters)
        named = arguments_by_name(tensors, model.examples, parameters)
        return {name: _on(value, model.device) for name, value in named.items()}

    def _blocking(self, arguments: Mapping[str, Tensor]) -> Callable[[], Any]:
        import torch

        call, cuda = self._call, self._opened().device != "cpu"

        def run() -> Any:  # noqa: ANN401  (whatever the module returns)
            with torch.inference_mode():
                result = call(**arguments)
            if cuda:
                torch.cuda.synchronize()
            return result

        return run


def _fed(array: Array, spec: TensorSpec, model: TorchModel) -> Tensor:
    tensor = tensor_of(array, spec.dtype, model.device)
    if model.cast_to is None or spec.dtype not in FLOATS:
        return tensor
    return tensor.to(torch_type(model.cast_to))


def _on(value: Any, device: str) -> Any:  # noqa: ANN401  (a tensor, or an example of another type)
    return value.to(device) if hasattr(value, "to") else value


def _closed(**_: Tensor) -> None:
    raise ValueError("the session is closed")
