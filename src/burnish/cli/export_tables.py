"""What `burnish export` shows to people."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path

from burnish.cli.output import Table
from burnish.core import units
from burnish.parity.report import Sample
from burnish.study.export_report import Check, ExportReport, GenerationCheck

_COLUMNS = ("after", "inputs", "tensors", "max abs", "max rel", "cosine")


def tables(report: ExportReport, store: Path) -> Iterator[Table | str]:
    """Yield what was done and how long it took, how it was checked, and what to do next."""
    axes = ", ".join(report.dynamic_axes) or "none"
    yield (
        f"{report.model}: {report.exporter}, opset {report.opset}, {report.precision}, "
        f"dynamic sizes: {axes}"
    )
    yield Table(
        "",
        ("stage", "time"),
        [(stage.stage, units.seconds(stage.seconds_s)) for stage in report.stages],
        right=frozenset({"time"}),
    )
    for workaround in report.workarounds:
        yield f"worked around: {workaround.what}, because as asked: {workaround.because}"
    yield from (f"note: {note}" for note in report.notes)
    yield Table(
        "against what PyTorch computed", _COLUMNS,
        [_row(check, sample) for check in report.checks for sample in check.parity.samples],
        right=frozenset(_COLUMNS[2:]),
    )  # fmt: skip
    for check in report.checks:
        yield from (f"note: after {check.after}: {note}" for note in check.parity.notes)
    if report.generation is not None:
        yield _written(report.generation)
    if report.rewrite is not None:
        before, after = report.rewrite.nodes_before, report.rewrite.nodes_after
        fusions = units.count(len(report.rewrite.fusions), "fusion")
        yield f"optimised: {before:,} → {after:,} nodes, {fusions}"
    yield f"written: {report.onnx}"
    yield f"next: burnish run {report.model} --store {shlex.quote(str(store))} -o report"


def _row(check: Check, sample: Sample) -> tuple[str, ...]:
    return (
        check.after,
        sample.title,
        str(len(sample.diffs)),
        units.error(max(diff.max_abs for diff in sample.diffs)),
        units.error(max(diff.max_rel for diff in sample.diffs)),
        f"{min(diff.cosine for diff in sample.diffs):.6f}",
    )


def _written(check: GenerationCheck) -> str:
    count = len(check.expected)
    if check.identical:
        return f"generation: {count} greedy tokens, all as PyTorch writes them"
    return (
        f"generation: along PyTorch's text it chooses {check.agreeing} of {count} tokens as "
        f"PyTorch does; logits differ by {units.error(check.max_abs)} at most, "
        f"where they deviate by {units.error(check.deviation)}"
    )
