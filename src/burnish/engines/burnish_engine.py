"""Burnish's own kernels, with ONNX Runtime for what they do not cover.

A compiled folder is run as it is; an ONNX model is compiled when it is first fed, for the shapes
that it is fed, with schedules that the cost model predicts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from burnish.core.arrays import Array, Arrays
from burnish.core.closing import Closing
from burnish.core.units import count
from burnish.engines.base import ENGINES, Availability, EngineOptions, Placement
from burnish.engines.fallback import level_notes, no_cuda_graph, precision_notes, require
from burnish.engines.installed import version_of
from burnish.engines.model_facts import arithmetic_type
from burnish.engines.onnxruntime_values import gathered
from burnish.feeds.check import check_feeds
from burnish.runtime.tracing import KERNELS, ORT
from burnish.store import onnx_files
from burnish.store.stored import StoredModel
from burnish.trace.events import Trace
from burnish.version import __version__

if TYPE_CHECKING:
    from burnish.codegen.cached import ModelSource
    from burnish.runtime.executable import Executable
    from burnish.runtime.folder import CompiledModel
    from burnish.runtime.load import LoadedModel
    from burnish.runtime.plan import Plan


_NAMED = 6
"""Operators that a note names; the plan names all."""


class Burnish:
    """Generated kernels on the CPU; a compiled folder runs where it was compiled for."""

    name = "burnish"
    needs_torch_source = False
    target = "cpu"
    """What models are compiled for when they are fed."""
    modes: tuple[str, ...] = ()
    """How else f32 can be multiplied if it is asked for."""
    packages: Mapping[str, str] = MappingProxyType(
        {"llvmlite": "llvmlite", "onnxruntime": "onnxruntime"}
    )
    """What it needs, by the module that is looked for."""

    def availability(self) -> Availability:
        """Say whether what compiles kernels is installed."""
        for module, package in self.packages.items():
            if version_of(package, f"{package}-gpu", module=module) is None:
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
            told = whole.compiled
            self._check_folder(told, model.compiled)
            facts = SessionFacts(
                told.plans[0].target, told.about.precision, threads,
                self._notes(options, told.about.precision),
            )  # fmt: skip
            return BurnishSession(lambda _feeds: whole, facts)
        from burnish.codegen.cached import ModelSource

        loaded = onnx_files.read(model.onnx)
        precision = self._arithmetic(arithmetic_type(loaded), options)
        source = ModelSource(model, loaded, precision, threads, self.target)
        facts = SessionFacts(self.target, precision, threads, self._notes(options, precision))
        return BurnishSession(_Compiling(source), facts)

    def _arithmetic(self, own: str, options: EngineOptions) -> str:
        """Return what a model of some type is computed in: that, or how cards multiply f32."""
        asked = options.precision
        return asked if asked in self.modes and own == "f32" else own

    def _check_folder(self, told: CompiledModel, folder: Path) -> None:
        """Raise if a folder is for other devices than the engine; this one takes any."""

    def _notes(self, options: EngineOptions, precision: str) -> tuple[str, ...]:
        return (
            *precision_notes(options, precision),
            *no_cuda_graph(options, self.name),
            *level_notes(options, self.name),
        )


class _Compiling:
    """Compiles a model for the shapes that it is fed; each choice of shapes once."""

    def __init__(self, source: ModelSource) -> None:
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


@dataclass(frozen=True, slots=True)
class SessionFacts:
    """What is known of a session before it is fed."""

    target: str
    precision: str
    threads: int
    notes: tuple[str, ...] = ()


class BurnishSession(Closing):
    """A model that runs on generated kernels."""

    def __init__(self, loaded: Callable[[Arrays], LoadedModel], facts: SessionFacts) -> None:
        self._loaded = loaded
        self._facts = facts
        self._plan: Plan | None = None
        self._opened: list[LoadedModel] = []

    @property
    def placement(self) -> Placement:
        """Return what was obtained; how nodes are divided is known when it has been fed."""
        plan, facts = self._plan, self._facts
        return Placement(
            device=device(facts.target),
            precision=facts.precision,
            nodes_by_provider=divided(plan) if plan is not None else {},
            threads=facts.threads,
            notes=(*facts.notes, *(ort_notes(plan) if plan is not None else ()), *self._said),
        )

    @property
    def _said(self) -> tuple[str, ...]:
        """Return what is to be said of the kernels that were run."""
        notes = (note for loaded in self._opened for note in loaded.compiled.about.notes)
        return tuple(dict.fromkeys(notes))

    def run(self, feeds: Arrays) -> dict[str, Array]:
        """Run once; the outputs are new arrays."""
        found = self._executable(feeds).run(feeds)
        return {name: gathered(value) for name, value in found.items()}

    def prepare(self, feeds: Arrays) -> Callable[[], None]:
        """Return one run on these inputs, with outputs whose memory stays."""
        return self._executable(feeds).prepare(feeds)

    def trace(self, feeds: Arrays, *, warmup: int, runs: int) -> Trace | None:
        """Return a timeline with one span per kernel, and per part that ONNX Runtime runs."""
        from burnish.runtime import tracing

        return tracing.trace(self._executable(feeds), feeds, warmup=warmup, runs=runs)

    def card_times_s(self, feeds: Arrays, *, warmup: int, runs: int) -> tuple[float, ...]:
        """Return the seconds of each run on the card; empty: kernels run elsewhere, too."""
        from burnish.runtime.executable import OnCard

        executable = self._executable(feeds)
        if not isinstance(executable, OnCard):
            return ()
        return executable.times_s(feeds, warmup=warmup, runs=runs)

    def close(self) -> None:
        """Close what was loaded."""
        for loaded in self._opened:
            loaded.close()

    def _executable(self, feeds: Arrays) -> Executable:
        loaded = self._loaded(feeds)
        if loaded not in self._opened:
            self._opened.append(loaded)
        executable = loaded.executable(feeds)
        self._plan = executable.plan
        return executable


def device(target: str) -> str:
    """Return where kernels for a target run: `cpu`, `cuda:0`."""
    name = target.partition(":")[0]
    return name if name == "cpu" else f"{name}:0"


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
    where = "" if device(plan.target) == "cpu" else " on the CPU"
    named: dict[str, list[str]] = {}
    for (operator, reason), number in said[:_NAMED]:
        named.setdefault(reason, []).append(f"{operator} ×{number}")
    shown = "; ".join(f"{', '.join(operators)} ({why})" for why, operators in named.items())
    more = f"; and {len(said) - _NAMED} more" if len(said) > _NAMED else ""
    return (f"{ORT} runs {count(len(reasons), 'node')}{where}: {shown}{more}",)


ENGINES.register("burnish")(Burnish())
