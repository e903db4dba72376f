"""Let profilers that watch from outside watch a model, where they are installed."""

from __future__ import annotations

import dataclasses
import json
import shlex
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from burnish.analyze import traffic
from burnish.analyze.traffic import MemoryTraffic
from burnish.core import files, records
from burnish.core.errors import MissingCapabilityError, ModelError
from burnish.engines.base import ENGINES, EngineOptions
from burnish.engines.recording import Repeats
from burnish.engines.repeated import CacheMisses, Repeating
from burnish.process import program
from burnish.runtime import folder as compiled
from burnish.study.inputs import FedModel

_LIMIT_S = 1800.0
_WARMING = 3
"""Inferences before one that is counted: the first load kernels, the second may capture them."""
_FROM = {
    "nsys": "Nsight Systems, https://developer.nvidia.com/nsight-systems",
    "ncu": "Nsight Compute, https://developer.nvidia.com/nsight-compute",
}


def require(tool: str) -> str:
    """Return where a profiler is, or say what it comes with."""
    found = shutil.which(tool)
    if found is None:
        raise MissingCapabilityError(
            f"{tool} is not on the PATH",
            hint=f"it comes with {_FROM[tool]}; or profile without it: burnish profile MODEL",
        )
    return found


def nsys(
    subject: FedModel, engine: str, options: EngineOptions, *, folder: Path, runs: int
) -> Path:
    """Return the recording of inferences that Nsight Systems made, as SQLite."""
    target = folder / "recorded"
    _watched(
        [
            require("nsys"), "profile", "--trace=cuda,nvtx", "--sample=none", "--cpuctxsw=none",
            "--cuda-graph-trace=node", "--export=sqlite", "--force-overwrite=true",
            "--output", str(target),
        ],
        request(subject, engine, options, folder=folder, repeats=Repeats(runs=runs)),
    )  # fmt: skip
    return _written(folder / "recorded.sqlite", "nsys")


def ncu(subject: FedModel, engine: str, options: EngineOptions, *, folder: Path) -> MemoryTraffic:
    """Return what one inference moves, from the counters of Nsight Compute.

    It stops at every kernel, so it is let in for one inference only, after those that warm up;
    and it leaves the card's caches and clocks as that inference finds them.
    """
    target = folder / "recorded.csv"
    asked = request(subject, engine, options, folder=folder, repeats=Repeats(_WARMING, 1))
    try:
        _counted(asked, (*traffic.METRICS, *traffic.CACHE_METRICS), target)
    except ModelError:
        if not target.exists() or traffic.NO_METRIC not in target.read_text(errors="replace"):
            raise
        _counted(asked, traffic.METRICS, target)
    kernels = traffic.of_ncu(_written(target, "ncu").read_text(errors="replace"), runs=1)
    least, unknown = traffic.predicted(subject.graph)
    return MemoryTraffic(
        "ncu",
        sum(one.read_bytes for one in kernels),
        sum(one.written_bytes for one in kernels),
        least,
        unknown,
        kernels,
        planned_bytes=_planned(subject),
        cache_read_bytes=traffic.total(one.cache_read_bytes for one in kernels),
        cache_written_bytes=traffic.total(one.cache_written_bytes for one in kernels),
    )


def _counted(asked: Path, metrics: Sequence[str], target: Path) -> None:
    """Let ncu write what it counts of an inference."""
    _watched(
        [
            require("ncu"), "--csv", "--page", "raw", "--metrics", ",".join(metrics),
            "--target-processes", "application-only", "--profile-from-start", "off",
            "--cache-control", "none", "--clock-control", "none", "--log-file", str(target),
        ],
        asked,
        log=target,
    )  # fmt: skip


def perf(
    subject: FedModel, engine: str, options: EngineOptions, *, folder: Path, runs: int
) -> MemoryTraffic:
    """Return what one inference moves beyond the last cache; predicted where nobody counts it."""
    target = folder / "counted.json"
    repeats = Repeats(runs=runs)
    asked = request(subject, engine, options, folder=folder, repeats=repeats, counts=target)
    _watched([], asked)
    written = json.loads(_written(target, "the program").read_bytes())
    found: CacheMisses = records.decode(CacheMisses, written)
    least, unknown = traffic.predicted(subject.graph)
    if found.reason:
        told = MemoryTraffic("predicted", None, None, least, unknown, reason=found.reason)
    else:
        moved = traffic.of_misses(found.misses, runs=runs)
        told = MemoryTraffic("perf", moved["read"], moved.get("written"), least, unknown)
    return dataclasses.replace(told, planned_bytes=_planned(subject))


def _planned(subject: FedModel) -> float | None:
    """Return what the plan of a compiled model was predicted to move; None: there is no plan."""
    if subject.model.compiled is None:
        return None
    sizes = {name: tuple(array.shape) for name, array in subject.feeds.arrays.items()}
    for plan in compiled.read(subject.model.compiled).plans:
        shapes = {name: plan.tensors[name].shape for name in plan.inputs}
        if all(shape in (None, sizes.get(name)) for name, shape in shapes.items()):
            known = [step.predicted_bytes for step in plan.kernel_steps]
            return None if None in known else sum(one or 0.0 for one in known)
    return None


def request(
    subject: FedModel, engine: str, options: EngineOptions, *, folder: Path, repeats: Repeats,
    counts: Path | None = None,
) -> Path:  # fmt: skip
    """Return a file that says what to run; inputs lie beside it."""
    feeds = folder / "inputs.npz"
    arrays: dict[str, Any] = dict(subject.feeds.arrays)
    np.savez(feeds, **arrays)
    module = type(ENGINES[engine]).__module__
    often = (repeats.warmup, repeats.runs)
    asked = Repeating(engine, module, subject.model, options, feeds, *often, counts)
    target = folder / "request.json"
    files.write_text(target, records.text_of(records.encode(asked)))
    return target


def _watched(tool: Sequence[str], asked: Path, *, log: Path | None = None) -> None:
    """Run a model under a profiler; one that failed for want of a permission says so in its log."""
    command = [*tool, sys.executable, "-m", "burnish.engines.repeated", str(asked)]
    ended = program.run(command, time_limit_s=_LIMIT_S)
    said = log.read_text(errors="replace") if log is not None and log.exists() else ""
    if not ended.ok and traffic.FORBIDDEN not in said:
        name = Path(command[0]).name
        raise ModelError(f"{name} failed: {ended.reason}", hint=f"try it: {shlex.join(command)}")


def _written(target: Path, tool: str) -> Path:
    if not target.exists():
        raise ModelError(
            f"{tool} ended and wrote no {target.name}",
            hint=f"see what it says itself: {tool} --version",
        )
    return target
