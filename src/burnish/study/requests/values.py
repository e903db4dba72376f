"""What Python hands to a request: looked at as the command line looks at what is written there."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from numbers import Real
from operator import index
from pathlib import Path
from typing import Any, SupportsIndex

import numpy as np

from burnish.core.errors import UsageError
from burnish.core.precisions import element_type
from burnish.study.requests import vocabulary as v
from burnish.study.requests.option import Option, RequestField, fields
from burnish.study.requests.several import counts, names, one_count, one_precision, precisions

_OF_TEXTS = (names, v.one_engine, element_type, one_precision, precisions, v.target)
"""What is read from texts and gives texts."""


def require_values(asked: object) -> None:
    """Raise where a keyword holds something else than what can be written on the command line."""
    for field in fields(type(asked)):
        value = getattr(asked, field.name)
        if value is None and not field.may_be_none:
            raise UsageError(f"{field.name} is None", hint=f"give {field.name}=…")
        if not isinstance(field.said, Option) or value is None or value is field.default:
            continue
        read = field.said.read
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
        if read is v.memory and not _is_count(value):
            raise UsageError(f"{field.name}={value!r} is no size", hint="give bytes: 2 * 2**30")
        if read is None or read in _OF_TEXTS:
            _require_kind(field, field.said, value)


def _require_kind(field: RequestField, said: Option, value: Any) -> None:  # noqa: ANN401
    """Raise where a value is not of its field's kind, or below the least that this may be."""
    kind, fits, example = said.kind, False, ""
    several = _each(value) if said.repeated else (value,)
    if isinstance(kind, tuple):
        fits, example = all(each in kind for each in several), " or ".join(map(repr, kind))
    elif kind is bool:
        fits, example = isinstance(value, bool | np.bool_), "True or False"
    elif kind in (int, float):
        number = SupportsIndex if kind is int else Real
        least = -math.inf if said.least is None else said.least
        fits = all(
            isinstance(each, number) and not isinstance(each, bool) and float(each) >= least
            for each in several
        )
        example = "a whole number" if kind is int else "a number"
        example += "" if said.least is None else f" from {said.least:g} on"
    elif kind is Path:
        fits = all(isinstance(each, str | os.PathLike) for each in several)
        example = "a path"
    elif kind is str:
        fits, example = all(isinstance(each, str) for each in several), "a text"
    if not fits:
        raise UsageError(f"{field.name}={value!r} is not {example}", hint=f"give {example}")


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
