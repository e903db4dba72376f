"""A compiled model on disk: plans, machine code, constants, the ONNX Runtime parts, and a proof.

plan.json        what the model takes and gives, and one plan per choice of sizes
kernels.json     how each kernel may be called, and what its back end must know to load it
kernels.bin      all kernels as they are loaded (CPU: linked machine code)
kernels/         each kernel by itself (CPU: LLVM IR and object code)
constants.bin    weights as kernels read them; mapped into memory, not read
part_N.onnx   the parts that ONNX Runtime runs
proof.json       how near its outputs are to those of the model it was made from
SHA256SUMS       of all of these; `sha256sum -c` reads it, too
SHA256SUMS.sig   who made it, if it was signed
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from burnish.core import records
from burnish.core.command import command
from burnish.core.drafts import recover
from burnish.core.errors import ModelError
from burnish.core.files import foreign_entry
from burnish.core.hashing import file_key
from burnish.core.tensors import TensorSpec
from burnish.runtime.kernel_table import KernelTable
from burnish.runtime.plan import Plan
from burnish.store.compiled import KERNELS, PLAN, SIGNATURE, SUMS, listed

SCHEMA = 5

CONSTANTS = "constants.bin"
IMAGE = "kernels.bin"
TABLE = "kernels.json"
PROOF = "proof.json"


@dataclass(frozen=True, slots=True)
class About:
    """Of what, where and how something was compiled."""

    model: str
    source: str
    """The file that it was made from."""
    source_key: str
    """The sha256 of that file's content."""
    inputs: tuple[TensorSpec, ...]
    outputs: tuple[TensorSpec, ...]
    precision: str
    """The element type of most of its arithmetic."""
    device: str
    """On which it was compiled."""
    date: str
    versions: Mapping[str, str] = field(default_factory=dict)
    options: tuple[str, ...] = ()
    """How it was compiled, as words of the command line, without model, shapes and place."""
    notes: tuple[str, ...] = ()
    """What is said of its kernels wherever it is run."""


@dataclass(frozen=True, slots=True)
class CompiledModel:
    """What stands in `plan.json`."""

    about: About
    plans: tuple[Plan, ...]

    def command(self, folder: Path, *more: Mapping[str, int], target: str = "") -> str:
        """Return what compiles it again, for further sizes, too, or for another target."""
        wanted = [dict(plan.sizes) for plan in self.plans]
        for further in more:
            wanted = self._with(wanted, further)
        shapes = [
            f"--shape {','.join(f'{k}={v}' for k, v in each.items())}" for each in wanted if each
        ]
        options = [
            f"--target {target}" if target and word.startswith("--target ") else word
            for word in self.about.options
        ]
        source, place = (shlex.quote(str(path)) for path in (self.about.source, folder))
        words = ["burnish compile", source, *shapes, *options, f"-o {place}"]
        return " ".join(words)

    def _with(
        self, wanted: list[dict[str, int]], further: Mapping[str, int]
    ) -> list[dict[str, int]]:
        """Return sizes with further ones; where one stays open, what they are up to grows."""
        opened = [plan.open for plan in self.plans if plan.open is not None]
        most = {size.name: max(size.most, further.get(size.name, 0)) for size in opened}
        added = {**further, **most}
        return [*(each for each in wanted if {**each, **most} != added), added]


def read(folder: Path) -> CompiledModel:
    """Return what is compiled in a folder."""
    require_plan(folder)
    _require_schema(folder)
    return records.read_document(CompiledModel, folder / PLAN, schema=SCHEMA)


def require_plan(folder: Path) -> None:
    """Raise if this is not the folder of a compiled model."""
    recover(folder)
    if not (folder / PLAN).is_file():
        raise ModelError(
            f"{folder}: is not a compiled model (it has no {PLAN})",
            hint="make one: burnish compile "
            + (f"{folder} -o FOLDER" if folder.is_file() else f"MODEL -o {folder}"),
        )


def _require_schema(folder: Path) -> None:
    """Raise if another version of burnish wrote this folder, in another form."""
    try:
        data = json.loads((folder / PLAN).read_bytes())
        version, schema, source = data["burnish"], data["schema"], data["about"]["source"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return
    if schema != SCHEMA:
        raise ModelError(
            f"{folder}: was compiled by burnish {version} in form {schema}, and this is {SCHEMA}",
            hint=f"compile it again: {command('compile', source, '-o', folder)}",
        )


def read_table(folder: Path) -> KernelTable:
    """Return the kernels of a folder."""
    return records.read_document(KernelTable, folder / TABLE, schema=SCHEMA)


def check_files(folder: Path) -> None:
    """Raise unless the folder holds what was written: every file, and no other."""
    if not (folder / SUMS).is_file():
        raise damaged(f"{folder}: {SUMS} is missing")
    wanted = listed(folder)
    for name in (PLAN, TABLE, CONSTANTS):
        if name not in wanted:
            raise damaged(f"{folder}: {name} is not in {SUMS}")
    known = {*wanted, SUMS, SIGNATURE, f"{KERNELS}/"}
    foreign = foreign_entry(folder, known.__contains__)
    if foreign is not None:
        raise damaged(f"{folder}: {foreign}, which is not in {SUMS}")
    for name, key in wanted.items():
        path = folder / name
        # no name may lead out of the folder, for whatever lies there
        if not path.is_file() or not path.resolve().is_relative_to(folder.resolve()):
            raise damaged(f"{folder}: {name} is missing")
        if file_key(path) != key:
            raise damaged(f"{path}: is damaged (its content is not what was compiled)")


def damaged(problem: str) -> ModelError:
    """Return what the user should read when a folder is not what was compiled."""
    hint = "copy the folder again, or compile it again with burnish compile"
    return ModelError(problem, hint=hint)
