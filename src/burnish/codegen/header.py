"""What stands above the code of a kernel: what it computes, on what, how, and at what price."""

from __future__ import annotations

from collections.abc import Iterator

from burnish.codegen.backend import Backend, EmittedKernel, argument_roles
from burnish.codegen.schedule import Choice
from burnish.core import units
from burnish.tile.graph import TensorType, TileGraph, constant_type
from burnish.tile.text import nest_text, typed


def header(choice: Choice, kernel: EmittedKernel, graph: TileGraph, backend: Backend) -> str:
    """Return comment lines for a kernel; no part of what it is named and recognised by."""
    return "".join(f"{backend.comment} {line}\n" for line in _lines(choice, kernel, graph, backend))


def _lines(
    choice: Choice, kernel: EmittedKernel, graph: TileGraph, backend: Backend
) -> Iterator[str]:
    yield f"for {backend.target}: {', '.join(kernel.nodes)}"
    for name, role in argument_roles(kernel.arguments, choice.group.outputs).items():
        kind = _kind(name, kernel, graph)
        yield f"  {role} = {typed(name, kind)}{', packed' if name in kernel.packed else ''}"
    yield from (f"  {nest_text(op)}" for op in choice.group.ops)
    yield from (f"loops      {line}" for line in kernel.loops)
    yield f"schedule   {choice.schedule}"
    yield f"launch     {', '.join(f'{name} {n:,}' for name, n in kernel.launch.items())}"
    if choice.predicted_s is not None and choice.predicted_bytes is not None:
        moved = units.size(choice.predicted_bytes)
        yield f"predicted  {units.seconds(choice.predicted_s)}, {moved} from and to memory"


def _kind(name: str, kernel: EmittedKernel, graph: TileGraph) -> TensorType:
    return constant_type(kernel.packed[name]) if name in kernel.packed else graph.tensors[name]
