"""What Python hands to a request: looked at as the command line looks at what is written there."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from numbers import Real
from operator import index
from typing import Any, SupportsIndex

from burnish.core.errors import UsageError
from burnish.study.requests import vocabulary as v
from burnish.study.requests.option import Option, fields
from burnish.study.requests.several import counts, one_count


def require_values(asked: object) -> None:
    """Raise where a keyword holds a time, a shape or a number of threads that is none."""
    for field in fields(type(asked)):
        if not isinstance(field.said, Option):
            continue
        read, value = field.said.read, getattr(asked, field.name)
        if value is None or value is field.default:
            continue
        if read is v.seconds and not _is_time(value):
            raise UsageError(f"{field.name}={value!r} is not a time", hint="give seconds: 60")
        if read in (one_count, counts) and not all(_is_count(each) for each in _each(value)):
            raise UsageError(
                f"{field.name}={value!r} is not a whole number from 1 on",
                hint="give for instance 8",
            )
        if field.name == "shape" and not all(_is_shape(each) for each in _each(value)):
            raise UsageError(
                f"shape={value!r} is no shape",
                hint="give sizes by their names, {'batch': 8, 'sequence': 128}, or a list of such",
            )


def _each(value: Any) -> Sequence[Any]:  # noqa: ANN401  (of any field)
    single = isinstance(value, str | Mapping) or not isinstance(value, Sequence)
    return (value,) if single else value


def _is_time(value: Any) -> bool:  # noqa: ANN401
    return isinstance(value, Real) and 0 <= float(value) < math.inf


def _is_count(value: Any) -> bool:  # noqa: ANN401
    return isinstance(value, SupportsIndex) and index(value) >= 1


def _is_shape(value: Any) -> bool:  # noqa: ANN401
    return isinstance(value, Mapping) and all(
        isinstance(name, str) and isinstance(size, SupportsIndex) for name, size in value.items()
    )
