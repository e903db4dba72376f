"""Whose code makes a model's PyTorch module, and whether the user lets it run.

A `source.json` beside a model may name anything. Only entries of the zoo, and folders of plain
weights, are burnish's own to build; whatever else it names is run if the user has named it, too.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from burnish.core.errors import UsageError
from burnish.store.stored import StoredModel

OPTION = "--trust-factory"


def foreign_code(model: StoredModel) -> str | None:
    """Return the code, or the folder of pickles, that makes a model's module; None: all is ours.

    Files are told by their full path, so that what is trusted is what is run.
    """
    source = model.torch
    if source is None or source.origin == "zoo":
        return None
    if source.origin == "folder":
        return str(Path(source.name).resolve()) if source.arguments.get("trust_pickle") else None
    return _in_full(source.name, model.onnx.parent)


def trusting(models: Sequence[StoredModel], named: Sequence[str]) -> tuple[StoredModel, ...]:
    """Return the models, those trusted whose code is among the named."""
    made_by = [foreign_code(model) for model in models]
    wanted = {_in_full(spec, Path()): spec for spec in named}
    for full, spec in wanted.items():
        if full not in made_by:
            known = [code for code in dict.fromkeys(made_by) if code is not None]
            raise UsageError(
                f"{OPTION} {spec}: makes none of these models",
                hint=f"they are made by: {', '.join(known)}" if known else "leave it away",
            )
    return tuple(
        replace(model, trusted=True) if code in wanted else model
        for model, code in zip(models, made_by, strict=True)
    )


def is_runnable(model: StoredModel) -> bool:
    """Say whether a model's module may be built: it has one, which is ours or trusted."""
    return model.torch is not None and (model.trusted or foreign_code(model) is None)


def require_trust(model: StoredModel) -> None:
    """Raise if building a model's module would run code that the user has not named."""
    code = foreign_code(model)
    if code is not None and not model.trusted:
        raise UsageError(
            f"{model.label}: its PyTorch module is made by {code}, which is not burnish's code"
            " and was not run",
            hint=f"read it; to run it, add {shlex.join((OPTION, code))}",
            more=(OPTION, code),
        )


def _in_full(spec: str, start: Path) -> str:
    place, _, name = spec.rpartition(":")
    if place.endswith(".py"):
        return f"{(start / place).resolve()}:{name}"
    return str((start / spec).resolve()) if (start / spec).is_dir() else spec
