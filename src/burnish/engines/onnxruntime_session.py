"""A model loaded in ONNX Runtime; both of its engines use this."""

from __future__ import annotations

import ctypes
import dataclasses
import math
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np

from burnish.core.arrays import Array, Arrays
from burnish.core.errors import ModelError
from burnish.core.tensors import TensorSpec
from burnish.engines.base import EngineOptions, Placement
from burnish.engines.element_types import NUMPY, ONNX, ONNXRUNTIME, PACKED, is_native
from burnish.engines.feeding import check_feeds
from burnish.engines.onnxruntime_errors import explain, is_from_onnxruntime
from burnish.store.stored import StoredModel
from burnish.trace.events import Trace

RECORD_ASSIGNMENT = "session.record_ep_graph_assignment_info"
"""ONNX Runtime tells which provider each node went to when this is "1" (since 1.24)."""

CAPTURE = "enable_cuda_graph"

OrtSession = Any
OrtBinding = Any
OrtValue = Any


@dataclass(frozen=True, slots=True)
class Provider:
    """What an execution provider is asked for."""

    name: str
    """As ONNX Runtime calls it: `CPUExecutionProvider` …"""
    device: str
    """Where its tensors live: `cpu` or `cuda`."""
    device_index: int = 0
    options: Mapping[str, str] = field(default_factory=dict)

    @property
    def without_capture(self) -> Mapping[str, str]:
        """Return the options less those that capture a CUDA graph."""
        return {key: value for key, value in self.options.items() if key != CAPTURE}


def load(
    model: StoredModel,
    options: EngineOptions,
    provider: Provider,
    *,
    profile_prefix: Path | None = None,
) -> OrtSession:
    """Return ONNX Runtime's own session, or say why there is none."""
    import onnxruntime

    if not model.onnx.is_file():
        raise ModelError(
            f"{model.onnx}: no such file", hint="list the models of a store: burnish model list"
        )
    settings = onnxruntime.SessionOptions()
    levels = onnxruntime.GraphOptimizationLevel
    settings.graph_optimization_level = {
        "off": levels.ORT_DISABLE_ALL,
        "basic": levels.ORT_ENABLE_BASIC,
        "extended": levels.ORT_ENABLE_EXTENDED,
        "all": levels.ORT_ENABLE_ALL,
    }[options.graph_level]
    settings.intra_op_num_threads = options.threads or 0
    settings.inter_op_num_threads = 1
    settings.log_severity_level = 4  # fatal only: what matters comes back as an exception
    settings.add_session_config_entry(RECORD_ASSIGNMENT, "1")
    if profile_prefix is not None:
        settings.enable_profiling = True
        settings.profile_file_prefix = str(profile_prefix)
    with _explained(model):
        session = onnxruntime.InferenceSession(
            str(model.onnx), settings, providers=[(provider.name, dict(provider.options))]
        )
    session.disable_fallback()
    return session


def specs(nodes: Sequence[Any], model: StoredModel) -> tuple[TensorSpec, ...]:
    """Return ONNX Runtime's inputs or outputs as ours; only tensors are supported."""
    return tuple(_spec(node, model) for node in nodes)


def _spec(node: Any, model: StoredModel) -> TensorSpec:  # noqa: ANN401  (onnxruntime's NodeArg)
    dtype = ONNXRUNTIME.get(node.type.removeprefix("tensor(").removesuffix(")"))
    if dtype is None or dtype in PACKED:
        raise ModelError(
            f"{model.onnx}: {node.name!r} is a {node.type}, which burnish cannot feed or fetch",
            hint="export the model with plain tensors of at least 8 bits as inputs and outputs",
        )
    shape = tuple(
        dim if isinstance(dim, (int, str)) else f"{node.name}_dim_{index}"
        for index, dim in enumerate(node.shape)
    )
    return TensorSpec(node.name, dtype, shape)


class OnnxRuntimeSession:
    """A model loaded in ONNX Runtime; leaving it as a context frees it."""

    def __init__(
        self,
        model: StoredModel,
        options: EngineOptions,
        provider: Provider,
        *,
        session: OrtSession,
        placement: Placement,
    ) -> None:
        self._model = model
        self._options = options
        self._provider = provider
        self._session: OrtSession = session
        self._placement = placement
        self._inputs = specs(session.get_inputs(), model)
        self._outputs = specs(session.get_outputs(), model)
        self._prepared = 0

    @property
    def placement(self) -> Placement:
        """Return what was obtained."""
        return self._placement

    def run(self, feeds: Arrays) -> dict[str, Array]:
        """Run once with inputs from, and outputs to, host memory."""
        check_feeds(feeds, self._inputs)
        names = [spec.name for spec in self._outputs]
        with _explained(self._model):
            if all(is_native(spec.dtype) for spec in (*self._inputs, *self._outputs)):
                arrays = self._session.run(names, dict(feeds), self._run_options())
                return dict(zip(names, map(np.asarray, arrays), strict=True))
            binding = self._bound(feeds, device="cpu")
            for name in names:
                binding.bind_output(name, "cpu")
            self._session.run_with_iobinding(binding, self._run_options())
            values = binding.get_outputs()
        pairs = zip(self._outputs, values, strict=True)
        return {spec.name: _array(value, spec.dtype) for spec, value in pairs}

    def prepare(self, feeds: Arrays) -> Callable[[], None]:
        """Put `feeds` and the outputs in the device's memory; return one blocking run."""
        check_feeds(feeds, self._inputs)
        session, provider = self._session, self._provider
        with _explained(self._model):
            binding = self._bound(feeds, device=provider.device)
            for spec in self._outputs:
                binding.bind_output(spec.name, provider.device, provider.device_index)
            session.run_with_iobinding(binding, self._run_options())
            for spec, value in zip(self._outputs, binding.get_outputs(), strict=True):
                if spec.dtype != "str":
                    binding.bind_ortvalue_output(spec.name, self._allocated(value))
        self._prepared += 1
        run_options = self._run_options(graph_id=self._prepared)
        run = session.run_with_iobinding

        def call() -> None:
            run(binding, run_options)

        for _ in range(3 if self._options.cuda_graph else 0):
            call()  # the first runs allocate and capture
        return call

    def trace(self, feeds: Arrays, *, warmup: int, runs: int) -> Trace | None:
        """Return a timeline of `runs` runs after `warmup` dropped ones, from a second session.

        A captured CUDA graph is one opaque launch, so the traced session captures none.
        """
        from burnish.trace.readers import onnxruntime_profile

        options = dataclasses.replace(self._options, cuda_graph=False)
        provider = dataclasses.replace(self._provider, options=self._provider.without_capture)
        with tempfile.TemporaryDirectory(prefix="burnish-profile-") as folder:
            session = load(self._model, options, provider, profile_prefix=Path(folder) / "runs")
            traced = OnnxRuntimeSession(
                self._model, options, provider, session=session, placement=self._placement
            )
            call = traced.prepare(feeds)
            for _ in range(warmup + runs):
                call()
            return last_runs(onnxruntime_profile.read(Path(session.end_profiling())), runs)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._session = None

    def _run_options(self, graph_id: int = -1) -> Any:  # noqa: ANN401  (onnxruntime's RunOptions)
        import onnxruntime

        options = onnxruntime.RunOptions()
        options.log_severity_level = 4
        if self._options.cuda_graph:
            options.add_run_config_entry("gpu_graph_id", str(graph_id))
        return options

    def _bound(self, feeds: Arrays, *, device: str) -> OrtBinding:
        binding = self._session.io_binding()
        index = self._provider.device_index if device != "cpu" else 0
        for spec in self._inputs:
            if spec.dtype == "str":
                binding.bind_cpu_input(spec.name, feeds[spec.name])
            else:
                value = _value(feeds[spec.name], spec.dtype, device, index)
                binding.bind_ortvalue_input(spec.name, value)
        return binding

    def _allocated(self, value: OrtValue) -> OrtValue:
        import onnxruntime

        return onnxruntime.OrtValue.ortvalue_from_shape_and_type(
            value.shape(), value.element_type(), self._provider.device, self._provider.device_index
        )


def last_runs(trace: Trace, runs: int) -> Trace:
    """Return the last `runs` runs of a trace, from 0; what is outside runs is dropped."""
    first = trace.runs - runs
    spans = tuple(
        dataclasses.replace(span, run=span.run - first) for span in trace.spans if span.run >= first
    )
    return dataclasses.replace(trace, spans=spans, runs=runs)


def _value(array: Array, dtype: str, device: str, index: int) -> OrtValue:
    import onnxruntime

    packed = np.ascontiguousarray(array).reshape(array.shape)
    if is_native(dtype):
        return onnxruntime.OrtValue.ortvalue_from_numpy(packed, device, index)
    host = onnxruntime.OrtValue.ortvalue_from_numpy_with_onnx_type(packed, ONNX[dtype])
    if device == "cpu":
        return host
    value = onnxruntime.OrtValue.ortvalue_from_shape_and_type(
        array.shape, ONNX[dtype], device, index
    )
    onnxruntime.copy_tensors([host], [value])
    return value


def _array(value: OrtValue, dtype: str) -> Array:
    """Return a copy of a value in host memory, also of types that NumPy lacks."""
    if is_native(dtype):
        return np.asarray(value.numpy())
    shape = tuple(value.shape())
    content = ctypes.string_at(value.data_ptr(), math.prod(shape) * NUMPY[dtype].itemsize)
    return np.frombuffer(content, dtype=NUMPY[dtype]).reshape(shape)


@contextmanager
def _explained(model: StoredModel) -> Iterator[None]:
    try:
        yield
    except Exception as error:
        if not is_from_onnxruntime(error):
            raise
        raise explain(error, model) from error
