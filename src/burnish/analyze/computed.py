"""What work computes, in the model's words: products by their shapes, the rest by operator."""

from __future__ import annotations

import math
from collections.abc import Sequence

from burnish.analyze.event_graph import Event
from burnish.analyze.kernel_names import short
from burnish.analyze.transform import Setting
from burnish.operators.record import Movement, find
from burnish.store.graph import GraphNode, GraphRecord
from burnish.trace.events import WORK

_PRODUCTS = frozenset(("MatMul", "Gemm", "FusedMatMul", "FusedGemm", "MatMulInteger"))
_CONVOLUTIONS = frozenset(("Conv", "FusedConv", "ConvInteger"))
_MOST_OTHERS = 2


def computed(event: Event, setting: Setting) -> str:
    """Return what an event computes: `MatMul 128×256×1024 + Add`; its own name in short if unknown.

    The sizes of a product are rows × inner × columns, after the number of products where there
    are several: `4×[32×64×32]`. A launch is no work: it is called what the host calls.
    """
    record = setting.scene.record
    if event.kind not in WORK:
        return short(event.name)
    nodes = [setting.nodes[name] for name in event.nodes if name in setting.nodes]
    return told(nodes, record) if nodes and record is not None else short(event.name)


def told(nodes: Sequence[GraphNode], record: GraphRecord) -> str:
    """Return what nodes that ran as one compute, what does most of the work first."""
    working = [node for node in nodes if not _is_view(node)] or list(nodes)
    heavy = [node for node in working if node.op_type in _PRODUCTS | _CONVOLUTIONS]
    first = heavy[:1] or working[:1]
    others = list(dict.fromkeys(node.op_type for node in working if node not in first))
    more = [f"{len(others) - _MOST_OTHERS} more"] if len(others) > _MOST_OTHERS + 1 else []
    kept = others[:_MOST_OTHERS] if more else others
    return " + ".join([_sized(first[0], record), *kept, *more])


def _is_view(node: GraphNode) -> bool:
    known = find(node.domain, node.op_type)
    return known is not None and known.traffic in (Movement.VIEW, Movement.NOTHING)


def _sized(node: GraphNode, record: GraphRecord) -> str:
    sizes = ""
    if node.op_type in _PRODUCTS:
        sizes = _product(node, record)
    elif node.op_type in _CONVOLUTIONS:
        sizes = _convolution(node, record)
    return f"{node.op_type} {sizes}".rstrip()


def _shape(record: GraphRecord, name: str) -> tuple[int, ...]:
    """Return the sizes of a tensor; none where one of them is not known."""
    spec = record.static(name)
    return tuple(int(size) for size in spec.shape) if spec is not None else ()


def _at(names: Sequence[str], place: int) -> str:
    return names[place] if place < len(names) else ""


def _product(node: GraphNode, record: GraphRecord) -> str:
    right, result = _shape(record, _at(node.inputs, 1)), _shape(record, _at(node.outputs, 0))
    if len(right) < 2 or len(result) < 2 or 0 in result:
        return ""
    # one matrix on the right is the same for all rows, however many axes these have
    alone = len(right) == 2
    rows = math.prod(result[:-1]) if alone else result[-2]
    many = 1 if alone else math.prod(result[:-2])
    inner = math.prod(right[-2:]) // result[-1]
    sizes = f"{rows}×{inner}×{result[-1]}"
    return f"{many}×[{sizes}]" if many > 1 else sizes


def _convolution(node: GraphNode, record: GraphRecord) -> str:
    weights, result = _shape(record, _at(node.inputs, 1)), _shape(record, _at(node.outputs, 0))
    if len(weights) < 3 or len(result) != len(weights):
        return ""
    window, places = ("×".join(map(str, sizes[2:])) for sizes in (weights, result))
    group = node.attributes.get("group", 1)
    taken = weights[1] * group if isinstance(group, int) else weights[1]
    return f"{window}, {taken} → {weights[0]} at {places}"
