"""Export every model of the zoo in small form with both exporters, and write a table: `make zoo`.

    python benchmarks/zoo.py [PAGE] [--cells FILE] [--only NAME …] [--time-limit SECONDS]

Each export runs in a process of its own with a time limit. Finished cells are kept in FILE, so
that an interrupted run goes on where it stopped; remove the file to start afresh.
"""

from __future__ import annotations

import argparse
import json
import platform
import tempfile
import time
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import get_args

from burnish.core import files, records, units
from burnish.core.errors import BurnishError
from burnish.study.export import ExportPlan, export
from burnish.study.export_report import ExportReport
from burnish.zoo.entry import MODELS, NetworkOptions
from burnish.zoo.exporting.request import OPSETS, Exporter, ExportRequest, ZooSource

LIBRARIES = ("torch", "transformers", "timm", "diffusers", "onnxruntime")


@dataclass(frozen=True, slots=True)
class Cell:
    """One model through one exporter."""

    name: str
    past: bool
    exporter: str
    seconds_s: float
    max_rel: float | None
    """The largest relative error against PyTorch; None: it was not exported."""
    tokens: str
    """`32 of 32` tokens as PyTorch writes them; empty where nothing was generated."""
    workaround: str
    problem: str

    @property
    def key(self) -> str:
        """Return what tells this cell from the others."""
        return cell_key(self.name, past=self.past, exporter=self.exporter)


def cell_key(name: str, *, past: bool, exporter: str) -> str:
    """Return the key of a cell."""
    return f"{name}{' with past' if past else ''} {exporter}"


def main() -> None:
    """Fill the cells that are missing, then write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("page", type=Path, nargs="?", default=Path("docs/zoo.md"))
    parser.add_argument("--cells", type=Path, default=Path("out/zoo.json"))
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--time-limit", type=float, default=300)
    asked = parser.parse_args()
    cells = _read(asked.cells)
    for name, past, exporter in _plan(asked.only):
        key = cell_key(name, past=past, exporter=exporter)
        if key not in cells:
            cells[key] = measure(name, past=past, exporter=exporter, time_limit_s=asked.time_limit)
            files.write_text(asked.cells, records.text_of(records.encode(cells)))
            cell = cells[key]
            print(f"{key}: {_shown(cell)} {cell.problem}", flush=True)
    files.write_text(asked.page, page(cells))
    print(asked.page.read_text())


def measure(name: str, *, past: bool, exporter: Exporter, time_limit_s: float) -> Cell:
    """Export one model into a folder that is thrown away."""
    request = ExportRequest(ZooSource(name), NetworkOptions(small=True, past=past), exporter)
    start = time.monotonic()
    report, problem = None, ""
    with tempfile.TemporaryDirectory() as store:
        plan = ExportPlan(Path(store), name, exporter, time_limit_s=time_limit_s)
        try:
            report = export(request, plan)
        except BurnishError as error:
            problem = " ".join(error.problem.split())
    return Cell(
        name=name,
        past=past,
        exporter=exporter,
        seconds_s=time.monotonic() - start,
        max_rel=_max_rel(report),
        tokens=_tokens(report),
        workaround="; ".join(f"{w.what} ({w.because})" for w in report.workarounds)
        if report
        else "",
        problem=problem,
    )


def page(cells: dict[str, Cell]) -> str:
    """Return the table, the workarounds and the reasons of red cells as Markdown."""
    names = sorted({(cell.name, cell.past) for cell in cells.values()})
    exporters = get_args(Exporter)
    head = ["model", *exporters]
    rows = [
        [
            f"{name}{' with past' if past else ''}",
            *(_shown(cells.get(cell_key(name, past=past, exporter=one))) for one in exporters),
        ]
        for name, past in names
    ]
    done = [cell for cell in cells.values() if not cell.problem]
    either = {(cell.name, cell.past) for cell in done}
    libraries = ", ".join(f"{name} {version(name)}" for name in LIBRARIES)
    return "\n".join(
        [
            "# The zoo through both exporters",
            "",
            "Written by `make zoo`; do not edit. Every model in small form (`--small`), fp32, on "
            f"{platform.machine()} with {libraries}; opset "
            + ", ".join(f"{OPSETS[one].default} for {one}" for one in exporters)
            + ". A cell gives the largest relative error against PyTorch over all recorded "
            "shapes, the tokens that are written as PyTorch writes them, and the seconds of the "
            "whole export, on a machine that may have been busy with other work: they tell an "
            "order of magnitude. † marks a workaround that the tool applied by itself.",
            "",
            f"{units.count(len(either), 'model')} of {len(names)} exported by at least one; "
            + ", ".join(f"{one}: {sum(cell.exporter == one for cell in done)}" for one in exporters)
            + ".",
            "",
            *_table(head, rows),
            "",
            "## Workarounds",
            "",
            *_listed({cell.key: cell.workaround for cell in cells.values() if cell.workaround}),
            "",
            "## What failed, in the exporter's words",
            "",
            *_listed({cell.key: cell.problem for cell in cells.values() if cell.problem}),
            "",
        ]
    )


def _plan(only: list[str]) -> list[tuple[str, bool, Exporter]]:
    return [
        (name, past, exporter)
        for name in only or MODELS
        if MODELS[name].spelling is None  # no exporter writes these graphs
        for past in ((False, True) if MODELS[name].has_past else (False,))
        for exporter in get_args(Exporter)
    ]


def _read(path: Path) -> dict[str, Cell]:
    if not path.is_file():
        return {}
    stored: dict[str, Cell] = records.decode(dict[str, Cell], json.loads(path.read_text()))
    return stored


def _max_rel(report: ExportReport | None) -> float | None:
    if report is None:
        return None
    samples = [sample for check in report.checks for sample in check.parity.samples]
    return max(diff.max_rel for sample in samples for diff in sample.diffs)


def _tokens(report: ExportReport | None) -> str:
    if report is None or report.generation is None:
        return ""
    return f"{report.generation.agreeing} of {len(report.generation.expected)}"


def _shown(cell: Cell | None) -> str:
    if cell is None:
        return "–"
    if cell.max_rel is None:
        return f"fails, {units.seconds(cell.seconds_s)}"
    tokens = f", {cell.tokens} tokens" if cell.tokens else ""
    mark = " †" if cell.workaround else ""
    return f"{units.error(cell.max_rel)}{tokens}, {units.seconds(cell.seconds_s)}{mark}"


def _table(head: list[str], rows: list[list[str]]) -> list[str]:
    lines = [head, ["---"] * len(head), *rows]
    return [f"| {' | '.join(line)} |" for line in lines]


def _listed(reasons: dict[str, str]) -> list[str]:
    return [f"- {key}: {reason}" for key, reason in sorted(reasons.items())] or ["None."]


if __name__ == "__main__":
    main()
