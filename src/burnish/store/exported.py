"""Recognise the folder of an exported model: all in it is of that model, and written by us."""

from __future__ import annotations

import re
from pathlib import Path

from burnish.core import records
from burnish.core.files import Kind, foreign_entry
from burnish.store import datasets
from burnish.store.layout import SOURCE_FILE, SOURCE_KIND

_DATA = re.compile(r"test_data_set_\d+/(input|output)_\d+\.pb")


def folder_of(onnx: Path) -> Kind:
    """Return what an export of this file may replace: the folder of an earlier one."""
    weights = re.compile(rf"{re.escape(onnx.stem)}\.[0-9a-f]{{12}}\.data")

    def refusal(folder: Path) -> str | None:
        if not records.holds(folder / SOURCE_FILE, SOURCE_KIND):
            return f"no {SOURCE_FILE} in it says what it was exported from"

        def is_known(name: str) -> bool:
            if _DATA.fullmatch(name):
                return datasets.is_own_file(folder / name)
            return name in (onnx.name, SOURCE_FILE) or bool(weights.fullmatch(name))

        return foreign_entry(folder, is_known)

    return Kind("an exported model", refusal)
