"""The page on fusions names every rule, as the rule describes itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from burnish.rewrite.fusions import FUSIONS
from burnish.rewrite.rule import Rule

PAGE = Path(__file__).parents[2] / "docs" / "fusions.md"


@pytest.mark.parametrize("rule", FUSIONS, ids=lambda rule: rule.name)
def test_a_rule_is_on_the_page(rule: Rule) -> None:
    summary = rule.summary.replace("|", "\\|")
    assert f"| `{rule.name}` | {summary} |" in PAGE.read_text()
