"""CUDA graphs of what functions start, timed in turns; PyTorch's own ways of running a module."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from typing import Any

from burnish.bench import student

Tensor = Module = Graph = Stream = Any
"""Of torch."""
ROUNDS, CALLS = 12, 6
LEVEL = 0.95


def captured(run: Callable[[], object]) -> Graph:
    """Return a CUDA graph of what a function starts."""
    import torch

    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream), torch.no_grad():
        for _ in range(3):
            run()
    torch.cuda.current_stream().wait_stream(stream)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.no_grad(), torch.cuda.graph(graph):
        graph.outputs = run()
    return graph


def timed(graph: Graph, calls: int) -> float:
    """Return the median milliseconds of single replays."""
    import torch

    return timed_in(graph.replay, torch.cuda.current_stream(), calls)


def timed_in(run: Callable[[], object], stream: Stream, calls: int) -> float:
    """Return the median milliseconds of what is put into a stream, one after the other."""
    import torch

    samples = []
    for _ in range(calls):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        torch.cuda.synchronize()
        begin.record(stream)
        run()
        end.record(stream)
        torch.cuda.synchronize()
        samples.append(begin.elapsed_time(end))
    return statistics.median(samples)


def races(timers: Mapping[str, Callable[[int], float]]) -> dict[str, list[float]]:
    """Return the milliseconds of each in every round; all take turns."""
    rounds: dict[str, list[float]] = {name: [] for name in timers}
    for _ in range(ROUNDS):
        for name, timer in timers.items():
            rounds[name].append(timer(CALLS))
    return rounds


def interval(slower: Sequence[float], faster: Sequence[float]) -> tuple[float, float, float]:
    """Return how many times faster, and between what that lies: Student's t over the rounds."""
    logs = [math.log(a / b) for a, b in zip(slower, faster, strict=True)]
    mean = statistics.fmean(logs)
    error = statistics.stdev(logs) / math.sqrt(len(logs))
    reach = student.quantile((1 + LEVEL) / 2, len(logs) - 1) * error
    return math.exp(mean), math.exp(mean - reach), math.exp(mean + reach)


def baseline(module: Module, inputs: tuple[Tensor, ...], mode: str) -> Callable[[], object]:
    """Return PyTorch's way of running a module, compiled; it is captured when the card is quiet.

    A mode is `eager` or one of `torch.compile`; with `+channels-last`, images lie that way; with
    `+flash`, attention is PyTorch's own, where it would take cuDNN's.
    """
    import copy

    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel

    plain, _, way = mode.partition("+")
    if way == "channels-last":
        module = copy.deepcopy(module).to(memory_format=torch.channels_last)
        inputs = tuple(
            each.to(memory_format=torch.channels_last) if each.dim() == 4 else each
            for each in inputs
        )
    kinds = [SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH]
    compiled = module
    if plain != "eager":
        compiled = torch.compile(module, mode=None if plain == "default" else plain)

    def run() -> object:
        with sdpa_kernel(kinds) if way == "flash" else nullcontext():
            return compiled(*inputs)

    with torch.no_grad():
        run()
    return run


def emptied() -> None:
    """Give the card's memory back that nothing needs: dozens of processes keep theirs otherwise."""
    import gc

    import torch

    gc.collect()
    torch.cuda.empty_cache()


def memory_beside(run: Callable[[], object]) -> int:
    """Return the bytes of the card that a run takes while it runs, its weights left out."""
    import torch

    with torch.no_grad():
        run()
        torch.cuda.synchronize()
        before = torch.cuda.memory_allocated()
        torch.cuda.reset_peak_memory_stats()
        run()
        torch.cuda.synchronize()
    return int(torch.cuda.max_memory_allocated() - before)


def error_of(found: Sequence[Tensor], wanted: Sequence[Tensor]) -> float:
    """Return the largest relative error of any output, by norm."""
    pairs = [(f.float(), w.float()) for f, w in zip(found, wanted, strict=True)]
    errors = [float((f - w).norm() / w.norm().clamp_min(1e-12)) for f, w in pairs]
    # of NaN nothing is the larger
    return max(errors) if all(map(math.isfinite, errors)) else math.inf
