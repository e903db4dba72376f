"""Branches and loops: which of a node's bodies are evaluated, and how often."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import onnx_ir as ir

from burnish.meaning.node import NotEvaluatedError, Operand, Tensor
from burnish.meaning.numbers import Numbers

Body = Callable[[ir.Graph, Sequence[Operand]], list[Operand]]
"""Returns what a branch or the body of a loop gives for its inputs."""
Control = Callable[[ir.Node, list[Operand], Body, Numbers], tuple[Operand, ...]]


def _if(node: ir.Node, inputs: list[Operand], body: Body, numbers: Numbers) -> tuple[Operand, ...]:
    chosen = bool(numbers.array(inputs[0].value).reshape(-1)[0])
    branch = node.attributes["then_branch" if chosen else "else_branch"].as_graph()
    return tuple(body(branch, ()))


_MOST_TURNS = 100_000


def _loop(
    node: ir.Node, inputs: list[Operand], body: Body, numbers: Numbers
) -> tuple[Operand, ...]:
    graph = node.attributes["body"].as_graph()
    most, goes_on = inputs[0], inputs[1] if len(inputs) > 1 else None
    state = list(inputs[2:])
    turns = _MOST_TURNS if most is None else int(numbers.array(most.value).reshape(-1)[0])
    stacks: list[list[Operand]] = [[] for _ in graph.outputs[1 + len(state) :]]
    for turn in range(max(turns, 0)):
        if goes_on is not None and not numbers.array(goes_on.value).reshape(-1)[0]:
            break
        if turn == _MOST_TURNS:
            raise NotEvaluatedError(f"a loop of more than {_MOST_TURNS:,} turns")
        count = Tensor(np.asarray(turn, np.int64), "i64")
        flag = goes_on or Tensor(np.asarray(True), "bool")
        results = body(graph, (count, flag, *state))
        goes_on, state = results[0], results[1 : 1 + len(state)]
        for stack, result in zip(stacks, results[1 + len(state) :], strict=True):
            stack.append(result)
    return (*state, *(_stacked(stack, numbers) for stack in stacks))


def _stacked(tensors: list[Operand], numbers: Numbers, axis: int = 0) -> Operand:
    if not tensors:
        raise NotEvaluatedError("a loop that gives a row for each turn takes none")
    arrays = np.stack([numbers.array(each.value) for each in tensors], axis)
    return Tensor(arrays, tensors[0].dtype)


def _scan(
    node: ir.Node, inputs: list[Operand], body: Body, numbers: Numbers
) -> tuple[Operand, ...]:
    if len(inputs) and inputs[0] is None:
        raise NotEvaluatedError("Scan as it was before opset 9")
    graph = node.attributes["body"].as_graph()
    count = node.attributes["num_scan_inputs"].as_int()
    state, scanned = inputs[: len(inputs) - count], inputs[len(inputs) - count :]
    axes = _ints(node, "scan_input_axes", count)
    backwards = _ints(node, "scan_input_directions", count)
    rows = [
        _rows(each, axis, back, numbers)
        for each, axis, back in zip(scanned, axes, backwards, strict=True)
    ]
    stacks: list[list[Operand]] = [[] for _ in graph.outputs[len(state) :]]
    for row in zip(*rows, strict=True):
        results = body(graph, (*state, *row))
        state = results[: len(state)]
        for stack, result in zip(stacks, results[len(state) :], strict=True):
            stack.append(result)
    axes = _ints(node, "scan_output_axes", len(stacks))
    turned = _ints(node, "scan_output_directions", len(stacks))
    given = [
        _stacked(stack[::-1] if back else stack, numbers, axis)
        for stack, axis, back in zip(stacks, axes, turned, strict=True)
    ]
    return (*state, *given)


def _ints(node: ir.Node, name: str, count: int) -> list[int]:
    found = node.attributes.get(name)
    return [0] * count if found is None else list(found.as_ints())


def _rows(tensor: Operand, axis: int, backwards: int, numbers: Numbers) -> list[Operand]:
    array = np.moveaxis(numbers.array(tensor.value), axis, 0)
    rows: Any = array[::-1] if backwards else array
    return [Tensor(row, tensor.dtype) for row in rows]


CONTROL: Mapping[str, Control] = {"If": _if, "Loop": _loop, "Scan": _scan}
"""By operator."""
