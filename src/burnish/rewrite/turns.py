"""The bodies of Scan and Loop at fixed sizes: what each turn finds, and what all of them give."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import onnx_ir as ir

from burnish.infer.shapes import Shapes
from burnish.infer.walk import is_standard
from burnish.operators.size import Size


@dataclass(frozen=True, slots=True)
class FixedType:
    """What a value is at fixed sizes."""

    dtype: ir.DataType
    sizes: tuple[Size, ...]


@dataclass(frozen=True, slots=True)
class RepeatedBody:
    """A copy of a body whose inputs have the sizes of the first turn."""

    body: ir.Graph
    times: int
    states: Sequence[tuple[ir.Value, ir.Value]]
    """What a turn finds, and what it leaves for the next."""
    slices: Sequence[ir.Value]
    """What all turns give, one slice each."""
    more: ir.Value | None = None
    """What a turn says of whether another one follows; None: as many follow as there are."""

    def is_steady(self) -> bool:
        """Say whether every turn finds what the first finds, and gives as much."""
        kept = all(
            _kind(given) is not None and _kind(given) == _kind(found)
            for found, given in self.states
        )
        return kept and all(_kind(value) is not None for value in self.slices)

    def results(self) -> list[FixedType]:
        """Return what the node's first outputs are, if turns are steady.

        How many slices there are is known only where no turn can be the last before its time.
        """
        states = [_kind(value) for _, value in self.states]
        if not self._all_follow():
            return [kind for kind in states if kind]
        slices = [_kind(value) for value in self.slices]
        stacked = [FixedType(kind.dtype, (self.times, *kind.sizes)) for kind in slices if kind]
        return [*(kind for kind in states if kind), *stacked]

    def _all_follow(self) -> bool:
        """Say whether the settled body always says that another turn follows."""
        if self.more is None or self.times <= 1:
            return True
        known = None if self.more.is_graph_input() else self.more.const_value
        return known is not None and bool(known.numpy().all())


def turns_of(node: ir.Node, shapes: Shapes) -> RepeatedBody | None:
    """Return the turns of a Scan or Loop at fixed sizes; None: it is none, or they are not known.

    In a Loop that is known to begin, each turn finds that it goes on: else it would not run.
    """
    if is_standard(node, "Scan"):
        return _of_scan(node, shapes)
    return _of_loop(node, shapes) if is_standard(node, "Loop") else None


def _of_scan(node: ir.Node, shapes: Shapes) -> RepeatedBody | None:
    count = node.attributes["num_scan_inputs"].as_int()
    states = len(node.inputs) - count
    axes = _axes(node, count)
    kinds = [_outer(value, shapes) for value in node.inputs]
    if None in kinds or (node.version or 9) < 9:
        return None
    known = [kind for kind in kinds if kind is not None]
    seen: list[FixedType] = known[:states]
    times: set[Size] = set()
    for kind, axis in zip(known[states:], axes, strict=True):
        place = axis % max(len(kind.sizes), 1)
        times.add(kind.sizes[place])
        seen.append(FixedType(kind.dtype, (*kind.sizes[:place], *kind.sizes[place + 1 :])))
    (often,) = times if len(times) == 1 else (None,)
    body = _copied(node, seen)
    if body is None or not isinstance(often, int):
        return None
    pairs = list(zip(body.inputs[:states], body.outputs[:states], strict=True))
    return RepeatedBody(body, often, pairs, body.outputs[states:])


def _of_loop(node: ir.Node, shapes: Shapes) -> RepeatedBody | None:
    often, go = (shapes.constants.array(value) for value in node.inputs[:2])
    if often is None or (node.inputs[1] is not None and (go is None or not go.all())):
        return None
    kinds = [_outer(value, shapes) for value in node.inputs[2:]]
    if None in kinds:
        return None
    states = [kind for kind in kinds if kind is not None]
    body = _copied(
        node, [FixedType(ir.DataType.INT64, ()), FixedType(ir.DataType.BOOL, ()), *states]
    )
    if body is None:
        return None
    _goes_on(body)
    count = len(states)
    pairs = list(zip(body.inputs[2:], body.outputs[1 : 1 + count], strict=True))
    times = max(int(often.reshape(-1)[0]), 0)
    return RepeatedBody(body, times, pairs, body.outputs[1 + count :], body.outputs[0])


def _axes(node: ir.Node, count: int) -> Sequence[int]:
    given = node.attributes.get("scan_input_axes")
    return [0] * count if given is None else given.as_ints()


def _goes_on(body: ir.Graph) -> None:
    """Let a body read that it goes on: a turn runs only if the one before it said so."""
    condition = body.inputs[1]
    if not condition.uses() and not condition.is_graph_output():
        return
    truth = ir.Tensor(np.array(True), name=f"{condition.name}/true")
    held = ir.Value(name=truth.name, type=ir.TensorType(ir.DataType.BOOL), shape=ir.Shape([]),
                    const_value=truth)  # fmt: skip
    body.register_initializer(held)
    for place, value in enumerate(body.outputs):
        if value is condition:
            copied = ir.node("Identity", [held], name=f"{condition.name}/on.{place}")
            copied.outputs[0].name = copied.name
            body.append(copied)
            body.outputs[place] = copied.outputs[0]
    condition.replace_all_uses_with(held)


def _copied(node: ir.Node, kinds: Sequence[FixedType]) -> ir.Graph | None:
    body = node.attributes["body"].as_graph().clone(allow_outer_scope_values=True)
    if len(body.inputs) != len(kinds):
        return None
    for value, kind in zip(body.inputs, kinds, strict=True):
        value.type = ir.TensorType(kind.dtype)
        value.shape = ir.Shape([size if isinstance(size, int) else None for size in kind.sizes])
    return body


def _outer(value: ir.Value | None, shapes: Shapes) -> FixedType | None:
    shape = shapes.of(value)
    if value is None or value.dtype is None or shape is None:
        return None
    return FixedType(value.dtype, shape) if all(isinstance(size, int) for size in shape) else None


def _kind(value: ir.Value) -> FixedType | None:
    """Return what a value of a settled body is; None: it has no fixed size."""
    if value.dtype is None or value.shape is None:
        return None
    sizes = tuple(size for size in value.shape if isinstance(size, int))
    return FixedType(value.dtype, sizes) if len(sizes) == len(value.shape) else None
