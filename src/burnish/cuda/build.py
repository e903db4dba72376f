"""Compile kernels for a card that need not be here: in parallel, with a limit, nothing twice."""

from __future__ import annotations

import dataclasses
import hashlib
import importlib.metadata
import os
import queue
import re
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from burnish.core import records
from burnish.core.errors import BurnishError, MissingCapabilityError
from burnish.core.files import write_bytes, write_text
from burnish.core.hashing import value_key
from burnish.cuda import triton_worker
from burnish.cuda.kernel import BuiltCubin, CubinKernel, Failed, TritonSource
from burnish.cuda.triton_worker import CompileTask
from burnish.process.child import Child, ChildEndedError, ChildRefusedError, ProcessLimits

SCHEMA = 2
"""Of what is kept: a change in how kernels are compiled adds 1."""

_SAID = re.compile(r"\A(?:[ \t]*(?:#.*)?\n)+")
"""Comments ahead of a kernel: its header, and how it is compiled, which is told beside it, too."""
_SHOWN = 300
"""Characters of a compiler's message that a reason keeps."""

Outcome = BuiltCubin | Failed


@dataclass(frozen=True, slots=True)
class BuildOptions:
    """How to compile."""

    limit_s: float = 120.0
    """For one kernel: what spills without end compiles for minutes, and is slow besides."""
    processes: int = 0
    """0: as many as there are cores for this process."""
    cache: Path | None = None
    """Where results are kept; None: they are not."""


@dataclass(frozen=True, slots=True)
class _Kept:
    """What the cache says of a cubin that lies beside it."""

    kernel: CubinKernel
    code_key: str


def build(
    sources: Sequence[TritonSource],
    architecture: str,
    options: BuildOptions = BuildOptions(),  # noqa: B008  (frozen)
) -> list[Outcome]:
    """Return each kernel as machine code for an architecture, or why it is none."""
    compiler = triton_version()
    keys = [_key(source, architecture, compiler) for source in sources]
    found: dict[str, Outcome] = {}
    for key in keys:
        kept = _read(options.cache, key)
        if kept is not None:
            found[key] = kept
    missing = {key: CompileTask(s, architecture) for key, s in zip(keys, sources, strict=True)}
    wanted = {key: task for key, task in missing.items() if key not in found}
    found.update(_compiled(wanted, options))
    return [found[key] for key in keys]


def triton_version() -> str:
    """Return the version of Triton that compiles here."""
    try:
        return importlib.metadata.version("triton")
    except importlib.metadata.PackageNotFoundError as error:
        raise MissingCapabilityError(
            "kernels for NVIDIA cards are compiled by triton, which is not installed",
            hint="pip install 'triton>=3.4'",
        ) from error


def _key(source: TritonSource, architecture: str, compiler: str) -> str:
    """Return what equal machine code has in common: what is said ahead of a kernel is not in it."""
    code = dataclasses.replace(source, text=_SAID.sub("", source.text))
    return value_key([dataclasses.asdict(code), architecture, compiler, SCHEMA])


def _compiled(tasks: Mapping[str, CompileTask], options: BuildOptions) -> dict[str, Outcome]:
    """Return what became of each task; every thread keeps one process busy.

    Kernels are kept as they come: whoever is interrupted goes on where it was.
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    count = min(options.processes or cores or 1, len(tasks))
    if not count:
        return {}
    with ThreadPoolExecutor(count) as pool, _Compilers(options.limit_s) as compilers:

        def kept(key: str) -> Outcome:
            outcome = compilers.outcome(tasks[key])
            if isinstance(outcome, BuiltCubin):
                _write(options.cache, key, outcome)
            return outcome

        return dict(zip(tasks, pool.map(kept, tasks), strict=True))


class _Compilers:
    """Processes that compile, each asked by one thread at a time."""

    def __init__(self, limit_s: float) -> None:
        self._limit_s = limit_s
        self._idle: queue.SimpleQueue[Child] = queue.SimpleQueue()
        self._starting = threading.Lock()

    def outcome(self, task: CompileTask) -> Outcome:
        """Return a task's kernel; a process that ends over it is replaced."""
        child = self._taken()
        try:
            return child.ask("build", task, BuiltCubin, self._limit_s)
        except ChildRefusedError as error:
            return Failed(_line(str(error)))
        except ChildEndedError as error:
            return Failed(f"the compiler {error.how}")
        except BurnishError as error:
            return Failed(_line(error.problem))
        finally:
            if child.runs:
                self._idle.put(child)

    def _taken(self) -> Child:
        try:
            return self._idle.get_nowait()
        except queue.Empty:
            with self._starting:
                return Child(triton_worker.__name__, ProcessLimits(answer_s=self._limit_s))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        while True:
            try:
                self._idle.get_nowait().end()
            except queue.Empty:
                return


def _line(message: str) -> str:
    """Return where a compiler stopped and what it says: a message's first and last lines."""
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    return " ".join(dict.fromkeys((*lines[:1], *lines[-1:])))[:_SHOWN]


def _read(cache: Path | None, key: str) -> BuiltCubin | None:
    """Return what is kept under a key; None: nothing, or something else than was written."""
    if cache is None:
        return None
    try:
        kept = records.read_document(_Kept, cache / f"{key}.json", schema=SCHEMA, kind="cubin")
        code = (cache / f"{key}.cubin").read_bytes()
    except (OSError, BurnishError):
        return None
    return (
        BuiltCubin(kept.kernel, code) if hashlib.sha256(code).hexdigest() == kept.code_key else None
    )


def _write(cache: Path | None, key: str, built: BuiltCubin) -> None:
    if cache is None:
        return
    kept = _Kept(built.kernel, hashlib.sha256(built.code).hexdigest())
    document = {**records.document(kept, schema=SCHEMA), "kind": "cubin"}
    write_bytes(cache / f"{key}.cubin", built.code)
    write_text(cache / f"{key}.json", records.text_of(document))
