"""A model loaded in ONNX Runtime; both of its engines use this."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from burnish.core.arrays import Array, Arrays
from burnish.core.closing import Closing
from burnish.core.errors import MissingCapabilityError, ModelError
from burnish.engines import mapped_files
from burnish.engines import onnxruntime_values as values
from burnish.engines.base import EngineOptions, GraphLevel, Placement
from burnish.engines.generation import Continuation
from burnish.engines.onnxruntime_errors import explain, explained, is_its_own
from burnish.engines.onnxruntime_generation import OrtWriter
from burnish.feeds.check import check_feeds
from burnish.process.scratch import scratch
from burnish.runtime.ort import QUIET, OrtBinding, OrtSession
from burnish.store.interface import ANY_RANK
from burnish.store.stored import StoredModel
from burnish.trace.events import Trace

CAPTURE = "enable_cuda_graph"
NO_CAPTURE = -1
"""The `gpu_graph_id` of a run that neither captures nor replays a CUDA graph."""
CAPTURE_RUNS = 3
"""ONNX Runtime captures after its regular runs have settled; later runs replay."""

OPTIMIZED = "optimized.onnx"


@dataclass(frozen=True, slots=True)
class Provider:
    """What an execution provider is asked for."""

    name: str
    """As ONNX Runtime calls it: `CPUExecutionProvider` …"""
    device: str
    """Where its tensors live: `cpu` or `cuda`."""
    device_index: int = 0
    options: Mapping[str, str] = field(default_factory=dict)


def quiet_settings(level: GraphLevel) -> Any:  # noqa: ANN401  (its SessionOptions, untyped)
    """Return settings of a session that rewrites so much, and prints nothing."""
    import onnxruntime

    settings = onnxruntime.SessionOptions()
    levels = onnxruntime.GraphOptimizationLevel
    settings.graph_optimization_level = {
        "off": levels.ORT_DISABLE_ALL,
        "basic": levels.ORT_ENABLE_BASIC,
        "extended": levels.ORT_ENABLE_EXTENDED,
        "all": levels.ORT_ENABLE_ALL,
    }[level]
    settings.log_severity_level = QUIET
    return settings


def load(
    model: StoredModel,
    options: EngineOptions,
    provider: Provider,
    *,
    profile_folder: Path | None = None,
) -> OrtSession:
    """Return ONNX Runtime's own session, or say why there is none.

    With a folder for it, the session records a profile, and writes the graph that it runs.
    """
    import onnxruntime

    if not model.onnx.is_file():
        raise ModelError(
            f"{model.onnx}: no such file", hint="list the models of a store: burnish model list"
        )
    settings = quiet_settings(options.graph_level)
    settings.intra_op_num_threads = options.threads or _own_threads()
    settings.inter_op_num_threads = 1
    settings.add_session_config_entry("session.record_ep_graph_assignment_info", "1")
    if options.frugal:
        settings.add_session_config_entry("session.disable_prepacking", "1")
    if profile_folder is not None:
        _record(settings, profile_folder)
    onnxruntime.set_default_logger_severity(QUIET)
    with explained(model):
        session = onnxruntime.InferenceSession(
            str(model.onnx), settings, providers=[(provider.name, dict(provider.options))]
        )
    session.disable_fallback()
    return session


def _own_threads() -> int:
    """Return 0, ONNX Runtime's own choice: a thread for each core of the machine, bound to it.

    Where this process was given some of the cores only, that would take those of others.
    """
    given = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 0
    return given if given < (os.cpu_count() or 1) else 0


def _record(settings: Any, folder: Path) -> None:  # noqa: ANN401  (its SessionOptions, untyped)
    """Have a session record a profile, and write the graph that it runs."""
    settings.enable_profiling = True
    settings.profile_file_prefix = str(folder / "runs")
    settings.optimized_model_filepath = str(folder / OPTIMIZED)
    # Beside the graph, not in it: one file cannot hold more than 2 GB.
    entry = "session.optimized_model_external_initializers"
    settings.add_session_config_entry(f"{entry}_file_name", "weights.bin")
    settings.add_session_config_entry(f"{entry}_min_size_in_bytes", "1024")


@dataclass(frozen=True, slots=True)
class _Call:
    """One run with everything in place; it keeps the memory of its inputs."""

    run: Callable[[OrtBinding, Any], None]
    binding: OrtBinding
    settings: Any
    inputs: Sequence[values.OrtValue]
    model: StoredModel

    def __call__(self) -> None:
        try:
            self.run(self.binding, self.settings)
        except Exception as error:  # not `with explained`: a call is timed, and this is free
            if not is_its_own(error):
                raise
            raise explain(error, self.model) from error


class OnnxRuntimeSession(Closing):
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
        self._session = session
        self._placement = placement
        self._inputs = tuple(values.spec(argument, model) for argument in session.get_inputs())
        given = [values.output_spec(argument, model) for argument in session.get_outputs()]
        # a model may give one tensor twice, and then it is given once
        self._outputs = tuple({spec.name: spec for spec in given}.values())
        self._prepared = 0

    @property
    def placement(self) -> Placement:
        """Return what was obtained."""
        return self._placement

    def run(self, feeds: Arrays) -> dict[str, Array]:
        """Run once with inputs from, and outputs to, host memory."""
        try:
            return self._outputs_for(feeds)
        finally:
            if self._options.frugal:
                mapped_files.let_go(self._model.onnx.parent)

    def _outputs_for(self, feeds: Arrays) -> dict[str, Array]:
        check_feeds(feeds, self._inputs)
        if all(values.is_native(spec.dtype) for spec in (*self._inputs, *self._outputs)):
            names = [spec.name for spec in self._outputs]
            with explained(self._model):
                arrays = self._session.run(names, dict(feeds), self._run_options(NO_CAPTURE))
            return {name: values.gathered(item) for name, item in zip(names, arrays, strict=True)}
        binding, _kept = self._bound(feeds, "cpu", 0)
        with explained(self._model):
            self._session.run_with_iobinding(binding, self._run_options(NO_CAPTURE))
        pairs = zip(self._outputs, binding.get_outputs(), strict=True)
        return {spec.name: values.array_of(value, spec.dtype) for spec, value in pairs}

    def prepare(self, feeds: Arrays) -> Callable[[], None]:
        """Put `feeds` and the outputs in the device's memory; return one blocking run.

        A first run finds the outputs' shapes; from then on they have fixed places, which a
        captured graph needs and which spares the others an allocation per run.
        """
        check_feeds(feeds, self._inputs)
        collections = any(spec.shape == (ANY_RANK,) for spec in self._outputs)
        if collections or any(spec.dtype == "str" for spec in self._inputs):
            return self._unbound(feeds)
        provider = self._provider
        binding, kept = self._bound(feeds, provider.device, provider.device_index)
        self._prepared += 1
        run, settings = self._session.run_with_iobinding, self._run_options(self._prepared)
        with explained(self._model):
            run(binding, self._run_options(NO_CAPTURE))
            for spec, value in zip(self._outputs, binding.get_outputs(), strict=True):
                if spec.dtype != "str":
                    place = values.like(value, provider.device, provider.device_index)
                    binding.bind_ortvalue_output(spec.name, place)
            for _ in range(CAPTURE_RUNS if self._options.cuda_graph else 0):
                run(binding, settings)
        return _Call(run, binding, settings, kept, self._model)

    def prepare_generation(self, feeds: Arrays, how: Continuation) -> Callable[[], Array]:
        """Return what writes tokens after `feeds`, with keys and values in its own tensors."""
        check_feeds(feeds, self._inputs)
        if self._options.cuda_graph:
            raise MissingCapabilityError(
                "a captured CUDA graph has fixed sizes, and a past grows",
                hint="measure it without: leave --cuda-graph and :graph away",
            )
        writer = OrtWriter(
            self._session, self._run_options(NO_CAPTURE), self._inputs, self._outputs,
            (self._provider.device, self._provider.device_index), feeds, how,
        )  # fmt: skip
        return writer.prepared()

    def trace(self, feeds: Arrays, *, warmup: int, runs: int) -> Trace | None:
        """Return a timeline of `runs` runs after `warmup` dropped ones, from a second session.

        A captured CUDA graph is one opaque launch, so the traced session captures none.
        """
        from burnish.engines.onnxruntime_origins import origins
        from burnish.store import onnx_files
        from burnish.trace.readers import onnxruntime_profile
        from burnish.trace.runs import last_runs

        options = dataclasses.replace(self._options, cuda_graph=False)
        without_capture = {k: v for k, v in self._provider.options.items() if k != CAPTURE}
        provider = dataclasses.replace(self._provider, options=without_capture)
        with scratch("profile") as folder:
            session = load(self._model, options, provider, profile_folder=folder)
            traced = OnnxRuntimeSession(
                self._model, options, provider, session=session, placement=self._placement
            )
            call = traced.prepare(feeds)
            for _ in range(warmup + runs):
                call()
            trace = last_runs(onnxruntime_profile.read(Path(session.end_profiling())), runs)
            model, optimized = (
                onnx_files.read(path) for path in (self._model.onnx, folder / OPTIMIZED)
            )
            return dataclasses.replace(trace, origins=origins(model, optimized, trace))

    def close(self) -> None:
        """Forget the session."""
        self._session = None

    def _run_options(self, graph_id: int) -> Any:  # noqa: ANN401  (its RunOptions, untyped)
        import onnxruntime

        options = onnxruntime.RunOptions()
        options.log_severity_level = QUIET
        if self._options.cuda_graph:
            options.add_run_config_entry("gpu_graph_id", str(graph_id))
        return options

    def _unbound(self, feeds: Arrays) -> Callable[[], None]:
        """Return one run that ONNX Runtime feeds itself: text and collections cannot be bound."""
        run, given, settings = self._session.run, dict(feeds), self._run_options(NO_CAPTURE)

        def call() -> None:
            try:
                run(None, given, settings)
            except Exception as error:  # as in `_Call`
                if not is_its_own(error):
                    raise
                raise explain(error, self._model) from error

        return call

    def _bound(
        self, feeds: Arrays, device: str, device_index: int
    ) -> tuple[OrtBinding, list[values.OrtValue]]:
        """Return a binding to tensors on the device, and the inputs, whose memory it shares."""
        with explained(self._model):
            binding = self._session.io_binding()
            kept = []
            for spec in self._inputs:
                value = values.value_of(feeds[spec.name], spec.dtype, device, device_index)
                binding.bind_ortvalue_input(spec.name, value)
                kept.append(value)
            for spec in self._outputs:
                binding.bind_output(spec.name, device, device_index)
        return binding, kept
