"""Burnish's own kernels, with ONNX Runtime for what they do not cover.

A compiled folder is run as it is; an ONNX model is compiled when it is first fed, for the shapes
that it is fed, with schedules that the cost model predicts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Self

from burnish.core.arrays import Array, Arrays
from burnish.core.units import count
from burnish.engines.base import ENGINES, Availability, EngineOptions, Placement
from burnish.engines.fallback import level_notes, no_cuda_graph, precision_notes, require
from burnish.engines.installed import version_of
from burnish.engines.model_facts import arithmetic_type
from burnish.feeds.check import check_feeds
from burnish.store import onnx_files
from burnish.store.stored import StoredModel
from burnish.trace.events import Trace
from burnish.version import __version__

if TYPE_CHECKING:
    from burnish.codegen.cached import Source
    from burnish.runtime.executable import Executable
    from burnish.runtime.load import LoadedModel
    from burnish.runtime.plan import Plan

KERNELS = "burnish"
ORT = "ONNX Runtime"

_NAMED = 6
"""Operators that a note names; the plan names all."""


class Burnish:
    """Generated kernels on the CPU."""

    name = "burnish"
    needs_torch_source = False

    def availability(self) -> Availability:
        """Say whether what compiles kernels is installed."""
        for package in ("llvmlite", "onnxruntime"):
            if version_of(package, f"{package}-gpu", module=package) is None:
                return Availability(
                    ok=False, reason=f"{package} is not installed", remedy=f"pip install {package}"
                )
        return Availability(ok=True, version=__version__)

    def open(self, model: StoredModel, options: EngineOptions) -> BurnishSession:
        """Load a compiled folder, or prepare to compile a model."""
        require(self)
        from burnish.hw import detect

        threads = options.threads or detect.cpu().usable_cores
        if model.compiled is not None:
            from burnish.runtime.load import load

            whole = load(model.compiled, threads=threads)
            precision = whole.compiled.about.precision
            notes = self._notes(options, precision)
            return BurnishSession(lambda _feeds: whole, precision, threads, notes)
        from burnish.codegen.cached import Source

        loaded = onnx_files.read(model.onnx)
        precision = arithmetic_type(loaded)
        source = Source(model, loaded, precision, threads)
        notes = self._notes(options, precision)
        return BurnishSession(_Compiling(source), precision, threads, notes)

    def _notes(self, options: EngineOptions, precision: str) -> tuple[str, ...]:
        return (
            *precision_notes(options, precision),
            *no_cuda_graph(options, self.name),
            *level_notes(options, self.name),
        )


class _Compiling:
    """Compiles a model for the shapes that it is fed; each choice of shapes once."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._interface = onnx_files.interface(source.loaded)
        self._loaded: dict[tuple[tuple[int, ...], ...], LoadedModel] = {}

    def __call__(self, feeds: Arrays) -> LoadedModel:
        from burnish.codegen.cached import compiled_for

        check_feeds(feeds, self._interface.inputs)
        shapes = {spec.name: feeds[spec.name].shape for spec in self._interface.inputs}
        key = tuple(shapes.values())
        if key not in self._loaded:
            self._loaded[key] = compiled_for(self._source, shapes)
        return self._loaded[key]


class BurnishSession:
    """A model that runs on generated kernels."""

    def __init__(
        self,
        loaded: Callable[[Arrays], LoadedModel],
        precision: str,
        threads: int,
        notes: tuple[str, ...],
    ) -> None:
        self._loaded = loaded
        self._precision = precision
        self._threads = threads
        self._notes = notes
        self._plan: Plan | None = None
        self._opened: list[LoadedModel] = []

    @property
    def placement(self) -> Placement:
        """Return what was obtained; how nodes are divided is known when it has been fed."""
        plan = self._plan
        return Placement(
            device="cpu",
            precision=self._precision,
            nodes_by_provider=divided(plan) if plan is not None else {},
            threads=self._threads,
            notes=(*self._notes, *(ort_notes(plan) if plan is not None else ())),
        )

    def run(self, feeds: Arrays) -> dict[str, Array]:
        """Run once; the outputs are new arrays."""
        return self._executable(feeds).run(feeds)

    def prepare(self, feeds: Arrays) -> Callable[[], None]:
        """Return one run on these inputs, with outputs whose memory stays."""
        return self._executable(feeds).prepare(feeds)

    def trace(self, feeds: Arrays, *, warmup: int, runs: int) -> Trace | None:
        """Return a timeline with one span per kernel, and per part that ONNX Runtime runs."""
        from burnish.runtime import tracing

        return tracing.trace(self._executable(feeds), feeds, warmup=warmup, runs=runs)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for loaded in self._opened:
            loaded.close()

    def _executable(self, feeds: Arrays) -> Executable:
        loaded = self._loaded(feeds)
        if loaded not in self._opened:
            self._opened.append(loaded)
        executable = loaded.executable(feeds)
        self._plan = executable.plan
        return executable


def divided(plan: Plan) -> dict[str, int]:
    """Return how many nodes run as kernels, and how many in ONNX Runtime."""
    kernels = {node for step in plan.kernel_steps for node in step.nodes}
    ort = {node for step in plan.ort_steps for node in step.nodes}
    counts = {KERNELS: len(kernels), ORT: len(ort)}
    return {name: number for name, number in counts.items() if number}


def ort_notes(plan: Plan) -> tuple[str, ...]:
    """Return which operators ONNX Runtime runs, most first, and why."""
    reasons = [
        (plan.operators.get(node, node), reason)
        for step in plan.ort_steps
        for node, reason in step.reasons.items()
    ]
    if not reasons:
        return ()
    said = Counter(reasons).most_common()
    shown = [f"{operator} ×{number} ({reason})" for (operator, reason), number in said[:_NAMED]]
    more = f" and {len(said) - _NAMED} more" if len(said) > _NAMED else ""
    return (f"{ORT} runs {count(len(reasons), 'node')}: {', '.join(shown)}{more}",)


ENGINES.register("burnish")(Burnish())
