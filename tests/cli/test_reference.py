"""The generated pages are fresh."""

from __future__ import annotations

from pathlib import Path

import pytest

from burnish.cli import commands, reference

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("page", sorted(reference.pages()))
def test_a_generated_page_is_fresh(page: str) -> None:
    assert (DOCS / page).exists(), f"{page} is missing: run make docs"
    assert (DOCS / page).read_text() == reference.pages()[page], f"{page} is stale: run make docs"


def test_no_schema_is_left_over() -> None:
    written = {f"schemas/{path.name}" for path in (DOCS / "schemas").iterdir()}
    assert written == {page for page in reference.pages() if page.startswith("schemas/")}


@pytest.mark.parametrize("command", commands.summaries())
def test_every_command_is_on_the_page(command: str) -> None:
    assert f"\n## burnish {command}\n" in reference.pages()["cli.md"]
