"""What somebody may have meant by a name that is not known."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable

_PARTS = re.compile(r"[^A-Za-z0-9]+")


def suggestion(name: str, known: Iterable[str]) -> str:
    """Return a hint that names the nearest of `known`, then all of them."""
    names = sorted(known)
    listing = f"known: {', '.join(names)}" if names else "there are none"
    close = nearest(name, names)
    return f"did you mean {close!r}? {listing}" if close is not None else listing


def nearest(name: str, known: Iterable[str], *, likeness: float = 0.5) -> str | None:
    """Return the likeliest of `known`: one that has `name` as a word, else one that is spelled so.

    `bert` means `bert-base`, in which it is a word, and not `albert`, which only looks like it.
    """
    names = sorted(known)
    word = name.lower()
    with_word = [one for one in names if word and word in _PARTS.split(one.lower())]
    if with_word:
        return min(with_word, key=lambda one: (not one.lower().startswith(word), one))
    close = difflib.get_close_matches(name, names, n=1, cutoff=likeness)
    return close[0] if close else None
