"""A report survives JSON."""

from __future__ import annotations

import json

from burnish.core import records
from burnish.engines.probes.findings import SCHEMA, DoctorReport, FindingKind, ProbeFinding, Status


def test_a_report_is_the_same_after_json() -> None:
    report = DoctorReport(
        (ProbeFinding(FindingKind.ENGINE, "a", Status.BROKEN, "1", "why", "how"),)
    )
    document = json.loads(records.text_of(records.document(report, schema=SCHEMA)))
    assert document["kind"] == "doctor-report"
    assert records.decode(DoctorReport, document) == report
