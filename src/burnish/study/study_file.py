"""A study as people write it: models, engines, types and sizes in TOML, and what to draw."""

from __future__ import annotations

from collections.abc import Mapping
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


def read(path: Path, *, small: bool) -> StudyFile:
    """Return the study in a file; with `small`, what its table [small] says goes first."""
    data = read_toml(path, hint=_HINT)
    fewer = data.pop("small", {})
    given = {**data, **(fewer if small else {})}
    known = {
        "title": str, "about": str, "engines": list, "precision": list, "batch": list,
        "sequence": list, "past-length": list, "threads": list, "rounds": int, "budget": str,
        "blocks": int,
        "optimized": bool, "draw": list, "columns": list, "missing": dict, "models": list,
        "plans": list, "generate": list, "pruned": float,
    }  # fmt: skip
    for name, value in (*given.items(), *fewer.items()):
        if name not in known:
            raise UsageError(f"{path}: knows no {name!r}", hint=suggestion(name, known))
        if not isinstance(value, known[name]):
            raise UsageError(
                f"{path}: {name} is a {type(value).__name__}, not a {known[name].__name__}",
                hint=_HINT,
            )
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


def _made(path: Path, given: Mapping[str, Any]) -> StudyFile:
    return StudyFile(
        title=given["title"],
        about=given.get("about", ""),
        models=tuple(_model(path, one) for one in given["models"]),
        engines=tuple(map(str, given["engines"])),
        precision=tuple(map(str, given.get("precision", ()))),
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
        missing={str(what): str(why) for what, why in given.get("missing", {}).items()},
    )


def _model(path: Path, given: Any) -> StudyModel:  # noqa: ANN401  (what TOML holds)
    """Return a model: `{ path = … }`, from the file's own folder on, or `{ zoo = … }`."""
    known = ("path", "zoo", "past", "name", "precision", "shapes")
    if not isinstance(given, dict) or ("path" in given) == ("zoo" in given):
        raise UsageError(
            f"{path}: a model has a path or is of the zoo", hint='write { zoo = "bert-base" }'
        )
    for name in given:
        if name not in known:
            raise UsageError(f"{path}: a model has no {name!r}", hint=suggestion(name, known))
    sizes = shapes(given.get("shapes", ()))
    if "zoo" in given:
        name = str(given.get("name", given["zoo"]))
        past, precision = bool(given.get("past")), str(given.get("precision", ""))
        return StudyModel(name, zoo=given["zoo"], past=past, precision=precision, sizes=sizes)
    place = path.parent / str(given["path"])
    return StudyModel(str(given.get("name", place.name)), path=place, sizes=sizes)


def _require_among(path: Path, what: str, given: Any, known: tuple[str, ...]) -> None:  # noqa: ANN401
    for one in given:
        if one not in known:
            raise UsageError(f"{path}: {what} knows no {one!r}", hint=suggestion(str(one), known))
