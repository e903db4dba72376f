"""What is said of indices that lead to places which do not exist."""

from __future__ import annotations

from burnish.core.errors import UsageError


class EarlierRunError(UsageError):
    """An earlier run was led to a place that does not exist, and its results were handed out."""


def missing_place(
    name: str, held: tuple[int, int], size: int, *, is_computed: bool, when: str = ""
) -> UsageError | None:
    """Return what is wrong with indices between two numbers into so many entries; None: nothing.

    `when`: in which run they were held, where it is not the one that raises.
    """
    low, high = held
    if -size <= low and high < size:
        return None
    wanted = f"whole numbers from {-size} to {size - 1}"
    kind = EarlierRunError if when else UsageError
    return kind(
        f"{'computed' if is_computed else 'input'} {name!r} {'held' if when else 'holds'}"
        f" {low if low < -size else high}{when}, and what it points into has {size:,} entries",
        hint=f"feed what makes {wanted} of it" if is_computed else f"feed {wanted}",
    )
