"""Which events a what-if is about: by name, operator, kernel, layer, pattern, or the longest."""

from __future__ import annotations

import difflib
import fnmatch
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from burnish.analyze.event_graph import Event, EventGraph
from burnish.core.errors import UsageError
from burnish.core.whole import whole
from burnish.store.graph import GraphNode, GraphRecord

KINDS = ("name", "glob", "re", "op", "kernel", "layer", "pattern", "top", "id")
"""What may stand before a colon; without one, the first of name, op and glob that fits."""

_CONTRACTIONS = frozenset({"MatMul", "Gemm", "Conv", "ConvTranspose", "Einsum", "Attention"})


@dataclass(frozen=True, slots=True)
class Selector:
    """How events are chosen."""

    kind: str
    """One of KINDS, or `any`."""
    text: str

    def __str__(self) -> str:
        return self.text if self.kind == "any" else f"{self.kind}:{self.text}"


@dataclass(frozen=True, slots=True)
class Scene:
    """What can be selected from: the events, and where it is known the graph behind them."""

    graph: EventGraph
    record: GraphRecord | None = None
    patterns: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Nodes by the name of the group, in lower case, that the kernel library puts them in."""
    ids: tuple[tuple[str, ...], ...] = ()
    """The nodes behind each number that Amdahl4ML gives; empty: events are numbered as they ran."""


def parse(text: str) -> Selector:
    """Return the selector that a user wrote, for instance `op:Softmax`, `top:3`, `*attention*`."""
    kind, colon, rest = text.partition(":")
    if colon and kind in KINDS and rest:
        return Selector(kind, rest)
    return Selector("any", text)


def select(selector: Selector, scene: Scene) -> tuple[int, ...]:
    """Return the places of the working events that are meant; none is an error."""
    found = _find(selector, scene)
    if not found:
        raise _unknown(selector, scene)
    return found


def _find(selector: Selector, scene: Scene) -> tuple[int, ...]:
    text = selector.text
    match selector.kind:
        case "name":
            return _where(scene, lambda event: text in _names(event))
        case "glob":
            return _where(scene, lambda event: any(_fits(name, text) for name in _names(event)))
        case "re":
            expression = _expression(text)
            return _where(scene, lambda event: any(map(expression.search, _names(event))))
        case "op":
            return _by_operator(text, scene)
        case "kernel":
            return _where(scene, lambda event: text in event.name or _fits(event.name, text))
        case "layer":
            return _by_layer(text, scene)
        case "pattern":
            return _by_pattern(text, scene)
        case "top" | "id":
            return _by_number(selector, scene)
        case _:
            kinds = ("name", "op", "glob", "pattern")
            return next((f for kind in kinds if (f := _find(Selector(kind, text), scene))), ())


def _where(scene: Scene, fits: object) -> tuple[int, ...]:
    assert callable(fits)
    return tuple(place for place in scene.graph.work if fits(scene.graph.events[place]))


def _names(event: Event) -> tuple[str, ...]:
    return (event.name, *event.nodes)


def _fits(name: str, pattern: str) -> bool:
    return fnmatch.fnmatchcase(name, pattern)


def _expression(text: str) -> re.Pattern[str]:
    try:
        return re.compile(text)
    except re.error as error:
        raise UsageError(
            f"re:{text} is no regular expression ({error})",
            hint="select by name with * and ? instead: glob:*attention*",
        ) from error


def operator_of(event: Event, nodes: Mapping[str, GraphNode]) -> str | None:
    """Return the operator that an event is: the engine's, else its nodes' with a + between."""
    known = [nodes[name].op_type for name in event.nodes if name in nodes]
    if event.kind == "node" and event.op_type and not event.op_type.startswith("aten::"):
        return event.op_type
    return "+".join(dict.fromkeys(known)) or event.op_type


def operators_of(event: Event, nodes: Mapping[str, GraphNode]) -> frozenset[str]:
    """Return the names under which an event's operator can be selected, in lower case.

    A product with its bias is a product; it is not selected as an addition.
    """
    own = operator_of(event, nodes)
    names = {own.lower()} if own else set[str]()
    if event.op_type:
        names.add(event.op_type.lower())
    heavy = {nodes[name].op_type for name in event.nodes if name in nodes} & _CONTRACTIONS
    return frozenset(names | {name.lower() for name in heavy})


def nodes_of(record: GraphRecord | None) -> dict[str, GraphNode]:
    """Return the nodes of a graph by name; none without a graph."""
    return {node.name: node for node in record.nodes} if record is not None else {}


def _by_operator(text: str, scene: Scene) -> tuple[int, ...]:
    nodes = nodes_of(scene.record)
    return _where(scene, lambda event: text.lower() in operators_of(event, nodes))


def _by_layer(text: str, scene: Scene) -> tuple[int, ...]:
    layer = tuple(text.strip("/").split("/"))
    nodes = nodes_of(scene.record)
    inside = {name for name, node in nodes.items() if _holds(node.scope, layer)}
    return _where(scene, lambda event: any(name in inside for name in _names(event)))


def _holds(scope: Sequence[str], layer: tuple[str, ...]) -> bool:
    """Return whether a layer is among the modules around a node, whatever those are inside of."""
    starts = range(len(scope) - len(layer) + 1)
    return any(tuple(scope[at : at + len(layer)]) == layer for at in starts)


def _by_pattern(text: str, scene: Scene) -> tuple[int, ...]:
    """Return the events of a group of the kernel library, or of chains like `MatMul>Add>Gelu`."""
    members = set(scene.patterns.get(text.lower(), ()))
    chain = [part.strip().lower() for part in text.split(">")]
    if scene.record is not None and len(chain) > 1:
        members |= {name for found in chains(scene.record, chain) for name in found}
    return _where(scene, lambda event: any(name in members for name in _names(event)))


def chains(record: GraphRecord, operators: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """Return the nodes of each chain of these operators, in lower case, one feeding the next."""
    makers = {name: node for node in record.nodes for name in node.outputs}
    found: list[tuple[str, ...]] = []
    for node in record.nodes:
        if node.op_type.lower() == operators[-1]:
            found += _chains_into(node, operators[:-1], makers)
    return tuple(found)


def _chains_into(
    node: GraphNode, operators: Sequence[str], makers: Mapping[str, GraphNode]
) -> list[tuple[str, ...]]:
    if not operators:
        return [(node.name,)]
    before = [makers[name] for name in node.inputs if name in makers]
    return [
        (*chain, node.name)
        for maker in dict.fromkeys(maker.name for maker in before)
        for one in before
        if one.name == maker and one.op_type.lower() == operators[-1]
        for chain in _chains_into(one, operators[:-1], makers)
    ]


def _by_number(selector: Selector, scene: Scene) -> tuple[int, ...]:
    number, work = whole(selector.text), scene.graph.work
    if number is None:
        raise UsageError(
            f"{selector} is not a number", hint="write top:3 for the three longest, id:7 for one"
        )
    if selector.kind == "id":
        return _by_id(number, scene)
    longest = sorted(work, key=lambda place: -scene.graph.events[place].duration_s)
    return tuple(sorted(longest[:number]))


def _by_id(number: int, scene: Scene) -> tuple[int, ...]:
    if not scene.ids:
        return scene.graph.work[number : number + 1]
    members = {name for names in scene.ids[number : number + 1] for name in names}
    return _where(scene, lambda event: not members.isdisjoint(_names(event)))


def _unknown(selector: Selector, scene: Scene) -> UsageError:
    known = _known(selector.kind, scene)
    near = difflib.get_close_matches(selector.text, known, n=5, cutoff=0.3)
    shown = near or known[:5]
    more = f" ({len(known)} in all)" if len(known) > len(shown) else ""
    hint = f"the nearest: {', '.join(shown)}{more}" if shown else "the trace names none"
    if selector.kind in ("layer", "pattern") and scene.record is None:
        hint = "give the model too: --model MODEL"
    if selector.kind == "id":
        hint = _numbers(int(selector.text), scene)
    return UsageError(f"{selector} selects nothing", hint=hint)


def _numbers(number: int, scene: Scene) -> str:
    if not scene.ids:
        return f"events are numbered from 0 to {len(scene.graph.work) - 1}, as they ran"
    if number < len(scene.ids):
        nodes = ", ".join(scene.ids[number])
        return f"it is {nodes}, which took no time of its own: select what it runs in"
    return f"nodes are numbered from 0 to {len(scene.ids) - 1}, in the order of the graph's list"


def _known(kind: str, scene: Scene) -> list[str]:
    nodes = nodes_of(scene.record)
    events = [scene.graph.events[place] for place in scene.graph.work]
    names = [name for event in events for name in _names(event)]
    operators = [name for event in events if (name := operator_of(event, nodes))]
    layers = [node.layer for node in nodes.values() if node.scope]
    pools: dict[str, Iterable[str]] = {
        "op": operators,
        "layer": layers,
        "pattern": [*scene.patterns, *operators],
        "kernel": [event.name for event in events],
        "any": [*operators, *names],
    }
    return list(dict.fromkeys(pools.get(kind, names)))
