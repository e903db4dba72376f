"""Run a compiled folder once, on inputs from a file."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from burnish.core import units
from burnish.core.array_types import name_of
from burnish.core.arrays import Arrays
from burnish.core.errors import UsageError
from burnish.core.progress import SILENT, Progress
from burnish.core.tensors import TensorSpec
from burnish.feeds.load import load as load_feeds
from burnish.feeds.write import write_npz
from burnish.runtime.executable import Streamed
from burnish.runtime.load import load
from burnish.store.interface import Interface
from burnish.study.requests.rewriting import ExecCommand
from burnish.study.requests.vocabulary import path
from burnish.timing.stopwatch import sampled

SCHEMA = 1


@dataclass(frozen=True, slots=True)
class ExecReport:
    """What a compiled model made of some inputs."""

    folder: Path
    model: str
    sizes: Mapping[str, int]
    """For which the plan was compiled that ran."""
    threads: int
    inputs: tuple[TensorSpec, ...]
    outputs: tuple[TensorSpec, ...]
    target: Path | None
    """Where the outputs are; None: nowhere."""
    seconds: float
    """The median of the timed runs, after one that is not."""
    runs: int
    moved_bytes: int | None = None
    """Between the host and the card in each run; None: the plan fits there, or needs no card."""


def answer(asked: ExecCommand, *, progress: Progress = SILENT) -> ExecReport:
    """Run a compiled folder on the inputs in a file, and return what came of it."""
    folder, target = Path(asked.folder), path(asked.output)
    signed_by = path(asked.require_signature)
    assert asked.data is not None
    limit = asked.device_memory
    with load(
        folder, threads=asked.threads, signed_by=signed_by, device_memory_bytes=limit
    ) as model:
        feeds = load_feeds(Path(asked.data), Interface(model.inputs, model.outputs)).arrays
        executable = model.executable(feeds)
        if limit is not None and executable.plan.target.startswith("cpu"):
            raise UsageError(
                f"{folder}: was compiled for {executable.plan.target}, which has no memory of its"
                " own to limit",
                hint="leave out --device-memory",
            )
        outputs = executable.run(feeds)
        call = executable.prepare(feeds)
        progress.step("exec", 1, 1, f"{units.count(asked.runs, 'run')} to be timed")
        times = sampled(call, calls=asked.runs)
        if target is not None:
            write_npz(outputs, target)
        return ExecReport(
            folder=folder,
            model=model.compiled.about.model,
            sizes=executable.plan.sizes,
            threads=executable.threads,
            inputs=_specs(feeds),
            outputs=_specs(outputs),
            target=target,
            seconds=statistics.median(times),
            runs=asked.runs,
            moved_bytes=executable.moved_bytes if isinstance(executable, Streamed) else None,
        )


def _specs(arrays: Arrays) -> tuple[TensorSpec, ...]:
    return tuple(TensorSpec(name, name_of(array), array.shape) for name, array in arrays.items())
