"""The library that says which nodes of a graph one operator or kernel performs together.

It is data: `groups/*.toml`, and files of a user's own before these. Amdahl4ML's XML is accepted
too; of its patterns, the operators and that they are connected are kept, not their order.
"""

from __future__ import annotations

import re
import tomllib
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from burnish.core.documents import reason
from burnish.core.errors import UsageError

_OWN = Path(__file__).parent / "groups"
_CONSTANT = ":constant"
_HINT = f"see {_OWN / 'torch.toml'} for how such a file is written"


_SENSELESS = (
    ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError, ET.ParseError,
    re.error,
)  # fmt: skip
"""What parsing any text, and taking apart any table, may raise."""


@dataclass(frozen=True, slots=True)
class GroupNode:
    """One node of a group."""

    op_types: frozenset[str]
    """Any of these, in lower case."""
    constant: bool = False
    """Whether one of its inputs must be a constant."""
    optional: bool = False


@dataclass(frozen=True, slots=True)
class NodeGroup:
    """Nodes that one operator, or one kernel, performs together."""

    name: str
    parts: tuple[GroupNode, ...]
    """The first tells where to look; the others are found around it."""
    torch: frozenset[str] = frozenset()
    kernel: str = ""
    """A regular expression for kernels; empty: none is known."""
    anywhere: bool = False
    """Whether the nodes may lie in different modules."""
    fillers: frozenset[str] = frozenset()
    """Further operators, in lower case, of which any number may lie between the parts."""


@dataclass(frozen=True, slots=True)
class GroupLibrary:
    """All groups in the order in which they are tried."""

    groups: tuple[NodeGroup, ...]
    follows: frozenset[str] = frozenset()
    """Operators of PyTorch that are part of what was computed just before them."""
    views: frozenset[str] = frozenset()
    """ONNX operators, in lower case, that only look at a tensor another way."""

    @property
    def torch(self) -> frozenset[str]:
        """Return every operator of PyTorch that performs some group."""
        return frozenset().union(*(group.torch for group in self.groups))


def library(extra: Sequence[Path] = ()) -> GroupLibrary:
    """Return the groups of the given files, then Burnish's own."""
    found = [read(path) for path in (*extra, *sorted(_OWN.glob("*.toml")))]
    groups = [group for each in found for group in each.groups]
    return GroupLibrary(
        groups=tuple(sorted(groups, key=lambda group: len(group.parts) == 1 and not group.kernel)),
        follows=frozenset().union(*(each.follows for each in found)),
        views=frozenset().union(*(each.views for each in found)),
    )


def read(path: Path) -> GroupLibrary:
    """Return the groups in a TOML file, or in Amdahl4ML's XML."""
    try:
        text = path.read_text(encoding="utf-8")
        found = _from_xml(text) if text.lstrip().startswith("<") else _from_toml(text)
        for group in found.groups:
            re.compile(group.kernel)
    except OSError as error:
        raise UsageError(f"{path}: cannot be read ({error.strerror})", hint=_HINT) from error
    except _SENSELESS as error:
        what = f"{error} is missing" if isinstance(error, KeyError) else reason(error)
        raise UsageError(f"{path}: is no library of groups ({what})", hint=_HINT) from error
    return found


def _from_toml(text: str) -> GroupLibrary:
    data = tomllib.loads(text)
    unknown = set(data) - {"group", "operators", "follows", "views"}
    if unknown:
        raise ValueError(f"unknown table {sorted(unknown)[0]!r}")
    groups = [_group(table) for table in data.get("group", [])]
    for name, op_types in data.get("operators", {}).items():
        groups.append(NodeGroup(op_types, (_part(op_types),), torch=frozenset([name])))
    return GroupLibrary(
        groups=tuple(groups),
        follows=frozenset(data.get("follows", {}).get("torch", [])),
        views=frozenset(op.lower() for op in data.get("views", {}).get("nodes", [])),
    )


def _group(table: Mapping[str, Any]) -> NodeGroup:
    if not isinstance(table["name"], str):
        raise TypeError(f"a group is named {table['name']!r}")
    return NodeGroup(
        name=table["name"],
        parts=tuple(_part(text) for text in table["nodes"]),
        torch=frozenset(table.get("torch", [])),
        kernel=table.get("kernel", ""),
        anywhere=bool(table.get("anywhere", False)),
    )


def _part(text: str) -> GroupNode:
    bare = text.removesuffix("?")
    return GroupNode(
        op_types=frozenset(bare.removesuffix(_CONSTANT).lower().split("|")),
        constant=bare.endswith(_CONSTANT),
        optional=text.endswith("?"),
    )


def _from_xml(text: str) -> GroupLibrary:
    root = ET.fromstring(text)
    fillers = frozenset(node.attrib["name"].lower() for node in root.iter("miscNode"))
    groups = [_xml_group(element, fillers) for element in root.iter("OperationGroup")]
    # Amdahl4ML keeps the match with the most nodes
    groups.sort(key=lambda group: -len(group.parts))
    for element in root.iter("singleOperation"):
        attributes = element.attrib
        part = _part(attributes["nodeName"])
        kernel = attributes.get("kernelNameRegex", "")
        groups.append(NodeGroup(attributes["name"], (part,), kernel=_from_start(kernel)))
    return GroupLibrary(tuple(groups))


def _xml_group(element: ET.Element, fillers: frozenset[str]) -> NodeGroup:
    name, kernel = element.findtext("name", "").strip(), element.findtext("kernelNameRegex", "")
    nodes = element.find("nodes")
    if not name or nodes is None:
        raise ValueError("an OperationGroup has no name or no nodes")
    parts = tuple(_xml_parts(nodes))
    swallowed = fillers if nodes.find(".//miscellaneousNodes") is not None else frozenset()
    return NodeGroup(name, parts, kernel=_from_start(kernel), anywhere=True, fillers=swallowed)


def _xml_parts(nodes: ET.Element) -> Iterator[GroupNode]:
    for node in nodes.iter("node"):
        yield _part((node.text or "").strip())


def _from_start(kernel: str) -> str:
    """Return an expression that is looked for anywhere as one that Amdahl4ML matches whole."""
    return f"^(?:{kernel.strip()})" if kernel.strip() else ""
