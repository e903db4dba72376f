"""What `burnish model` shows people."""

from __future__ import annotations

from collections.abc import Iterator

from burnish.cli.output import Table
from burnish.core import units
from burnish.store.summary import ModelSummary, StoreEntry, StoreListing


def listing_tables(listing: StoreListing) -> Iterator[Table | str]:
    """Yield one row for each model of a store."""
    if not listing.models:
        yield f"no models in {listing.store}: they belong in MODEL/VARIANT/MODEL_VARIANT.onnx"
        return
    yield Table(
        f"models in {listing.store}",
        ("model", "variant", "size", "data sets", "inputs"),
        [_row(entry) for entry in listing.models],
        right=frozenset({"size", "data sets"}),
    )


def summary_tables(summary: ModelSummary) -> Iterator[Table | str]:
    """Yield what a model is: facts, inputs and outputs, operators, and what burnish did to it."""
    yield Table(summary.label, ("", ""), _facts(summary))
    sides = (("input", summary.inputs), ("output", summary.outputs))
    rows = [
        (side, spec.name, spec.dtype, f"[{', '.join(map(str, spec.shape))}]")
        for side, specs in sides
        for spec in specs
    ]
    yield Table("inputs and outputs", ("", "name", "type", "shape"), rows)
    operators = [(name, f"{count:,}") for name, count in summary.operators.items()]
    yield Table("operators", ("operator", "nodes"), operators, right=frozenset({"nodes"}))
    if summary.unknown:
        unknown = [(found.node, found.op_type, found.domain) for found in summary.unknown]
        yield Table("unknown operators", ("node", "operator", "domain"), unknown)
        yield "  neither ONNX nor ONNX Runtime nor the model itself defines them"
    if summary.history is not None:
        steps = [(step.name, step.detail) for step in summary.history.steps]
        source = summary.history.source_key[:12]
        yield Table(f"history of {source}", ("step", "detail"), steps)


def _row(entry: StoreEntry) -> tuple[str, ...]:
    inputs = entry.problem or ", ".join(map(str, entry.inputs))
    size = units.size(entry.file_bytes)
    return entry.name, entry.variant, size, str(entry.data_sets), inputs


def _facts(summary: ModelSummary) -> list[tuple[str, str]]:
    files = f"{units.size(summary.file_bytes)}" + (
        f", with {', '.join(summary.data_files)}" if summary.data_files else ""
    )
    opsets = ", ".join(f"{domain} {version}" for domain, version in summary.opsets.items())
    weights = f"{summary.parameters:,} in {units.size(summary.parameter_bytes)}"
    return [
        ("file", str(summary.path)),
        ("size", files),
        ("parameters", weights),
        ("nodes", f"{sum(summary.operators.values()):,}"),
        ("opsets", opsets),
        ("IR version", str(summary.ir_version)),
        ("made by", summary.producer or "–"),
        ("data sets", ", ".join(path.name for path in summary.data_sets) or "none"),
    ]
