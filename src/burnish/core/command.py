"""Commands to be pasted into a shell."""

from __future__ import annotations

import shlex


def command(*words: object) -> str:
    """Return a command of burnish; places with spaces and quotes in them stay one word each."""
    return shlex.join(["burnish", *map(str, words)])
