"""The ways a random model goes to a card: predicted, by lot, built ahead of time.

Where there is no card, its kernels run in Triton's interpreter, started by the runtime itself on a
driver that is none. No machine code is needed for that, so none is made, but for the way that is
there to make it. Where there is one, kernels are compiled in this process, and run on it.
"""

from __future__ import annotations

import dataclasses
import math
import tempfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from unittest import mock

import numpy as np
import onnx
import onnx_ir as ir

from burnish.codegen.backend import Backend, BuiltCode, open_backend
from burnish.codegen.gpu import code
from burnish.codegen.gpu.backend import GpuBackend
from burnish.codegen.gpu.code import MOST_SPILLED_WORDS
from burnish.codegen.pipeline import PlanOptions, plan, prepare
from burnish.codegen.schedule import Predicted, Scheduler
from burnish.codegen.write import write
from burnish.core import records
from burnish.core.arrays import Array, Arrays
from burnish.core.errors import MissingCapabilityError
from burnish.cuda import triton_worker
from burnish.cuda.build import BuildOptions, Outcome
from burnish.cuda.kernel import CubinKernel, Failed, TritonSource, source_of
from burnish.cuda.triton_worker import CompileTask
from burnish.runtime import folder as compiled_folder
from burnish.runtime.cuda import runner
from burnish.runtime.cuda.launch import launch_from
from burnish.runtime.cuda.runner import CudaCode, cubin_path
from burnish.runtime.folder import CONSTANTS, About
from burnish.runtime.load import open_folder
from burnish.store import onnx_files
from torture.ways import Drawn, Way, bindings

if TYPE_CHECKING:
    import pytest

ARCHITECTURE = "sm_90"
MOST_PROGRAMS = 400
"""Of kernels that are run four times; an interpreter takes a tenth of a second for each."""


@dataclasses.dataclass
class Interpreted(GpuBackend):
    """Kernels as texts only: what stands for machine code is what the interpreter knows them by."""

    own_functions: bool = False
    rounds_late: bool = False

    def build(self, sources: Mapping[str, str]) -> BuiltCode:
        """Return each kernel as a text."""
        files, kernels = {}, {}
        for name, text in sources.items():
            source = source_of(name, text)
            path = cubin_path(name)
            files[path], files[path.removesuffix(".cubin") + ".py"] = b"", text.encode()
            kernels[name] = CubinKernel(
                entry=name, architecture=self.requires[0], pointers=source.pointers, trailing=0,
                warps=source.warps, shared_bytes=0, program_bytes=0, registers=0, frame_bytes=0,
                toolkit="", ptx="", early=False, library=source.library,
            )  # fmt: skip
        return BuiltCode(files, records.encode(CudaCode(kernels)))


class SpillsError(Exception):
    """A kernel of a small model keeps much of what it needs in memory."""


class StreamedError(Exception):
    """A plan computes something else where it has less memory than it needs."""


def predicted(model: onnx.ModelProto, inputs: Arrays) -> dict[str, Array]:
    """Return what its kernels give as they are predicted to be best."""
    backend = _interpreted()
    return _run(model, inputs, backend, Predicted(backend), library=False)


def drawn(model: onnx.ModelProto, inputs: Arrays) -> dict[str, Array]:
    """Return what kernels give whose groups and blocks are chosen by lot, beside a library."""
    backend = _interpreted()
    return _run(model, inputs, backend, Drawn(backend, _lot(model)), library=True)


def built(model: onnx.ModelProto, inputs: Arrays) -> dict[str, Array]:
    """Build its kernels for a card; nothing is given, what cannot be built or spills is told."""
    backend = open_backend(f"cuda: {ARCHITECTURE}", 2)
    loaded = ir.serde.deserialize_model(model)
    sizes = bindings(onnx_files.interface(loaded).inputs, inputs)
    options = PlanOptions(backend, Predicted(backend), buildable=True)
    made = plan(prepare(loaded, sizes), options)
    if not made.kernels:
        return {}
    found: CudaCode = records.decode(CudaCode, dict(backend.build(made.kernels).table))
    for name, kernel in found.kernels.items():
        if kernel.spilled_words > MOST_SPILLED_WORDS:
            raise SpillsError(f"{name} keeps {kernel.spilled_words} values of a thread in memory")
    return {}


def _backend() -> Interpreted:
    opened = open_backend(f"cuda: {ARCHITECTURE}", 2)
    assert isinstance(opened, GpuBackend)
    return Interpreted(opened.architecture, opened.machine)


def on_card(model: onnx.ModelProto, inputs: Arrays) -> dict[str, Array]:
    """Return what its kernels give on the card that is here, as they are predicted to be best."""
    backend = open_backend("cuda", 1)
    return _run_there(model, inputs, backend, Predicted(backend))


def drawn_on_card(model: onnx.ModelProto, inputs: Arrays) -> dict[str, Array]:
    """Return what kernels give there whose groups and blocks are chosen by lot."""
    backend = open_backend("cuda", 1)
    return _run_there(model, inputs, backend, Drawn(backend, _lot(model)))


def _lot(model: onnx.ModelProto) -> np.random.Generator:
    return np.random.default_rng(zlib.crc32(model.SerializeToString(deterministic=True)))


def _interpreted() -> Interpreted:
    opened = open_backend(f"cuda: {ARCHITECTURE}", 2)
    assert isinstance(opened, GpuBackend)
    return Interpreted(opened.architecture, opened.machine)


def _run(
    model: onnx.ModelProto,
    inputs: Arrays,
    backend: Backend,
    scheduler: Scheduler,
    *,
    library: bool,
) -> dict[str, Array]:
    from codegen.gpu import interpreting
    from codegen.gpu.interpreted_card import interpreted_card

    with _written(model, inputs, PlanOptions(backend, scheduler)) as folder, _patched() as patch:
        interpreted_card(patch, folder).library = library
        try:
            return _twice(folder, inputs, MOST_PROGRAMS)
        except BrokenProcessPool:
            interpreting.start_anew()
            raise


def _run_there(
    model: onnx.ModelProto, inputs: Arrays, backend: Backend, scheduler: Scheduler
) -> dict[str, Array]:
    with _compiling_here():
        options = PlanOptions(backend, scheduler, buildable=True)
        with _written(model, inputs, options) as folder:
            return _twice(folder, inputs)


@contextmanager
def _written(model: onnx.ModelProto, inputs: Arrays, options: PlanOptions) -> Iterator[Path]:
    """Plan a model, and yield its folder as long as it is there."""
    loaded = ir.serde.deserialize_model(model)
    faces = onnx_files.interface(loaded)
    made = plan(prepare(loaded, bindings(faces.inputs, inputs)), options)
    about = About("m", "m.onnx", "0", faces.inputs, faces.outputs, "f32", "a card", "today")
    with tempfile.TemporaryDirectory(prefix="torture-card-") as folder:
        write(Path(folder) / "m", about, [made], options.backend)
        yield Path(folder) / "m"


def _twice(folder: Path, inputs: Arrays, most: float = math.inf) -> dict[str, Array]:
    """Return what a folder gives in its second run: from then on a captured graph is replayed.

    The same must come of it where it has a third of the memory that it needs. With more than
    `most` programs it is run once.
    """
    (made,) = compiled_folder.read(folder).plans
    programs = sum(launch_from(step.launch).grid[0] for step in made.kernel_steps)
    if programs > most:
        with open_folder(folder, threads=2) as opened:
            return {name: np.array(array) for name, array in opened.run(inputs).items()}
    found = _second_run(folder, inputs)
    needed = made.arena_bytes + (folder / CONSTANTS).stat().st_size
    try:
        less = _second_run(folder, inputs, needed // 3)
    except MissingCapabilityError:
        return found  # too little for one of its kernels, as it said
    for name, array in found.items():
        if not np.allclose(less[name], array, rtol=1e-5, atol=1e-5):
            raise StreamedError(f"{name} is another one with {needed // 3} bytes of memory")
    return found


def _second_run(folder: Path, inputs: Arrays, limit: int | None = None) -> dict[str, Array]:
    with open_folder(folder, threads=2, device_memory_bytes=limit) as opened:
        opened.run(inputs)
        return {name: np.array(array) for name, array in opened.run(inputs).items()}


@contextmanager
def _patched() -> Iterator[pytest.MonkeyPatch]:
    """Hold nothing against machine code that is none."""
    import pytest

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runner, "code_findings", lambda *_: ())
        yield patch


@contextmanager
def _compiling_here() -> Iterator[None]:
    """Compile in this process: starting one for a handful of kernels takes longer than they do."""

    def outcome(source: TritonSource, architecture: str) -> Outcome:
        try:
            return triton_worker.build(CompileTask(source, architecture))
        except Exception as error:  # as from a process of its own
            return Failed(f"{type(error).__name__}: {error}"[:300])

    def build(sources: Sequence[TritonSource], architecture: str, _: BuildOptions) -> list[Outcome]:
        return [outcome(source, architecture) for source in sources]

    with mock.patch.object(code, "build", build):
        yield


CARD_WAYS: dict[str, Way] = {"card": predicted, "card drawn": drawn, "card built": built}
WAYS_THERE: dict[str, Way] = {"on card": on_card, "on card drawn": drawn_on_card}
"""Those that need a card."""
