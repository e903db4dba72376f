"""The first commands of the how-to pages run as they stand, on a real model."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from doc_pages import BLOCK, ROOT, typed_in
from e2e.conftest import Burnish

pytestmark = pytest.mark.slow

SHORTER = {"compile": ("--no-tune",), "bench": ("--rounds", "1", "--budget", "1")}
"""What is added so that a test need not wait for what takes a minute by its nature."""


@pytest.mark.parametrize("page", ["compiling.md", "fusions.md"])
def test_the_first_commands_of_a_page_run(
    page: str, burnish: Burnish, example: Path, tmp_path: Path
) -> None:
    shutil.copyfile(next(example.glob("*.onnx")), tmp_path / "model.onnx")
    shown = next(block for kind, block in BLOCK.findall(_text(page)) if kind == "console")
    calls = list(typed_in(shown))
    assert len(calls) == shown.count("$ ")
    for words in calls:
        done = burnish(*words, *SHORTER.get(words[0], ()))
        assert done.returncode == 0, (words, done.stderr)


def _text(page: str) -> str:
    return (ROOT / "docs" / page).read_text()
