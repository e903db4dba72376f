from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "tile-graph.md"
BLOCKS = re.compile(r"```python\n(.*?)```\n\n```text\n(.*?)```", re.DOTALL)


def printed(code: str, names: dict[str, object]) -> str:
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        exec(compile(code, str(PAGE), "exec"), names)
    return "\n".join(line.rstrip() for line in text.getvalue().splitlines()) + "\n"


def test_the_page_prints_what_it_says(request: pytest.FixtureRequest) -> None:
    page = PAGE.read_text()
    names: dict[str, object] = {}
    results: list[tuple[str, str]] = [
        (expected, printed(code, names)) for code, expected in BLOCKS.findall(page)
    ]
    assert page.count("```python") == len(results)
    if request.config.getoption("--update-golden"):
        found = iter(results)
        PAGE.write_text(BLOCKS.sub(lambda block: _filled(block, next(found)[1]), page))
        return
    for expected, actual in results:
        assert actual == expected


def _filled(block: re.Match[str], text: str) -> str:
    return f"```python\n{block[1]}```\n\n```text\n{text}```"
