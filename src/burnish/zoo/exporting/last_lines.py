"""What a library said when it failed, cut to the few lines that tell why."""

from __future__ import annotations

import traceback

_LINES = 4
_WIDTH = 240


def first_cause(error: BaseException) -> tuple[str, ...]:
    """Return the error that started it all, as its type and the first lines it says."""
    seen = {id(error)}
    while (cause := error.__cause__ or error.__context__) is not None and id(cause) not in seen:
        seen.add(id(cause))
        error = cause
    said = "".join(traceback.format_exception_only(error))
    return tuple(_cut(line) for line in said.splitlines() if line.strip())[:_LINES]


def raised_at(error: BaseException) -> str:
    """Return the place in the user's code, or in a library, where an error was raised."""
    frames = traceback.extract_tb(error.__traceback__)
    if not frames:
        return ""
    return f"at {frames[-1].filename}:{frames[-1].lineno}: {frames[-1].line}"


def last_of(said: str) -> tuple[str, ...]:
    """Return the last lines of what a process said."""
    return tuple(_cut(line) for line in said.splitlines() if line.strip())[-_LINES:]


def _cut(line: str) -> str:
    return line.rstrip() if len(line) <= _WIDTH else line[:_WIDTH] + " …"
