"""How many nodes a model has when every call of a function is replaced by its body.

Functions that call functions multiply: twelve of them, each calling the one before twice, stand
for thousands of nodes in a file of a kilobyte. So this is counted before anybody replaces a call.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import onnx_ir as ir

from burnish.core.errors import ModelError

Identifier = ir.OperatorIdentifier


@dataclass(frozen=True, slots=True)
class _Body:
    """The nodes of a function or a graph, counted."""

    plain: int
    calls: Mapping[Identifier, int]


def check(model: ir.Model, path: Path, *, most_nodes: int) -> None:
    """Raise where functions call each other in a circle, or expand to more than `most_nodes`."""
    if not model.functions:
        return
    known = frozenset(model.functions)
    bodies = {name: _body(f.all_nodes(), known) for name, f in model.functions.items()}
    sizes = _sizes(bodies, path)
    total = _size(_body(model.graph.all_nodes(), known), sizes)
    if total > most_nodes:
        # a number of hundreds of digits is nothing to read
        told = f"{total:,}" if total < 10**15 else f"10^{len(str(total)) - 1}"
        raise ModelError(
            f"{path}: its functions, written out, are {told} nodes, and {most_nodes:,} are allowed",
            hint=f"if the model is meant so, allow more: BURNISH_MAX_NODES={min(total, 10**15)}",
        )


def _body(nodes: Iterable[ir.Node], known: frozenset[Identifier]) -> _Body:
    counts = Counter(node.op_identifier() for node in nodes)
    calls = {name: number for name, number in counts.items() if name in known}
    return _Body(counts.total() - sum(calls.values()), calls)


def _size(body: _Body, sizes: Mapping[Identifier, int]) -> int:
    return body.plain + sum(number * sizes[name] for name, number in body.calls.items())


def _sizes(bodies: Mapping[Identifier, _Body], path: Path) -> dict[Identifier, int]:
    """Return the size of each function written out; callees first, without recursion."""
    sizes: dict[Identifier, int] = {}
    entered: set[Identifier] = set()
    waiting = list(bodies)
    while waiting:
        name = waiting[-1]
        missing = [callee for callee in bodies[name].calls if callee not in sizes]
        if not missing:
            sizes[name] = _size(bodies[name], sizes)
            waiting.pop()
            continue
        entered.add(name)
        for callee in missing:
            if callee in entered:
                raise _endless(callee, path)
        waiting += missing
    return sizes


def _endless(name: Identifier, path: Path) -> ModelError:
    domain, function, _ = name
    return ModelError(
        f"{path}: the function {domain}::{function} calls itself, directly or through others",
        hint="export it again: functions of ONNX cannot be recursive",
    )
