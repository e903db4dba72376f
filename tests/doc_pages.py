"""The pages of the documentation: what they tell people to type, and what they link to."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGES = (
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "docs").rglob("*.md")),
)
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
"""A block of code, with its language."""
_OTHER = ("python", "toml", "yaml", "json")
"""What is no shell's: blocks in these languages."""
_LINK = re.compile(r"\]\(([^)#\s]*)(?:#([^)\s]+))?\)")
_LINK_TEXT = re.compile(r"\[([^\]]*)\]\([^)]*\)")
_INLINE = re.compile(r"`(burnish [^`\n]+)`")


def typed(text: str) -> Iterator[list[str]]:
    """Yield the calls of burnish that a page shows, as words."""
    blocks = (block for kind, block in BLOCK.findall(text) if kind not in _OTHER)
    for line in (*blocks, *_INLINE.findall(BLOCK.sub("", text))):
        yield from typed_in(line)


def typed_in(block: str) -> Iterator[list[str]]:
    """Yield the calls of burnish in a block of code, as words."""
    lines = block.replace("\\\n", " ").splitlines()
    for line in lines:
        if not re.match(r"\$|burnish ", line):  # what is printed
            continue
        for call in re.split(r"&&|\||;|\$\(", line):
            words = _words(call.removeprefix("$").strip())
            if words and Path(words[0]).name == "burnish":
                yield words[1:]


def links(page: Path) -> Iterator[tuple[Path, str]]:
    """Yield what a page links to in the repository: the file, and the heading in it or nothing."""
    for file, heading in _LINK.findall(BLOCK.sub("", page.read_text())):
        if "://" not in file:
            yield (page.parent / file).resolve() if file else page, heading


@cache
def headings(page: Path) -> frozenset[str]:
    """Return the headings of a page as addresses name them."""
    titles = re.findall(r"^#+ (.*)$", BLOCK.sub("", page.read_text()), re.MULTILINE)
    plain = [re.sub(r"[^\w\- ]", "", _LINK_TEXT.sub(r"\1", title).lower()) for title in titles]
    return frozenset(title.replace(" ", "-") for title in plain)


def _words(call: str) -> list[str]:
    try:
        return shlex.split(call, comments=True)
    except ValueError:  # a quotation that goes on elsewhere
        return []
