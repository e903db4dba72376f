"""ONNX Runtime on the CPU: the engine that every installation has."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from burnish.core.errors import UsageError
from burnish.core.nearest import suggestion
from burnish.engines import onnxruntime_placement as placed
from burnish.engines.base import ENGINES, LEVELS, Availability, EngineOptions, Placement
from burnish.engines.fallback import no_cuda_graph, precision_notes
from burnish.engines.installed import version_of
from burnish.engines.onnxruntime_session import OnnxRuntimeSession, Provider, load
from burnish.store.stored import StoredModel

_PROVIDER = Provider("CPUExecutionProvider", device="cpu")
_NARROW_FLOATS = ("f16", "bf16")
_TASKS = Path("/proc/self/task")
"""One entry for each thread of this process; only Linux has it."""


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
        """Load a model on the CPU; its mode is how far the graph is optimised."""
        options = leveled(options)
        threads_before = _threads()
        session = load(model, options, _PROVIDER)
        precision = options.arithmetic or _looked_up(model)
        placement = Placement(
            device="cpu",
            precision=precision,
            nodes_by_provider=placed.count_by_provider(placed.assigned(session) or ()),
            # The thread that calls `run` works too, so the pool holds one less than work together.
            threads=options.threads
            or (_threads() - threads_before + 1 if _TASKS.is_dir() else None),
            notes=(
                *precision_notes(options, precision),
                *no_cuda_graph(options, self.name),
                *_narrow_notes(precision),
            ),
        )
        return OnnxRuntimeSession(model, options, _PROVIDER, session=session, placement=placement)

    def require_mode(self, mode: str) -> None:
        """Raise if there is no such level of optimisation."""
        require_level(self.name, mode)


def _looked_up(model: StoredModel) -> str:
    from burnish.engines.model_facts import arithmetic_type  # takes longer than all that is here
    from burnish.store import onnx_files

    return arithmetic_type(onnx_files.look(model.onnx))


def _narrow_notes(precision: str) -> tuple[str, ...]:
    if precision not in _NARROW_FLOATS:
        return ()
    return (f"operators without a {precision} kernel run in f32, between casts",)


def _threads() -> int:
    return sum(1 for _ in _TASKS.iterdir()) if _TASKS.is_dir() else 0


ENGINES.register("onnxruntime-cpu")(OnnxRuntimeCpu())


def require_level(engine: str, mode: str) -> None:
    """Raise if there is no such level of optimisation."""
    if mode not in LEVELS:
        raise UsageError(
            f"engine {engine} has no mode {mode!r}: its modes are levels of optimisation",
            hint=suggestion(mode, LEVELS),
        )


def leveled(options: EngineOptions) -> EngineOptions:
    """Return options whose level is what their mode says."""
    levels = {level: level for level in LEVELS}
    if options.mode not in levels:
        return options
    return dataclasses.replace(options, graph_level=levels[options.mode])
