"""Time the candidates of a bundle on the device here."""

from __future__ import annotations

from pathlib import Path

from burnish.codegen.bundle_times import SCHEMA, CandidateTimings, time_bundle
from burnish.core import files, records
from burnish.core.progress import SILENT, Progress
from burnish.study.requests.rewriting import TimeCommand


def answer(asked: TimeCommand, *, progress: Progress = SILENT) -> CandidateTimings:
    """Write how long each candidate of a bundle takes, and return it."""
    target, kind = Path(asked.output), records.files_of(CandidateTimings)
    files.check_file(target, kind)
    found = time_bundle(Path(asked.bundle), progress=progress)
    files.write_text(target, records.text_of(records.document(found, schema=SCHEMA)), kind)
    return found
