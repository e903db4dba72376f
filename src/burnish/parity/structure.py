"""What two graphs share to the letter, and what in the rest is worth trying.

Values that are computed by the same operators from the same inputs and weights are equal for
all inputs: nothing about them needs a sample. What is left is where a difference must be, and
the numbers that stand there (a size that something is compared with, a limit, the rows of a
table that were changed) tell which inputs would show it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx_ir as ir

from burnish.core.arrays import Array
from burnish.feeds.distinguish import Suspicions
from burnish.meaning.evaluate import bodies
from burnish.parity.settled import settled_numbers
from burnish.store.external_data import let_go
from burnish.tile.lower import operator

_COMMUTATIVE = frozenset({"Add", "Mul", "Max", "Min", "And", "Or", "Xor", "Equal", "Sum"})
_LARGEST_NUMBER = 1 << 20
"""Integers above this are no sizes."""
_MOST_ROWS = 64
_MOST_CLUES = 40


@dataclass(frozen=True, slots=True)
class Structure:
    """How two graphs compare to the letter."""

    same: frozenset[str]
    """Outputs of the reference that the candidate computes in the very same way."""
    constant: frozenset[str]
    """Outputs of the reference that depend on no input."""
    clues: Suspicions
    lost: frozenset[str] = frozenset()
    """Constants of the reference, numbers all, stored or computed, that the candidate has not."""
    new: frozenset[str] = frozenset()
    """Constants of the candidate that the reference has not: perhaps made from those."""


def compare_structure(
    models: tuple[ir.Model, ir.Model], counterparts: Mapping[str, str]
) -> Structure:
    """Return what is the same; `counterparts` are the outputs that belong together.

    The first model is the reference; the nodes of both are in order.
    """
    reference, candidate = (model.graph for model in models)
    left, right = Keys(reference), Keys(candidate)
    outputs = {value.name or "": value for value in candidate.outputs}
    same = frozenset(
        value.name or ""
        for value in reference.outputs
        if counterparts.get(value.name or "") in outputs
        and left.of(value) == right.of(outputs[counterparts[value.name or ""]])
    )
    constant = frozenset(v.name or "" for v in reference.outputs if not _depends(v, reference))
    clues = _clues(reference, candidate, left, right)
    before, after = (
        _numbers_held(model.graph, keys) | {value.name or "": keys.of(value) for value in made}
        for model, keys, made in zip(
            models, (left, right), map(settled_numbers, models), strict=True
        )
    )
    return Structure(
        same,
        constant,
        clues,
        lost=frozenset(name for name, key in before.items() if key not in after.values()),
        new=frozenset(name for name, key in after.items() if key not in before.values()),
    )


def _numbers_held(graph: ir.Graph, keys: Keys) -> dict[str, str]:
    """Return the keys of all constants that hold real numbers, those of bodies included."""
    graphs = [graph, *(body for node in graph.all_nodes() for body in bodies(node))]
    return {
        value.name or "": keys.of(value)
        for each in graphs
        for value in each.initializers.values()
        if value.const_value is not None and value.const_value.dtype.is_floating_point()
    }


class Keys:
    """A key for each value of a graph: equal keys, equal values whatever is fed."""

    def __init__(self, graph: ir.Graph) -> None:
        """Take a graph whose nodes are in order."""
        self._keys: dict[ir.Value, str] = {}
        for value in graph.inputs:
            if value.const_value is None:
                self._keys[value] = f"input {value.name}"
        for node in graph:
            self._add(node)

    def of(self, value: ir.Value | None) -> str:
        """Return the key of a value."""
        if value is None:
            return ""
        if value not in self._keys:
            tensor = value.const_value
            self._keys[value] = f"free {value.name}" if tensor is None else content_key(tensor)
        return self._keys[value]

    @property
    def all(self) -> frozenset[str]:
        """Return the keys of all values."""
        return frozenset(self._keys.values())

    def _add(self, node: ir.Node) -> None:
        if operator(node) == "Identity":
            self._keys[node.outputs[0]] = self.of(node.inputs[0])
            return
        read = [self.of(value) for value in node.inputs]
        if node.op_type in _COMMUTATIVE and not node.domain:
            read.sort()
        said = [operator(node), str(node.version), *read, *sorted(map(self._attribute, _own(node)))]
        digest = hashlib.sha256("\n".join(said).encode()).hexdigest()
        for place, value in enumerate(node.outputs):
            self._keys[value] = f"{digest} {place}"

    def _attribute(self, attribute: ir.Attr) -> str:
        match attribute.type:
            case ir.AttributeType.TENSOR:
                return f"{attribute.name} {content_key(attribute.as_tensor())}"
            case ir.AttributeType.GRAPH:
                return f"{attribute.name} {self._body(attribute.as_graph())}"
            case _:
                return f"{attribute.name} {attribute.value!r}"

    def _body(self, graph: ir.Graph) -> str:
        for place, value in enumerate(graph.inputs):
            self._keys[value] = f"body input {place}"
        for node in graph:
            self._add(node)
        return " ".join(self.of(value) for value in graph.outputs)


def content_key(tensor: ir.TensorProtocol) -> str:
    """Return a key of a constant: its type, shape and bytes."""
    array = tensor.numpy()
    if tensor.dtype is ir.DataType.STRING:
        content: Any = repr(array.tolist()).encode()
    else:
        # A view: as bytes, a table that lies in a file would be copied into the memory.
        content = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    digest = hashlib.sha256(content).hexdigest()
    let_go(tensor)
    return f"{tensor.dtype} {tensor.shape} {digest}"


def _own(node: ir.Node) -> Iterator[ir.Attr]:
    return (attribute for attribute in node.attributes.values() if not attribute.is_ref())


def _depends(value: ir.Value, graph: ir.Graph) -> bool:
    """Return whether a value is computed from an input of the graph, or from chance."""
    inputs = {each for each in graph.inputs if each.const_value is None}
    waiting, seen = [value], {value}
    while waiting:
        item = waiting.pop()
        if item in inputs:
            return True
        node = item.producer()
        if node is None:
            continue
        inner = (v for body in bodies(node) for each in body.all_nodes() for v in each.inputs)
        for source in (*node.inputs, *inner):
            if source is not None and source not in seen:
                seen.add(source)
                waiting.append(source)
    return False


def _clues(reference: ir.Graph, candidate: ir.Graph, left: Keys, right: Keys) -> Suspicions:
    """Return the numbers in what differs, then those on the way to it, then all others."""
    integers: dict[int, None] = {}
    reals: dict[float, None] = {}
    changed = [
        [node for node in graph if any(own.of(value) not in others for value in node.outputs)]
        for graph, own, others in ((candidate, right, left.all), (reference, left, right.all))
    ]
    if not any(changed):
        return Suspicions()
    for node in (*_nearest_first(changed[0]), *_nearest_first(changed[1])):
        for number in _numbers(node):
            (integers if isinstance(number, int) else reals)[number] = None  # type: ignore[index]
    rows = tuple(_changed_rows((reference, left), (candidate, right)))
    return Suspicions(tuple(integers)[:_MOST_CLUES], tuple(reals)[:_MOST_CLUES], rows)


def _nearest_first(nodes: list[ir.Node]) -> Iterator[ir.Node]:
    """Yield nodes, then those that they read from, then those that these read from, and so on."""
    seen = dict.fromkeys(nodes)
    wave = list(nodes)
    while wave:
        yield from wave
        before = (value.producer() for node in wave for value in _all_reads(node))
        wave = list(dict.fromkeys(node for node in before if node and node not in seen))
        seen.update(dict.fromkeys(wave))


def _all_reads(node: ir.Node) -> Iterator[ir.Value]:
    yield from (value for value in node.inputs if value is not None)
    for body in bodies(node):
        for inner in body.all_nodes():
            yield from (value for value in inner.inputs if value is not None)


def _numbers(node: ir.Node) -> Iterator[int | float]:
    """Yield the numbers that a node is written with: small constants and attributes."""
    for value in node.inputs:
        tensor = None if value is None else ir.convenience.get_const_tensor(value)
        if tensor is not None and tensor.size <= 16:
            yield from _listed(tensor)
    for attribute in _own(node):
        match attribute.type:
            case ir.AttributeType.TENSOR:
                if attribute.as_tensor().size <= 16:
                    yield from _listed(attribute.as_tensor())
            case ir.AttributeType.INT | ir.AttributeType.FLOAT:
                yield attribute.value
            case ir.AttributeType.INTS | ir.AttributeType.FLOATS:
                yield from attribute.value
    for body in bodies(node):
        for inner in body:
            yield from _numbers(inner)


def _listed(tensor: ir.TensorProtocol) -> Iterator[int | float]:
    array = np.asarray(tensor.numpy())
    if array.dtype.kind in "iu":
        yield from (int(each) for each in array.reshape(-1) if abs(int(each)) <= _LARGEST_NUMBER)
    elif array.dtype.kind in "fV" and array.dtype.kind != "O":
        numbers = array.astype(np.float64).reshape(-1)
        yield from (float(each) for each in numbers if np.isfinite(each))


def _changed_rows(
    reference: tuple[ir.Graph, Keys], candidate: tuple[ir.Graph, Keys]
) -> Iterator[int]:
    """Yield the rows in which tables of the same name and shape differ."""
    found: dict[int, None] = {}
    for name, value in candidate[0].initializers.items():
        other = reference[0].initializers.get(name)
        tensors = value.const_value, None if other is None else other.const_value
        if tensors[0] is None or tensors[1] is None or tensors[0].shape != tensors[1].shape:
            continue
        if len(tensors[0].shape) == 2 and candidate[1].of(value) != reference[1].of(other):
            for row in _differing(tensors[0].numpy(), tensors[1].numpy())[:_MOST_ROWS]:
                found[int(row)] = None
    yield from found


def _differing(first: Array, second: Array) -> Array:
    if first.dtype != second.dtype:
        return np.zeros(0, np.int64)
    return np.flatnonzero((first != second).any(axis=1))
