from __future__ import annotations

import json
from pathlib import Path

import jsonschema

from burnish.core import records
from burnish.report.record import SCHEMA, RunReport
from sample_run import sample_run


def test_a_run_survives_its_way_to_disk_and_back(tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    path.write_text(records.text_of(records.document(sample_run(), schema=SCHEMA)))
    assert records.read_document(RunReport, path, schema=SCHEMA) == sample_run()
    schema = records.json_schema(RunReport, schema=SCHEMA)
    jsonschema.validate(json.loads(path.read_text()), schema)
