"""The time of every node as a table: CSV, markdown and JSON are three readings of it."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from burnish.core import records, units
from burnish.report import markdown
from burnish.report.graph.overlay import DrawnCost, followers, leads
from burnish.report.graph.picture import Picture, overlay
from burnish.report.table import table as shown
from burnish.store.graph import GraphNode

SCHEMA = 1
_TITLES = ("node", "operator", "module", "time", "share", "up to here", "ceiling", "how known")


@dataclass(frozen=True, slots=True)
class NodeRow:
    """One node of the model, and the time that is shown on it."""

    node: str
    op_type: str
    module: str
    seconds_s: float | None
    """None: no time was recorded for it, or it is in that of another node."""
    after_s: float | None
    """After the change, where there was one."""
    within: str | None
    """The node on which its time is shown together with that of others."""
    confidence: str | None


@dataclass(frozen=True, slots=True)
class NodeTable:
    """All nodes, the most expensive first; times add up to what is attributed, each once."""

    label: str
    engine: str | None
    wall_s: float | None
    after_wall_s: float | None
    unattributed_s: float | None
    rows: tuple[NodeRow, ...]


def table(picture: Picture) -> NodeTable:
    """Return the time of every node."""
    time = overlay(picture)
    shown, inside = (leads(time), followers(time)) if time else ({}, {})
    rows = [_row(node, shown.get(node.name, ()), inside) for node in picture.graph.nodes]
    rows.sort(key=lambda row: -(row.seconds_s or 0.0))
    return NodeTable(
        label=picture.label,
        engine=time.engine if time else None,
        wall_s=time.wall_s if time else None,
        after_wall_s=time.after_wall_s if time else None,
        unattributed_s=time.unattributed_s if time else None,
        rows=tuple(rows),
    )


def _row(node: GraphNode, costs: Sequence[DrawnCost], inside: Mapping[str, DrawnCost]) -> NodeRow:
    after = [cost.after_s for cost in costs if cost.after_s is not None]
    within = inside[node.name].nodes[0] if not costs and node.name in inside else None
    return NodeRow(
        node=node.name,
        op_type=node.op_type,
        module=node.layer,
        seconds_s=sum(cost.seconds_s for cost in costs) if costs else None,
        after_s=sum(after) if after else None,
        within=within,
        confidence=", ".join(sorted({cost.confidence for cost in costs})) or None,
    )


def as_csv(picture: Picture) -> str:
    """Return one line per node, in seconds, and one for the time of no node."""
    found = table(picture)
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    writer.writerow(("node", "op_type", "module", "seconds", "after_seconds", "within", "known"))
    for row in found.rows:
        facts = (_number(row.seconds_s), _number(row.after_s), row.within, row.confidence)
        writer.writerow((row.node, row.op_type, row.module, *facts))
    if found.unattributed_s is not None:
        nobody_s = _number(found.unattributed_s)
        writer.writerow(("unattributed", "", "", nobody_s, None, None, None))
    return written.getvalue()


def _number(seconds_s: float | None) -> str:
    """Return seconds with nine digits, more than any clock gives; nothing where not known."""
    return "" if seconds_s is None else f"{seconds_s:.9g}"


def as_json(picture: Picture) -> str:
    """Return the table as a document."""
    return records.text_of(records.document(table(picture), schema=SCHEMA))


def as_markdown(picture: Picture, *, most: int = 30) -> str:
    """Return the most expensive nodes, for a pull request."""
    found = table(picture)
    title = f"# {markdown.escaped(found.label)}: time by node\n\n"
    if found.wall_s is None or found.unattributed_s is None:
        return f"{title}{units.count(len(found.rows), 'node')}, no trace.\n"
    cells, sofar = [], 0.0
    for row in found.rows[:most]:
        sofar += row.seconds_s or 0.0
        cells.append(_cells(row, sofar, found.wall_s))
    nobody = _cells(
        NodeRow("unattributed", "", "", found.unattributed_s, None, None, None),
        sofar + found.unattributed_s, found.wall_s,
    )  # fmt: skip
    remark = f"{units.seconds(found.wall_s)} an inference on {found.engine}"
    left = len(found.rows) - most
    if left > 0:
        remark += f"; {units.count(left, 'more node')} not shown"
    content = shown("", _TITLES, (*cells, nobody), numeric=_TITLES[3:7], remark=remark)
    return f"{title}{markdown.table(content)}\n"


def _cells(row: NodeRow, sofar_s: float, wall_s: float) -> tuple[str, ...]:
    seconds_s = row.seconds_s or 0.0
    share = seconds_s / wall_s if wall_s else 0.0
    ceiling = 1 / (1 - share) if share < 1 - 1e-9 else math.inf
    return (
        row.node,
        row.op_type,
        row.module,
        units.recorded(seconds_s, 1) if row.seconds_s is not None else "–",
        units.share(share),
        units.share(sofar_s / wall_s if wall_s else 0.0),
        units.ratio(ceiling) if math.isfinite(ceiling) else "∞",
        row.confidence or (f"in {row.within}" if row.within else ""),
    )
