"""Emitted kernels run by Triton's interpreter, in a process of its own.

Triton decides when it is imported whether it interprets, so tests that compile and tests that
interpret cannot share a process.
"""

from __future__ import annotations

import atexit
import multiprocessing
import os
import tempfile
import warnings
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import lru_cache
from pathlib import Path

import numpy as np

from burnish.codegen.gpu.ahead import CompiledKernel, compile_for, fitted
from burnish.codegen.gpu.kernel import GpuTarget, Orders, emit
from burnish.codegen.gpu.launch import Launch
from burnish.codegen.gpu.running import as_array, as_tensor, scratch_of, start
from burnish.core.array_types import array_type
from burnish.core.arrays import Array
from burnish.tile.graph import TileGraph
from burnish.tile.group import Group
from burnish.tile.schedule import Schedule

RunLaunches = Callable[[Sequence[Launch], Mapping[str, Array]], dict[str, Array]]
"""Returns what launches make of the arrays that they read and write, by name."""


def interpreted(launches: Sequence[Launch], arrays: Mapping[str, Array]) -> dict[str, Array]:
    """Return what launches make of the arrays that they read and write, by name."""
    return _pool("1").submit(_run, tuple(launches), dict(arrays)).result()


def compiled(launch: Launch, capability: int) -> CompiledKernel:
    """Return a kernel compiled for a GPU that is not there."""
    return _pool("0").submit(_compile, launch, capability).result()


def fitted_for(launch: Launch, capability: int) -> tuple[Launch, CompiledKernel]:
    """Return a kernel compiled so that it fits a GPU that is not there."""
    return _pool("0").submit(_fit, launch, capability).result()


def run_groups(
    graph: TileGraph,
    groups: Sequence[tuple[Group, Mapping[str, int]]],
    inputs: Mapping[str, Array],
    orders: Orders | None = None,
    *,
    run: RunLaunches = interpreted,
) -> dict[str, Array]:
    """Return the outputs of a graph as the kernels of these groups compute them."""
    target = GpuTarget(orders=orders or {})
    launches: list[Launch] = []
    arrays = {name: np.asarray(array) for name, array in {**inputs, **graph.constants}.items()}
    for group, settings in groups:
        launches += emit(group, Schedule(group.anchor.shape, settings=settings), graph, target)
        for name in group.outputs:
            kind = graph.tensors[name]
            arrays[name] = np.zeros(kind.shape, array_type(kind.dtype))
    used = {name for launch in launches for name in launch.arguments}
    needed = {n: _laid_out(a, target.orders.get(n)) for n, a in arrays.items() if n in used}
    found = {**arrays, **run(launches, needed)}
    return {name: _as_declared(found[name], target.orders.get(name)) for name in graph.outputs}


def _laid_out(array: Array, order: tuple[int, ...] | None) -> Array:
    return array if order is None else np.ascontiguousarray(array.transpose(order))


def _as_declared(array: Array, order: tuple[int, ...] | None) -> Array:
    return array if order is None else array.transpose(np.argsort(order))


@lru_cache(maxsize=2)
def _pool(interpret: str) -> ProcessPoolExecutor:
    pool = ProcessPoolExecutor(
        1, multiprocessing.get_context("spawn"), initializer=_begin, initargs=(interpret,)
    )
    atexit.register(pool.shutdown)
    return pool


def start_anew() -> None:
    """Forget processes: one that a kernel has ended does nothing more."""
    _pool.cache_clear()


def _begin(interpret: str) -> None:
    os.environ["TRITON_INTERPRET"] = interpret
    warnings.simplefilter("ignore")
    if interpret == "1":
        import triton.language as tl

        # one kernel after the other, none that could wait, and no cache to ask for anything
        tl.extra.cuda.gdc_wait = tl.extra.cuda.gdc_launch_dependents = lambda: None
        tl.inline_asm_elementwise = lambda *_, **__: None


@lru_cache(maxsize=1)
def _folder() -> Path:
    made = tempfile.TemporaryDirectory(prefix="kernels-")
    atexit.register(made.cleanup)
    return Path(made.name)


def _run(launches: Sequence[Launch], arrays: Mapping[str, Array]) -> dict[str, Array]:
    tensors = {name: as_tensor(array) for name, array in arrays.items()}
    for launch in launches:
        for name, tensor in scratch_of(launch, "cpu").items():
            tensors.setdefault(name, tensor)
        start(launch, tensors, _folder(), early=False)
    return {name: as_array(tensors[name]) for name in arrays}


def _compile(launch: Launch, capability: int) -> CompiledKernel:
    return compile_for(launch, capability, _folder())


def _fit(launch: Launch, capability: int) -> tuple[Launch, CompiledKernel]:
    return fitted(launch, capability, _folder())
