"""Bring every model of a store to fewer bits, and write a table of what that did to its outputs.

    python benchmarks/zoo_precision.py STORE [PAGE] [--cells FILE] [--only NAME …] [-p fp16 …]

STORE is made by `burnish export NAME --small --store STORE`. Each value of a model in 16 bits is
rounded, whatever kernels this machine lacks: the figures are those of a device that computes
in them. Finished cells are kept in FILE, so that an interrupted run goes on where it stopped.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from burnish.core import files, records, units
from burnish.core.errors import BurnishError
from burnish.parity.request import VerifyRequest
from burnish.rewrite.options import Conversion, OptimizeOptions, Precision, PrecisionRequest
from burnish.rewrite.precision.widen import rounding
from burnish.store import layout, onnx_files
from burnish.store.history import History
from burnish.store.stored import StoredModel
from burnish.study.deviation import DeviationReport, deviation
from burnish.study.moved import feeds_of
from burnish.study.optimize import optimize_file
from burnish.study.optimize_report import OptimizeReport, RewriteRejectedError
from burnish.study.trial import FusionTrial

PRECISIONS: tuple[Precision, ...] = ("fp16", "bf16", "int8", "int4")
COSINES = {"fp16": 0.9999, "bf16": 0.999}
"""What the outputs of a model in 16 bits must keep."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One model in one precision."""

    model: str
    precision: str
    seconds_s: float
    cosine: float | None
    """The worst output's, over all samples; None: there is no such model."""
    relative: float | None
    non_finite: int
    changed: int
    kept: int
    repaired: int
    """How many nodes had to go back to f32."""
    bytes_before: int
    bytes_after: int
    problem: str

    @property
    def key(self) -> str:
        """Return what tells this cell from the others."""
        return f"{self.model} {self.precision}"

    @property
    def holds(self) -> bool:
        """Return whether there is such a model, its numbers are finite, and near enough."""
        least = COSINES.get(self.precision, 0.0)
        return self.cosine is not None and not self.non_finite and self.cosine >= least


def main() -> None:
    """Fill the cells that are missing, then write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("store", type=Path)
    parser.add_argument("page", type=Path, nargs="?")
    parser.add_argument("--cells", type=Path, default=Path("out/zoo_precision.json"))
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("-p", nargs="*", dest="precisions", default=PRECISIONS, choices=PRECISIONS)
    asked = parser.parse_args()
    cells = _read(asked.cells)
    for path in _models(asked.store, asked.only):
        for precision in asked.precisions:
            model = layout.stored(path)
            if f"{model.label} {precision}" not in cells:
                cell = measured(model, precision)
                cells[cell.key] = cell
                files.write_text(asked.cells, records.text_of(records.encode(cells)))
                print(f"{cell.key}: {shown(cell)} {cell.problem}", flush=True)
    if asked.page is not None:
        files.write_text(asked.page, table(cells))


def measured(model: StoredModel, precision: Precision) -> Cell:
    """Bring a model to a precision in a folder that is thrown away."""
    start = time.monotonic()
    problem, found = "", None
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "narrow.onnx"
        request = VerifyRequest(model, samples=3, budget_s=0.0)
        numbers = PrecisionRequest(precision, edges="keep")
        options = OptimizeOptions(
            conversion=Conversion(numbers=numbers), target="cuda" if precision == "bf16" else "cpu"
        )
        try:
            trial = FusionTrial(check=False)  # fusions are tried elsewhere, and in each test
            report = optimize_file(model, target, options, request=request, trial=trial)
            found = report.deviation or _rounded(model, target, request)
        except RewriteRejectedError as error:
            report, problem = error.report, " ".join(error.problem.split())
            found = report.deviation
        except Exception as error:
            known = isinstance(error, BurnishError)
            said = error.problem if known else f"crash: {type(error).__name__}: {error}"[:300]
            return Cell(model.label, precision, time.monotonic() - start, None, None, 0, 0, 0, 0,
                        0, 0, " ".join(said.split()))  # fmt: skip
    return _cell(model.label, precision, time.monotonic() - start, report, found, problem)


def _rounded(model: StoredModel, target: Path, request: VerifyRequest) -> DeviationReport:
    """Return how far a model in 16 bits is from the original where every value is rounded."""
    twin = target.with_name("rounded.onnx")
    onnx_files.write(rounding(onnx_files.read(target)), twin, history=History("", ()))
    feeds = feeds_of(model, request)
    return deviation(model, StoredModel(twin, "rounded"), feeds, bound=1.0, source="", level="off")


def _cell(
    label: str, precision: str, seconds_s: float, report: OptimizeReport,
    found: DeviationReport | None, problem: str,
) -> Cell:  # fmt: skip
    numbers = None if report.conversion is None else report.conversion.numbers
    outputs = () if found is None else found.outputs
    return Cell(
        label,
        precision,
        seconds_s,
        cosine=min((one.cosine for one in outputs), default=None),
        relative=max((one.relative for one in outputs), default=None),
        non_finite=sum(one.non_finite for one in outputs),
        changed=0 if numbers is None else len(numbers.changed),
        kept=0 if numbers is None else len(numbers.kept),
        repaired=0 if report.repair is None else len(report.repair.keep),
        bytes_before=report.source_bytes,
        bytes_after=report.target_bytes,
        problem=problem,
    )


def shown(cell: Cell) -> str:
    """Return a cell as a table shows it."""
    if cell.cosine is None or cell.relative is None:
        return "fails"
    share = cell.kept / max(1, cell.kept + cell.changed)
    mark = "" if cell.holds and not cell.problem else " ✗"
    more = f", {cell.repaired} repaired" if cell.repaired else ""
    if cell.precision in COSINES:
        return f"{1 - cell.cosine:.1e}, {share:.0%}{more}{mark}"
    return f"{cell.relative:.1%}, {units.share(cell.bytes_after / max(1, cell.bytes_before))}{mark}"


def table(cells: dict[str, Cell]) -> str:
    """Return the table and the reasons of what failed as Markdown."""
    names = sorted({cell.model for cell in cells.values()})
    rows = [
        [name, *(shown(cells[key]) if (key := f"{name} {p}") in cells else "–" for p in PRECISIONS)]
        for name in names
    ]
    counts = [
        f"{sum(c.holds for c in cells.values() if c.precision == p)} of "
        f"{sum(c.precision == p for c in cells.values())}"
        for p in PRECISIONS
    ]
    lines = [["model", *PRECISIONS], ["---"] * 5, *rows, ["**hold**", *counts]]
    wrong = [f"- {cell.key}: {cell.problem}" for cell in cells.values() if cell.problem]
    return "\n".join([*(f"| {' | '.join(line)} |" for line in lines), "", *sorted(wrong), ""])


def _models(store: Path, only: list[str]) -> list[Path]:
    found = sorted(store.glob("*/*/*.onnx"))
    return [path for path in found if not only or path.parents[1].name in only]


def _read(path: Path) -> dict[str, Cell]:
    if not path.is_file():
        return {}
    stored: dict[str, Cell] = records.decode(dict[str, Cell], json.loads(path.read_text()))
    return stored


if __name__ == "__main__":
    main()
