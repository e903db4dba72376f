"""ONNX Runtime as a candidate: a group's ONNX nodes as a part that ONNX Runtime can run."""

from __future__ import annotations

import hashlib

import onnx_ir as ir

from burnish.codegen.regions import cut
from burnish.codegen.tune.measure import OrtCandidate
from burnish.store import external_data
from burnish.tile.graph import TileGraph
from burnish.tile.group import Group
from burnish.tile.lower import named, operator, tensor_type
from burnish.tile.workload import is_contraction


class NoCandidateError(Exception):
    """ONNX Runtime does not compete for a group; the text says why."""


def ort_candidate(group: Group, graph: TileGraph, model: ir.Model) -> OrtCandidate:
    """Return the part of a static model that does the work of a group.

    Only groups with sums of products have one: elsewhere a call of ONNX Runtime costs more than it
    can gain. What the part reads and writes must be in memory around the group as well.
    """
    if not any(is_contraction(op) for op in group.ops):
        raise NoCandidateError("there is no matrix product or convolution in it")
    wanted = set(group.nodes)
    nodes = [node for node in model.graph if named(node) in wanted]
    part = cut(model, nodes, "part")
    inputs = tuple(value.name or "" for value in part.graph.inputs)
    if missing := set(inputs) - set(group.inputs):
        raise NoCandidateError(f"its nodes read {_listed(missing)}, which the group does not")
    if missing := set(group.outputs) - {value.name for value in part.graph.outputs}:
        raise NoCandidateError(f"its nodes do not give {_listed(missing)}")
    values = (*part.graph.inputs, *part.graph.outputs)
    shapes = {value.name or "": kind.shape for value in values if (kind := tensor_type(value))}
    return OrtCandidate(lambda: _content(part), inputs, group.outputs, _kind(nodes), shapes)


def _content(part: ir.Model) -> bytes:
    copy = part.clone()
    external_data.inline_the_rest(copy, kept="")
    return bytes(ir.to_proto(copy).SerializeToString())


def _kind(nodes: list[ir.Node]) -> str:
    """Return a text that tells apart what ONNX Runtime may run in different time."""
    words = [f"{operator(node)} {sorted(map(str, node.attributes.values()))}" for node in nodes]
    return hashlib.sha256("\n".join(words).encode()).hexdigest()[:16]


def _listed(names: set[str]) -> str:
    return ", ".join(repr(name) for name in sorted(names))
