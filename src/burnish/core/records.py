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
_Reader = Callable[[Any, _Decoder], Any]
"""Returns the value that data stands for; what JSON lacks is read elsewhere."""

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
        named = isinstance(data, dict) and "kind" in data
        if not named or (data["kind"], data.get("schema")) != (kind, schema):
            found = f"{data['kind']} with schema {data.get('schema')}" if named else "no record"
            raise ModelError(f"{path}: holds {found}, not {kind} with schema {schema}", hint=hint)
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
    return _reader(kind)(data, elsewhere)


@cache
def _reader(kind: Any) -> _Reader:  # noqa: ANN401  (a type)
    """Return what reads values of a type: types are looked at once, not for every value."""
    if get_origin(kind) is not None:
        return _generic_reader(kind)
    if kind is bytes:
        return lambda data, elsewhere: elsewhere(kind, data)
    if dataclasses.is_dataclass(kind):
        return _record_reader(kind)
    if kind in _SCALARS:
        return lambda data, _: data if type(data) is kind else _decode_scalar(kind, data)
    return lambda data, _: _decode_scalar(kind, data)


def _record_reader(kind: Any) -> _Reader:  # noqa: ANN401  (a dataclass)
    readers: list[tuple[str, _Reader]] = []

    def read(data: Any, elsewhere: _Decoder) -> Any:  # noqa: ANN401
        if not readers:  # now, for a record may hold records of its own type
            readers.extend((name, _reader(hint)) for name, hint in _fields(kind).items())
        if not isinstance(data, Mapping):
            raise TypeError(f"expected a {kind.__name__}, found {data!r}")
        return kind(**{name: of(data[name], elsewhere) for name, of in readers if name in data})

    return read


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


def _generic_reader(kind: Any) -> _Reader:  # noqa: ANN401  (a type with arguments)
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (typing.Union, types.UnionType):
        return _union_reader(arguments)
    if origin is typing.Literal:
        return lambda data, _: _one_of(arguments, data)
    if origin is tuple:
        return _tuple_reader(arguments)
    if origin is frozenset:
        item = _reader(arguments[0])
        return lambda data, elsewhere: frozenset(item(each, elsewhere) for each in data)
    if issubclass(typing.cast("type", origin), Mapping):
        value = _reader(arguments[1])
        return lambda data, elsewhere: {key: value(v, elsewhere) for key, v in data.items()}
    return lambda data, elsewhere: elsewhere(kind, data)


@cache
def _fields(kind: Any) -> dict[str, Any]:  # noqa: ANN401  (a dataclass)
    """Return the types of what a record is made from, by name."""
    hints = typing.get_type_hints(kind)
    return {field.name: hints[field.name] for field in dataclasses.fields(kind) if field.init}


def _one_of(choices: Sequence[Any], data: Any) -> Any:  # noqa: ANN401
    if data not in choices:
        raise TypeError(f"expected one of {', '.join(map(str, choices))}, found {data!r}")
    return data


def _union_reader(kinds: Sequence[Any]) -> _Reader:
    readers = [_reader(kind) for kind in kinds if kind is not type(None)]

    def read(data: Any, elsewhere: _Decoder) -> Any:  # noqa: ANN401
        if data is None and type(None) in kinds:
            return None
        for reader in readers:
            try:
                return reader(data, elsewhere)
            except (TypeError, ValueError, KeyError, AttributeError):
                continue
        raise TypeError(f"{data!r} is none of {', '.join(map(str, kinds))}")

    return read


def _tuple_reader(arguments: tuple[Any, ...]) -> _Reader:
    alike = len(arguments) == 2 and arguments[1] is Ellipsis
    readers = [_reader(kind) for kind in arguments if kind is not Ellipsis]

    def read(data: Any, elsewhere: _Decoder) -> tuple[Any, ...]:  # noqa: ANN401
        if not isinstance(data, list):
            raise TypeError(f"expected a list, found {data!r}")
        if alike:
            (reader,) = readers
            return tuple(reader(item, elsewhere) for item in data)
        return tuple(reader(item, elsewhere) for reader, item in zip(readers, data, strict=True))

    return read


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
