"""Which nodes TensorRT put into a layer, as the layer's name and metadata tell."""

from __future__ import annotations

import re
from collections.abc import Mapping

from burnish.trace.events import Confidence

_METADATA = re.compile(r"\[ONNX Layer: (.*?)\](?=\x1e|\[|\s*$)")
_FOREIGN = re.compile(r"\{ForeignNode\[(?P<first>.+?)\.\.\.(?P<last>.+?)\]\}")
_REFORMAT = re.compile(r"^Reformatting CopyNode for (?:Input|Output) Tensor \d+ (?:to|of) ")
_WRAPPED = re.compile(r"\b(?:PWN|fc|conv|squeeze_after|unsqueeze_node_after)\(")
_BETWEEN = re.compile(r"\s\+\s|\s\|\|\s|,\s")


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
