"""A gate as JUnit XML, which every CI server draws: one test case per row."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from burnish.bench.gate import GateOutcome
from burnish.core.plain_text import plain
from burnish.report.guarded import GateReport, GateRow

_FAILURES = (GateOutcome.SLOWER, GateOutcome.BROKEN, GateOutcome.WRONG)


def text(report: GateReport) -> str:
    """Return one test suite.

    Wrong results, slowdowns and crashes fail; what could not be seen is an error.
    """
    outcomes = [row.outcome for row in report.rows]
    suite = ET.Element(
        "testsuite",
        name=plain(f"burnish gate {report.model}"),
        tests=str(len(outcomes)),
        failures=str(sum(outcome in _FAILURES for outcome in outcomes)),
        errors=str(outcomes.count(GateOutcome.UNSEEN)),
        timestamp=report.measured_at,
    )
    for row in report.rows:
        _case(suite, row)
    ET.indent(suite)
    whole = ET.tostring(suite, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{whole}\n'


def _case(suite: ET.Element, row: GateRow) -> None:
    case = ET.SubElement(suite, "testcase", classname="burnish.gate", name=plain(row.subject))
    said = plain(row.said)
    match row.outcome:
        case GateOutcome.SLOWER | GateOutcome.BROKEN | GateOutcome.WRONG:
            kind = row.outcome.value
            ET.SubElement(case, "failure", message=said, type=kind).text = said
        case GateOutcome.UNSEEN:
            ET.SubElement(case, "error", message=said).text = said
        case _:
            ET.SubElement(case, "system-out").text = said
