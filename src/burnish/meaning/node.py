"""What one node gives for concrete inputs: by its nests, or by ONNX's own reference."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx_ir as ir

from burnish.core.array_types import array_type, name_of
from burnish.core.arrays import Array
from burnish.core.tensors import FLOATS
from burnish.meaning.nest import evaluate_nest, is_move
from burnish.meaning.numbers import Noisy, Numbers, Reals, Value
from burnish.meaning.recurrent import ACTIVATIONS, ignored, in_rows
from burnish.store.element_types import SHORT_NAMES
from burnish.tile.graph import TensorType, TileOp
from burnish.tile.lower import STANDARD_DOMAINS, node_of, operator
from burnish.tile.semantics import SEMANTICS, NestBuilder, Node, NotCoveredError
from burnish.tile.sent import sent

_LARGEST_KNOWN = 4096
"""Elements; an integer input up to this size may be a list of sizes or axes."""
_LARGEST_KNOWN_FLOATS = 64
"""Elements; scales of a Resize, limits of a Range."""

_MOST_REMEMBERED = 4096
_MOST_ASKED = 1 << 22
"""Points of a nest that asks every place for every update: ONNX's own reference is faster then."""

_STEPS_OF_THE_DATA = frozenset({"DynamicQuantizeLinear", "com.microsoft.DynamicQuantizeMatMul"})
"""Operators that round to steps which they find from what they are given."""


class NotEvaluatedError(Exception):
    """A node whose meaning is not known here; the text says which, and why."""


@dataclass(frozen=True, slots=True)
class TypedArray:
    """Elements, and the type that the model declares for them."""

    value: Value
    dtype: str


@dataclass(frozen=True, slots=True)
class _Nests:
    """The nests of a node for inputs of certain types."""

    ops: tuple[TileOp, ...]
    constants: dict[str, Array]


Operand = Any
"""A `TypedArray`; a list of them for a sequence; None for an input that is left out."""


class Nodes:
    """Evaluates nodes, and remembers the nests of those that it has seen."""

    def __init__(self) -> None:
        self._known: dict[tuple[object, ...], _Nests | str] = {}
        self._seen: dict[ir.Node, Node] = {}

    def outputs(
        self, node: ir.Node, inputs: Sequence[Operand], numbers: Numbers
    ) -> tuple[Operand, ...]:
        """Return what a node gives; NotEvaluatedError where nobody here can say."""
        if all(each is None or isinstance(each, TypedArray) for each in inputs):
            found = self._by_nests(node, inputs, numbers)
            if not isinstance(found, str):
                return found
        else:
            found = "one of its inputs is no tensor"
        if type(numbers) not in (Reals, Noisy):
            raise NotEvaluatedError(f"{operator(node)}: {found}")
        return _by_reference(node, inputs, numbers, found)

    def _by_nests(
        self, node: ir.Node, inputs: Sequence[TypedArray | None], numbers: Numbers
    ) -> tuple[Operand, ...] | str:
        """Return the outputs; a text says why the node has no nests."""
        name = operator(node)
        if name not in SEMANTICS:
            return f"the operator {name} has no tile semantics"
        try:
            seen = self._node(node)
        except NotCoveredError as reason:
            return str(reason)
        if name in _STEPS_OF_THE_DATA and isinstance(numbers, Noisy):
            numbers = numbers.with_steps_of_the_data()
        obstacle = ""
        for with_floats in (False, True):
            nests = self._nests(seen, name, inputs, numbers, with_floats=with_floats)
            if isinstance(nests, _Nests):
                return _evaluated(seen, nests, inputs, numbers)
            obstacle = nests
        return obstacle

    def _node(self, node: ir.Node) -> Node:
        """Return what a meaning sees of a node, with names of its own for what it reads."""
        if node not in self._seen:
            plain = node_of(node)
            self._seen[node] = Node(
                "node",
                plain.op_type,
                tuple(f"in{i}" if name else "" for i, name in enumerate(plain.inputs)),
                tuple(f"out{i}" if name else "" for i, name in enumerate(plain.outputs)),
                plain.attributes,
                plain.opset,
            )
        return self._seen[node]

    def _nests(
        self,
        node: Node,
        name: str,
        inputs: Sequence[TypedArray | None],
        numbers: Numbers,
        *,
        with_floats: bool,
    ) -> _Nests | str:
        types: dict[str, TensorType] = {}
        known: dict[str, Array] = {}
        for place, tensor in zip(node.inputs, inputs, strict=False):
            if tensor is None or not place:
                continue
            array = numbers.array(tensor.value)
            types[place] = TensorType(tensor.dtype, array.shape)
            if _is_known(array, tensor.dtype, with_floats=with_floats):
                known[place] = array.astype(array_type(tensor.dtype))
        key = (
            name, id(node.attributes), tuple(types.items()), with_floats,
            tuple((place, array.tobytes()) for place, array in known.items()),
        )  # fmt: skip
        if key not in self._known:
            if len(self._known) > _MOST_REMEMBERED:
                self._known.clear()
            self._known[key] = _lowered(node, name, types, known)
        return self._known[key]


def _is_known(array: Array, dtype: str, *, with_floats: bool) -> bool:
    if dtype in FLOATS:
        return with_floats and array.size <= _LARGEST_KNOWN_FLOATS
    return array.size <= _LARGEST_KNOWN


def _lowered(
    node: Node, name: str, types: dict[str, TensorType], known: dict[str, Array]
) -> _Nests | str:
    builder = NestBuilder(types, known)
    builder.begin(node)
    try:
        SEMANTICS[name](builder, node)
    except NotCoveredError as reason:
        return str(reason)
    if any(op.points > _MOST_ASKED and sent(op) is not None for op in builder.ops):
        return f"{_MOST_ASKED:,} places would be asked for their updates"
    made = {key: array for key, array in builder.constants.items() if key not in known}
    return _Nests(tuple(builder.ops), made)


def _evaluated(
    node: Node, nests: _Nests, inputs: Sequence[TypedArray | None], numbers: Numbers
) -> tuple[TypedArray | None, ...]:
    values: dict[str, Value] = {
        name: numbers.weight(array, name_of(array)) for name, array in nests.constants.items()
    }
    for name, tensor in zip(node.inputs, inputs, strict=False):
        if tensor is not None and name:
            values[name] = tensor.value
    types: dict[str, str] = {}
    for op in nests.ops:
        value = evaluate_nest(op, values, numbers)
        values[op.output] = value if is_move(op) else numbers.rounded(value, op.dtype)
        types[op.output] = op.dtype
    return tuple(TypedArray(values[name], types[name]) if name else None for name in node.outputs)


def _by_reference(
    node: ir.Node, inputs: Sequence[Operand], numbers: Numbers, why: str
) -> tuple[Operand, ...]:
    """Return what ONNX's own reference gives for f64 in place of every floating type."""
    if node.domain not in STANDARD_DOMAINS or node.op_type in RANDOM | _TAKEN_OTHERWISE:
        raise NotEvaluatedError(f"{operator(node)}: {why}")
    from onnx.reference import ReferenceEvaluator

    proto = ir.serde.serialize_node(node)
    opset = node_of(node).opset
    given = [None if each is None else _plain(each, numbers) for each in inputs]
    recurrent = node.op_type in ACTIVATIONS
    if recurrent and isinstance(numbers, Noisy):
        given = [
            numbers.within(array, each.dtype) if isinstance(each, TypedArray) else array
            for each, array in zip(inputs, given, strict=True)
        ]
    if recurrent and (reason := ignored(node, given)):
        raise NotEvaluatedError(f"{operator(node)}: {reason}")

    def run(arrays: Sequence[Any]) -> Sequence[Any]:
        pairs = zip(proto.input, arrays, strict=False)
        fed = {name: array for name, array in pairs if array is not None}
        found: Sequence[Any] = runner.run(None, fed)
        return found

    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            runner = ReferenceEvaluator(proto, opsets={"": opset})
            results = in_rows(run, given) if recurrent else run(given)
    except Exception as error:  # the reference raises whatever NumPy does
        raise NotEvaluatedError(f"{operator(node)}: {type(error).__name__}: {error}") from error
    floats = [e.dtype for e in inputs if isinstance(e, TypedArray) and e.dtype in FLOATS]
    return tuple(
        _wrapped(result, value, floats[0] if floats else "f32", numbers)
        for result, value in zip(results, node.outputs, strict=False)
    )


RANDOM = frozenset({"RandomNormal", "RandomUniform", "RandomNormalLike", "RandomUniformLike",
                     "Bernoulli", "Multinomial"})  # fmt: skip

_TAKEN_OTHERWISE = frozenset({"StringNormalizer"})
"""ONNX's reference takes accents off here, which the standard does not ask for, nor runtimes do."""


def _plain(operand: Operand, numbers: Numbers) -> Any:  # noqa: ANN401
    if isinstance(operand, list):
        return [_plain(each, numbers) for each in operand]
    return numbers.array(numbers.opened(operand.value))


def _wrapped(result: Any, value: ir.Value, float_type: str, numbers: Numbers) -> Operand:  # noqa: ANN401
    if result is None:
        return None
    if isinstance(result, list):
        return [_wrapped(each, value, float_type, numbers) for each in result]
    array = np.asarray(result)
    dtype = name_of(array)
    if dtype in FLOATS:
        declared = SHORT_NAMES.get(value.dtype, "") if value.dtype is not None else ""
        dtype = declared if declared in FLOATS else float_type
    return TypedArray(numbers.rounded(numbers.held(array, dtype), dtype), dtype)
