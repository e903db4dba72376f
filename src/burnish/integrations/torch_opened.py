"""An exported graph of PyTorch's, opened where its tensors lie: on the host, or on a card."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx_ir as ir

from burnish.codegen.cached import ModelSource, compiled_for
from burnish.core.array_types import array_type, name_of
from burnish.core.arrays import Array
from burnish.engines.base import ENGINES, EngineOptions
from burnish.engines.burnish_engine import divided, ort_notes
from burnish.engines.model_facts import arithmetic_type
from burnish.engines.torch_values import short_name, torch_type
from burnish.process.scratch import scratch
from burnish.runtime.plan import Plan, TensorLook
from burnish.runtime.tracing import KERNELS
from burnish.store import onnx_files
from burnish.store.history import History
from burnish.store.stored import StoredModel

Tensor = Any
"""`torch.Tensor`: torch is imported only where it is used."""
Tensors = Mapping[str, Tensor]
ALIGNED = 16
"""Bytes: kernels load so many at once, from addresses that are multiples of it."""


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
    shared_bytes: int = 0
    """Of constants that are the module's own tensors."""
    copied_bytes: int = 0
    """Of those that are not: computed from them, or laid out or typed in another way."""
    kept: tuple[Tensor, ...] = ()
    """Whose memory kernels read as long as it runs."""


Opening = Callable[[ir.Model, Tensors, int, Sequence[Tensor]], OpenedGraph]
"""Compiles a graph for such inputs, with so many threads of the host, from such weights."""


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


def on_host(
    model: ir.Model, feeds: Tensors, threads: int, _weights: Sequence[Tensor] = ()
) -> OpenedGraph:
    """Return a graph on the CPU; what kernels do not cover runs in ONNX Runtime."""
    with _stored(model) as stored:
        session = ENGINES["burnish"].open(stored, EngineOptions(threads=threads))
        session.prepare(_arrays(feeds))  # compiles, for which the file must be there
    placement = session.placement

    def run(given: Tensors) -> Tensors:
        return {name: tensor_of(each) for name, each in session.run(_arrays(given)).items()}

    return OpenedGraph(run, placement.nodes_by_provider.get(KERNELS, 0), placement.notes)


def on_card(
    model: ir.Model, feeds: Tensors, threads: int, weights: Sequence[Tensor] = ()
) -> OpenedGraph:
    """Return a graph on the first card, in PyTorch's stream, without copies; it is kernels only."""
    import torch

    with _stored(model) as stored:
        read = onnx_files.read(stored.onnx)
        source = ModelSource(stored, read, arithmetic_type(read), threads, "cuda")
        loaded = compiled_for(source, {name: tuple(t.shape) for name, t in feeds.items()})
    (plan,) = loaded.compiled.plans
    if plan.ort_steps:
        raise NotCompiledError(f"part of it has no kernel: {' '.join(ort_notes(plan))}")

    lent = shared(plan, loaded.constants, weights)
    loaded.borrow({name: tensor.data_ptr() for name, tensor in lent.items()})

    def run(given: Tensors) -> Tensors:
        dense = {name: each.detach().contiguous() for name, each in given.items()}
        for look in plan.fed_looks(plan.steps):
            _require_places(look, dense[look.tensor])
        found = loaded.run_on_card(dense, stream=torch.cuda.current_stream())
        return {name: torch.from_dlpack(each) for name, each in found.items()}

    sizes = {
        name: each.bytes or 0 for name, each in plan.tensors.items() if each.home == "constant"
    }
    shared_bytes = sum(sizes[name] for name in lent)
    kernels = divided(plan).get(KERNELS, 0)
    copied_bytes = sum(sizes.values()) - shared_bytes
    return OpenedGraph(run, kernels, (), shared_bytes, copied_bytes, tuple(lent.values()))


def shared(plan: Plan, constants: Array, weights: Sequence[Tensor]) -> dict[str, Tensor]:
    """Return the constants of a plan that are, byte by byte, tensors of a module.

    What a rewrite has changed, folded or laid out anew is not among them.
    """
    known = {_digest(array_of(each)): each for each in weights if _lendable(each)}
    found = {}
    for name, tensor in plan.tensors.items():
        if tensor.home == "constant" and tensor.bytes:
            own = known.get(_digest(constants[tensor.offset : tensor.offset + tensor.bytes]))
            if own is not None:
                found[name] = own
    return found


def _lendable(tensor: Tensor) -> bool:
    """Say whether kernels can read a tensor where it is: dense, and where vectors may begin."""
    return bool(tensor.is_contiguous() and tensor.numel() and tensor.data_ptr() % ALIGNED == 0)


def _digest(array: Array) -> bytes:
    return hashlib.sha256(np.ascontiguousarray(array).view(np.uint8).data).digest()


def is_tensor(value: Any) -> bool:  # noqa: ANN401
    """Say whether a value is a tensor."""
    import torch

    return isinstance(value, torch.Tensor)


def array_of(tensor: Tensor) -> Array:
    """Return a tensor as an array, of the same memory where it is dense and of the host."""
    import torch

    kind = array_type(short_name(tensor))
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


def _require_places(look: TensorLook, tensor: Tensor) -> None:
    """Have the card stop, as PyTorch has it, where an index is none; nothing is waited for.

    It does not stop where whole numbers are divided by 0: PyTorch's own kernels do not, either.
    """
    import torch

    if look.kind == "place":
        seen = tensor if look.column is None else tensor[..., look.column]
        least = 0 if look.forward else -look.size
        right = ((seen >= least) & (seen < look.size)).all()
        torch._assert_async(right, f"{look.name} holds an index outside of {look.size:,} entries")


def _arrays(tensors: Tensors) -> dict[str, Array]:
    return {name: array_of(each) for name, each in tensors.items()}


@contextmanager
def _stored(model: ir.Model) -> Iterator[StoredModel]:
    """Keep a model in a file as long as it takes to compile it."""
    with scratch("dynamo") as folder:
        path: Path = folder / "graph.onnx"
        onnx_files.write(model, path, history=History("", ()))
        yield StoredModel(path, "torch.compile")
