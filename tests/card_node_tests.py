"""ONNX's own node tests through Triton kernels on a real card, in processes side by side."""

from __future__ import annotations

import multiprocessing
import os
import warnings
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

from burnish.codegen.gpu.launch import Launch
from burnish.codegen.gpu.running import as_array, as_tensor, scratch_of, start
from burnish.core.arrays import Array
from burnish.tile.connect import singles
from burnish.tile.graph import TileGraph
from burnish.tile.simplify import simplify
from codegen.gpu.interpreting import run_groups
from tile.node_tests import cases, run

_PROCESSES = multiprocessing.get_context("forkserver")
_POISONED = ("CUDA error", "CUDA out of memory", "device-side assert")
"""After such an error a process can do nothing more on its card."""


def failures(names: Sequence[str], folder: Path) -> dict[str, str]:
    """Return which tests fail on the card, and why; as many at once as there are cores."""
    workers = len(os.sched_getaffinity(0))
    # one process reads all tests, and those that run some are forked off it, before CUDA begins
    _PROCESSES.set_forkserver_preload(["card_node_tests_read"])
    with ThreadPoolExecutor(workers) as pool:
        parts = list(pool.map(lambda n: _judged(names[n::workers], folder), range(workers)))
    return {name: reason for part in parts for name, reason in part.items()}


def _judged(names: Sequence[str], folder: Path) -> dict[str, str]:
    """Return which tests fail, and why; after an error of the card, a new process goes on."""
    wrong: dict[str, str] = {}
    left = list(names)
    while left:
        with ProcessPoolExecutor(1, _PROCESSES) as process:
            try:
                found, done = process.submit(_run_until_poisoned, tuple(left), folder).result()
            except BrokenProcessPool:
                found, done = {left[0]: "it or one after it ended the process"}, len(left)
        wrong |= found
        left = left[done:]
    return wrong


def _run_until_poisoned(names: Sequence[str], folder: Path) -> tuple[dict[str, str], int]:
    """Return which tests fail, and how many were run until the card gave up."""
    warnings.simplefilter("ignore")
    known = {case.name: case for case in cases()}
    own = folder / str(os.getpid())
    own.mkdir()
    wrong = {}
    for number, name in enumerate(names):
        try:
            run(known[name], lambda graph, inputs: _kernels(graph, inputs, own))
        except Exception as error:  # every failure is told
            wrong[name] = f"{type(error).__name__}: {error}"[:300]
            if any(each in str(error) for each in _POISONED):
                return wrong, number + 1
    return wrong, len(names)


def _kernels(graph: TileGraph, inputs: Mapping[str, Array], folder: Path) -> dict[str, Array]:
    """Return a graph's outputs as Triton kernels compute them, nest by nest."""
    simple = simplify(graph)

    def launched(launches: Sequence[Launch], arrays: Mapping[str, Array]) -> dict[str, Array]:
        tensors = {name: as_tensor(array).cuda() for name, array in arrays.items()}
        for launch in launches:
            for name, tensor in scratch_of(launch, "cuda").items():
                tensors.setdefault(name, tensor)
            start(launch, tensors, folder)
        return {name: as_array(tensors[name].cpu()) for name in arrays}

    groups = [(group, {}) for group in singles(simple)]
    return run_groups(simple, groups, inputs, run=launched)
