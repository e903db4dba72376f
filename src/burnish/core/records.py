"""Frozen dataclasses as JSON and back, with a schema number and a published JSON Schema.

A record is a frozen dataclass whose fields are JSON scalars, enums, paths, other records,
tuples, frozen sets, mappings with string keys, or `X | None` of these. NaN and infinities,
which JSON lacks, are written as the strings "nan", "inf" and "-inf". Properties that a type
names in `DERIVED` are written too, for readers that do not compute, and ignored when read.
Arrays and bytes have no JSON form: who has another place for them says so with `elsewhere`.
"""

from __future__ import annotations

import dataclasses
import enum
import json
import math
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, get_args, get_origin

from burnish.core.errors import ModelError
from burnish.core.files import Kind
from burnish.version import __version__

R = TypeVar("R")
_Decoder = Callable[[Any, Any], Any]
"""Given a type and what stands for a value of it, returns the value."""

_UNREADABLE = (
    OSError, ValueError, KeyError, TypeError, AttributeError, OverflowError,
)  # fmt: skip
_ODD_FLOATS = ("nan", "inf", "-inf")
_SCALARS: Mapping[Any, Any] = {
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    str: {"type": "string"},
    Path: {"type": "string"},
    float: {"anyOf": [{"type": "number"}, {"enum": list(_ODD_FLOATS)}]},
}


def document(record: Any, *, schema: int) -> dict[str, Any]:  # noqa: ANN401  (any record)
    """Return the JSON document of a record: what it is, its schema number, then its fields."""
    head = {"kind": kind_of(type(record)), "schema": schema, "burnish": __version__}
    return {**head, **encode(record)}


def kind_of(record_type: type) -> str:
    """Return the name of documents of this type: `VerifyReport` → `verify-report`."""
    name = record_type.__name__
    return "".join(f"-{c.lower()}" if c.isupper() else c for c in name).lstrip("-")


def text_of(data: Any) -> str:  # noqa: ANN401  (any JSON value)
    """Return JSON as people and `diff` like it."""
    return json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _no_place(value: Any) -> Any:  # noqa: ANN401
    raise TypeError(f"{type(value).__name__} has no JSON form")


def _no_such_place(kind: Any, data: Any) -> Any:  # noqa: ANN401
    raise TypeError(f"{kind} has no JSON form, found {data!r}")


def encode(value: Any, elsewhere: Callable[[Any], Any] = _no_place) -> Any:  # noqa: ANN401
    """Return the JSON value of a record or of one of its fields.

    `elsewhere` is given what JSON lacks, and returns what stands for it.
    """
    match value:
        case enum.Enum():
            return value.value
        case None | bool() | int() | str():
            return value
        case float():
            return value if math.isfinite(value) else str(value)
        case Path():
            return str(value)
        case Mapping():
            return {str(key): encode(item, elsewhere) for key, item in value.items()}
        case bytes():
            return elsewhere(value)
        case Sequence():
            return [encode(item, elsewhere) for item in value]
        case frozenset():
            return sorted(encode(item) for item in value)
        case _ if dataclasses.is_dataclass(value):
            names = _written(type(value))
            return {name: encode(getattr(value, name), elsewhere) for name in names}
        case _:
            return elsewhere(value)


def read_document(record_type: type[R], path: Path, *, schema: int, kind: str | None = None) -> R:
    """Return the record stored at `path`, or say what is wrong with the file.

    `kind`: None: as documents of this type are called.
    """
    hint = f"make it again with burnish {__version__}"
    kind = kind or kind_of(record_type)
    try:
        data = json.loads(path.read_bytes())
        found = (data.get("kind"), data.get("schema"))
        if found != (kind, schema):
            raise ModelError(
                f"{path}: holds {found[0]} with schema {found[1]}, not {kind} with schema {schema}",
                hint=hint,
            )
        return typing.cast("R", decode(record_type, data))
    except RecursionError as error:
        raise ModelError(f"{path}: is nested too deeply for a record", hint=hint) from error
    except _UNREADABLE as error:
        raise ModelError(f"{path}: is not a readable record ({error})", hint=hint) from error


def files_of(record_type: type) -> Kind:
    """Return the kind of files that hold documents of this type, whatever their schema."""
    kind = kind_of(record_type)
    return Kind(f"a {kind}", lambda path: None if holds(path, kind) else f"it holds no {kind}")


def holds(path: Path, kind: str, *, schema: int | None = None) -> bool:
    """Say whether a file holds a document of this kind; without a schema, of any."""
    try:
        data = json.loads(path.read_text())
    except (OSError, ValueError, RecursionError):
        return False
    if not isinstance(data, dict) or data.get("kind") != kind:
        return False
    return "burnish" in data and schema in (None, data.get("schema"))


def decode(
    kind: Any,  # noqa: ANN401  (one return per kind of type)
    data: Any,  # noqa: ANN401
    elsewhere: _Decoder = _no_such_place,
) -> Any:  # noqa: ANN401
    """Return the value of type `kind` that `encode` turned into `data`.

    `elsewhere` is given the type of what JSON lacks, and what stands for it.
    """
    if type(data) is kind and kind in _SCALARS:
        return data
    if get_origin(kind) is not None:
        return _decode_generic(kind, data, elsewhere)
    if kind is bytes:
        return elsewhere(kind, data)
    if dataclasses.is_dataclass(kind):
        record_type = typing.cast("Any", kind)
        given = {name: hint for name, hint in _fields(record_type).items() if name in data}
        return record_type(**{n: decode(hint, data[n], elsewhere) for n, hint in given.items()})
    return _decode_scalar(kind, data)


def _decode_scalar(kind: Any, data: Any) -> Any:  # noqa: ANN401
    if isinstance(kind, type) and issubclass(kind, (enum.Enum, Path)):
        return kind(data)
    if kind in (int, float) and isinstance(data, bool):
        raise TypeError(f"expected {kind.__name__}, found {data!r}")
    if kind is float:
        return float(data)
    if kind is not Any and not isinstance(data, kind):
        raise TypeError(f"expected {kind.__name__}, found {data!r}")
    return data


def _decode_generic(kind: Any, data: Any, elsewhere: _Decoder) -> Any:  # noqa: ANN401
    def inner(kind: Any, data: Any) -> Any:  # noqa: ANN401
        return decode(kind, data, elsewhere)

    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (typing.Union, types.UnionType):
        return _first_that_fits(arguments, data, inner)
    if origin is typing.Literal:
        return _one_of(arguments, data)
    if origin is tuple:
        return _decode_tuple(arguments, data, inner)
    if origin is frozenset:
        return frozenset(inner(arguments[0], item) for item in data)
    if issubclass(typing.cast("type", origin), Mapping):
        return {key: inner(arguments[1], item) for key, item in data.items()}
    return elsewhere(kind, data)


@cache
def _fields(kind: Any) -> dict[str, Any]:  # noqa: ANN401  (a dataclass)
    """Return the types of what a record is made from, by name."""
    hints = typing.get_type_hints(kind)
    return {field.name: hints[field.name] for field in dataclasses.fields(kind) if field.init}


def _one_of(choices: Sequence[Any], data: Any) -> Any:  # noqa: ANN401
    if data not in choices:
        raise TypeError(f"expected one of {', '.join(map(str, choices))}, found {data!r}")
    return data


def _first_that_fits(kinds: Sequence[Any], data: Any, inner: _Decoder) -> Any:  # noqa: ANN401
    if data is None and type(None) in kinds:
        return None
    for kind in kinds:
        if kind is type(None):
            continue
        try:
            return inner(kind, data)
        except (TypeError, ValueError, KeyError, AttributeError):
            continue
    raise TypeError(f"{data!r} is none of {', '.join(map(str, kinds))}")


def _decode_tuple(arguments: tuple[Any, ...], data: Any, inner: _Decoder) -> tuple[Any, ...]:  # noqa: ANN401
    if not isinstance(data, list):
        raise TypeError(f"expected a list, found {data!r}")
    if len(arguments) == 2 and arguments[1] is Ellipsis:
        return tuple(inner(arguments[0], item) for item in data)
    return tuple(inner(kind, item) for kind, item in zip(arguments, data, strict=True))


def json_schema(record_type: type, *, schema: int) -> dict[str, Any]:
    """Return the JSON Schema of the documents of a record type."""
    definitions: dict[str, Any] = {}
    _schema_of(record_type, definitions)
    body = definitions.pop(record_type.__name__)
    head = {
        "kind": {"const": kind_of(record_type)},
        "schema": {"const": schema},
        "burnish": {"type": "string"},
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": kind_of(record_type),
        **body,
        "properties": {**head, **body["properties"]},
        "required": [*head, *body["required"]],
        "$defs": definitions,
    }


def _schema_of(kind: Any, definitions: dict[str, Any]) -> dict[str, Any]:  # noqa: ANN401
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (typing.Union, types.UnionType):
        return {"anyOf": [_schema_of(argument, definitions) for argument in arguments]}
    if origin is typing.Literal:
        return {"enum": list(arguments)}
    if origin is tuple:
        return _tuple_schema(arguments, definitions)
    if origin is frozenset:
        return {"type": "array", "items": _schema_of(arguments[0], definitions)}
    if origin is not None and issubclass(origin, Mapping):
        return {
            "type": "object",
            "additionalProperties": _schema_of(arguments[1], definitions),
        }
    if kind is type(None):
        return {"type": "null"}
    if kind in _SCALARS:
        return dict(_SCALARS[kind])
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return {"enum": [member.value for member in kind]}
    if dataclasses.is_dataclass(kind):
        return _record_schema(typing.cast("type", kind), definitions)
    raise TypeError(f"{kind} has no JSON form")


def _tuple_schema(arguments: tuple[Any, ...], definitions: dict[str, Any]) -> dict[str, Any]:
    if len(arguments) == 2 and arguments[1] is Ellipsis:
        return {"type": "array", "items": _schema_of(arguments[0], definitions)}
    items = [_schema_of(argument, definitions) for argument in arguments]
    return {
        "type": "array",
        "prefixItems": items,
        "minItems": len(items),
        "maxItems": len(items),
    }


def _record_schema(kind: type, definitions: dict[str, Any]) -> dict[str, Any]:
    if kind.__name__ not in definitions:
        definitions[kind.__name__] = {}  # holds the place while a record refers to itself
        hints = typing.get_type_hints(kind)
        hints.update({name: _property_type(kind, name) for name in _derived(kind)})
        names = _written(kind)
        definitions[kind.__name__] = {
            "type": "object",
            "properties": {name: _schema_of(hints[name], definitions) for name in names},
            "required": names,
            "additionalProperties": False,
        }
    return {"$ref": f"#/$defs/{kind.__name__}"}


def _written(kind: type) -> list[str]:
    """Return what of a record is written, by name, in order."""
    return [*(field.name for field in dataclasses.fields(kind)), *_derived(kind)]


def _derived(kind: type) -> tuple[str, ...]:
    names: tuple[str, ...] = getattr(kind, "DERIVED", ())
    return names


def _property_type(kind: type, name: str) -> Any:  # noqa: ANN401  (any type)
    return typing.get_type_hints(getattr(kind, name).fget)["return"]
