"""What people are shown of export, optimize, explain, distill, compile, time and exec."""

from __future__ import annotations

import shlex
from collections import Counter, defaultdict
from collections.abc import Iterator

from burnish.codegen.bundle_times import CandidateTimings
from burnish.codegen.tune.trial import Tuned
from burnish.core import units
from burnish.core.backends import backend_of
from burnish.core.command import command
from burnish.parity.report import JudgedSample
from burnish.parity.verdict import verdict
from burnish.report.rewritten import rewrite_lines
from burnish.report.table import Shown, Table, table
from burnish.rewrite.precision.report import PrecisionReport
from burnish.study.check import CheckReport
from burnish.study.compile_dump import proved
from burnish.study.compile_report import CompileReport, PlanReport, StepRow, TransferRow
from burnish.study.conversion import ConversionReport
from burnish.study.deviation import DeviationReport
from burnish.study.distill import DistillReport
from burnish.study.execute import ExecReport
from burnish.study.explain import ExplainReport
from burnish.study.export_report import Check, ExportReport, GenerationCheck
from burnish.study.optimize_report import OptimizeReport

_ROWS = 30
"""More steps than these are cut to the slowest, and counted."""
_FEW = 3


def optimize_lines(report: OptimizeReport) -> Shown:
    """Yield what was done, what nearly was, and whether the result computes the same."""
    yield from rewrite_lines(report.rewrite)
    yield from _checked(report.check)
    if report.gain is not None:
        yield str(report.gain)
    if report.conversion is not None:
        yield from _converted(report.conversion)
    if report.parity is None:
        yield "not verified"
    elif report.parity.passed:
        yield from (f"note: {note}" for note in report.parity.notes)
        before = "" if report.deviation is None else "before its numbers were changed, "
        yield f"{before}{verdict(report.parity)}"
    if report.repair is not None:
        back = units.count(len(report.repair.keep), "node")
        runs = units.count(report.repair.runs, "run")
        yield f"repaired: {back} had to go back to fp32, found with {runs}"
    if report.deviation is not None:
        yield from _moved(report.deviation)
    if report.accuracy is not None:
        yield str(report.accuracy)
    if report.target_key is not None:
        if report.conversion is not None and report.conversion.numbers is not None:
            yield _sizes(report)
        yield f"written: {report.target}"


def explain_lines(report: ExplainReport) -> Shown:
    """Yield what is fused and where, what nearly is, and what the rest is."""
    rewrite = report.rewrite
    fusions = units.count(len(rewrite.fusions), "fusion")
    before = units.count(rewrite.nodes_before, "node")
    verb = "becomes" if rewrite.nodes_before == 1 else "become"
    yield f"{report.model}: {before} {verb} {rewrite.nodes_after:,} with {fusions}"
    columns = ("rule", "operator", "at", "replaces")
    fused = [(f.rule, f.op_type, f.node, _few(f.replaced)) for f in rewrite.fusions]
    missed = [(miss.rule, miss.node, miss.reason, miss.remedy) for miss in rewrite.misses]
    other = [(left.op_type, left.reason, left.remedy) for left in report.leftovers]
    way = "what would let it through"
    yield from (
        one
        for one in (
            table("fused", columns, fused),
            table(
                "left alone, though it looked right",
                ("rule", "at", "what stood in the way", way),
                missed,
            ),
            table(
                "left alone, because it is something else", ("operator", "what it is", way), other
            ),
        )
        if one.rows
    )
    yield from (f"note: {note}" for note in rewrite.notes)
    yield from _checked(report.check)
    yield f"do it: {report.command}"


def distill_lines(report: DistillReport) -> Shown:
    """Yield what was cut out, and how to try it."""
    yield table(
        f"{len(report.pieces)} different of {units.count(report.found, 'place')} in {report.model}",
        ("model", "nodes", "copies", "cut out at", "why it was not fused"),
        [
            (piece.name, f"{piece.nodes}", f"{piece.copies}", piece.node, piece.reason)
            for piece in report.pieces
        ],
        numeric=("nodes", "copies"),
    )
    yield f"try them: pytest {report.test_file}"


def compile_lines(report: CompileReport) -> Shown:
    """Yield the steps of each plan, what ONNX Runtime runs and why, the measures, the proof."""
    if report.rewritten is not None:
        yield from _rewritten_first(report.rewritten)
    for plan in report.plans:
        yield from _plan(plan, "" if report.target.startswith("cpu") else ", on the CPU")
    notes = (*report.notes, *(report.parity.notes if report.parity is not None else ()))
    yield from (f"note: {note}" for note in notes)
    yield proved(report)
    if report.parity is None:
        engine = backend_of(report.target).engine
        yield f"show it where it runs: {command('verify', report.folder, '--engine', engine)}"
    yield f"written: {report.folder} ({report.target}, {units.count(report.threads, 'thread')})"
    there = " there" if report.parity is None else ""
    yield f"run it{there}: {command('exec', report.folder, '--data', 'INPUTS.npz')}"


def _rewritten_first(report: OptimizeReport) -> Shown:
    """Yield how a model's numbers were changed before it was compiled, and what that cost."""
    if report.conversion is not None:
        yield from _converted(report.conversion)
    if report.deviation is not None:
        yield from _moved(report.deviation)
    elif report.parity is not None:
        yield verdict(report.parity)
    yield f"{_sizes(report)}: {report.target}, which the kernels are compiled from"


def exec_lines(report: ExecReport) -> Shown:
    """Yield what went in and came out, and how long that took."""
    tensors = [("input", spec) for spec in report.inputs]
    tensors += [("output", spec) for spec in report.outputs]
    rows = [(kind, spec.name, spec.dtype, str(list(spec.shape))) for kind, spec in tensors]
    yield table(str(report.folder), ("what", "tensor", "type", "shape"), rows)
    threads, runs = units.count(report.threads, "thread"), units.count(report.runs, "run")
    yield f"{units.seconds(report.seconds)} on {threads} (median of {runs})"
    if report.moved_bytes is not None:
        yield f"{units.size(report.moved_bytes)} went over the link to the card in each run"
    if report.target is not None:
        yield f"written: {report.target}"


def time_lines(found: CandidateTimings) -> Shown:
    """Yield the fastest candidate of each group, and how it stands to the one predicted."""
    rows = [_group_row(key, tuned) for key, tuned in found.groups.items()]
    columns = ("group", "candidates", "failed", "as predicted", "fastest", "predicted to take")
    yield table(f"timed on {found.device}", columns, rows, numeric=columns[1:])
    failures = Counter(t.failure for tuned in found.groups.values() for t in tuned.trials)
    yield from (f"note: {units.count(n, 'candidate')}: {why}" for why, n in failures.items() if why)


def _group_row(key: str, tuned: Tuned) -> tuple[str, ...]:
    failed = sum(bool(trial.failure) for trial in tuned.trials)
    first = tuned.trials[0].seconds if tuned.trials else None
    foreseen = tuned.best.predicted_s if tuned.best else None
    taken = (first, tuned.seconds, foreseen)
    times = ("–" if each is None else units.seconds(each) for each in taken)
    return key[:12], str(len(tuned.trials)), str(failed), *times


def export_lines(report: ExportReport) -> Shown:
    """Yield what was done and how long it took, how it was checked, and what to do next."""
    axes = ", ".join(report.dynamic_axes) or "none"
    yield (
        f"{report.model}: {report.exporter}, opset {report.opset}, {report.precision}, "
        f"dynamic sizes: {axes}"
    )
    stages = [(stage.stage, units.seconds(stage.seconds_s)) for stage in report.stages]
    yield table("", ("stage", "time"), stages, numeric=("time",))
    for workaround in report.workarounds:
        yield f"worked around: {workaround.what}, because as asked: {workaround.because}"
    yield from (f"note: {note}" for note in report.notes)
    columns = ("after", "inputs", "tensors", "max abs", "max rel", "cosine")
    yield table(
        "against what PyTorch computed",
        columns,
        [_sample(check, sample) for check in report.checks for sample in check.parity.samples],
        numeric=columns[2:],
    )
    for check in report.checks:
        yield from (f"note: after {check.after}: {note}" for note in check.parity.notes)
    if report.generation is not None:
        yield _written(report.generation)
    if report.rewrite is not None:
        before, after = report.rewrite.nodes_before, report.rewrite.nodes_after
        fusions = units.count(len(report.rewrite.fusions), "fusion")
        yield f"optimised: {before:,} → {after:,} nodes, {fusions}"
    yield f"written: {report.onnx}"
    store = report.onnx.parents[2]
    yield f"next: burnish run {report.model} --store {shlex.quote(str(store))} -o report"


def _checked(report: CheckReport | None) -> Iterator[str]:
    """Yield how the fusions fared that were tried on their own."""
    if report is None or not report.sites:
        return
    tried = report.sites - len(report.unchecked)
    parts = units.count(report.distinct, "different part")
    took = units.seconds(report.duration_s)
    yield f"{tried} of {units.count(report.sites, 'fusion')} tried on {parts} in {took}"
    yield from (
        f"note: {one.rule} at {one.node} was not tried on its own: {one.reason}"
        for one in report.unchecked
    )


def _converted(report: ConversionReport) -> Shown:
    """Yield what was changed besides, and what stayed in f32."""
    yield from (f"axis {old} is now {new}" for old, new in report.axes.items())
    if report.i32_inputs:
        yield f"takes i32 in place of i64: {', '.join(report.i32_inputs)}"
    if report.numbers is not None:
        yield from _in_fewer_bits(report.numbers)


def _in_fewer_bits(report: PrecisionReport) -> Shown:
    """Yield what computes in fewer bits, and why the rest does not."""
    changed = units.count(len(report.changed), "node")
    kept = units.count(len(report.kept), "node")
    if report.precision in ("int8", "int4"):
        into = ", ".join(f"{n} {op}" for op, n in Counter(c.into for c in report.changed).items())
        yield f"{changed} in {report.precision} ({report.how}): {into}"
    if not report.kept:
        yield f"computes in {report.precision}: {changed}, and none that could stays in fp32"
    else:
        rows = Counter((kept.op_type, kept.reason) for kept in report.kept)
        yield table(
            f"computes in {report.precision}, but for {kept} ({1 - report.share_changed:.0%})",
            ("operator", "nodes", "why it stays in fp32"),
            [(op_type, f"{n:,}", reason) for (op_type, reason), n in rows.items()],
            numeric=("nodes",),
        )
    yield from (f"note: {note}" for note in report.notes)


def _moved(report: DeviationReport) -> Shown:
    """Yield how far each output is from the original's."""
    columns = ("output", "error", "cosine", "max abs", "same largest")
    rows = [
        (
            one.name,
            f"{one.relative:.2%}",
            f"{one.cosine:.6f}",
            units.error(one.max_abs),
            "–" if one.top1_agreement is None else f"{one.top1_agreement:.1%}",
        )
        for one in report.outputs
    ]
    samples = units.count(report.samples, "sample")
    title = f"changed on purpose: against the original, {samples} ({report.source})"
    yield table(title, columns, rows, numeric=columns[1:])
    yield f"error: of an output's root mean square; {report.bound:.0%} are allowed"


def _sizes(report: OptimizeReport) -> str:
    before, after = report.source_bytes, report.target_bytes
    return f"on disk: {units.size(before)} → {units.size(after)}"


def _few(names: tuple[str, ...]) -> str:
    shown, rest = ", ".join(names[:_FEW]), len(names) - _FEW
    return f"{shown} and {rest} more" if rest > 0 else shown


def _plan(plan: PlanReport, where: str) -> Shown:
    shown = plan.steps
    if len(shown) > _ROWS:
        slowest = sorted(shown, key=lambda step: -(step.measured_s or step.predicted_s or 0.0))[
            :_ROWS
        ]
        shown = tuple(sorted(slowest, key=lambda step: step.number))
    sizes = ", ".join(f"{name}={size}" for name, size in plan.sizes.items()) or "fixed sizes"
    kernels = sum(step.kind == "kernel" for step in plan.steps)
    yield table(
        f"{sizes}: {units.count(plan.kernel_nodes, 'node')} in {units.count(kernels, 'kernel')}, "
        f"{plan.ort_nodes} with ONNX Runtime; memory {units.size(plan.arena_bytes)}, "
        f"constants {units.size(plan.constants_bytes)}",
        ("step", "what", "operators", "nodes", "tile", "predicted", "measured"),
        [_step(step) for step in shown],
        numeric=("step", "nodes", "predicted", "measured"),
    )
    if len(shown) < len(plan.steps):
        rest = units.count(len(plan.steps) - len(shown), "faster step")
        yield f"and {rest}; --json has them all"
    yield from (one for one in (_left_to_runtime(plan, where), _measures(plan)) if one.rows)
    if plan.transfers is not None:
        yield _transfers(plan.transfers)


def _transfers(row: TransferRow) -> str:
    moved, alone = units.size(row.moved_bytes), units.size(row.operators_bytes)
    ways = f"{units.size(row.fetched_bytes)} there, {units.size(row.stored_bytes)} back"
    of = f", {units.share(row.moved_bytes / row.operators_bytes)}" if row.operators_bytes else ""
    aside = (
        f"; {units.size(row.aside_bytes)} of it by kernels themselves" if row.aside_bytes else ""
    )
    return (
        f"in {units.size(row.limit_bytes)} of a card's memory (it needs"
        f" {units.size(row.needed_bytes)}): {moved} go over the link in a run ({ways}{aside}){of}"
        f" of the {alone} that operator by operator would"
    )


def _step(step: StepRow) -> tuple[str, ...]:
    operators = " ".join(step.operators[:4]) + (" …" if len(step.operators) > 4 else "")
    return (
        str(step.number),
        step.kind,
        operators,
        str(len(step.nodes)),
        "×".join(map(str, step.tile)) or "–",
        "–" if step.predicted_s is None else units.seconds(step.predicted_s),
        "–" if step.measured_s is None else units.seconds(step.measured_s),
    )


def _left_to_runtime(plan: PlanReport, where: str) -> Table:
    nodes: dict[str, list[str]] = defaultdict(list)
    for step in plan.steps:
        for node, reason in step.reasons.items():
            nodes[reason].append(node)
    return table(
        f"with ONNX Runtime{where}",
        ("why", "nodes", "for instance"),
        [(reason, str(len(found)), found[0]) for reason, found in nodes.items()],
        numeric=("nodes",),
    )


def _measures(plan: PlanReport) -> Table:
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
    return table("what fusion does", columns, rows, numeric=columns[1:])


def _sample(check: Check, sample: JudgedSample) -> tuple[str, ...]:
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
