"""Files for Model Explorer: the graph with its critical path, and time as node data."""

from __future__ import annotations

from typing import Any

from burnish.core import records, units
from burnish.report.graph import heat
from burnish.report.graph.describe import Describer
from burnish.report.graph.groups import View, full
from burnish.report.graph.overlay import Overlay, leads
from burnish.report.graph.picture import Picture, overlay
from burnish.store.graph import GraphNode, GraphRecord

_PATH = heat.LIGHT["path"]


def graph(picture: Picture) -> str:
    """Return a graph collection of one graph; its overlay is the critical path."""
    view, time = full(picture.graph), overlay(picture)
    document: dict[str, Any] = {
        "id": picture.graph.name,
        "nodes": [*_ends(view), *_nodes(picture.graph)],
        "groupNodeAttributes": {"": _about(picture, time)},
    }
    if time is not None and time.critical:
        document["tasksData"] = {
            "edgeOverlaysDataListLeftPane": [_critical_path(picture.graph, time, view)]
        }
    return records.text_of({"label": picture.label, "graphs": [document]})


def node_data(picture: Picture) -> str:
    """Return microseconds by node, each written once, so that the sums of groups are right."""
    time = overlay(picture)
    costs = leads(time) if time else {}
    results = {
        name: {"value": round(1e6 * sum(cost.seconds_s for cost in shown), 3)}
        for name, shown in costs.items()
    }
    colours = [heat.LIGHT[f"heat-{step}"] for step in range(heat.STEPS)]
    stops = [round(step / (heat.STEPS - 1), 3) for step in range(heat.STEPS)]
    return records.text_of(
        {
            picture.graph.name: {
                "name": f"time (µs) on {time.engine}" if time else "time (µs)",
                "results": results,
                "gradient": [
                    {"stop": stop, "bgColor": colour}
                    for stop, colour in zip(stops, colours, strict=True)
                ],
            }
        }
    )


def _about(picture: Picture, time: Overlay | None) -> dict[str, str]:
    about = {"model": picture.label}
    if time is not None:
        about |= {
            "engine": time.engine,
            "time of an inference": units.seconds(time.wall_s),
            "led back to nodes": units.share(time.coverage),
            "unattributed": units.seconds(time.unattributed_s),
        }
    return about


def _ends(view: View) -> list[dict[str, Any]]:
    makers = {target: view.boxes[source].key for source, target in view.edges}
    return [
        {
            "id": box.key,
            "label": box.label,
            "namespace": "",
            "incomingEdges": [_edge(makers[index], 0, 0)] if index in makers else [],
        }
        for index, box in enumerate(view.boxes)
        if box.kind in ("input", "output")
    ]


def _nodes(record: GraphRecord) -> list[dict[str, Any]]:
    makers = {spec.name: (f"input {spec.name}", 0) for spec in record.inputs}
    nodes = []
    for node in record.nodes:
        nodes.append(_node(node, record, makers))
        makers.update({name: (node.name, place) for place, name in enumerate(node.outputs)})
    return nodes


def _node(
    node: GraphNode, record: GraphRecord, makers: dict[str, tuple[str, int]]
) -> dict[str, Any]:
    return {
        "id": node.name,
        "label": node.op_type,
        "namespace": node.layer,
        "attrs": [
            {"key": key, "value": str(value)} for key, value in sorted(node.attributes.items())
        ],
        "incomingEdges": [
            _edge(*makers[name], place) for place, name in enumerate(node.inputs) if name in makers
        ],
        "outputsMetadata": [
            {
                "id": str(place),
                "attrs": [
                    {"key": "__tensor_tag", "value": name},
                    {"key": "tensor", "value": str(record.tensors.get(name, name))},
                ],
            }
            for place, name in enumerate(node.outputs)
        ],
    }


def _edge(source: str, output: int, place: int) -> dict[str, str]:
    return {
        "sourceNodeId": source,
        "sourceNodeOutputId": str(output),
        "targetNodeInputId": str(place),
    }


def _critical_path(record: GraphRecord, time: Overlay, view: View) -> dict[str, Any]:
    edges = sorted(Describer(record, time).critical_edges(view))
    return {
        "type": "edge_overlays",
        "name": "Critical path",
        "graphName": record.name,
        "overlays": [
            {
                "name": "longest chain if branches ran at the same time",
                "edgeColor": _PATH,
                "edgeWidth": 3,
                "edges": [
                    {"sourceNodeId": view.boxes[a].key, "targetNodeId": view.boxes[b].key}
                    for a, b in edges
                ],
            }
        ],
    }
