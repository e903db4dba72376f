"""What `burnish compile` shows to people."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from burnish.cli.output import Table
from burnish.core import units
from burnish.parity.verdict import verdict
from burnish.study.compile_report import CompileReport, PlanReport, StepRow

_ROWS = 30
"""More steps than these are cut to the slowest, and counted."""
_NODES = 4


def tables(report: CompileReport) -> Iterator[Table | str]:
    """Yield the steps of each plan, what ONNX Runtime runs and why, the measures, the proof."""
    for plan in report.plans:
        yield from _plan(plan)
    yield from (f"note: {note}" for note in report.notes)
    yield verdict(report.parity)
    yield f"written: {report.folder} ({report.target}, {units.count(report.threads, 'thread')})"
    yield f"run it: burnish exec {report.folder} --input INPUTS.npz"


def _plan(plan: PlanReport) -> Iterator[Table | str]:
    shown = plan.steps
    if len(shown) > _ROWS:
        slowest = sorted(shown, key=lambda step: -(step.measured_s or 0.0))[:_ROWS]
        shown = tuple(sorted(slowest, key=lambda step: step.number))
    sizes = ", ".join(f"{name}={size}" for name, size in plan.sizes.items()) or "fixed sizes"
    kernels = sum(step.kind == "kernel" for step in plan.steps)
    title = (
        f"{sizes}: {units.count(plan.kernel_nodes, 'node')} in {units.count(kernels, 'kernel')}, "
        f"{plan.ort_nodes} with ONNX Runtime; memory {units.size(plan.arena_bytes)}, "
        f"constants {units.size(plan.constants_bytes)}"
    )
    columns = ("step", "what", "operators", "nodes", "tile", "predicted", "measured")
    right = frozenset({"step", "nodes", "predicted", "measured"})
    yield Table(title, columns, [_row(step) for step in shown], right=right)
    if len(shown) < len(plan.steps):
        rest = units.count(len(plan.steps) - len(shown), "faster step")
        yield f"and {rest}; --json has them all"
    yield from _ort(plan)
    yield from _measures(plan)


def _row(step: StepRow) -> tuple[str, ...]:
    operators = " ".join(step.operators[:_NODES]) + (" …" if len(step.operators) > _NODES else "")
    return (
        str(step.number),
        step.kind,
        operators,
        str(len(step.nodes)),
        "×".join(map(str, step.tile)) or "–",
        "–" if step.predicted_s is None else units.seconds(step.predicted_s),
        "–" if step.measured_s is None else units.seconds(step.measured_s),
    )


def _ort(plan: PlanReport) -> Iterator[Table]:
    nodes: dict[str, list[str]] = defaultdict(list)
    for step in plan.steps:
        for node, reason in step.reasons.items():
            nodes[reason].append(node)
    if nodes:
        yield Table(
            "with ONNX Runtime",
            ("why", "nodes", "for instance"),
            [(reason, str(len(found)), found[0]) for reason, found in nodes.items()],
            right=frozenset({"nodes"}),
        )


def _measures(plan: PlanReport) -> Iterator[Table]:
    if plan.measures:
        columns = ("fusion", "kernels", "intermediate results", "memory traffic", "predicted")
        rows = [
            (
                row.fusion,
                str(row.kernels),
                units.size(row.intermediate_bytes),
                units.size(row.traffic_bytes),
                units.seconds(row.predicted_s),
            )
            for row in plan.measures
        ]
        yield Table("what fusion does", columns, rows, right=frozenset(columns[1:]))
