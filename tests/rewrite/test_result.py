from __future__ import annotations

from burnish.core import records
from burnish.rewrite.result import SCHEMA, Fusion, Miss, RewriteReport, StepCount


def test_a_report_survives_being_stored() -> None:
    report = RewriteReport(
        fusions=(Fusion("gelu", "n/Gelu", "Gelu", ("a", "b")),),
        misses=(Miss("gelu", "n", "why", "how"),),
        steps=(StepCount("simplify", 3),),
        nodes_before=9,
        nodes_after=4,
        operators_before={"Mul": 9},
        operators_after={"Gelu": 4},
        notes=("a note",),
    )
    document = records.document(report, schema=SCHEMA)
    assert records.decode(RewriteReport, document) == report
    assert report.fusion_counts == {"gelu": 1}
