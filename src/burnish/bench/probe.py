"""Measure what this machine can really do, and write it like a file of the catalog."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from burnish.bench import probe_models
from burnish.bench.machine import usable_cores
from burnish.bench.probe_gpu import probe_gpu
from burnish.core import files
from burnish.core.arrays import Arrays
from burnish.core.progress import SILENT, Progress
from burnish.engines.base import ENGINES, EngineOptions
from burnish.hw import detect
from burnish.hw.caches import Cache, caches
from burnish.hw.choose import PROBED_CPU, PROBED_GPU
from burnish.hw.spec import HardwareSpec, MemoryLevel
from burnish.process.scratch import scratch
from burnish.store.stored import StoredModel
from burnish.timing.stopwatch import sampled
from burnish.timing.turns import Turns, flat, take_turns

SCHEMA = 1
_FEWEST, _LEAST_S = 7, 0.5
"""How often, and for how long at least, each thing is tried."""
_IN_TURN = Turns(rounds=_FEWEST, calls=4, settling=2, for_s=3 * _LEAST_S)
_TICK_S = 1e-7
"""A product takes no less: what is smaller is noise of the call around it."""
_DRAM_BYTES = 256 * 2**20
"""More than any cache that a core has to itself; what is moved comes from memory."""
_TIMES_IN_CACHE = 64
"""Copies of a small array in one measurement, so that starting it does not count."""


@dataclass(frozen=True, slots=True)
class ProbeReport:
    """What was measured of this machine, and where it was written."""

    device: HardwareSpec
    path: Path


def probed(
    kind: str, target: Path | None, cache: Path, *, progress: Progress = SILENT
) -> ProbeReport:
    """Measure this machine's processor or GPU, and write it where other commands find it."""
    device = probe_gpu() if kind == "gpu" else probe_cpu(progress=progress)
    path = target or cache / "hw" / (PROBED_GPU if kind == "gpu" else PROBED_CPU)
    files.write_text(path, toml_of(device))
    return ProbeReport(device, path)


def probe_cpu(*, progress: Progress = SILENT) -> HardwareSpec:
    """Return the rates that this processor reaches with all cores that may be used."""
    cores = usable_cores()
    found = detect.cpu()
    with scratch("probe") as folder:
        rates = _rates(folder, cores, progress)
        launch_s = _launch_overhead(folder, cores)
    progress.step("probe", 4, 5, "one operator")
    memory = _memory(cores)
    progress.step("probe", 5, 5, "memory")
    return HardwareSpec(
        name="this-cpu",
        kind="cpu",
        compute_units=cores,
        peak_flops_per_s=rates,
        memory=memory,
        launch_overhead_s=launch_s,
        recognised_by=(),
        source=f"Measured on {found.model} with {cores} threads, {dt.date.today().isoformat()}: "
        "products in ONNX Runtime, copies in NumPy, the best of several.",
    )


def _rates(folder: Path, cores: int, progress: Progress) -> dict[str, float]:
    rates = {}
    for number, dtype in enumerate(probe_models.PRODUCTS, 1):
        model = probe_models.product(dtype)
        seconds = _best(_prepared(folder / f"{dtype}.onnx", model, cores))
        rates[dtype] = model.flops / seconds
        progress.step("probe", number, 5, f"products in {dtype}")
    return rates


def product_factor(dtype: str, shape: tuple[int, int, int], *, threads: int) -> float:
    """Return how many times faster one product of f32 is in another type, measured here.

    What the call costs is in both, and is no part of a product inside a model. All take turns: a
    processor that is now faster and now slower is so for each of them.
    """
    products = (probe_models.product(kind, shape) for kind in ("f32", dtype))
    with scratch("probe") as folder:
        calls = [
            _prepared(folder / f"{number}.onnx", model, threads)
            for number, model in enumerate((probe_models.chain(1), *products))
        ]
        nothing, plain, other = (min(flat(one)) for one in take_turns(calls, _IN_TURN))
    return max(plain - nothing, _TICK_S) / max(other - nothing, _TICK_S)


def _launch_overhead(folder: Path, cores: int) -> float:
    """Return what one operator more costs, when it has next to nothing to do."""
    one, many = (
        _best(_prepared(folder / f"chain{length}.onnx", probe_models.chain(length), cores))
        for length in (1, probe_models.CHAIN)
    )
    return (many - one) / (probe_models.CHAIN - 1)


def _prepared(path: Path, model: probe_models.ProbeModel, cores: int) -> Callable[[], object]:
    path.write_bytes(model.content)
    options = EngineOptions(threads=cores, graph_level=model.graph_level)
    session = ENGINES["onnxruntime-cpu"].open(StoredModel(path, path.stem), options)
    feeds: Arrays = model.feeds
    return session.prepare(feeds)


def _best(call: Callable[[], object]) -> float:
    """Return the shortest of several calls: what the machine can do when nothing disturbs it."""
    return min(sampled(call, calls=_FEWEST, for_s=_LEAST_S, settle_calls=1))


def _memory(cores: int) -> tuple[MemoryLevel, ...]:
    """Return the levels from the second cache on; the first is faster than a call to copy."""
    levels = [_level(cache, cores) for cache in caches() if cache.level >= 2]
    total = detect.cpu().memory_bytes or _DRAM_BYTES
    # every core moves its own part of the same whole
    rate = _copy_rate(_DRAM_BYTES // cores, cores)
    dram = MemoryLevel("dram", total, rate, per_unit=False)
    rates = [*(level.bandwidth_bytes_per_s for level in levels), rate]
    # a level cannot be slower than the next one: then the measurement was disturbed
    fastest = [max(rates[index:]) for index in range(len(rates))]
    return (
        *(
            MemoryLevel(level.name, level.capacity_bytes, fastest[index], level.per_unit)
            for index, level in enumerate(levels)
        ),
        dram,
    )


def _level(cache: Cache, cores: int) -> MemoryLevel:
    own = cache.level <= 2
    part = cache.capacity_bytes // (1 if own else cores)
    return MemoryLevel(f"l{cache.level}", cache.capacity_bytes, _copy_rate(part // 2, cores), own)


def _copy_rate(size_bytes: int, threads: int) -> float:
    """Return the bytes read and written per second by copying within `size_bytes` per thread."""
    half = max(4096, size_bytes // 2)
    times = max(1, min(_TIMES_IN_CACHE, _DRAM_BYTES // half))
    pairs = [(np.ones(half, np.uint8), np.empty(half, np.uint8)) for _ in range(threads)]

    def copy(pair: tuple[np.ndarray, np.ndarray]) -> None:
        for _ in range(times):
            np.copyto(pair[1], pair[0])

    with ThreadPoolExecutor(threads) as pool:
        seconds = _best(lambda: list(pool.map(copy, pairs)))
    return 2.0 * half * times * threads / seconds


def toml_of(spec: HardwareSpec) -> str:
    """Return a device as a catalog file."""
    lines = [
        f"name = {_text(spec.name)}",
        f"kind = {_text(spec.kind)}",
        f"compute_units = {spec.compute_units}",
        f"launch_overhead_s = {spec.launch_overhead_s:.3e}",
        f"recognised_by = [{', '.join(map(_text, spec.recognised_by))}]",
        f"source = {_text(spec.source)}",
        "",
        "[peak_flops_per_s]",
        *(f"{dtype} = {rate:.4e}" for dtype, rate in spec.peak_flops_per_s.items()),
    ]
    for level in spec.memory:
        lines += [
            "",
            "[[memory]]",
            f"name = {_text(level.name)}",
            f"capacity_bytes = {level.capacity_bytes}",
            f"bandwidth_bytes_per_s = {level.bandwidth_bytes_per_s:.4e}",
            f"per_unit = {str(level.per_unit).lower()}",
        ]
    return "\n".join(lines) + "\n"


def _text(value: str) -> str:
    # JSON's strings are strings of TOML too
    return json.dumps(value, ensure_ascii=False)
