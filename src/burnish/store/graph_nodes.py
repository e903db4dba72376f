"""Read the nodes of a model into plain records."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import onnx_ir as ir

from burnish.store.graph import Attribute, GraphNode

_REPLACED = "burnish.replaced"
"""Where a fused node keeps the names of those that it stands for."""
_SCOPES = ("pkg.torch.onnx.name_scopes", "namespace")
_KEPT = (
    ir.AttributeType.INT, ir.AttributeType.FLOAT, ir.AttributeType.STRING,
    ir.AttributeType.INTS, ir.AttributeType.FLOATS,
)  # fmt: skip
_NO_MODULE = "_empty_nn_module_stack"
"""What torch's exporter writes for an operator outside of all modules."""
_QUOTED = re.compile(r"'([^']*)'")


def node_names(graph: ir.Graph) -> tuple[str, ...]:
    """Return a name for each node of a graph: its own, or one made from operator and index."""
    taken = {node.name for node in graph if node.name}
    names, seen = [], set[str]()
    for index, node in enumerate(graph):
        name = node.name or f"{node.op_type}_{index}"
        while name in seen or (not node.name and name in taken):
            name = f"{name}_{index}"
        seen.add(name)
        names.append(name)
    return tuple(names)


def nodes_of(graph: ir.Graph) -> tuple[GraphNode, ...]:
    """Return the nodes of a graph, without those in the bodies of others."""
    return tuple(_nodes(graph))


def _nodes(graph: ir.Graph) -> Iterator[GraphNode]:
    for name, node in zip(node_names(graph), graph, strict=True):
        yield GraphNode(
            name=name,
            op_type=node.op_type,
            domain=node.domain,
            inputs=tuple(_name(value) for value in node.inputs),
            outputs=tuple(_name(value) for value in node.outputs),
            attributes=_attributes(node),
            scope=_scope(node),
            replaced=_replaced(node),
        )


def _replaced(node: ir.Node) -> tuple[str, ...]:
    if _REPLACED not in node.metadata_props:
        return ()
    try:
        written = json.loads(node.metadata_props[_REPLACED])
    except json.JSONDecodeError:
        return ()
    return tuple(map(str, written)) if isinstance(written, list) else ()


def _name(value: ir.Value | None) -> str:
    return (value.name or "") if value is not None else ""


def _attributes(node: ir.Node) -> dict[str, Attribute]:
    kept = {
        name: attribute.value
        for name, attribute in node.attributes.items()
        if isinstance(attribute, ir.Attr) and attribute.type in _KEPT
    }
    return {k: tuple(v) if isinstance(v, (list, tuple)) else v for k, v in kept.items()}


def _scope(node: ir.Node) -> tuple[str, ...]:
    """Return the modules around a node, as its metadata or else its name tells them."""
    for key in _SCOPES:
        if text := node.metadata_props.get(key, ""):
            return tuple(part for part in _scope_parts(text) if part)
    name = node.name or ""
    return tuple(name.strip("/").split("/")[:-1]) if name.startswith("/") else ()


def _scope_parts(text: str) -> list[str]:
    """Return the parts of a written scope; a list of dotted paths is told by its innermost."""
    if not text.startswith("["):
        return [part.partition(":")[0].strip() for part in text.strip("/").split("/")]
    paths = _QUOTED.findall(text)
    # the last entry is the operator itself, where there is more than the modules
    modules = [path for path in paths[:-1] or paths if not path.startswith(_NO_MODULE)]
    return _split_path(modules[-1]) if modules else []


def _split_path(path: str) -> list[str]:
    """Return `layer.0.attention` as `layer.0`, `attention`: a number belongs to its list."""
    parts: list[str] = []
    for part in path.split("."):
        if part.isdigit() and parts:
            parts[-1] += f".{part}"
        else:
            parts.append(part)
    return parts
