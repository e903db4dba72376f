"""OpenVINO on the CPU.

Left to itself it computes f32 models in bf16 where the processor has AMX, and f64 in f32: the
precision is therefore always asked for, and read back from what was compiled.
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import onnx_ir as ir

from burnish.core.array_types import array_type
from burnish.core.arrays import Array, Arrays
from burnish.core.closing import Closing
from burnish.core.errors import ModelError
from burnish.core.tensors import TensorSpec
from burnish.engines.base import ENGINES, Availability, EngineOptions, Placement
from burnish.engines.fallback import accepted, level_notes, no_cuda_graph, precision_notes, require
from burnish.engines.installed import version_of
from burnish.engines.model_facts import arithmetic_type, node_of_name
from burnish.feeds.check import check_feeds
from burnish.store import onnx_files
from burnish.store.correspondence import Names, of_sizes
from burnish.store.graph_nodes import nodes_of
from burnish.store.stored import StoredModel
from burnish.trace.events import Span, Trace

CompiledModel = Any
InferRequest = Any
"""`openvino.CompiledModel` and `InferRequest`: the package's types lag behind."""

_UNKNOWN = re.compile(r"No conversion rule found for operations: (?P<ops>.+)")
_FAILED = re.compile(r"\[CPU\] (?P<op>\S+) node with name '(?P<node>.*?)'")


class OpenVino:
    """OpenVINO's CPU plugin."""

    name = "openvino"
    needs_torch_source = False

    def availability(self) -> Availability:
        """Say whether OpenVINO is installed."""
        version = version_of("openvino")
        if version is None:
            return Availability(
                ok=False,
                reason="openvino is not installed",
                remedy="pip install 'burnish[openvino]'",
            )
        return Availability(ok=True, version=version)

    def open(self, model: StoredModel, options: EngineOptions) -> OpenVinoSession:
        """Compile a model for the CPU, and check its precision."""
        require(self)
        onnx_model = onnx_files.read(model.onnx)
        interface = onnx_files.interface(onnx_model)
        _refuse_text((*interface.inputs, *interface.outputs), model)
        asked = options.precision or "f32"
        compiled = _compiled(model, _properties(options, asked))
        obtained = _precision(compiled)
        threads = int(compiled.get_property("INFERENCE_NUM_THREADS"))
        notes = (
            *_double_notes(arithmetic_type(onnx_model), options),
            *precision_notes(options, obtained),
            *no_cuda_graph(options, self.name),
            *level_notes(options, self.name),
            *_integer_notes((*interface.inputs, *interface.outputs)),
            *_thread_notes(options, threads),
        )
        if options.precision is None and obtained != "f32":
            notes += accepted(f"f32 was asked for, OpenVINO computes in {obtained}", options)
        placement = Placement(
            device="cpu",
            precision=obtained,
            nodes_by_provider={},
            threads=threads,
            notes=notes,
        )
        return OpenVinoSession(
            model,
            options,
            compiled=compiled,
            placement=placement,
            inputs=interface.inputs,
            outputs=interface.outputs,
        )


class OpenVinoSession(Closing):
    """A model compiled by OpenVINO."""

    def __init__(
        self,
        model: StoredModel,
        options: EngineOptions,
        *,
        compiled: CompiledModel,
        placement: Placement,
        inputs: Sequence[TensorSpec],
        outputs: Sequence[TensorSpec],
    ) -> None:
        self._model = model
        self._options = options
        self._compiled = compiled
        self._placement = placement
        self._inputs = inputs
        self._outputs = outputs

    @property
    def placement(self) -> Placement:
        """Return what was obtained."""
        return self._placement

    def run(self, feeds: Arrays) -> dict[str, Array]:
        """Run once; the outputs are copies, which a later run does not change."""
        request = self._request(self._compiled, feeds)
        with _explained(self._model):
            request.infer()
        return {
            spec.name: request.get_tensor(spec.name).data.view(array_type(spec.dtype)).copy()
            for spec in self._outputs
        }

    def prepare(self, feeds: Arrays) -> Callable[[], None]:
        """Return one run of a request that holds the inputs, and keeps its outputs' memory."""
        request = self._request(self._compiled, feeds)
        with _explained(self._model):
            request.infer()
        infer: Callable[[], object] = request.infer

        def call() -> None:
            infer()

        return call

    def trace(self, feeds: Arrays, *, warmup: int, runs: int) -> Trace | None:
        """Return a timeline from a second compilation, which counts the time of each node."""
        asked = self._options.precision or "f32"
        properties = {**_properties(self._options, asked), "PERF_COUNT": "YES"}
        compiled = _compiled(self._model, properties)
        request = self._request(compiled, feeds)
        model = onnx_files.read(self._model.onnx)
        origins = with_absorbed(model.graph, _told(compiled, node_of_name(model)))
        spans: list[Span] = []
        with _explained(self._model):
            for _ in range(warmup):
                request.infer()
            for run in range(runs):
                start = time.perf_counter()
                request.infer()
                end = time.perf_counter()
                spans += _spans(request.get_profiling_info(), run, (start, end))
        note = "OpenVINO tells how long a node took, not when: nodes are laid end to end"
        source = f"openvino {version_of('openvino')}"
        return Trace(tuple(spans), source, runs, (note,), origins=origins)

    def close(self) -> None:
        """Free the compiled model."""
        self._compiled = None

    def _request(self, compiled: CompiledModel, feeds: Arrays) -> InferRequest:
        import openvino

        check_feeds(feeds, self._inputs)
        with _explained(self._model):
            request = compiled.create_infer_request()
            for spec in self._inputs:
                array = np.ascontiguousarray(feeds[spec.name]).reshape(feeds[spec.name].shape)
                if spec.dtype == "bf16":
                    shape, kind = openvino.Shape(array.shape), openvino.Type.bf16
                    tensor = openvino.Tensor(array.view(np.uint16), shape, kind)
                else:
                    tensor = openvino.Tensor(array)
                request.set_tensor(spec.name, tensor)
        return request


def _compiled(model: StoredModel, properties: Mapping[str, str]) -> CompiledModel:
    # OpenVINO's tools report usage when this package is there; without it they use a stub.
    sys.modules.setdefault("openvino_telemetry", None)  # type: ignore[arg-type]
    import openvino

    with _explained(model):
        core = openvino.Core()
        return core.compile_model(core.read_model(str(model.onnx)), "CPU", dict(properties))


def _properties(options: EngineOptions, precision: str) -> dict[str, str]:
    result = {"PERFORMANCE_HINT": "LATENCY", "INFERENCE_PRECISION_HINT": precision}
    if options.threads:
        result["INFERENCE_NUM_THREADS"] = str(options.threads)
    return result


def _precision(compiled: CompiledModel) -> str:
    return str(compiled.get_property("INFERENCE_PRECISION_HINT").get_type_name())


def _thread_notes(options: EngineOptions, obtained: int) -> tuple[str, ...]:
    """Return a note if there are not as many threads as were asked for."""
    if not options.threads or options.threads == obtained:
        return ()
    return (f"{options.threads} threads were asked for, OpenVINO takes {obtained}",)


def _double_notes(model_type: str, options: EngineOptions) -> tuple[str, ...]:
    if model_type != "f64":
        return ()
    return accepted(
        "the model's arithmetic is f64, OpenVINO computes it in f32",
        options,
        hint="use --engine onnxruntime-cpu",
    )


def _integer_notes(tensors: Sequence[TensorSpec]) -> tuple[str, ...]:
    if not any(spec.dtype == "i64" for spec in tensors):
        return ()
    return ("OpenVINO computes i64 in i32: values beyond ±2³¹ would be wrong",)


def _refuse_text(tensors: Sequence[TensorSpec], model: StoredModel) -> None:
    for spec in tensors:
        if spec.dtype == "str":
            raise ModelError(
                f"{model.onnx}: {spec.name!r} is text, which OpenVINO's Python interface corrupts",
                hint="use --engine onnxruntime-cpu",
            )


def _told(compiled: CompiledModel, names: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """Return the model's nodes that OpenVINO tells behind each node that it made of them."""
    result = {}
    for node in compiled.get_runtime_model().get_ops():
        information = node.get_rt_info()
        key = "originalLayersNames"
        written = information[key].astype(str) if key in information else ""
        parts = (*written.split(","), node.get_friendly_name())
        behind = dict.fromkeys(names[part] for part in parts if part in names)
        result[node.get_friendly_name()] = tuple(behind)
    return result


def _spans(profile: Sequence[Any], run: int, wall_s: tuple[float, float]) -> Iterator[Span]:
    start, end = wall_s
    yield Span("infer", "run", start, end - start, "openvino", run)
    for row in profile:
        duration = row.real_time.total_seconds()
        if row.status.name == "EXECUTED":
            yield Span(
                row.node_name, "node", start, duration, "openvino", run,
                node=row.node_name, op_type=row.node_type, provider="OpenVINO CPU",
            )  # fmt: skip
            start += duration


@contextmanager
def _explained(model: StoredModel) -> Iterator[None]:
    try:
        yield
    except RuntimeError as error:
        raise explain(str(error), model) from error


def explain(text: str, model: StoredModel) -> ModelError:
    """Return what the user should read when OpenVINO refused a model."""
    other = "use --engine onnxruntime-cpu"
    if found := _UNKNOWN.search(text):
        return ModelError(
            f"{model.onnx}: OpenVINO does not know the operators {found['ops'].strip()}", hint=other
        )
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    reason = lines[-1] if lines else "no reason given"
    if found := _FAILED.search(text):
        return ModelError(
            f"{model.onnx}: {found['op']} (node {found['node']!r}) failed in OpenVINO: {reason}",
            hint=f"check that the inputs' sizes fit each other, or {other}",
        )
    return ModelError(f"{model.onnx}: OpenVINO cannot use it ({reason})", hint=other)


ENGINES.register("openvino")(OpenVino())


def with_absorbed(graph: ir.Graph, told: Mapping[str, Names]) -> dict[str, Names]:
    """Return the nodes behind each of an engine's, with those that it tells behind none.

    Such a node was made part of the ones that read it. Constants and what is computed from sizes
    alone are left out.
    """
    nodes = nodes_of(graph)
    known = {node.name: node for node in nodes}
    producer = {name: node.name for node in nodes for name in node.outputs if name}
    small = of_sizes(nodes, {value.name or "" for value in graph.inputs})
    elsewhere = small.union(*told.values())
    result = {}
    for key, behind in told.items():
        found = {name for name in behind if name in known}
        waiting = list(found)
        while waiting:
            read = (producer.get(name, "") for name in known[waiting.pop()].inputs)
            absorbed = {name for name in read if name} - elsewhere - found
            found |= absorbed
            waiting += absorbed
        result[key] = tuple(node.name for node in nodes if node.name in found)
    return result
