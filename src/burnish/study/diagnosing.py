"""Say what holds a profiled inference back, with the device that it ran on and what to do."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from burnish.analyze.advise import AdviceFacts
from burnish.analyze.amdahl import called, longest_unprofiled, unprofiled
from burnish.analyze.dependencies import as_executed
from burnish.analyze.diagnosis import Diagnosis, diagnosis, launches_only
from burnish.analyze.selector import Scene
from burnish.analyze.transform import Setting
from burnish.bench.call_cost import call_cost
from burnish.core.errors import ModelError
from burnish.hw import choose as hardware
from burnish.hw import detect
from burnish.hw.spec import HardwareSpec, for_cores, load
from burnish.store.graph import GraphRecord
from burnish.study.timeline import DISPATCH_S, is_blind
from burnish.trace.events import DEVICE, Trace

_NAMED = re.compile(r"\((?P<name>[^()]+)\)$")


@dataclass(frozen=True, slots=True)
class RunContext:
    """What was run, and how: enough to look up its device and to write commands about it."""

    what: str
    """A model or a file with a timeline, as one types it."""
    engine: str
    is_trace: bool
    cache: Path = Path()
    threads: int | None = None
    bindings: Mapping[str, int] = field(default_factory=dict)


def diagnosed(
    trace: Trace, record: GraphRecord | None, ran: RunContext, *, plain_s: float | None = None
) -> Diagnosis:
    """Return what holds a typical inference back, without profiling where that was timed."""
    try:
        graph = as_executed(trace)
    except ModelError as error:
        if ran.is_trace:
            raise
        raise ModelError(
            f"{ran.what}: {ran.engine} ran no node of it, so there is nothing to profile",
            hint=f"see what it holds: burnish model show {shlex.quote(ran.what)}",
        ) from error
    device = _device(trace, ran, on_device=any(e.kind in DEVICE for e in graph.events))
    if plain_s is not None:
        dispatch_s = device.launch_overhead_s if device is not None else DISPATCH_S
        graph = called(graph, call_cost(ran.engine, ran.threads))
        wall_s = min(plain_s, longest_unprofiled(graph, dispatch_s=dispatch_s))
        graph, _ = unprofiled(graph, wall_s=wall_s, dispatch_s=dispatch_s)
    facts = AdviceFacts(
        ran.what, ran.engine, extra=same_sizes(ran.bindings, ran.threads), is_trace=ran.is_trace
    )
    setting = Setting(Scene(graph, record), device)
    return launches_only(setting, facts) if is_blind(trace) else diagnosis(setting, facts)


def _device(trace: Trace, ran: RunContext, *, on_device: bool) -> HardwareSpec | None:
    if on_device:
        named = _NAMED.search(trace.source)
        entry = detect.gpu_entry(named["name"].split(", ")[0]) if named else None
        if ran.is_trace:
            return load(entry) if entry is not None else None
        return hardware.this_gpu(ran.cache)
    if ran.engine.endswith("cuda") and not ran.is_trace:
        return hardware.this_gpu(ran.cache)
    device = None if ran.is_trace else hardware.this_cpu(ran.cache)
    if device is None or not ran.threads:
        return device
    return for_cores(device, min(ran.threads, device.compute_units))


def same_sizes(bindings: Mapping[str, int], threads: int | None) -> str:
    """Return the options that make a command about the same inference."""
    sizes = ",".join(f"{name}={size}" for name, size in bindings.items())
    shape = ("--shape", sizes) if sizes else ()
    return shlex.join([*shape, *(("--threads", str(threads)) if threads else ())])
