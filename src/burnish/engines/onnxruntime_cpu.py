"""ONNX Runtime on the CPU: the engine that every installation has."""

from __future__ import annotations

from burnish.engines.base import ENGINES, Availability, EngineOptions, Placement
from burnish.engines.installed import version_of
from burnish.engines.onnxruntime_placement import assigned, count_by_provider
from burnish.engines.onnxruntime_session import OnnxRuntimeSession, Provider, load
from burnish.store.stored import StoredModel

_PROVIDER = Provider("CPUExecutionProvider", device="cpu")


class OnnxRuntimeCpu:
    """ONNX Runtime's own CPU kernels."""

    name = "onnxruntime-cpu"
    needs_torch_source = False

    def availability(self) -> Availability:
        """Say whether ONNX Runtime is installed."""
        version = version_of("onnxruntime", "onnxruntime-gpu")
        if version is None:
            return Availability(
                ok=False, reason="onnxruntime is not installed", remedy="pip install onnxruntime"
            )
        return Availability(ok=True, version=version)

    def open(self, model: StoredModel, options: EngineOptions) -> OnnxRuntimeSession:
        """Load a model on the CPU."""
        session = load(model, options, _PROVIDER)
        placement = Placement(
            device="cpu",
            precision="f32",
            nodes_by_provider=count_by_provider(assigned(session) or ()),
            threads=options.threads,
        )
        return OnnxRuntimeSession(model, options, _PROVIDER, session=session, placement=placement)


ENGINES.register("onnxruntime-cpu")(OnnxRuntimeCpu())
