"""An exported graph of PyTorch's, opened where its tensors lie: on the host, or on a card."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx_ir as ir

from burnish.codegen.cached import ModelSource, compiled_for
from burnish.core.array_types import name_of
from burnish.core.arrays import Array
from burnish.engines.base import ENGINES, EngineOptions
from burnish.engines.burnish_engine import KERNELS, divided, ort_notes
from burnish.engines.model_facts import arithmetic_type
from burnish.engines.torch_values import short_name, torch_type
from burnish.process.scratch import scratch
from burnish.store import onnx_files
from burnish.store.element_types import numpy_type
from burnish.store.history import History
from burnish.store.stored import StoredModel

Tensor = Any
"""`torch.Tensor`: torch is imported only where it is used."""
Tensors = Mapping[str, Tensor]


class NotCompiledError(Exception):
    """Why PyTorch must run a graph itself."""


@dataclass(frozen=True, slots=True)
class OpenedGraph:
    """A graph that is compiled for inputs of certain shapes."""

    run: Callable[[Tensors], Tensors]
    """Returns its outputs, where its inputs lie."""
    kernels: int
    """Nodes that run as kernels of ours."""
    notes: tuple[str, ...]
    """What else runs, and why."""


Opening = Callable[[ir.Model, Tensors, int], OpenedGraph]
"""Compiles a graph for such inputs, with so many threads of the host."""


def opening_for(devices: set[str]) -> Opening:
    """Return what compiles for the devices that all tensors of a graph lie on."""
    if devices <= {"cpu"}:
        return on_host
    if devices == {"cuda:0"}:
        return on_card
    raise NotCompiledError(
        f"its tensors lie on {', '.join(sorted(devices))}, and a graph is compiled for the CPU"
        " or for the first card"
    )


def on_host(model: ir.Model, feeds: Tensors, threads: int) -> OpenedGraph:
    """Return a graph on the CPU; what kernels do not cover runs in ONNX Runtime."""
    with _stored(model) as stored:
        session = ENGINES["burnish"].open(stored, EngineOptions(threads=threads))
        session.prepare(_arrays(feeds))  # compiles, for which the file must be there
    placement = session.placement

    def run(given: Tensors) -> Tensors:
        return {name: tensor_of(each) for name, each in session.run(_arrays(given)).items()}

    return OpenedGraph(run, placement.nodes_by_provider.get(KERNELS, 0), placement.notes)


def on_card(model: ir.Model, feeds: Tensors, threads: int) -> OpenedGraph:
    """Return a graph on the first card, in PyTorch's stream, without copies; it is kernels only."""
    import torch

    with _stored(model) as stored:
        read = onnx_files.read(stored.onnx)
        source = ModelSource(stored, read, arithmetic_type(read), threads, "cuda")
        loaded = compiled_for(source, {name: tuple(t.shape) for name, t in feeds.items()})
    (plan,) = loaded.compiled.plans
    if plan.ort_steps:
        raise NotCompiledError(f"part of it has no kernel: {' '.join(ort_notes(plan))}")

    def run(given: Tensors) -> Tensors:
        dense = {name: each.detach().contiguous() for name, each in given.items()}
        for name, size in plan.indices.items():
            _require_indices(name, dense[name], size)
        found = loaded.run_on_card(dense, stream=torch.cuda.current_stream())
        return {name: torch.from_dlpack(each) for name, each in found.items()}

    return OpenedGraph(run, divided(plan).get(KERNELS, 0), ())


def array_of(tensor: Tensor) -> Array:
    """Return a tensor as an array, of the same memory where it is dense and of the host."""
    import torch

    kind = numpy_type(short_name(tensor))
    dense = tensor.detach().cpu().contiguous()
    if kind.isbuiltin == 1:
        found: Array = dense.numpy()
        return found
    bits = dense.view(getattr(torch, f"uint{8 * kind.itemsize}"))
    return np.asarray(bits.numpy()).view(kind)


def tensor_of(array: Array) -> Tensor:
    """Return an array as a tensor of the same memory."""
    import torch

    if array.dtype.isbuiltin == 1:
        return torch.from_numpy(array)
    bits = torch.from_numpy(array.view(f"u{array.itemsize}"))
    return bits.view(torch_type(name_of(array)))


def _require_indices(name: str, tensor: Tensor, size: int) -> None:
    """Have the card stop, as PyTorch has it, where an index is none; nothing is waited for."""
    import torch

    if not tensor.is_floating_point() and tensor.dtype != torch.bool:
        right = ((tensor >= -size) & (tensor < size)).all()
        torch._assert_async(right, f"{name} holds an index outside of {size:,} entries")


def _arrays(tensors: Tensors) -> dict[str, Array]:
    return {name: array_of(each) for name, each in tensors.items()}


@contextmanager
def _stored(model: ir.Model) -> Iterator[StoredModel]:
    """Keep a model in a file as long as it takes to compile it."""
    with scratch("dynamo") as folder:
        path: Path = folder / "graph.onnx"
        onnx_files.write(model, path, history=History("", ()))
        yield StoredModel(path, "torch.compile")
