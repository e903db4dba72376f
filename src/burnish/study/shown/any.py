"""What people are shown of a record, whichever it is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from burnish.analyze.advise import AdviseReport
from burnish.analyze.profile import ProfileReport
from burnish.analyze.whatif import WhatIfReport
from burnish.bench.measure import BenchReport
from burnish.core.errors import UsageError
from burnish.parity.report import VerifyReport
from burnish.report.graph.written import GraphReport
from burnish.report.guarded import GateReport
from burnish.report.over_time import DashboardReport, HistoryReport
from burnish.report.record import RunReport
from burnish.report.study_page import StudyReport
from burnish.report.table import Shown
from burnish.study.compare import CompareReport
from burnish.study.compile_report import CompileReport
from burnish.study.execute import ExecReport
from burnish.study.explain import ExplainReport
from burnish.study.export_report import ExportReport
from burnish.study.optimize_report import OptimizeReport
from burnish.study.prune_report import PruneReport
from burnish.study.reduce import ReduceReport
from burnish.study.sensitivity_report import SensitivityReport
from burnish.study.shown import guarding, judging, looking, pruning, rewriting

_LINES: Mapping[type, Callable[[Any], Shown]] = {
    AdviseReport: looking.advise_lines,
    BenchReport: judging.bench_lines,
    CompileReport: rewriting.compile_lines,
    CompareReport: guarding.compare_lines,
    ExecReport: rewriting.exec_lines,
    ExplainReport: rewriting.explain_lines,
    ExportReport: rewriting.export_lines,
    GateReport: guarding.gate_lines,
    DashboardReport: guarding.dashboard_lines,
    HistoryReport: guarding.history_lines,
    GraphReport: looking.graph_lines,
    OptimizeReport: rewriting.optimize_lines,
    ProfileReport: looking.profile_lines,
    PruneReport: pruning.prune_lines,
    ReduceReport: judging.reduce_lines,
    RunReport: judging.run_lines,
    SensitivityReport: pruning.sensitivity_lines,
    StudyReport: judging.study_lines,
    VerifyReport: judging.verify_lines,
    WhatIfReport: looking.whatif_lines,
}


def lines_of(record: object) -> Shown:
    """Return the tables and lines of a record of burnish."""
    lines = _LINES.get(type(record))
    if lines is None:
        raise UsageError(
            f"a {type(record).__name__} is no record that can be shown",
            hint="give what a function of burnish returned: burnish.show(burnish.verify(…))",
        )
    return lines(record)
