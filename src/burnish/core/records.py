"""Frozen dataclasses as JSON and back, with a schema number and a published JSON Schema.

A record is a frozen dataclass whose fields are JSON scalars, enums, paths, other records,
tuples, frozen sets, mappings with string keys, or `X | None` of these. NaN and infinities,
which JSON lacks, are written as the strings "nan", "inf" and "-inf". Properties that a type
names in `DERIVED` are written too, for readers that do not compute, and ignored when read.
"""

from __future__ import annotations

import dataclasses
import enum
import json
import math
import types
import typing
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar, get_args, get_origin

from burnish.core.errors import ModelError
from burnish.version import __version__

R = TypeVar("R")

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


def encode(value: Any) -> Any:  # noqa: ANN401  (any field of a record)
    """Return the JSON value of a record or of one of its fields."""
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
            return {str(key): encode(item) for key, item in value.items()}
        case Sequence():
            return [encode(item) for item in value]
        case frozenset():
            return sorted(encode(item) for item in value)
        case _ if dataclasses.is_dataclass(value):
            return {name: encode(getattr(value, name)) for name in _written(type(value))}
        case _:
            raise TypeError(f"{type(value).__name__} has no JSON form")


def read_document(record_type: type[R], path: Path, *, schema: int) -> R:
    """Return the record stored at `path`, or say what is wrong with the file."""
    hint = f"make it again with burnish {__version__}"
    try:
        data = json.loads(path.read_bytes())
        found = (data.get("kind"), data.get("schema"))
        if found != (kind_of(record_type), schema):
            wanted = f"{kind_of(record_type)} with schema {schema}"
            raise ModelError(
                f"{path}: holds {found[0]} with schema {found[1]}, not {wanted}", hint=hint
            )
        return typing.cast("R", decode(record_type, data))
    except RecursionError as error:
        raise ModelError(f"{path}: is nested too deeply for a record", hint=hint) from error
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ModelError(f"{path}: is not a readable record ({error})", hint=hint) from error


def decode(kind: Any, data: Any) -> Any:  # noqa: ANN401  (one return per kind of type)
    """Return the value of type `kind` that `encode` turned into `data`."""
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (typing.Union, types.UnionType):
        return None if data is None else _first_that_fits(arguments, data)
    if origin is typing.Literal:
        return _one_of(arguments, data)
    if origin is tuple:
        return _decode_tuple(arguments, data)
    if origin is frozenset:
        return frozenset(decode(arguments[0], item) for item in data)
    if origin is not None and issubclass(origin, Mapping):
        return {key: decode(arguments[1], item) for key, item in data.items()}
    if dataclasses.is_dataclass(kind):
        hints = typing.get_type_hints(kind)
        fields = [field for field in dataclasses.fields(kind) if field.init]
        given = [field.name for field in fields if field.name in data]
        return typing.cast("Any", kind)(**{n: decode(hints[n], data[n]) for n in given})
    if isinstance(kind, type) and issubclass(kind, (enum.Enum, Path)):
        return kind(data)
    if kind is float:
        return float(data)
    if kind is not Any and not isinstance(data, kind):
        raise TypeError(f"expected {kind.__name__}, found {data!r}")
    return data


def _one_of(choices: Sequence[Any], data: Any) -> Any:  # noqa: ANN401
    if data not in choices:
        raise TypeError(f"expected one of {', '.join(map(str, choices))}, found {data!r}")
    return data


def _first_that_fits(kinds: Sequence[Any], data: Any) -> Any:  # noqa: ANN401
    for kind in kinds:
        if kind is type(None):
            continue
        try:
            return decode(kind, data)
        except (TypeError, ValueError, KeyError, AttributeError):
            continue
    raise TypeError(f"{data!r} is none of {', '.join(map(str, kinds))}")


def _decode_tuple(arguments: tuple[Any, ...], data: Any) -> tuple[Any, ...]:  # noqa: ANN401
    if not isinstance(data, list):
        raise TypeError(f"expected a list, found {data!r}")
    if len(arguments) == 2 and arguments[1] is Ellipsis:
        return tuple(decode(arguments[0], item) for item in data)
    return tuple(decode(kind, item) for kind, item in zip(arguments, data, strict=True))


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
