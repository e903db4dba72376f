"""What people are shown of a record, whichever it is."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any, get_type_hints

from burnish.core.errors import UsageError
from burnish.report.table import Shown
from burnish.study.shown import guarding, judging, looking, pruning, rewriting


def lines_of(record: object) -> Shown:
    """Return the tables and lines of a record of burnish."""
    lines = _shown_by().get(type(record))
    if lines is None:
        raise UsageError(
            f"a {type(record).__name__} is no record that can be shown",
            hint="give what a function of burnish returned: burnish.show(burnish.verify(…))",
        )
    return lines(record)


@functools.cache
def _shown_by() -> Mapping[type, Callable[[Any], Shown]]:
    """Return what shows each record: the function whose first argument is one."""
    every = {
        name: thing
        for module in (guarding, judging, looking, pruning, rewriting)
        for name, thing in vars(module).items()
        if getattr(thing, "__module__", "") == module.__name__ and not name.startswith("_")
    }
    lines = [thing for name, thing in every.items() if name.endswith("_lines")]
    return {next(iter(get_type_hints(one).values())): one for one in lines}
