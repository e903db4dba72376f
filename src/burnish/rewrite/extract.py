"""Cut a part out of a graph as a model of its own."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import onnx_ir as ir

from burnish.infer import walk
from burnish.infer.constants import constant_tensor, sizes
from burnish.rewrite.facts import FLOATS

LARGE_BYTES = 1 << 16
"""Constants above this size become inputs of the part: weights are fed, not copied."""

_MOST_SETTINGS = 8
"""Floating constants of more elements are weights; fewer are factors, limits, epsilons."""


@dataclass(frozen=True, slots=True)
class Part:
    """Some nodes of a graph, with what they read and what they give."""

    nodes: tuple[ir.Node, ...]
    """Each after those it reads."""
    inputs: tuple[ir.Value, ...]
    """What they read from outside, without constants."""
    weights: tuple[ir.Value, ...]
    """Constants that are too large to be copied."""
    constants: tuple[ir.Value, ...]
    outputs: tuple[ir.Value, ...]


def part(outputs: Sequence[ir.Value], stops: Collection[ir.Value]) -> Part:
    """Return all that computes `outputs` from `stops`, and from inputs of the graph."""
    nodes = _needed(outputs, frozenset(stops))
    made = {value for node in nodes for value in node.outputs}
    read = dict.fromkeys(v for node in nodes for v in reads(node) if v not in made)
    read |= dict.fromkeys(value for value in outputs if value not in made)
    constants = {value: constant_tensor(value) for value in read if value not in stops}
    large = {v for v, tensor in constants.items() if tensor and tensor.nbytes > LARGE_BYTES}
    small = {v for v, tensor in constants.items() if tensor and v not in large}
    return Part(
        nodes=nodes,
        inputs=tuple(value for value in read if value not in large and value not in small),
        weights=tuple(value for value in read if value in large),
        constants=tuple(value for value in read if value in small),
        outputs=tuple(outputs),
    )


def _needed(outputs: Sequence[ir.Value], stops: frozenset[ir.Value]) -> tuple[ir.Node, ...]:
    """Return the nodes that give the outputs, in an order in which they can run."""
    done: dict[ir.Node, None] = {}
    waiting = [(node, False) for value in reversed(outputs) for node in _maker(value, stops)]
    while waiting:
        node, is_ready = waiting.pop()
        if node in done:
            continue
        if is_ready:
            done[node] = None
            continue
        waiting.append((node, True))
        waiting.extend((m, False) for v in reads(node) for m in _maker(v, stops) if m not in done)
    return tuple(done)


def _maker(value: ir.Value, stops: frozenset[ir.Value]) -> tuple[ir.Node, ...]:
    node = value.producer()
    return () if node is None or value in stops else (node,)


def reads(node: ir.Node) -> Iterator[ir.Value]:
    """Yield what a node reads, and what its bodies read from outside."""
    yield from (value for value in node.inputs if value is not None)
    for body in walk.bodies(node):
        own = {*body.inputs, *body.initializers.values()}
        own.update(value for inner in body for value in inner.outputs)
        for inner in body:
            yield from (value for value in reads(inner) if value not in own)
        yield from (value for value in body.outputs if value not in own)


def with_weights(cut: Part) -> Part:
    """Return a part that holds its weights, however large, instead of being fed them."""
    return replace(cut, weights=(), constants=(*cut.constants, *cut.weights))


def as_model(cut: Part, model: ir.Model, name: str) -> ir.Model:
    """Return a part as a model; names, types, shapes and attributes are kept.

    Constants that lie in a file beside the model are read: a part is a file of its own.
    """
    inputs = (*cut.inputs, *cut.weights)
    view = ir.GraphView(
        inputs,
        cut.outputs,
        nodes=cut.nodes,
        initializers=cut.constants,
        opset_imports=dict(model.opset_imports),
        name=name,
    )
    graph = view.clone()
    for value in graph.inputs:
        value.const_value = None
    for value in graph.initializers.values():
        if isinstance(value.const_value, ir.ExternalTensor):
            # The part lies elsewhere, where its path would lead nowhere.
            held = np.array(value.const_value.numpy())
            value.const_value = ir.Tensor(held, dtype=value.const_value.dtype, name=value.name)
    functions = _called(cut.nodes, model)
    return ir.Model(
        graph,
        ir_version=model.ir_version,
        producer_name="burnish",
        functions=[function.clone() for function in functions],
    )


def _called(nodes: Iterable[ir.Node], model: ir.Model) -> tuple[ir.Function, ...]:
    found: dict[ir.Function, None] = {}
    waiting = list(nodes)
    while waiting:
        node = waiting.pop()
        waiting.extend(inner for body in walk.bodies(node) for inner in body)
        function = model.functions.get(node.op_identifier())
        if function is not None and function not in found:
            found[function] = None
            waiting.extend(function)
    return tuple(found)


def structure(cut: Part) -> str:
    """Return a key that parts share if they differ in names and in weights only.

    Operators, attributes, wiring, element types, sizes and settings all count; names of sizes
    count only by where they recur.
    """
    digest = hashlib.sha256()
    places: dict[ir.Value, str] = {}
    names: dict[str, int] = {}
    for kind, values in (("input", cut.inputs), ("weight", cut.weights)):
        for value in values:
            places[value] = f"{kind}{len(places)}"
            digest.update(f"{kind} {value.dtype} {_shape(value, names)}\n".encode())
    for value in cut.constants:
        places[value] = f"constant{len(places)}"
        tensor = constant_tensor(value)
        digest.update(f"{value.dtype} {_shape(value, names)}".encode())
        digest.update(b"" if tensor is None or _is_weight(tensor) else _content(tensor))
    for node in cut.nodes:
        read = ["" if value is None else places.get(value, "?") for value in node.inputs]
        read += [places.get(v, "?") for v in reads(node)] if walk.may_hold_bodies(node) else []
        attributes = sorted(map(_attribute_text, node.attributes.values()))
        digest.update(f"{node.domain} {node.op_type} {read} {attributes}\n".encode())
        for value in node.outputs:
            places[value] = f"value{len(places)}"
    digest.update(f"{[places[value] for value in cut.outputs]}".encode())
    return digest.hexdigest()


def _shape(value: ir.Value, names: dict[str, int]) -> list[object]:
    return [
        names.setdefault(size, len(names)) if isinstance(size, str) else f"={size}"
        for size in sizes(value) or ("unknown",)
    ]


def _attribute_text(attribute: ir.Attr) -> str:
    if not attribute.is_ref() and attribute.type == ir.AttributeType.TENSOR:
        tensor = attribute.as_tensor()
        return f"{attribute.name} {tensor.dtype} {hashlib.sha256(_content(tensor)).hexdigest()}"
    return f"{attribute.name} {attribute}"


def _is_weight(tensor: ir.TensorProtocol) -> bool:
    """Return whether a tensor's numbers are parameters, of which one set is as good as another."""
    return tensor.dtype in FLOATS and tensor.size > _MOST_SETTINGS


def _content(tensor: ir.TensorProtocol) -> bytes:
    if tensor.dtype == ir.DataType.STRING:
        return repr(tensor.numpy().tolist()).encode()
    return tensor.tobytes()
