"""Read the times that TensorRT gives per layer (`trtexec --exportProfile`).

Layers tell how long they took, not when, so they are laid end to end. The layers' description
(`--exportLayerInfo`) is used where it lies beside the profile: `x_profile.json` with
`x_graph.json`, `x_layers.json` or `x_layer_info.json`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from burnish.core import documents, units
from burnish.core.errors import ModelError
from burnish.trace import fields
from burnish.trace.events import Fact, Span, Trace
from burnish.trace.formats import FORMATS, TraceFormat, content

_BESIDE = ("graph", "layers", "layer_info", "layerinfo")
_TRACK = "GPU 0 stream 0"
_HINT = "record it again with trtexec --exportProfile=FILE"


@dataclass(frozen=True, slots=True)
class _Layers:
    """What the layers' description says of each, by name, and what is not said."""

    by_name: Mapping[str, Mapping[str, Any]]
    notes: tuple[str, ...] = ()


def read(path: Path) -> Trace:
    """Return one typical inference; `notes` say how much longer it is than without profiling."""
    rows = _json(path)
    if isinstance(rows, dict):
        raise _description_only(path)
    layers = _layers(path)
    spans, at_s = [], 0.0
    for number, row in enumerate(_objects(rows, path)):
        if "name" not in row:
            continue
        length_s = _milliseconds(row, path, number) * 1e-3
        spans.append(_span(str(row["name"]), at_s, length_s, layers.by_name))
        at_s += length_s
    if not spans:
        raise ModelError(
            f"{path}: names no layer", hint="record it with trtexec --exportProfile=FILE"
        )
    run = Span("inference", "run", 0.0, at_s, "inference", 0)
    notes = ("TensorRT tells how long a layer took, not when: layers are laid end to end",)
    beyond = _without_profiling(path, at_s)
    return Trace((*spans, run), "TensorRT profile", 1, (*notes, *beyond, *layers.notes))


def _recognises(head: bytes) -> bool:
    text = head.lstrip()
    profile = text.startswith(b"[") and b'"count"' in text and b'"cat"' not in text
    return profile or (text.startswith(b"{") and b'"Layers"' in text[:64])


FORMATS.register("tensorrt-profile")(TraceFormat(recognises=_recognises, read=read))


def _description_only(path: Path) -> ModelError:
    return ModelError(
        f"{path}: describes the layers of an engine, and holds no times",
        hint="give the file of trtexec --exportProfile instead, with this one beside it",
    )


def _json(path: Path) -> Any:  # noqa: ANN401  (whatever is in the file)
    return documents.parse_json(content(path).data, str(path), hint=_HINT)


def _objects(rows: object, path: Path) -> list[Mapping[str, Any]]:
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise ModelError(f"{path}: is not a list of layers", hint=_HINT)
    return rows


def _milliseconds(row: Mapping[str, Any], path: Path, number: int) -> float:
    key = "medianMs" if "medianMs" in row else "averageMs"
    try:
        return float(fields.length(row, key))
    except fields.OddEventError as error:
        raise ModelError(f"{path}: in row {number}, {error}", hint=_HINT) from error


def _layers(profile: Path) -> _Layers:
    """Return the description that lies beside a profile; nothing where there is none."""
    for word in _BESIDE:
        beside = profile.with_name(profile.name.replace("profile", word))
        if beside != profile and beside.is_file():
            return _described(_json(beside), beside)
    return _Layers({})


def _described(content: object, path: Path) -> _Layers:
    layers = content.get("Layers", []) if isinstance(content, dict) else None
    if isinstance(layers, list) and any(isinstance(layer, str) for layer in layers):
        note = "the layers' description has names only: build with --profilingVerbosity=detailed"
        return _Layers({}, (note,))
    return _Layers({str(layer.get("Name")): layer for layer in _objects(layers, path)})


def _span(name: str, at_s: float, length_s: float, layers: Mapping[str, Mapping[str, Any]]) -> Span:
    layer = layers.get(name, {})
    facts: dict[str, Fact] = {}
    if metadata := layer.get("Metadata"):
        facts["metadata"] = str(metadata)
    outputs = layer.get("Outputs")
    if outputs and isinstance(outputs, list):
        tensors = (tensor for tensor in outputs if isinstance(tensor, dict))
        facts["outputs"] = tuple(str(tensor.get("Name")) for tensor in tensors)
    return Span(
        name=str(layer.get("TacticName") or name),
        category="copy" if layer.get("LayerType") == "Reformat" else "kernel",
        start_s=at_s,
        duration_s=length_s,
        track=_TRACK,
        run=0,
        node=name,
        op_type=fields.text(layer.get("LayerType")),
        device=0,
        stream=0,
        attributes=facts,
    )


def _without_profiling(profile: Path, total_s: float) -> tuple[str, ...]:
    """Return how long the engine took without profiling, where a file beside it tells."""
    beside = profile.with_name(f"{profile.stem}_metadata.json")
    if not beside.is_file():
        return ()
    try:
        times = _json(beside)["performance_summary"]["GPU Compute Time"]
        mean_s = float(times[2]) * 1e-3  # minimum, maximum, mean, median, 99th percentile
    except (LookupError, TypeError, ValueError):
        return ()
    with_it, without = units.seconds(total_s), units.seconds(mean_s)
    return (f"the layers add up to {with_it}; without profiling an inference took {without}",)
