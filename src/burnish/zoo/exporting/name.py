"""What a user calls a model: where it comes from, and what its copy in a store is called."""

from __future__ import annotations

import re
from pathlib import Path

from burnish.core.errors import UsageError
from burnish.zoo.entry import MODELS
from burnish.zoo.exporting.request import ExportRequest, FolderSource, Source, ZooSource


def source_named(name: str, *, trust_pickle: bool = False) -> Source:
    """Return the zoo's model of this name, else the folder."""
    if name in MODELS:
        return ZooSource(name)
    path = Path(name)
    if path.is_dir():
        return FolderSource(path.absolute(), trust_pickle)
    if ":" in name:
        raise UsageError(
            f"{name!r} is neither a model of the zoo nor a folder",
            hint=f"a function is named with --module {name}",
        )
    if path.parent != Path() or path.exists():
        raise UsageError(
            f"{name}: no such folder",
            hint="name a folder with config.json, or a model of the zoo: burnish zoo list",
        )
    return ZooSource(MODELS[name].name)


def placed(factory: str) -> tuple[str, str]:
    """Return the package or file of a function, and its name there; nothing is imported."""
    place, separator, name = factory.rpartition(":")
    if not separator or not place:
        raise UsageError(
            f"{factory!r} does not name a function",
            hint="write package.module:function or path/to/file.py:function",
        )
    if place.endswith(".py") and not Path(place).is_file():
        raise UsageError(f"{place}: no such file", hint="write path/to/file.py:function")
    return place, name


def writer_of(request: ExportRequest) -> str:
    """Return who writes the graph: the exporter, or the style of a graph that is written here."""
    match request.source:
        case ZooSource(name) if (spelling := MODELS[name].spelling) is not None:
            return spelling.style
        case _:
            return request.exporter


def default_name(source: str) -> str:
    """Return a name for the store: the zoo's, the folder's, or that of the factory's file."""
    place, separator, _ = source.rpartition(":")
    last = place.rpartition(".")[2] if separator and not place.endswith(".py") else ""
    stem = last or Path(place if separator else source).absolute().name.removesuffix(".py")
    return re.sub(r"[^\w.+-]", "_", stem).lstrip("._-+") or "model"


def default_variant(request: ExportRequest, *, int8: bool, optimize: bool) -> str:
    """Return who writes the graph, with everything that sets this export apart."""
    options = request.options
    marks = [
        (options.small, "small"),
        (options.layers is not None, f"{options.layers}layers"),
        (options.past, "past"),
        (options.precision != "fp32", options.precision),
        (request.functions, "functions"),
        (int8, "int8"),
        (optimize, "optimized"),
    ]
    return "_".join([writer_of(request), *(mark for is_set, mark in marks if is_set)])
