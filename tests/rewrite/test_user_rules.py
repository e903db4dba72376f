from __future__ import annotations

from pathlib import Path

import pytest

from burnish.core.errors import UsageError
from burnish.rewrite import user_rules

RULE = (
    "from burnish.rewrite.rule import Rule\n"
    "RULES = (Rule({name!r}, 'a --> b', frozenset({{'Erf'}}), lambda *_: None, None),)\n"
)


def test_the_rules_of_a_file_are_returned(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(RULE.format(name="mine"))
    (rule,) = user_rules.load(path)
    assert rule.name == "mine"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("x = 1", "has no RULES, a tuple of burnish.rewrite.rule.Rule"),
        ("RULES = (1,)", "has no RULES, a tuple of burnish.rewrite.rule.Rule"),
        ("1 / 0", "cannot be run: ZeroDivisionError: division by zero"),
        (RULE.format(name="gelu"), "there is already a rule 'gelu'"),
    ],
)
def test_a_file_that_gives_no_rules_is_refused(tmp_path: Path, text: str, problem: str) -> None:
    path = tmp_path / "mine.py"
    path.write_text(text)
    with pytest.raises(UsageError, match=problem) as caught:
        user_rules.load(path)
    assert caught.value.hint


def test_what_is_no_python_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is not a Python file"):
        user_rules.load(tmp_path / "rules.txt")
