"""ONNX Runtime on an NVIDIA GPU, through its CUDA execution provider."""

from __future__ import annotations

import contextlib
import dataclasses
import importlib.util
import io
from collections.abc import Sequence
from pathlib import Path

from burnish.core.errors import MissingCapabilityError
from burnish.engines import onnxruntime_executed
from burnish.engines import onnxruntime_placement as placed
from burnish.engines.base import ENGINES, Availability, EngineOptions, Placement
from burnish.engines.fallback import GRAPH, precision_notes, require, require_graph
from burnish.engines.installed import has_nvidia_gpu, version_of
from burnish.engines.model_facts import arithmetic_type
from burnish.engines.onnxruntime_session import CAPTURE, OnnxRuntimeSession, Provider, load
from burnish.engines.shape_nodes import ShapeNode, shape_nodes
from burnish.process.scratch import scratch
from burnish.store import onnx_files
from burnish.store.stored import StoredModel

PROVIDER = "CUDAExecutionProvider"
REMEDY = "pip uninstall onnxruntime && pip install 'burnish[gpu]'"
CONVOLUTION_SEARCH = "EXHAUSTIVE"
"""Try every algorithm of cuDNN once per shape: slow first runs, fast later ones."""


class OnnxRuntimeCuda:
    """ONNX Runtime's CUDA kernels."""

    name = "onnxruntime-cuda"
    needs_torch_source = False

    def availability(self) -> Availability:
        """Say whether ONNX Runtime's CUDA library and an NVIDIA GPU are here."""
        version = version_of("onnxruntime-gpu", module="onnxruntime")
        has_library = _has_cuda_library()
        if not has_nvidia_gpu():  # first: a package that cannot run here is no remedy
            then = "" if has_library else f", then {REMEDY}"
            return Availability(
                ok=False,
                reason="no NVIDIA GPU on this machine",
                remedy=f"use a machine with an NVIDIA GPU{then}",
                version=version or "" if has_library else "",
            )
        if not has_library:
            return Availability(
                ok=False,
                reason="onnxruntime is installed without CUDA" if version else "not installed",
                remedy=REMEDY,
            )
        return Availability(ok=True, version=version or "")

    def open(self, model: StoredModel, options: EngineOptions) -> OnnxRuntimeSession:
        """Load a model on the GPU, and check that it really is there."""
        require(self)
        if options.mode == GRAPH:
            options = dataclasses.replace(options, cuda_graph=True)
        said = _preload_cuda()
        provider = Provider(PROVIDER, "cuda", options.device_index, provider_options(options))
        session = load(model, options, provider)
        if PROVIDER not in session.get_providers():
            raise MissingCapabilityError(
                f"{PROVIDER} was asked for, ONNX Runtime gave {session.get_providers()}"
                + (f": {said}" if said else ""),
                hint=f"CUDA or cuDNN libraries do not fit this onnxruntime-gpu; {REMEDY}",
            )
        return OnnxRuntimeSession(
            model,
            options,
            provider,
            session=session,
            placement=_placement(model, options, placed.assigned(session)),
        )

    def require_mode(self, mode: str) -> None:
        """Raise if it is not the one mode there is."""
        require_graph(self.name, mode)


def provider_options(options: EngineOptions) -> dict[str, str]:
    """Return the CUDA provider's options; TF32 rounds f32 products, so it must be asked for."""
    result = {
        "device_id": str(options.device_index),
        "use_tf32": "1" if options.precision == "tf32" else "0",
        "cudnn_conv_algo_search": CONVOLUTION_SEARCH,
    }
    return {**result, CAPTURE: "1"} if options.cuda_graph else result


def _placement(
    model: StoredModel,
    options: EngineOptions,
    nodes: tuple[placed.AssignedNode, ...] | None,
) -> Placement:
    precision = arithmetic_type(onnx_files.read(model.onnx))
    if options.precision == "tf32" and precision == "f32":
        precision = "tf32"
    notes = (
        *placed.placement_notes(nodes, PROVIDER, shape_computations(model, nodes), options),
        *precision_notes(options, precision),
        f"cuDNN algorithm search {CONVOLUTION_SEARCH}",
        *(("runs replay a captured CUDA graph",) if options.cuda_graph else ()),
    )
    return Placement(
        device=f"cuda:{options.device_index}",
        precision=precision,
        nodes_by_provider=placed.count_by_provider(nodes or ()),
        notes=notes,
    )


def shape_computations(
    model: StoredModel, nodes: Sequence[placed.AssignedNode] | None, provider: str = PROVIDER
) -> tuple[ShapeNode, ...]:
    """Return the nodes that only compute shapes, and so may run beside the provider.

    ONNX Runtime rewrites before it divides: the shape of a transposed tensor becomes a `Gather`
    that no model has. Where a node elsewhere is none of the model's, its graph is asked for.
    """
    own = shape_nodes(onnx_files.read(model.onnx))
    if nodes is None or not placed.fallbacks(nodes, provider, own):
        return own
    with scratch("placement") as folder:
        rewritten = folder / "rewritten.onnx"
        # what rewrites before the division is the same for all providers
        onnxruntime_executed.save(model, EngineOptions(graph_level="basic"), rewritten)
        return shape_nodes(onnx_files.read(rewritten))


def _has_cuda_library() -> bool:
    found = importlib.util.find_spec("onnxruntime")
    if found is None or found.origin is None:
        return False
    return any((Path(found.origin).parent / "capi").glob("*onnxruntime_providers_cuda.*"))


def _preload_cuda() -> str:
    """Load CUDA and cuDNN from Python packages where they are; return what was said meanwhile."""
    import onnxruntime

    said = io.StringIO()
    if hasattr(onnxruntime, "preload_dlls"):
        with contextlib.redirect_stdout(said):
            onnxruntime.preload_dlls()
    return " ".join(said.getvalue().split())[:200]


ENGINES.register("onnxruntime-cuda")(OnnxRuntimeCuda())
