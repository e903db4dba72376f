"""Load a compiled model and run it: `burnish.load(FOLDER).run(feeds)`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np

from burnish.codegen import folder as folders
from burnish.codegen import parts
from burnish.codegen.cpu.driver import Driver
from burnish.codegen.cpu.image import Image
from burnish.codegen.cpu.loaded_image import LoadedImage
from burnish.codegen.cpu.target import by_name
from burnish.codegen.cpu.team import Bytes
from burnish.codegen.executable import Executable, Program
from burnish.codegen.folder import CompiledModel
from burnish.codegen.kernel_table import KernelTable
from burnish.codegen.parts import OrtSession
from burnish.codegen.plan import LibraryStep, Plan
from burnish.codegen.signing import require_signature
from burnish.codegen.soundness import Surroundings, findings
from burnish.core.arrays import Array, Arrays
from burnish.core.errors import MissingCapabilityError, UsageError
from burnish.core.tensors import TensorSpec
from burnish.core.units import size
from burnish.feeds import dimension
from burnish.feeds.check import check_feeds
from burnish.hw import detect

_SHOWN = 500
"""Characters of a finding: a name in a plan may be as long as the plan."""


def load(
    folder: Path | str, *, threads: int | None = None, signed_by: Path | str | None = None
) -> LoadedModel:
    """Return the compiled model in a folder, after checking its files, its plans and this CPU.

    A folder is code: load those you trust. `threads`: None takes all cores that this process may
    use. `signed_by`: the public key (PEM) of who must have signed it.
    """
    path = Path(folder)
    folders.require_plan(path)
    if signed_by is not None:
        require_signature(path, Path(signed_by))
    folders.check_files(path)
    return open_folder(path, threads=threads)


def open_folder(path: Path, *, threads: int | None = None) -> LoadedModel:
    """Return the compiled model in a folder whose files were just written or checked."""
    compiled, table = folders.read(path), folders.read_table(path)
    check_cpu(compiled, table, path, host_features())
    check_plans(compiled, table, path)
    return LoadedModel(compiled, table, path, threads or detect.cpu().usable_cores)


def host_features() -> frozenset[str]:
    """Return what this CPU can do, in the names of its system."""
    return frozenset(detect.cpu().flags)


def check_cpu(
    compiled: CompiledModel, table: KernelTable, folder: Path, present: Collection[str]
) -> None:
    """Raise if the kernels need something that this CPU lacks."""
    missing = [feature for feature in table.cpu_features if feature not in present]
    if missing:
        raise MissingCapabilityError(
            f"{folder}: its kernels are for {table.target} (compiled on {compiled.about.cpu}),"
            f" and this CPU lacks {', '.join(missing)}",
            hint=f"compile it again here: {compiled.command(folder)}",
        )


def check_plans(compiled: CompiledModel, table: KernelTable, folder: Path) -> None:
    """Raise if a plan contradicts itself, or the kernels that it calls."""
    around = Surroundings(
        inputs=compiled.about.inputs,
        outputs=compiled.about.outputs,
        table=table,
        constants_bytes=(folder / folders.CONSTANTS).stat().st_size,
        files=[path.name for path in folder.glob("*.onnx")],
    )
    for number, plan in enumerate(compiled.plans):
        for finding in findings(plan, around):
            raise folders.damaged(f"{folder}: plan {number} cannot be run: {finding[:_SHOWN]}")


class LoadedModel:
    """A compiled model; the plan is chosen by the shapes that it is fed."""

    def __init__(
        self, compiled: CompiledModel, table: KernelTable, folder: Path, threads: int
    ) -> None:
        self.compiled = compiled
        self.threads = threads
        self._table = table
        self._folder = folder
        self._constants: Bytes = np.memmap(folder / folders.CONSTANTS, np.uint8, mode="r")
        self._image: LoadedImage | None = None
        self._executables: dict[int, Executable] = {}

    @property
    def inputs(self) -> tuple[TensorSpec, ...]:
        """Return what the model takes; names in shapes are sizes that differ between plans."""
        return self.compiled.about.inputs

    @property
    def outputs(self) -> tuple[TensorSpec, ...]:
        """Return what the model gives."""
        return self.compiled.about.outputs

    def run(self, feeds: Arrays) -> dict[str, Array]:
        """Run once; the outputs are new arrays."""
        return self.executable(feeds).run(feeds)

    def prepare(self, feeds: Arrays) -> Callable[[], None]:
        """Return one run on these inputs, with outputs whose memory stays."""
        return self.executable(feeds).prepare(feeds)

    def executable(self, feeds: Arrays) -> Executable:
        """Return what runs inputs of these shapes."""
        check_feeds(feeds, self.inputs)
        for number, plan in enumerate(self.compiled.plans):
            shapes = {name: plan.tensors[name].shape for name in plan.inputs}
            if all(shape in (None, feeds[name].shape) for name, shape in shapes.items()):
                return self._executable(number)
        raise self._no_plan(feeds)

    def close(self) -> None:
        """End all threads."""
        for executable in self._executables.values():
            executable.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _executable(self, number: int) -> Executable:
        if number not in self._executables:
            program = self._program(self.compiled.plans[number])
            try:
                self._executables[number] = Executable(program, self.threads)
            except MemoryError as error:
                raise self._no_room(program.plan) from error
        return self._executables[number]

    def _program(self, plan: Plan) -> Program:
        program = Program(
            plan=plan,
            target=by_name(plan.target),
            addresses={},
            constants=self._constants,
            sessions={step.file: self._session(step, plan) for step in plan.library_steps},
        )
        if not plan.kernels:
            return program
        if self._table.image is None:
            return self._from_objects(program)
        try:
            return self._linked(program)
        except (ValueError, KeyError) as error:
            path = self._folder / folders.IMAGE
            raise folders.damaged(f"{path}: is not what {folders.TABLE} tells ({error})") from error

    def _session(self, step: LibraryStep, plan: Plan) -> OrtSession:
        path = self._folder / step.file
        session = parts.load(path, self.threads)
        for finding in parts.findings(session, step, plan.tensors):
            raise folders.damaged(f"{path}: is not the part that its plan runs: {finding}")
        return session

    def _linked(self, program: Program) -> Program:
        if self._image is None:
            assert self._table.image is not None
            code = (self._folder / folders.IMAGE).read_bytes()
            self._image = LoadedImage(Image(code, self._table.image))
        address = self._image.address
        addresses = {name: address(name) for name in program.plan.kernels}
        return replace(program, addresses=addresses, loop=Driver(address), kept=(self._image,))

    def _from_objects(self, program: Program) -> Program:
        from burnish.codegen.cpu.compile import load as load_object

        code = {
            name: load_object(folders.kernel_path(self._folder, name).read_bytes(), program.target)
            for name in program.plan.kernels
        }
        addresses = {name: loaded.address(name) for name, loaded in code.items()}
        return replace(program, addresses=addresses, kept=tuple(code.values()))

    def _no_room(self, plan: Plan) -> MissingCapabilityError:
        needed = plan.arena_bytes + self.threads * plan.scratch_bytes
        return MissingCapabilityError(
            f"{self._folder}: needs {size(needed)} of memory, which this machine does not have",
            hint="compile it for smaller sizes: burnish compile --shape",
        )

    def _no_plan(self, feeds: Arrays) -> UsageError:
        asked = ", ".join(
            f"{spec.name}: {list(feeds[spec.name].shape)}" for spec in self.inputs if spec.symbols
        )
        known = "; ".join(_text(plan.sizes) for plan in self.compiled.plans)
        return UsageError(
            f"{self._folder}: was compiled for {known}, and is fed {asked}",
            hint=f"compile it for these, too: {self._command(feeds)}",
        )

    def _command(self, feeds: Arrays) -> str:
        sizes = {
            dim: size
            for spec in self.inputs
            for dim, size in zip(spec.shape, feeds[spec.name].shape, strict=True)
            if isinstance(dim, str) and dimension.atoms(dim) == (dim,)
        }
        return self.compiled.command(self._folder, sizes)


def _text(sizes: Mapping[str, Any]) -> str:
    return ",".join(f"{name}={size}" for name, size in sizes.items()) or "fixed sizes"
