"""TensorRT on an NVIDIA GPU; tensors on the GPU are PyTorch's.

A plan is built for the shapes that are fed, once for each set of them: a profile over a range of
sizes would be slower at all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from burnish.core import settings
from burnish.core.arrays import Array, Arrays
from burnish.core.closing import Closing
from burnish.core.files import write_bytes
from burnish.engines import tensorrt_build
from burnish.engines.base import ENGINES, Availability, EngineOptions, Placement
from burnish.engines.fallback import level_notes, no_cuda_graph, require
from burnish.engines.installed import has_nvidia_gpu, version_of
from burnish.engines.model_facts import arithmetic_type
from burnish.engines.tensorrt_build import BuildPlan, Shapes
from burnish.engines.torch_values import Tensor, array_of, tensor_of, torch_type
from burnish.feeds.check import check_feeds
from burnish.store import onnx_files
from burnish.store.interface import Interface
from burnish.store.stored import StoredModel
from burnish.trace.events import Trace

Trt = Any
"""Anything from the `tensorrt` package, which has no types."""


class TensorRt:
    """NVIDIA's compiler for inference."""

    name = "tensorrt"
    needs_torch_source = False

    def availability(self) -> Availability:
        """Say whether TensorRT, PyTorch and an NVIDIA GPU are here."""
        version = version_of("tensorrt", "tensorrt-cu13", "tensorrt-cu12") or ""
        if not has_nvidia_gpu():
            return Availability(
                ok=False,
                reason="no NVIDIA GPU on this machine",
                remedy="use a machine with an NVIDIA GPU, then pip install 'burnish[tensorrt]'",
                version=version,
            )
        if not version:
            return Availability(
                ok=False,
                reason="tensorrt is not installed",
                remedy="pip install 'burnish[tensorrt]'",
            )
        if version_of("torch") is None:
            return Availability(
                ok=False,
                reason="torch, which holds the tensors on the GPU, is not installed",
                remedy="pip install torch",
                version=version,
            )
        return Availability(ok=True, version=version)

    def open(self, model: StoredModel, options: EngineOptions) -> TensorRtSession:
        """Parse a model; build it now if its shapes are fixed, else when it is first fed."""
        require(self)
        import tensorrt

        onnx_model = onnx_files.read(model.onnx)
        major = int(tensorrt.__version__.split(".")[0])
        plan = tensorrt_build.build_plan(major, options.precision, arithmetic_type(onnx_model))
        notes = (*plan.notes, *no_cuda_graph(options, self.name), *level_notes(options, self.name))
        placement = Placement(f"cuda:{options.device_index}", plan.precision, {}, notes=notes)
        session = TensorRtSession(model, plan, onnx_files.interface(onnx_model), placement)
        session.build_if_fixed()
        return session


@dataclass(frozen=True, slots=True)
class _Prepared:
    """An engine's context with all its tensors in place."""

    context: Trt
    stream: Any
    inputs: dict[str, Tensor]
    outputs: dict[str, Tensor]

    def __call__(self) -> None:
        self.context.execute_async_v3(self.stream.cuda_stream)
        self.stream.synchronize()


class TensorRtSession(Closing):
    """A model built by TensorRT, once for each set of shapes."""

    def __init__(
        self, model: StoredModel, plan: BuildPlan, interface: Interface, placement: Placement
    ) -> None:
        self._model = model
        self._plan = plan
        self._interface = interface
        self._placement = placement
        self._device = placement.device
        self._engines: dict[tuple[tuple[str, tuple[int, ...]], ...], Trt] = {}

    @property
    def placement(self) -> Placement:
        """Return what was obtained."""
        return self._placement

    def build_if_fixed(self) -> None:
        """Build the engine if the model's shapes are known without feeds."""
        shapes = tensorrt_build.shapes_of(self._interface.inputs)
        if shapes is not None:
            self._engine(shapes)

    def run(self, feeds: Arrays) -> dict[str, Array]:
        """Run once with inputs from, and outputs to, host memory."""
        call = self._prepared(feeds)
        call()
        return {name: array_of(tensor) for name, tensor in call.outputs.items()}

    def prepare(self, feeds: Arrays) -> Callable[[], None]:
        """Put `feeds` and the outputs on the GPU; return one blocking run."""
        call = self._prepared(feeds)
        call()
        return call

    def trace(self, feeds: Arrays, *, warmup: int, runs: int) -> Trace | None:
        """Return nothing: TensorRT's layers are not attributed to nodes yet."""
        return None

    def close(self) -> None:
        """Free what was built."""
        self._engines.clear()

    def _prepared(self, feeds: Arrays) -> _Prepared:
        import torch

        check_feeds(feeds, self._interface.inputs)
        inputs = {
            spec.name: tensor_of(feeds[spec.name], spec.dtype, self._device)
            for spec in self._interface.inputs
        }
        context = self._engine(
            {n: tuple(a.shape) for n, a in feeds.items()}
        ).create_execution_context()
        for name, tensor in inputs.items():
            context.set_input_shape(name, tuple(tensor.shape))
            context.set_tensor_address(name, tensor.data_ptr())
        outputs = {}
        for spec in self._interface.outputs:
            shape = tensorrt_build.fixed_shape(spec.name, context.get_tensor_shape(spec.name))
            kind = torch_type(spec.dtype)
            outputs[spec.name] = torch.empty(shape, dtype=kind, device=self._device)
            context.set_tensor_address(spec.name, outputs[spec.name].data_ptr())
        torch.cuda.synchronize(self._device)
        return _Prepared(context, torch.cuda.Stream(self._device), inputs, outputs)

    def _engine(self, shapes: Shapes) -> Trt:
        key = tuple(sorted(shapes.items()))
        if key not in self._engines:
            self._engines[key] = _built(self._model, self._plan, self._interface, shapes)
        return self._engines[key]


def _built(model: StoredModel, plan: BuildPlan, interface: Interface, shapes: Shapes) -> Trt:
    import tensorrt

    log = _logger()
    builder = tensorrt.Builder(log)
    network = builder.create_network(_mask(tensorrt.NetworkDefinitionCreationFlag, plan))
    parser = tensorrt.OnnxParser(network, log)
    if not parser.parse_from_file(str(model.onnx)):
        errors = [parser.get_error(index).desc() for index in range(parser.num_errors)]
        raise tensorrt_build.explain(errors, model)
    config = _config(builder, plan, interface, shapes)
    cache = _timing_cache_path()
    config.set_timing_cache(
        config.create_timing_cache(cache.read_bytes() if cache.is_file() else b""), True
    )
    serialized = builder.build_serialized_network(network, config)
    if serialized is None:
        raise tensorrt_build.explain(log.errors, model)
    write_bytes(cache, bytes(config.get_timing_cache().serialize()))
    engine = tensorrt.Runtime(log).deserialize_cuda_engine(serialized)
    if engine is None:
        raise tensorrt_build.explain(log.errors, model)
    return engine


def _config(builder: Trt, plan: BuildPlan, interface: Interface, shapes: Shapes) -> Trt:
    import tensorrt

    config = builder.create_builder_config()
    for name in plan.builder_flags:
        config.set_flag(getattr(tensorrt.BuilderFlag, name))
    for name in plan.cleared_flags:
        config.clear_flag(getattr(tensorrt.BuilderFlag, name))
    sizes = tensorrt_build.profile_shapes(interface.inputs, shapes)
    if sizes:
        profile = builder.create_optimization_profile()
        for name, shape in sizes.items():
            profile.set_shape(name, shape, shape, shape)
        config.add_optimization_profile(profile)
    return config


def _mask(flags: Trt, plan: BuildPlan) -> int:
    return sum(1 << int(getattr(flags, name)) for name in plan.network_flags)


def _timing_cache_path() -> Path:
    """Return where kernel timings are kept: they hold for one TensorRT on one kind of GPU."""
    import tensorrt
    import torch

    gpu = torch.cuda.get_device_name().replace(" ", "-")
    return settings.read().cache / "tensorrt" / f"timings-{tensorrt.__version__}-{gpu}.bin"


def _logger() -> Trt:
    import tensorrt

    class Errors(tensorrt.ILogger):  # type: ignore[misc]
        """Keeps what TensorRT reports as errors; it would print them itself otherwise."""

        def __init__(self) -> None:
            super().__init__()
            self.errors: list[str] = []

        def log(self, severity: Trt, text: str) -> None:
            if severity in (self.INTERNAL_ERROR, self.ERROR):
                self.errors.append(text)

    return Errors()


ENGINES.register("tensorrt")(TensorRt())
