"""A compiled model on disk: plans, machine code, constants, the library's parts, and a proof.

plan.json        what the model takes and gives, and one plan per choice of sizes
kernels/*.ll *.o each kernel as LLVM IR and as object code
constants.bin    weights as kernels read them; mapped into memory, not read
library_N.onnx   the parts that ONNX Runtime runs
proof.json       how near its outputs are to those of the model it was made from
SHA256SUMS       of all of these; `sha256sum -c` reads it, too
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from burnish.codegen.buffers import ALIGNMENT, padded
from burnish.codegen.built import Built
from burnish.codegen.plan import LibraryStep, Plan, Step
from burnish.core import records
from burnish.core.arrays import Array
from burnish.core.errors import ModelError
from burnish.core.files import folder_written_beside
from burnish.core.hashing import file_key
from burnish.core.tensors import TensorSpec
from burnish.store import onnx_files
from burnish.store.compiled import PLAN, SUMS
from burnish.store.history import History

SCHEMA = 1

CONSTANTS = "constants.bin"
KERNELS = "kernels"
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
    cpu: str
    date: str
    versions: Mapping[str, str] = field(default_factory=dict)
    options: tuple[str, ...] = ()
    """How it was compiled, as words of the command line, without model, shapes and place."""


@dataclass(frozen=True, slots=True)
class CompiledModel:
    """What stands in `plan.json`."""

    about: About
    plans: tuple[Plan, ...]

    def command(self, folder: Path, *more: Mapping[str, int]) -> str:
        """Return what compiles it again, and for further sizes, too."""
        wanted = [dict(sizes) for sizes in (*(plan.sizes for plan in self.plans), *more) if sizes]
        shapes = [f"--shape {','.join(f'{k}={v}' for k, v in each.items())}" for each in wanted]
        words = ["burnish compile", self.about.source, *shapes, *self.about.options, f"-o {folder}"]
        return " ".join(words)


ObjectCode = Callable[[str], bytes]
"""LLVM IR of a module to object code."""


def write(
    target: Path,
    about: About,
    built: Sequence[Built],
    compile_object: ObjectCode,
    *,
    accept: Callable[[Path], str] = lambda _draft: "",
) -> None:
    """Write a compiled model; `accept` is shown the draft, and returns the text of its proof.

    If `accept` raises, nothing is written and what stood at `target` stays.
    """
    with folder_written_beside(target) as folder:
        plans = [_named_apart(each, n, len(built)) for n, each in enumerate(built)]
        _write_kernels(folder, plans, compile_object)
        _write_libraries(folder, plans, about)
        placed = _write_constants(folder / CONSTANTS, plans)
        document = records.document(CompiledModel(about, placed), schema=SCHEMA)
        (folder / PLAN).write_text(records.text_of(document))
        _write_sums(folder)
        proof = accept(folder)
        if proof:
            (folder / PROOF).write_text(proof)
            _write_sums(folder)


def read(folder: Path) -> CompiledModel:
    """Return what is compiled in a folder."""
    if not (folder / PLAN).is_file():
        raise ModelError(
            f"{folder}: is not a compiled model (it has no {PLAN})",
            hint=f"make one: burnish compile MODEL -o {folder}",
        )
    return records.read_document(CompiledModel, folder / PLAN, schema=SCHEMA)


def check_files(folder: Path) -> None:
    """Raise if a file of the folder is missing or is not what was written."""
    hint = "copy the folder again, or compile it again with burnish compile"
    if not (folder / SUMS).is_file():
        raise ModelError(f"{folder}: {SUMS} is missing", hint=hint)
    for line in (folder / SUMS).read_text().splitlines():
        wanted, _, name = line.partition("  ")
        path = folder / name
        if not path.is_file():
            raise ModelError(f"{folder}: {name} is missing", hint=hint)
        if file_key(path) != wanted:
            raise ModelError(
                f"{path}: is damaged (its content is not what was compiled)", hint=hint
            )


def kernel_path(folder: Path, name: str) -> Path:
    """Return where the object code of a kernel is; its IR lies beside it."""
    return folder / KERNELS / f"{name}.o"


def _named_apart(built: Built, number: int, total: int) -> Built:
    """Return a plan whose library parts have names that no other plan's have."""
    if total == 1:
        return built
    names = {name: f"plan_{number}_{name}" for name in built.libraries}

    def renamed(step: Step) -> Step:
        if isinstance(step, LibraryStep):
            return dataclasses.replace(step, file=names[step.file])
        return step

    plan = dataclasses.replace(built.plan, steps=tuple(map(renamed, built.plan.steps)))
    libraries = {names[name]: model for name, model in built.libraries.items()}
    return dataclasses.replace(built, plan=plan, libraries=libraries)


def _write_kernels(folder: Path, built: Sequence[Built], compile_object: ObjectCode) -> None:
    (folder / KERNELS).mkdir()
    texts: dict[str, str] = {}
    for each in built:
        for name, text in each.kernels.items():
            if texts.setdefault(name, text) != text:
                raise ValueError(f"two kernels are called {name!r}")
    for name, text in texts.items():
        path = kernel_path(folder, name)
        path.with_suffix(".ll").write_text(text)
        path.write_bytes(compile_object(text))


def _write_libraries(folder: Path, built: Sequence[Built], about: About) -> None:
    for each in built:
        for name, model in each.libraries.items():
            onnx_files.write(model, folder / name, history=History(about.source_key, ()))


def _write_constants(path: Path, built: Sequence[Built]) -> tuple[Plan, ...]:
    """Write all constants, equal ones once, and return the plans that say where they are."""
    offsets: dict[str, int] = {}
    with path.open("wb") as stream:

        def place(array: Array) -> int:
            dense = np.ascontiguousarray(array)
            key = hashlib.sha256(dense.view(np.uint8).reshape(-1).data).hexdigest()
            if key not in offsets:
                offsets[key] = stream.tell()
                dense.tofile(stream)
                stream.write(bytes(padded(dense.nbytes) - dense.nbytes))
            return offsets[key]

        plans = []
        for each in built:
            places = {name: place(array) for name, array in each.constants.items()}
            plans.append(_with_places(each.plan, places))
        if not stream.tell():
            stream.write(bytes(ALIGNMENT))
    return tuple(plans)


def _with_places(plan: Plan, places: Mapping[str, int]) -> Plan:
    tensors = {
        name: dataclasses.replace(tensor, offset=places[name]) if name in places else tensor
        for name, tensor in plan.tensors.items()
    }
    return dataclasses.replace(plan, tensors=tensors)


def _write_sums(folder: Path) -> None:
    lines = (f"{file_key(path)}  {path.relative_to(folder)}\n" for path in _files(folder))
    (folder / SUMS).write_text("".join(lines))


def _files(folder: Path) -> Iterator[Path]:
    return (p for p in sorted(folder.rglob("*")) if p.is_file() and p.name != SUMS)
