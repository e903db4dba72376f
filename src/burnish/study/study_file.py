"""A study as people write it: models, engines, types and sizes in TOML, and what to draw."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from burnish.core.documents import read_toml
from burnish.core.errors import UsageError
from burnish.core.nearest import suggestion
from burnish.hw.spec import load, names
from burnish.study.planning import CPU
from burnish.study.requests.vocabulary import seconds, shapes

_HINT = "examples/studies has whole ones"
_AXES = ("batch", "sequence", "past")
_COLUMNS = ("onnxruntime",)


@dataclass(frozen=True, slots=True)
class StudyModel:
    """One model of a study: a file or a folder, or an entry of the zoo that is exported first."""

    name: str
    path: Path | None = None
    zoo: str | None = None
    past: bool = False
    """Of the zoo: a decoder that takes and returns keys and values."""
    precision: str = ""
    """Of the zoo: the type that it is built and exported in; empty: fp32."""
    sizes: tuple[Mapping[str, int], ...] = ()
    """At which it is measured; empty: at those of the study."""


@dataclass(frozen=True, slots=True)
class StudyFile:
    """What a study asks for."""

    title: str
    models: tuple[StudyModel, ...]
    engines: tuple[str, ...]
    about: str = ""
    precision: tuple[str, ...] = ()
    batch: tuple[int, ...] = ()
    sequence: tuple[int, ...] = ()
    past_length: tuple[int, ...] = ()
    generate: tuple[int, ...] = ()
    """Tokens that a call of a decoder writes; 0: a call is one step."""
    threads: tuple[int, ...] = ()
    rounds: int = 5
    blocks: int | None = None
    """The most blocks of each process; None: as many as a benchmark has."""
    budget_s: float | None = None
    optimized: bool = False
    """Whether what `burnish optimize` makes of each model has rows of its own."""
    pruned: float | None = None
    """The share of each model's operations that a pruned one with rows of its own keeps."""
    draw: tuple[str, ...] = ()
    plans: tuple[str, ...] = ()
    """Devices to plan every model for, fused to all degrees: `cpu`, or names of the catalog."""
    columns: tuple[str, ...] = ()
    """Other tools in whose columns the figures are written, too."""
    missing: Mapping[str, str] = field(default_factory=dict)
    """What the original experiment has and this one has not, with the reason."""


@dataclass(frozen=True, slots=True)
class _Field:
    """What a file may say of one thing."""

    kind: type
    items: type | None = None
    """Of what a list or a table is made; None: anything."""
    least: float = -math.inf
    most: float = math.inf
    """Bounds of a number, or of each number of a list."""


_FIELDS: Mapping[str, _Field] = {
    "title": _Field(str), "about": _Field(str), "budget": _Field(str), "optimized": _Field(bool),
    "engines": _Field(list, str), "precision": _Field(list, str), "draw": _Field(list, str),
    "columns": _Field(list, str), "plans": _Field(list, str), "models": _Field(list, dict),
    "missing": _Field(dict, str), "batch": _Field(list, int, 1), "sequence": _Field(list, int, 1),
    "past-length": _Field(list, int, 0), "generate": _Field(list, int, 0),
    "threads": _Field(list, int, 1), "rounds": _Field(int, None, 1), "blocks": _Field(int, None, 1),
    "pruned": _Field(float, None, 0.0, 1.0), "small": _Field(dict),
}  # fmt: skip
_MODEL_FIELDS: Mapping[str, _Field] = {
    "path": _Field(str), "zoo": _Field(str), "past": _Field(bool), "name": _Field(str),
    "precision": _Field(str), "shapes": _Field(list, dict),
}  # fmt: skip
_OF_THE_ZOO = ("past", "name", "precision")
_WORDS: Mapping[type, str] = {
    str: "text", bool: "true or false", list: "a list", dict: "a table", int: "a whole number",
    float: "a number",
}  # fmt: skip


def read(path: Path, *, small: bool) -> StudyFile:
    """Return the study in a file; with `small`, what its table [small] says goes first."""
    data = read_toml(path, hint=_HINT)
    _require_fields(str(path), data, _FIELDS, "knows")
    fewer = data.pop("small", {})
    _require_fields(str(path), fewer, {n: f for n, f in _FIELDS.items() if n != "small"}, "knows")
    given = {**data, **(fewer if small else {})}
    for name in ("title", "models", "engines"):
        if not given.get(name):
            raise UsageError(f"{path}: says nothing of {name}", hint=_HINT)
    _require_among(path, "draw", given.get("draw", ()), _AXES)
    _require_among(path, "columns", given.get("columns", ()), _COLUMNS)
    _require_among(
        path,
        "plans",
        given.get("plans", ()),
        (CPU, *(name for name in names() if load(name).kind == "gpu")),
    )
    return _made(path, given)


def _require_fields(
    where: str, given: Mapping[str, Any], known: Mapping[str, _Field], verb: str
) -> None:
    """Raise where a table holds something that is not known, or of another kind."""
    for name, value in given.items():
        if name not in known:
            raise UsageError(f"{where}: {verb} no {name!r}", hint=suggestion(name, known))
        field = known[name]
        _require(where, name, value, field.kind, field)
        if field.items is not None:
            parts = value.values() if isinstance(value, dict) else value
            for part in parts:
                _require(where, f"a part of {name}", part, field.items, field)


def _require(where: str, what: str, value: Any, kind: type, field: _Field) -> None:  # noqa: ANN401
    """Raise if a value is not of its kind or beyond its bounds; `true` is no number."""
    whole = isinstance(value, int) and not isinstance(value, bool)
    fits = whole if kind is int else isinstance(value, kind) or (kind is float and whole)
    if not fits:
        raise UsageError(
            f"{where}: {what} is a {type(value).__name__}, not a {kind.__name__}",
            hint=f"write {_WORDS[kind]}; {_HINT}",
        )
    if kind in (int, float) and not field.least <= value <= field.most:
        most = "on" if field.most == math.inf else f"to {field.most:g}"
        raise UsageError(
            f"{where}: {what} is {value}", hint=f"write a number from {field.least:g} {most}"
        )


def _made(path: Path, given: Mapping[str, Any]) -> StudyFile:
    models = tuple(_model(path, one) for one in given["models"])
    _require_apart(path, models)
    return StudyFile(
        title=given["title"],
        about=given.get("about", ""),
        models=models,
        engines=tuple(given["engines"]),
        precision=tuple(given.get("precision", ())),
        batch=tuple(given.get("batch", ())),
        sequence=tuple(given.get("sequence", ())),
        past_length=tuple(given.get("past-length", ())),
        generate=tuple(given.get("generate", ())),
        threads=tuple(given.get("threads", ())),
        rounds=given.get("rounds", 5),
        blocks=given.get("blocks"),
        budget_s=seconds(given["budget"]) if "budget" in given else None,
        optimized=given.get("optimized", False),
        pruned=given.get("pruned"),
        draw=tuple(given.get("draw", ())),
        columns=tuple(given.get("columns", ())),
        plans=tuple(given.get("plans", ())),
        missing=given.get("missing", {}),
    )


def _model(path: Path, given: Mapping[str, Any]) -> StudyModel:
    """Return a model: `{ path = … }`, from the file's own folder on, or `{ zoo = … }`."""
    if ("path" in given) == ("zoo" in given):
        raise UsageError(
            f"{path}: a model has a path or is of the zoo", hint='write { zoo = "bert-base" }'
        )
    _require_fields(str(path), given, _MODEL_FIELDS, "a model has")
    for shape in given.get("shapes", ()):
        _require_fields(str(path), shape, dict.fromkeys(shape, _Field(int)), "a shape has")
    sizes = shapes(given.get("shapes", ()))
    if "zoo" in given:
        name = given.get("name", given["zoo"])
        past, precision = given.get("past", False), given.get("precision", "")
        return StudyModel(name, zoo=given["zoo"], past=past, precision=precision, sizes=sizes)
    for name in _OF_THE_ZOO:
        if name in given:
            raise UsageError(
                f"{path}: {name!r} is for models of the zoo, and {given['path']} is a file",
                hint=f"leave {name} away",
            )
    place = path.parent / given["path"]
    return StudyModel(place.name, path=place, sizes=sizes)


def _require_apart(path: Path, models: Sequence[StudyModel]) -> None:
    """Raise if two models are exported under one name: the second would be the first's file."""
    seen: set[tuple[str, bool]] = set()
    for model in models:
        key = (model.name, model.past)
        if model.zoo is not None and key in seen:
            raise UsageError(
                f"{path}: two models are called {model.name!r}",
                hint='give one of them another: { zoo = "bert-base", name = "other" }',
            )
        seen |= {key} if model.zoo is not None else set()


def _require_among(path: Path, what: str, given: Any, known: tuple[str, ...]) -> None:  # noqa: ANN401
    for one in given:
        if one not in known:
            raise UsageError(f"{path}: {what} knows no {one!r}", hint=suggestion(str(one), known))
