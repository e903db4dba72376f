"""Evaluate a whole model, node by node, on concrete inputs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
import onnx_ir as ir
import onnx_ir.passes.common as common_passes

from burnish.core.array_types import array_type, name_of
from burnish.core.arrays import Array, Arrays
from burnish.core.budget import Budget
from burnish.infer.opsets import inherit_opsets
from burnish.meaning.node import Nodes, NotEvaluatedError, Operand, TypedArray
from burnish.meaning.numbers import Noisy, Numbers, Reals
from burnish.store.element_types import array_of
from burnish.store.external_data import let_go
from burnish.tile.lower import named, operator

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
        count = TypedArray(np.asarray(turn, np.int64), "i64")
        flag = goes_on or TypedArray(np.asarray(True), "bool")
        results = body(graph, (count, flag, *state))
        goes_on, state = results[0], results[1 : 1 + len(state)]
        for stack, result in zip(stacks, results[1 + len(state) :], strict=True):
            stack.append(result)
    return (*state, *(_stacked(stack, numbers) for stack in stacks))


def _stacked(tensors: list[Operand], numbers: Numbers, axis: int = 0) -> Operand:
    if not tensors:
        raise NotEvaluatedError("a loop that gives a row for each turn takes none")
    arrays = np.stack([numbers.array(numbers.opened(each.value)) for each in tensors], axis)
    return TypedArray(arrays, tensors[0].dtype)


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
    return [TypedArray(row, tensor.dtype) for row in rows]


CONTROL: Mapping[str, Control] = {"If": _if, "Loop": _loop, "Scan": _scan}
"""By operator."""


Watch = Callable[[ir.Value, Operand], None]
"""Told of every value when it has been computed."""

Otherwise = Callable[[ir.Node, list[Array | None]], tuple[Array, ...]]
"""Runs a node whose meaning is not known here, in the types that the model declares."""


_CUTTING = frozenset({"Floor", "Ceil", "Round", "Cast"})
"""Operators that make whole numbers. A size that is one already is not off by a rounding."""
_REALS = Reals()


class Evaluator:
    """A model that can be evaluated again and again."""

    def __init__(
        self,
        model: ir.Model,
        *,
        otherwise: Otherwise | None = None,
        weights: Collection[str] = (),
        loose: Collection[str] = (),
        instead: Mapping[str, ir.TensorProtocol] = MappingProxyType({}),
    ) -> None:
        """Take a model of one's own: functions in it are put in place of their calls.

        `weights` are inputs that are constants of the model which this one was cut from;
        `loose` constants, stored or computed, may be others that were rounded anew; `instead` are
        what some constants were before they were rounded, and are read in their place.
        """
        if model.functions:
            common_passes.InlinePass()(model)
        model.graph.sort()
        inherit_opsets(model)
        self.graph = model.graph
        self._nodes = Nodes()
        self._otherwise, self._weights = otherwise, frozenset(weights)
        self._loose, self._instead = frozenset(loose), instead
        self._last_users = _last_users(self.graph)
        self._settled: set[ir.Value] = set()
        self._budget: Budget | None = None
        self.by_engine: dict[str, str] = {}
        """Operators that an engine ran, with why their meaning is not known here."""

    def outputs(
        self,
        feeds: Arrays,
        numbers: Numbers,
        *,
        wanted: Collection[str] | None = None,
        watch: Watch | None = None,
        budget: Budget | None = None,
    ) -> dict[str, TypedArray]:
        """Return the outputs, or the values called `wanted`, for these inputs.

        When the budget is spent, it gives up.
        """
        self._budget = budget
        self._settled.clear()
        scope: dict[ir.Value, Operand] = {}
        for value in self.graph.inputs:
            if value.name is not None and value.name in feeds:
                array = np.asarray(feeds[value.name])
                scope[value] = self._held(value.name, array, numbers)
        kept = self._kept(wanted)
        self._run(self.graph, scope, numbers, kept, watch)
        names = {value.name or "": value for value in kept}
        chosen = [value.name or "" for value in self.graph.outputs] if wanted is None else wanted
        return {name: _opened(self._read(names[name], scope, numbers), numbers) for name in chosen}

    def _kept(self, wanted: Collection[str] | None) -> frozenset[ir.Value]:
        outputs = frozenset(self.graph.outputs)
        if wanted is None:
            return outputs
        made = (value for node in self.graph for value in node.outputs)
        return outputs | {value for value in made if value.name in wanted}

    def _run(
        self,
        graph: ir.Graph,
        scope: dict[ir.Value, Operand],
        numbers: Numbers,
        kept: Collection[ir.Value],
        watch: Watch | None = None,
    ) -> None:
        for node in graph:
            if self._budget is not None and self._budget.is_spent:
                raise NotEvaluatedError("the time ran out")
            inputs = [None if v is None else self._read(v, scope, numbers) for v in node.inputs]
            if self._is_settled(node):
                self._settled.update(node.outputs)
            is_size = node.op_type in _CUTTING and node.outputs[0] in self._settled
            exact = is_size and isinstance(numbers, Noisy)
            results = self._node(node, inputs, scope, _REALS if exact else numbers)
            for value, computed in zip(node.outputs, results, strict=False):
                result = scope[value] = self._as_stored(value, computed, numbers)
                if watch is not None and result is not None:
                    watch(value, result)
            del inputs, results
            for value in self._last_users.get(node, ()):
                if value not in kept:
                    scope.pop(value, None)
            for source in node.inputs:
                if source is not None and source not in scope:
                    let_go(source.const_value)

    def _is_settled(self, node: ir.Node) -> bool:
        """Return whether sizes and constants alone decide what a node gives: every engine does.

        What a branch or a loop reads from around it decides as well.
        """
        return node.op_type in ("Shape", "Size") or all(
            value in self._settled
            or (value.const_value is not None and value.name not in self._loose)
            for value in _outer_reads(node)
        )

    def _read(
        self, value: ir.Value, scope: Mapping[ir.Value, Operand], numbers: Numbers
    ) -> Operand:
        if value in scope:
            return scope[value]
        if value.const_value is None:
            raise NotEvaluatedError(f"the value {value.name!r} is computed by nobody")
        return self._constant(value.name, array_of(value.const_value), numbers)

    def _held(self, name: str, array: Array, numbers: Numbers) -> TypedArray:
        """Return what is fed: an input, or a constant of a larger model."""
        if name in self._weights:
            return self._constant(name, array, numbers)
        return TypedArray(numbers.held(array, name_of(array)), name_of(array))

    def _constant(self, name: str | None, array: Array, numbers: Numbers) -> TypedArray:
        hold = numbers.loose if name in self._loose else numbers.weight
        dtype = name_of(array)
        if name is not None and name in self._instead:
            array = array_of(self._instead[name]).reshape(array.shape)
        return TypedArray(hold(array, dtype), dtype)

    def _as_stored(self, value: ir.Value, computed: Operand, numbers: Numbers) -> Operand:
        """Return a result; one that the other model may have stored, as if it had been stored."""
        if value.name not in self._loose or not isinstance(computed, TypedArray):
            return computed
        return TypedArray(
            numbers.loose(numbers.array(computed.value), computed.dtype), computed.dtype
        )

    def _node(
        self,
        node: ir.Node,
        inputs: list[Operand],
        scope: dict[ir.Value, Operand],
        numbers: Numbers,
    ) -> tuple[Operand, ...]:
        control = CONTROL.get(operator(node))
        if control is not None:

            def body(graph: ir.Graph, given: Sequence[Operand]) -> list[Operand]:
                return self._body(graph, given, scope, numbers)

            return control(node, inputs, body, numbers)
        try:
            return self._nodes.outputs(node, inputs, numbers)
        except NotEvaluatedError as reason:
            if self._otherwise is None:
                raise NotEvaluatedError(f"node {named(node)!r}: {reason}") from reason
            self.by_engine[operator(node)] = str(reason)
        return self._by_engine(node, inputs, numbers)

    def _by_engine(
        self, node: ir.Node, inputs: list[Operand], numbers: Numbers
    ) -> tuple[Operand, ...]:
        assert self._otherwise is not None
        given = [None if each is None else _declared(each, numbers) for each in inputs]
        results = self._otherwise(node, given)
        return tuple(
            TypedArray(
                numbers.rounded(numbers.held(each, name_of(each)), name_of(each)), name_of(each)
            )
            for each in results
        )

    def _body(
        self,
        graph: ir.Graph,
        inputs: Sequence[Operand],
        scope: dict[ir.Value, Operand],
        numbers: Numbers,
    ) -> list[Operand]:
        """Return what a branch or the body of a loop gives."""
        scope.update(zip(graph.inputs, inputs, strict=False))
        outputs = frozenset(graph.outputs)
        self._run(graph, scope, numbers, outputs)
        return [self._read(value, scope, numbers) for value in graph.outputs]


def _opened(operand: Operand, numbers: Numbers) -> Operand:
    """Return an output in the form that is computed with: it may be a constant as it is stored."""
    if not isinstance(operand, TypedArray):
        return operand
    return TypedArray(numbers.opened(operand.value), operand.dtype)


def _declared(tensor: TypedArray, numbers: Numbers) -> Array:
    return numbers.array(tensor.value).astype(array_type(tensor.dtype))


def _last_users(graph: ir.Graph) -> dict[ir.Node, list[ir.Value]]:
    """Return after which node of the main graph each of its values is no longer needed."""
    last: dict[ir.Value, ir.Node] = {}
    for node in graph:
        for value in (*_reads(node), *node.outputs):
            last[value] = node
    found: dict[ir.Node, list[ir.Value]] = {}
    for value, node in last.items():
        found.setdefault(node, []).append(value)
    return found


def _reads(node: ir.Node) -> Iterable[ir.Value]:
    """Yield what a node reads, and all that its bodies read."""
    yield from (value for value in node.inputs if value is not None)
    for body in bodies(node):
        for inner in body:
            yield from _reads(inner)
        yield from body.outputs


def _outer_reads(node: ir.Node) -> set[ir.Value]:
    """Return what a node and its bodies read of what is made elsewhere."""
    return set(_reads(node)) - set(_made_inside(node))


def _made_inside(node: ir.Node) -> Iterable[ir.Value]:
    """Yield what the bodies of a node are given and compute."""
    for body in bodies(node):
        yield from body.inputs
        for inner in body:
            yield from inner.outputs
            yield from _made_inside(inner)


def bodies(node: ir.Node) -> list[ir.Graph]:
    """Return the graphs that a node holds."""
    found: list[ir.Graph] = []
    for attribute in node.attributes.values():
        if attribute.is_ref():
            continue
        if attribute.type is ir.AttributeType.GRAPH:
            found.append(attribute.as_graph())
        elif attribute.type is ir.AttributeType.GRAPHS:
            found += attribute.as_graphs()
    return found
