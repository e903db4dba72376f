"""Say which nodes of a model each span did the work of, and how that is known.

The surest way that leads anywhere is taken: the node's own name on the span, on a range around
the call that launched it, or in a layer's name; then the engine's own graph, through the names of
tensors; then PyTorch's operators; then what kernels of that name usually do.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from burnish.store.graph import GraphRecord
from burnish.trace.events import WORK, Confidence, Span, Trace
from burnish.trace.graph_units import GraphIndex, units
from burnish.trace.grouping import GroupLibrary, library
from burnish.trace.timed import timed
from burnish.trace.torch_attribution import Owners, attribute_torch

Owner = tuple[tuple[str, ...], Confidence]

_CAST = re.compile("Inserted(?:PrecisionFree)?Cast_(?P<tensor>.+)")
_BIAS = "MatMulAddFusion"
"""How ONNX Runtime names a change of type for a tensor, and a product with the bias added."""
_METADATA = re.compile(r"\[ONNX Layer: (.*?)\](?=\x1e|\[|\s*$)")
_FOREIGN = re.compile(r"\{ForeignNode\[(?P<first>.+?)\.\.\.(?P<last>.+?)\]\}")
_REFORMAT = re.compile(r"^Reformatting CopyNode for (?:Input|Output) Tensor \d+ (?:to|of) ")
_WRAPPED = re.compile(r"\b(?:PWN|fc|conv|squeeze_after|unsqueeze_node_after)\(")
_BETWEEN = re.compile(r"\s\+\s|\s\|\|\s|,\s")


@dataclass(frozen=True, slots=True)
class TimeCoverage:
    """How much of the time that was recorded is led back to nodes of the model."""

    total_s: float
    seconds_s: Mapping[Confidence, float]
    """The time of each confidence, `none` included; together they are the total."""
    unattributed: int
    """How many spans are led back to nothing."""

    @property
    def attributed_s(self) -> float:
        """Return the time that is led back to some node."""
        return sum(s for confidence, s in self.seconds_s.items() if confidence != "none")

    @property
    def share(self) -> float:
        """Return the part of the time that is led back to some node."""
        return self.attributed_s / self.total_s if self.total_s else 0.0


def attribute(trace: Trace, graph: GraphRecord, groups: GroupLibrary | None = None) -> Trace:
    """Return the trace with `nodes` and `confidence` on every span that some way leads back.

    Nothing is dropped; spans that no way leads back keep no nodes. Where nothing at all is led
    back, a note says why.
    """
    known = groups or library()
    owners = _by_name(trace, GraphNames(graph))
    torch = attribute_torch(trace.spans, graph, known)
    owners = torch.owners | owners
    owners = _by_kernel(trace.spans, graph, known, owners) | owners if not torch.notes else owners
    operators = {node.name: node.op_type for node in graph.nodes}
    spans = tuple(
        _owned(span, *owners[at], operators) if at in owners else span
        for at, span in enumerate(trace.spans)
    )
    found = replace(trace, spans=spans, notes=(*trace.notes, *torch.notes))
    if torch.notes or coverage(found).share or not coverage(found).total_s:
        return found
    return replace(found, notes=(*found.notes, _nothing(found, graph)))


def _owned(
    span: Span, nodes: tuple[str, ...], confidence: Confidence, operators: Mapping[str, str]
) -> Span:
    """Return a span with its nodes; its operator is theirs, where the trace names none."""
    op_type = span.op_type
    if op_type is None and span.category in WORK:
        op_type = "+".join(dict.fromkeys(operators[name] for name in nodes if name in operators))
    return replace(span, nodes=nodes, confidence=confidence, op_type=op_type or None)


def coverage(trace: Trace) -> TimeCoverage:
    """Return how much of a trace's time is led back to nodes, over all its inferences."""
    seconds: dict[Confidence, float] = defaultdict(float)
    unattributed = 0
    for span, own_s in timed(trace).own:
        seconds[span.confidence if span.nodes else "none"] += own_s
        unattributed += not span.nodes
    return TimeCoverage(sum(seconds.values()), dict(seconds), unattributed)


def _nothing(trace: Trace, graph: GraphRecord) -> str:
    ran = next((s.node or s.name for s, _ in timed(trace).own), "")
    has = graph.nodes[0].name if graph.nodes else "no nodes"
    return (
        f"no time is led back to the model's nodes: the trace may be of another model (it has for"
        f" instance {ran!r}, the model {has!r})"
    )


def _by_name(trace: Trace, names: GraphNames) -> Owners:
    """Return what names tell: of nodes, of ranges around launches, of layers and of tensors."""
    found: Owners = {}
    for at, span in enumerate(trace.spans):
        if span.category == "run":
            continue
        for name in (span.node, *_around(trace.spans, span)):
            owner = names.owner(name, span, trace.origins) if name else None
            if owner is not None:
                found[at] = owner
                break
    return found


def _around(spans: Sequence[Span], span: Span) -> list[str]:
    """Return the names of the ranges around a span, or around what launched it, inner first."""
    names = []
    at = span.cause if span.cause is not None else span.parent
    while at is not None:
        if spans[at].category == "range" or spans[at].node:
            names.append(spans[at].node or spans[at].name)
        at = spans[at].parent
    return names


def _by_kernel(
    spans: Sequence[Span], graph: GraphRecord, known: GroupLibrary, owners: Owners
) -> Owners:
    """Return what the names of kernels suggest, where nothing better is known.

    Only if there are as many kernels of a kind in an inference as the graph has units of it:
    kernels that are fewer or more may each be any of them.
    """
    orphans = [
        at
        for at, span in enumerate(spans)
        if at not in owners and span.category == "kernel" and span.run >= 0
    ]
    groups = [group for group in known.groups if group.kernel]
    if not orphans or not groups:
        return {}
    index = GraphIndex(graph)
    by_expression: dict[str, list[tuple[str, ...]]] = defaultdict(list)
    for unit in units(index, groups):
        names = tuple(graph.nodes[at].name for at in unit.nodes)
        by_expression[unit.group.kernel].append(names)
    found: Owners = {}
    for expression, members in by_expression.items():
        likes = re.compile(expression, re.IGNORECASE)
        by_run: dict[int, list[int]] = defaultdict(list)
        for at in orphans:
            if at not in found and likes.search(spans[at].name):
                by_run[spans[at].run].append(at)
        for matching in by_run.values():
            if len(matching) == len(members):
                found |= {at: (m, "pattern") for at, m in zip(matching, members, strict=True)}
    return found


class GraphNames:
    """A model's nodes by their names, by those of their tensors, and by names made from these."""

    def __init__(self, graph: GraphRecord) -> None:
        self._graph = graph
        self._at = {node.name: at for at, node in enumerate(graph.nodes)}
        self._writer = {name: node.name for node in graph.nodes for name in node.outputs if name}

    def owner(self, name: str, span: Span, origins: Mapping[str, tuple[str, ...]]) -> Owner | None:
        """Return the nodes that a name on or around a span stands for; None: it tells nothing."""
        own = name == span.node
        if own and origins:
            # an engine that tells its graph may call a node of its own as the model calls another
            behind = tuple(node for node in origins.get(name, ()) if node in self._at)
            return (behind, "exact" if behind == (name,) else "tensor") if behind else None
        if name in self._at:
            return (name,), "exact"
        metadata = str(span.attributes.get("metadata", "")) if own else ""
        nodes, confidence = nodes_of(name, metadata, self._at)
        if nodes:
            return nodes, confidence
        outputs = span.attributes.get("outputs", ())
        if own and isinstance(outputs, tuple) and (written := self._writers(map(str, outputs))):
            return written, "tensor"
        made_from = self._made_from(name)
        return (made_from, "pattern") if made_from else None

    def _writers(self, tensors: Iterable[str]) -> tuple[str, ...]:
        found = {self._writer[tensor] for tensor in tensors if tensor in self._writer}
        return tuple(sorted(found, key=lambda name: self._at[name]))

    def _made_from(self, name: str) -> tuple[str, ...]:
        """Return the nodes behind a name that ONNX Runtime made by adding to one of the model's."""
        if cast := _CAST.fullmatch(name):
            return self._writers([cast["tensor"]]) or self._only_reader(cast["tensor"])
        base = name
        while base and base not in self._at and base not in self._writer:
            base = base[: max(base.rfind("/"), base.rfind("_"), 0)]
        if base not in self._at:
            return self._writers([base])
        return (base, *self._bias(base)) if _BIAS in name else (base,)

    def _only_reader(self, tensor: str) -> tuple[str, ...]:
        """Return the one node that reads a weight; none where several do."""
        readers = [node.name for node in self._graph.nodes if tensor in node.inputs]
        return tuple(readers) if len(readers) == 1 else ()

    def _bias(self, product: str) -> tuple[str, ...]:
        written = self._graph.nodes[self._at[product]].outputs
        adds = (node for node in self._graph.nodes if node.op_type == "Add")
        return tuple(node.name for node in adds if set(written) & set(node.inputs))[:1]


def nodes_of(
    name: str, metadata: str, positions: Mapping[str, int]
) -> tuple[tuple[str, ...], Confidence]:
    """Return the nodes behind a layer, in the graph's order, and how they are known.

    `positions` are the places of the model's nodes in its graph. A block that TensorRT's own
    compiler made (`ForeignNode`) tells its first and last node only: those between them in the
    graph's order are taken to be in it.
    """
    written = [node for node in _METADATA.findall(metadata) if node in positions]
    if written:
        return _ordered(written, positions), "exact"
    if foreign := _FOREIGN.search(name):
        ends = [positions.get(foreign[end]) for end in ("first", "last")]
        first, last = ends
        if first is None or last is None:
            return (), "none"
        inside = [node for node, at in positions.items() if first <= at <= last]
        return _ordered(inside, positions), "pattern"
    bare = _REFORMAT.sub("", name)
    parts = [_unwrapped(part) for part in _BETWEEN.split(bare)]
    known = [part for part in parts if part in positions]
    if not known:
        return (), "none"
    return _ordered(known, positions), "exact" if bare == name else "pattern"


def _ordered(nodes: list[str], positions: Mapping[str, int]) -> tuple[str, ...]:
    return tuple(sorted(set(nodes), key=lambda node: positions[node]))


def _unwrapped(part: str) -> str:
    bare = _WRAPPED.sub("", part).strip()
    return bare.rstrip(")") if bare != part.strip() or bare.count("(") < bare.count(")") else bare
