"""Measure what a GPU can really do, with torch's own products and copies."""

from __future__ import annotations

import datetime as dt
import statistics
from collections.abc import Callable
from typing import Any

from burnish.core.errors import MissingCapabilityError
from burnish.hw.spec import HardwareSpec, MemoryLevel

Torch = Any
"""The module `torch`, which has no types here."""

_SIZE = 8192
_COPY_BYTES = 4 * 2**30
_REPEATS = 20
_LAUNCHES = 2000
_TYPES = {"f64": "float64", "f32": "float32", "tf32": "float32", "f16": "float16",
          "bf16": "bfloat16"}  # fmt: skip


def probe_gpu(index: int = 0) -> HardwareSpec:
    """Return the rates that a GPU reaches: products by type, copies, and starting a kernel."""
    import torch

    if not torch.cuda.is_available():
        raise MissingCapabilityError(
            "no GPU that torch can use was found", hint="see what is missing: burnish doctor"
        )
    facts = torch.cuda.get_device_properties(index)
    with torch.cuda.device(index), torch.no_grad():
        rates = {dtype: _product_rate(torch, dtype) for dtype in _TYPES}
        memory = _memory(torch, facts)
        launch_s = _launch_overhead(torch)
    return HardwareSpec(
        name="this-gpu",
        kind="gpu",
        compute_units=facts.multi_processor_count,
        peak_flops_per_s=rates,
        memory=memory,
        launch_overhead_s=launch_s,
        recognised_by=tuple(facts.name.replace("-", " ").split()),
        source=f"Measured on {facts.name} with torch {torch.__version__}, "
        f"{dt.date.today().isoformat()}: products and copies, the median of {_REPEATS}.",
    )


def _product_rate(torch: Torch, dtype: str) -> float:
    size = _SIZE // 4 if dtype == "f64" else _SIZE
    before = torch.backends.cuda.matmul.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = dtype == "tf32"
    try:
        one = torch.randn(size, size, device="cuda").to(getattr(torch, _TYPES[dtype]))
        other = torch.randn(size, size, device="cuda").to(one.dtype)
        seconds = _median(torch, lambda: torch.mm(one, other))
    finally:
        torch.backends.cuda.matmul.allow_tf32 = before
    return 2.0 * size**3 / seconds


def _memory(torch: Torch, facts: Any) -> tuple[MemoryLevel, ...]:  # noqa: ANN401  (untyped)
    """Return the cache that all units share, where torch tells its size, and the memory."""
    dram = MemoryLevel(
        "dram", facts.total_memory, _copy_rate(torch, min(_COPY_BYTES, facts.total_memory // 8)),
        per_unit=False,
    )  # fmt: skip
    cache_bytes = getattr(facts, "L2_cache_size", 0)
    if not cache_bytes:
        return (dram,)
    # half of it: what is read and what is written must fit together
    rate = max(_copy_rate(torch, cache_bytes // 4), dram.bandwidth_bytes_per_s)
    return (MemoryLevel("l2", cache_bytes, rate, per_unit=False), dram)


def _copy_rate(torch: Torch, size_bytes: int) -> float:
    """Return the bytes read and written per second; small copies are captured to run in a row."""
    source = torch.zeros(size_bytes // 4, device="cuda")
    target = torch.zeros_like(source)
    times = max(1, min(100, _COPY_BYTES // (16 * size_bytes)))
    if times == 1:
        return 2.0 * size_bytes / _median(torch, lambda: target.copy_(source))
    graph = torch.cuda.CUDAGraph()
    target.copy_(source)
    torch.cuda.synchronize()
    with torch.cuda.graph(graph):
        for _ in range(times):
            target.copy_(source)
    return 2.0 * size_bytes * times / _median(torch, graph.replay)


def _launch_overhead(torch: Torch) -> float:
    """Return what one more small kernel costs the host, when nothing hides it."""
    value = torch.zeros(1, device="cuda")

    def launches() -> None:
        for _ in range(_LAUNCHES):
            value.neg_()

    return _median(torch, launches) / _LAUNCHES


def _median(torch: Torch, call: Callable[[], object]) -> float:
    for _ in range(3):
        call()
    times: list[float] = []
    for _ in range(_REPEATS):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        call()
        end.record()
        torch.cuda.synchronize()
        times.append(begin.elapsed_time(end) * 1e-3)
    return statistics.median(times)
