"""Each kernel of a compiled folder in files that people read: facts, LLVM IR, assembly."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from burnish.codegen import folder as folders
from burnish.codegen.built import Built
from burnish.codegen.cpu.compile import assembly
from burnish.codegen.cpu.target import by_name
from burnish.core import files, units
from burnish.study.compile_report import CompileReport, PlanReport, StepRow
from burnish.tile.graph import TileGraph
from burnish.tile.machine import Machine
from burnish.tile.partition import partition
from burnish.tile.simplify import simplify

_APART = "written by | read by | why they are two kernels"
_NAMES = re.compile(r"apart\.txt|\d{3}_[\w.]+\.(txt|ll|s)")


def _refusal(folder: Path) -> str | None:
    def is_known(name: str) -> bool:
        begins = _APART if name == "apart.txt" else "step  " if name.endswith(".txt") else ""
        return bool(_NAMES.fullmatch(name)) and (folder / name).read_text().startswith(begins)

    return files.foreign_entry(folder, is_known)


DUMP = files.Kind("a dump of kernels", _refusal)


def check_dump(target: Path, plans: int) -> None:
    """Raise if the dump of so many plans would replace something else."""
    for number in range(plans):
        files.check_folder(target / f"plan_{number}", DUMP)


def dump(report: CompileReport, built: Sequence[Built], machine: Machine, target: Path) -> None:
    """Write one folder per plan: three files per kernel (.txt, .ll, .s), and why kernels part."""
    for number, (plan, made) in enumerate(zip(report.plans, built, strict=True)):
        with files.folder_written_beside(target / f"plan_{number}", DUMP) as folder:
            if report.fusion == "full":
                (folder / "apart.txt").write_text(apart(made.graphs, machine))
            for step in plan.steps:
                _dump_step(step, plan, report, folder / f"{step.number:03d}_{step.name}")


def _dump_step(step: StepRow, plan: PlanReport, report: CompileReport, stem: Path) -> None:
    stem.with_name(f"{stem.name}.txt").write_text(facts(step, plan))
    if step.kind == "kernel":
        text = folders.kernel_path(report.folder, step.name).with_suffix(".ll").read_text()
        stem.with_name(f"{stem.name}.ll").write_text(text)
        code = assembly(text, by_name(report.target))
        stem.with_name(f"{stem.name}.s").write_text(code)


def facts(step: StepRow, plan: PlanReport) -> str:
    """Return what is known of a step, one fact per line."""
    sizes = ", ".join(f"{name}={size}" for name, size in plan.sizes.items()) or "fixed"
    lines = [f"step       {step.number} ({step.kind}) {step.name}", f"sizes      {sizes}"]
    lines += [f"node       {node}{_why(step, node)}" for node in step.nodes]
    if step.kind == "kernel":
        lines += [
            f"tile       {' × '.join(map(str, step.tile)) or 'one'}, {_how_many(step)}",
            f"scratch    {units.size(step.scratch_bytes)} per thread",
        ]
    lines += [
        f"predicted  {_seconds(step.predicted_s)}, traffic {_size(step.predicted_bytes)}",
        f"measured   {_seconds(step.measured_s)}{_rate(step)}",
    ]
    return "\n".join(lines) + "\n"


def apart(graphs: Sequence[TileGraph], machine: Machine) -> str:
    """Return why the cost model does not join groups of nests, one pair of neighbours per line."""
    simple = (simplify(graph) for graph in graphs)
    found = [row for graph in simple for row in partition(graph, machine).rejections]
    lines = [f"{row.first} | {row.second} | {row.reason}" for row in found]
    return "\n".join([_APART, *lines]) + "\n"


def _how_many(step: StepRow) -> str:
    if step.run == 1:
        return f"{step.tiles:,} of them"
    return f"in {step.tiles:,} runs of {step.run:,}, whose neighbours keep what they share"


def _why(step: StepRow, node: str) -> str:
    return f": {step.reasons[node]}" if node in step.reasons else ""


def _seconds(value: float | None) -> str:
    return "–" if value is None else units.seconds(value)


def _size(value: float | None) -> str:
    return "–" if value is None else units.size(value)


def _rate(step: StepRow) -> str:
    if not step.measured_s or not step.predicted_bytes:
        return ""
    return f", so {units.size(step.predicted_bytes / step.measured_s)}/s of the predicted traffic"
