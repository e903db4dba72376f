"""Whole numbers that somebody wrote: in an option, a variable, a trace."""

from __future__ import annotations

_MOST_DIGITS = 18
"""No size and no count has more, and 64 bits hold them."""


def whole(text: str) -> int | None:
    """Return a number of plain digits; None for what is none (`²`), or none that anything has."""
    plain = text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS
    return int(text) if plain else None
