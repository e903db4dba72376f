"""What a field of a recorded event says, if it is what such a field must be."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from decimal import Decimal, InvalidOperation
from typing import Any

MOST = 10**18
"""Of a time in microseconds: more are thirty thousand years."""


class OddEventError(Exception):
    """An event with a field that cannot be what it says."""


def microseconds(event: Mapping[str, Any], key: str) -> int | Decimal | float:
    """Return a time of an event, 0 where there is none; only numbers that a clock can show."""
    value = event.get(key, 0)
    if isinstance(value, str):
        with suppress(InvalidOperation):
            value = Decimal(value)
    if isinstance(value, Decimal) and not value.is_finite():
        raise OddEventError(f"its {key} is {shown(event[key])}")
    if isinstance(value, bool) or not isinstance(value, (int, float, Decimal)):
        raise OddEventError(f"its {key} is {shown(value)}")
    if not -MOST < value < MOST:  # which no NaN is
        raise OddEventError(f"its {key} is {shown(value)}")
    return value


def length(event: Mapping[str, Any], key: str = "dur") -> int | Decimal | float:
    """Return how long an event took, in microseconds, 0 where it does not say."""
    value = microseconds(event, key)
    if value < 0:
        raise OddEventError(f"its {key} is {shown(value)}")
    return value


def arguments(event: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the further facts of an event."""
    found = event.get("args") or {}
    if not isinstance(found, dict):
        raise OddEventError(f"its args are {shown(found)}")
    return found


def text(value: object) -> str | None:
    """Return text, or None for anything else."""
    return value if isinstance(value, str) else None


def shown(value: object) -> str:
    """Return a value as an error may show it."""
    try:
        told = repr(value)
    except (ValueError, RecursionError):
        told = f"a {type(value).__name__} too long to show"
    return told if len(told) <= 40 else f"{told[:40]}…"
