"""What is to be pasted into a shell is made by what knows how a shell reads it."""

from __future__ import annotations

import re
from pathlib import Path

import burnish

_PLACE = r"[\w.\[\]]*?(?:path|folder|place|onnx|source|trace|target|label)s?(?:\[\d\])?"
_UNQUOTED = re.compile(rf"burnish [a-z]+ [^\"`]*?\{{{_PLACE}\}}")


def test_places_in_commands_are_quoted() -> None:
    source = Path(burnish.__file__).parent
    found = [
        f"{file.relative_to(source)}: {match[0]}"
        for file in source.rglob("*.py")
        for match in map(_UNQUOTED.search, file.read_text().splitlines())
        if match is not None and "def " not in match.string
    ]
    assert found == []


def test_the_rule_knows_a_place_from_a_word() -> None:
    assert _UNQUOTED.search('f"burnish exec {report.folder} --data X"')
    assert _UNQUOTED.search('hint=f"burnish profile MODEL --trace {paths[0]}"')
    assert _UNQUOTED.search('f"burnish doctor --engine {one.engine}"') is None
