"""Suggest what the user may have meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def suggestion(name: str, known: Iterable[str]) -> str:
    """Return a hint that names the nearest of `known`, then all of them."""
    names = sorted(known)
    listing = f"known: {', '.join(names)}" if names else "there are none"
    close = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
    return f"did you mean {close[0]!r}? {listing}" if close else listing
