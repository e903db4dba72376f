"""Write a compiled model to disk: all of it, or nothing."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from burnish.codegen.backend import Backend, BuiltCode
from burnish.codegen.place import BuiltPlan
from burnish.core import records
from burnish.core.arrays import Array
from burnish.core.files import Kind, folder_written_beside
from burnish.core.hashing import file_key
from burnish.core.placing import ALIGNMENT
from burnish.runtime.buffers import padded
from burnish.runtime.folder import CONSTANTS, PROOF, SCHEMA, TABLE, About, CompiledModel
from burnish.runtime.kernel_table import table
from burnish.runtime.plan import OrtStep, Plan, Step
from burnish.store import onnx_files
from burnish.store.compiled import FOLDER, KERNELS, PLAN, SUMS
from burnish.store.history import History


def write(
    target: Path,
    about: About,
    built: Sequence[BuiltPlan],
    backend: Backend,
    *,
    accept: Callable[[Path], str] = lambda _draft: "",
    replaces: Kind = FOLDER,
) -> None:
    """Write a compiled model; `accept` is shown the draft, and returns the text of its proof.

    If `accept` raises, nothing is written and what stood at `target` stays. A folder there is
    replaced if it is what `replaces` says.
    """
    with folder_written_beside(target, replaces) as folder:
        plans = [_named_apart(each, n, len(built)) for n, each in enumerate(_alike(built))]
        code = _write_kernels(folder, plans, backend)
        _write_libraries(folder, plans, about)
        placed = _write_constants(folder / CONSTANTS, plans)
        documents = {PLAN: CompiledModel(about, placed), TABLE: table(placed, code.table)}
        for name, record in documents.items():
            text = records.text_of(records.document(record, schema=SCHEMA))
            (folder / name).write_text(text)
        write_sums(folder)
        proof = accept(folder)
        if proof:
            (folder / PROOF).write_text(proof)
            write_sums(folder)


def _alike(built: Sequence[BuiltPlan]) -> Iterator[BuiltPlan]:
    """Yield the plans, each with all that the kernels of any of them need: they are one code."""
    every = tuple(dict.fromkeys(need for each in built for need in each.plan.requires))
    for each in built:
        requires = every if each.plan.kernels else ()
        yield dataclasses.replace(each, plan=dataclasses.replace(each.plan, requires=requires))


def _named_apart(built: BuiltPlan, number: int, total: int) -> BuiltPlan:
    """Return a plan whose ONNX Runtime parts have names that no other plan's have."""
    if total == 1:
        return built
    names = {name: f"plan_{number}_{name}" for name in built.parts}

    def renamed(step: Step) -> Step:
        if isinstance(step, OrtStep):
            return dataclasses.replace(step, file=names[step.file])
        return step

    plan = dataclasses.replace(built.plan, steps=tuple(map(renamed, built.plan.steps)))
    parts = {names[name]: model for name, model in built.parts.items()}
    return dataclasses.replace(built, plan=plan, parts=parts)


def _write_kernels(folder: Path, built: Sequence[BuiltPlan], backend: Backend) -> BuiltCode:
    """Write all kernels as their back end wants them; return how it loads them."""
    (folder / KERNELS).mkdir()
    sources: dict[str, str] = {}
    headers: dict[str, str] = {}
    for each in built:
        for name, source in each.kernels.items():
            if sources.setdefault(name, source) != source:
                raise ValueError(f"two kernels are called {name!r}")
            headers.setdefault(name, each.headers.get(name, ""))
    if not sources:
        return BuiltCode({}, {})
    code = backend.build({name: headers[name] + source for name, source in sources.items()})
    for name, content in code.files.items():
        (folder / name).write_bytes(content)
    return code


def _write_libraries(folder: Path, built: Sequence[BuiltPlan], about: About) -> None:
    for each in built:
        for name, model in each.parts.items():
            onnx_files.write(model, folder / name, history=History(about.source_key, ()))


def _write_constants(path: Path, built: Sequence[BuiltPlan]) -> tuple[Plan, ...]:
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


def write_sums(folder: Path) -> None:
    """List every file of a folder with its sum."""
    lines = (f"{file_key(path)}  {path.relative_to(folder)}\n" for path in _files(folder))
    (folder / SUMS).write_text("".join(lines))


def _files(folder: Path) -> Iterator[Path]:
    return (p for p in sorted(folder.rglob("*")) if p.is_file() and p.name != SUMS)
