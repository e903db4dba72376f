"""What the documentation tells people to type can be typed, and what it points to is there."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import click
import pytest

from burnish.cli import commands
from doc_pages import PAGES, ROOT, headings, links, typed

INDEX = ROOT / "docs/index.md"
_PATH = re.compile(r"`([\w./-]+/[\w./-]*\w\.(?:py|md|toml|csv|json|svg|yml|ipynb))`")
_MODULE = re.compile(r"`(burnish(?:\.\w+)+)(?:\(|`)")
_PLACES = (ROOT, ROOT / "docs", ROOT / "src/burnish", ROOT / "src/burnish/study")
"""From where paths are told: the repository, or the package that a page speaks of."""
_LONGEST = 400
"""Lines of a page that a person reads from begin to end."""
_FIGURES = 4
"""A row of a table with so many numbers is a measurement, which has one owner."""
_WRITTEN_BY_PROGRAMS = ("cli.md", "options.md")


def pages() -> Iterator[object]:
    return (pytest.param(page, id=str(page.relative_to(ROOT))) for page in PAGES)


@cache
def options(name: str) -> frozenset[str]:
    """Return the options of a command."""
    made = commands.made(name.partition(" ")[0])
    if isinstance(made, click.Group):
        made = made.commands[name.partition(" ")[2]]
    return frozenset(flag for each in made.params for flag in (*each.opts, *each.secondary_opts))


@pytest.mark.parametrize("page", pages())
def test_every_call_that_is_shown_has_a_command_and_its_options(page: Path) -> None:
    for words in typed(page.read_text()):
        two = " ".join(words[:2])
        name = two if two in commands.COMMANDS else words[0]
        if name.startswith("-") or (name in commands.GROUPS and len(words) == 1):
            continue
        assert name in commands.COMMANDS or name.isupper() or name == "…", words
        used = {word.partition("=")[0] for word in words if re.match(r"--?[a-z]", word)}
        known = options(name) if name in commands.COMMANDS else used
        assert used - known - {"-h", "--help", "-v", "-q", "--version", "--verbose"} == set(), words


@pytest.mark.parametrize("page", pages())
def test_every_file_that_is_named_is_there(page: Path) -> None:
    assert [file for file, _ in links(page) if not file.exists()] == []
    told = [path for path in _PATH.findall(page.read_text()) if not path.startswith(("out/", "/"))]
    missing = [path for path in told if not any((place / path).exists() for place in _PLACES)]
    assert missing == []


def test_every_page_that_the_code_points_to_is_there() -> None:
    told = re.compile(r"docs/[\w./-]+\.(?:md|svg)")
    files = [ROOT / "Makefile", *(ROOT / "src").rglob("*.py"), *(ROOT / "benchmarks").rglob("*.py")]
    named = {(file, page) for file in files for page in told.findall(file.read_text())}
    assert [each for each in sorted(named) if not (ROOT / each[1]).exists()] == []


@pytest.mark.parametrize("page", pages())
def test_every_heading_that_is_linked_to_is_there(page: Path) -> None:
    wanted = [(file, heading) for file, heading in links(page) if heading and file.suffix == ".md"]
    assert [each for each in wanted if each[1] not in headings(each[0])] == []


def test_every_page_can_be_reached_from_the_index() -> None:
    documents = {page for page in PAGES if page.is_relative_to(INDEX.parent)}
    seen: set[Path] = set()
    waiting = [INDEX]
    while waiting:
        page = waiting.pop()
        seen.add(page)
        waiting.extend({file for file, _ in links(page) if file in documents} - seen)
    assert sorted(documents - seen) == []


@pytest.mark.parametrize("page", pages())
def test_a_page_can_be_read_from_begin_to_end(page: Path) -> None:
    lines = len(page.read_text().splitlines())
    assert lines <= _LONGEST or page.name in _WRITTEN_BY_PROGRAMS


def test_a_row_of_figures_stands_on_one_page_only() -> None:
    found: dict[str, set[str]] = {}
    for page in PAGES:
        for row in re.findall(r"^\|.*\|$", page.read_text(), re.MULTILINE):
            if len(re.findall(r"\d[\d.,]*", row)) >= _FIGURES:
                found.setdefault(row, set()).add(page.name)
    assert {row: names for row, names in found.items() if len(names) > 1} == {}


@pytest.mark.parametrize("page", pages())
def test_every_name_of_the_package_can_be_imported(page: Path) -> None:
    for name in dict.fromkeys(_MODULE.findall(page.read_text())):
        module, _, attribute = name.rpartition(".")
        assert _found(module, attribute), name


def _found(module: str, attribute: str) -> bool:
    try:
        there = importlib.import_module(module)
    except ModuleNotFoundError:
        outer, _, last = module.rpartition(".")
        return bool(outer) and _found(outer, last)
    try:
        return hasattr(there, attribute) or bool(importlib.import_module(f"{module}.{attribute}"))
    except ModuleNotFoundError:
        return False
