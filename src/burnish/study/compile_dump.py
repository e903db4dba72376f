"""Each kernel of a compiled folder in files that people read: facts, LLVM IR, assembly."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from burnish.codegen.backend import Backend
from burnish.codegen.place import BuiltPlan, PreparedModel
from burnish.codegen.stages import STEPS, first_stages, stages
from burnish.core import files, units
from burnish.parity.verdict import verdict
from burnish.runtime.plan import KernelStep
from burnish.study.compile_report import CompileReport, PlanReport, StepRow
from burnish.tile.graph import TileGraph
from burnish.tile.simplify import simplify

_AFTER = "what burnish compile had after the step"
_APART = "written by | read by | why they are two kernels"
_NAMES = re.compile(r"apart\.txt|\d\d-\w+\.txt|\d{3}_[\w.]+\.\w+")


def _refusal(folder: Path) -> str | None:
    def is_known(name: str) -> bool:
        begins = "step  " if name.endswith(".txt") else ""
        begins = {"apart.txt": _APART}.get(name, _AFTER if name[2:3] == "-" else begins)
        return bool(_NAMES.fullmatch(name)) and (folder / name).read_text().startswith(begins)

    return files.foreign_entry(folder, is_known)


DUMP = files.Kind("a dump of kernels", _refusal)


def check_dump(target: Path, plans: int) -> None:
    """Raise if the dump of so many plans would replace something else."""
    for number in range(plans):
        files.check_folder(target / f"plan_{number}", DUMP)


@dataclass(frozen=True, slots=True)
class PlanDump:
    """The folder of one plan, written anew as steps are done: what fails after them is seen."""

    target: Path
    backend: Backend

    def prepared(self, model: PreparedModel) -> None:
        """Write what there is before nodes are lowered."""
        with files.folder_written_beside(self.target, DUMP) as folder:
            _write_steps(folder, first_stages(model))

    def planned(self, built: BuiltPlan) -> None:
        """Write the plan and the text of each kernel, of which nobody knows yet if it compiles."""
        with files.folder_written_beside(self.target, DUMP) as folder:
            _write_steps(folder, stages(built))
            for number, step in enumerate(built.plan.steps):
                if isinstance(step, KernelStep):
                    place = folder / f"{number:03d}_{step.kernel}{self.backend.suffix}"
                    place.write_text(built.headers[step.kernel] + built.kernels[step.kernel])


def plan_dump(target: Path, number: int, backend: Backend) -> PlanDump:
    """Return the dump of a plan by its number."""
    return PlanDump(target / f"plan_{number}", backend)


def _write_steps(folder: Path, texts: Mapping[str, str]) -> None:
    for name, text in texts.items():
        file = f"{STEPS.index(name) + 1:02d}-{name}.txt"
        (folder / file).write_text(f"{_AFTER} {name}\n\n{text}\n")


def dump(report: CompileReport, built: Sequence[BuiltPlan], backend: Backend, target: Path) -> None:
    """Write one folder per plan: what each step gave, and each kernel with facts and listing."""
    for number, (plan, made) in enumerate(zip(report.plans, built, strict=True)):
        with files.folder_written_beside(target / f"plan_{number}", DUMP) as folder:
            _write_steps(folder, {**stages(made), "prove": proved(report)})
            if report.fusion == "full":
                (folder / "apart.txt").write_text(apart(made.graphs, backend))
            for step in plan.steps:
                stem = folder / f"{step.number:03d}_{step.name}"
                stem.with_name(f"{stem.name}.txt").write_text(facts(step, plan))
                if step.kind == "kernel":
                    _dump_kernel(made.headers[step.name] + made.kernels[step.name], backend, stem)


def proved(report: CompileReport) -> str:
    """Return what shows that a compiled model computes the same, or that nothing does."""
    if report.parity is None:
        return f"not shown to compute the same: {report.unproven}"
    return verdict(report.parity)


def _dump_kernel(source: str, backend: Backend, stem: Path) -> None:
    suffix, listing = backend.listing(source)
    stem.with_name(f"{stem.name}{backend.suffix}").write_text(source)
    stem.with_name(f"{stem.name}{suffix}").write_text(listing)


def facts(step: StepRow, plan: PlanReport) -> str:
    """Return what is known of a step, one fact per line."""
    sizes = ", ".join(f"{name}={size}" for name, size in plan.sizes.items()) or "fixed"
    lines = [f"step       {step.number} ({step.kind}) {step.name}", f"sizes      {sizes}"]
    lines += [f"node       {node}{_why(step, node)}" for node in step.nodes]
    if step.kind == "kernel":
        lines += [
            f"tile       {' × '.join(map(str, step.tile)) or 'one'}{_how_many(step)}",
            f"launch     {', '.join(f'{name} {value:,}' for name, value in step.launch.items())}",
        ]
    lines += [
        f"predicted  {_seconds(step.predicted_s)}, traffic {_size(step.predicted_bytes)}",
        f"measured   {_seconds(step.measured_s)}{_rate(step)}",
    ]
    return "\n".join(lines) + "\n"


def apart(graphs: Sequence[TileGraph], backend: Backend) -> str:
    """Return why the cost model does not join groups of nests, one pair of neighbours per line."""
    simple = (simplify(graph) for graph in graphs)
    found = [row for graph in simple for row in backend.partition(graph, "full").rejections]
    lines = [f"{row.first} | {row.second} | {row.reason}" for row in found]
    return "\n".join([_APART, *lines]) + "\n"


def _how_many(step: StepRow) -> str:
    return "" if step.run == 1 else f", in runs of {step.run:,} that keep what they share"


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
