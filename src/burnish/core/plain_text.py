"""Text from files as it may be shown: nothing in it moves the cursor or turns writing around."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping

_ODD = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Control and format characters, lone halves of pairs, and what ends lines."""
_SPELLED: Mapping[str, str] = {
    "×": "x", "µ": "u", "–": "-", "—": "-", "−": "-", "…": "...", "→": "->", "≤": "<=", "≥": ">=",
    "∞": "inf", "·": "*", "²": "^2", "─": "-",
}  # fmt: skip
"""Characters that burnish itself writes, for encodings that lack them."""
TURNING = "\u202a-\u202e\u2066-\u2069"
"""Characters that turn the writing around that follows, in a pattern's brackets."""
_TURNING = re.compile(f"[{TURNING}]")
_PERHAPS_ODD = re.compile(r"[^\n\x20-\x7e]")


def plain(text: str) -> str:
    r"""Return text on one line in which every character shows: others are written like `\x1b`."""
    if text.isprintable():
        return text
    return "".join(_escaped(c) if unicodedata.category(c) in _ODD else c for c in text)


def plain_lines(text: str) -> str:
    """Return text of several lines, each of them plain."""
    return "\n".join(map(plain, text.split("\n")))


def upright(text: str) -> str:
    """Return text of which no part turns what follows it around; such a character shows as �."""
    return _TURNING.sub("\ufffd", text)


def encodable(text: str, encoding: str) -> str:
    """Return text in an encoding's characters: what it lacks is spelled out, or escaped."""
    if _fits(text, encoding):
        return text
    return "".join(c if _fits(c, encoding) else _SPELLED.get(c, _escaped(c)) for c in text)


def encodable_json(text: str, encoding: str) -> str:
    """Return JSON that says the same, in characters that show and that an encoding has."""

    def safe(found: re.Match[str]) -> str:
        character = found[0]
        if unicodedata.category(character) not in _ODD and _fits(character, encoding):
            return character
        return json.dumps(character)[1:-1]

    return _PERHAPS_ODD.sub(safe, text)


def _fits(text: str, encoding: str) -> bool:
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode()
