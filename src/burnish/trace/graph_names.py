"""Which nodes of a model a name that an engine uses stands for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from burnish.store.graph import GraphRecord
from burnish.trace.events import Confidence, Span
from burnish.trace.layer_names import nodes_of

Owner = tuple[tuple[str, ...], Confidence]

_CAST = re.compile("Inserted(?:PrecisionFree)?Cast_(?P<tensor>.+)")
_BIAS = "MatMulAddFusion"
"""How ONNX Runtime names a change of type for a tensor, and a product with the bias added."""


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
