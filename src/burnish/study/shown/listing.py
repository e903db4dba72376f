"""What people are shown of zoo, model, inputs and doctor."""

from __future__ import annotations

from burnish.bench.probe import ProbeReport
from burnish.core import units
from burnish.engines.probes.findings import DoctorReport, FindingKind
from burnish.feeds.report import InputsReport
from burnish.report.table import Shown, table
from burnish.store.summary import ModelSummary, StoreEntry, StoreListing
from burnish.zoo.listing import ZooListing, ZooModel


def zoo_list_lines(found: ZooListing) -> Shown:
    """Yield one row for each model of the zoo."""
    rows = [
        (one.name, one.family, f"{one.parameters:,}", one.inputs, one.summary)
        for one in found.models
    ]
    columns = ("model", "family", "parameters", "inputs", "what it is good for")
    yield table("the zoo", columns, rows, numeric=("parameters",))


def zoo_show_lines(found: ZooModel) -> Shown:
    """Yield the facts about one model of the zoo."""
    follows = ", ".join(f"--{choice}" for choice in found.choices) or "no option of its own"
    rows = [
        ("family", found.family),
        ("parameters", f"{found.parameters:,}"),
        ("inputs", found.inputs),
        ("good for", found.summary),
        ("idea and licence", found.idea),
        ("follows", follows),
    ]
    yield table(found.name, ("", ""), rows)


def model_list_lines(listing: StoreListing) -> Shown:
    """Yield one row for each model of a store."""
    if not listing.models:
        yield f"no models in {listing.store}: they belong in MODEL/VARIANT/MODEL_VARIANT.onnx"
        return
    yield table(
        f"models in {listing.store}",
        ("model", "variant", "size", "data sets", "inputs"),
        [_row(entry) for entry in listing.models],
        numeric=("size", "data sets"),
    )


def model_show_lines(summary: ModelSummary) -> Shown:
    """Yield what a model is: facts, inputs and outputs, operators, and what burnish did to it."""
    yield table(summary.label, ("", ""), _facts(summary))
    sides = (("input", summary.inputs), ("output", summary.outputs))
    rows = [
        (side, spec.name, spec.dtype, f"[{', '.join(map(str, spec.shape))}]")
        for side, specs in sides
        for spec in specs
    ]
    yield table("inputs and outputs", ("", "name", "type", "shape"), rows)
    operators = [(name, f"{count:,}") for name, count in summary.operators.items()]
    yield table("operators", ("operator", "nodes"), operators, numeric=("nodes",))
    if summary.unknown:
        unknown = [(found.node, found.op_type, found.domain) for found in summary.unknown]
        yield table("unknown operators", ("node", "operator", "domain"), unknown)
        yield "  neither ONNX nor ONNX Runtime nor the model itself defines them"
    if summary.history is not None:
        steps = [(step.name, step.detail) for step in summary.history.steps]
        source = summary.history.source_key[:12]
        yield table(f"history of {source}", ("step", "detail"), steps)


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


def inputs_lines(report: InputsReport) -> Shown:
    """Yield what was written for each sample, and what had to be guessed."""
    for sample in report.samples:
        rows = [(spec.name, spec.dtype, str(list(spec.shape))) for spec in sample.inputs]
        yield table(str(sample.path), ("input", "type", "shape"), rows)
    yield from dict.fromkeys(f"note: {note}" for one in report.samples for note in one.notes)


def doctor_lines(report: DoctorReport | ProbeReport) -> Shown:
    """Yield what works and what does not, by kind; or the rates that were measured."""
    if isinstance(report, ProbeReport):
        yield from _probe_lines(report)
        return
    for group in FindingKind:
        rows = [
            (row.name, row.status.value, row.version, row.detail, row.remedy)
            for row in report.of(group)
        ]
        if rows:
            title = f"{group.value}s" if group is not FindingKind.PRIVACY else "privacy"
            yield table(title, ("what", "status", "version", "detail", "remedy"), rows)


def _probe_lines(report: ProbeReport) -> Shown:
    device = report.device
    rows = [
        (f"products in {t}", f"{r / 1e9:,.1f} GFLOP/s") for t, r in device.peak_flops_per_s.items()
    ]
    rows += [
        (f"copies within {level.name}", f"{level.bandwidth_bytes_per_s / 1e9:,.1f} GB/s")
        for level in device.memory
    ]
    rows.append(("starting one operator", units.seconds(device.launch_overhead_s)))
    yield table(device.source, ("what", "rate"), rows, numeric=("rate",))
    yield f"written to {report.path}"
