"""Comments above the code of kernels: what each computes, and how."""

from __future__ import annotations

from collections.abc import Iterator

from burnish.codegen.backend import Backend, EmittedKernel, argument_roles
from burnish.codegen.schedule import Choice
from burnish.core import units
from burnish.core.plain_text import plain
from burnish.tile.graph import TensorType, TileGraph, constant_type
from burnish.tile.text import nest_text, typed


def header(choice: Choice, kernel: EmittedKernel, graph: TileGraph, backend: Backend) -> str:
    """Return comment lines for a kernel; no part of what it is named and recognised by.

    Names come from files that anybody may have written: one with a line break in it would put
    what follows into the code.
    """
    lines = _lines(choice, kernel, graph, backend)
    return "".join(f"{backend.comment} {plain(line)}\n" for line in lines)


def _lines(
    choice: Choice, kernel: EmittedKernel, graph: TileGraph, backend: Backend
) -> Iterator[str]:
    yield f"for {backend.target}: {', '.join(kernel.nodes)}"
    for name, role in argument_roles(kernel.arguments, kernel.outputs).items():
        kind = _kind(name, kernel, graph)
        yield f"  {role} = {typed(name, kind)}{', packed' if name in kernel.packed else ''}"
    yield from (f"  {nest_text(op)}" for op in choice.group.ops)
    yield from (f"loops      {line}" for line in kernel.loops)
    yield f"schedule   {choice.schedule}"
    yield f"launch     {', '.join(f'{name} {n:,}' for name, n in kernel.launch.items())}"
    if choice.predicted_s is not None and choice.predicted_bytes is not None:
        moved = units.size(kernel.share * choice.predicted_bytes)
        took = units.seconds(kernel.share * choice.predicted_s)
        yield f"predicted  {took}, {moved} from and to memory"


def _kind(name: str, kernel: EmittedKernel, graph: TileGraph) -> TensorType:
    if name in kernel.packed:
        return constant_type(kernel.packed[name])
    return kernel.scratch[name] if name in kernel.scratch else graph.tensors[name]
