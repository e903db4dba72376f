"""Run a compiled folder once, on inputs from a file."""

from __future__ import annotations

import statistics
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from burnish.core.array_types import name_of
from burnish.core.arrays import Arrays
from burnish.core.tensors import TensorSpec
from burnish.feeds.load import load as load_feeds
from burnish.feeds.write import write_npz
from burnish.runtime.load import load
from burnish.store.interface import Interface

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


def execute(
    folder: Path,
    inputs: Path,
    *,
    target: Path | None = None,
    threads: int | None = None,
    runs: int = 1,
    signed_by: Path | None = None,
) -> ExecReport:
    """Run a compiled folder on the inputs in a file; write the outputs to `target`.

    `signed_by`: the public key of who must have signed it.
    """
    with load(folder, threads=threads, signed_by=signed_by) as model:
        feeds = load_feeds(inputs, Interface(model.inputs, model.outputs)).arrays
        executable = model.executable(feeds)
        outputs = executable.run(feeds)
        call = executable.prepare(feeds)
        times = []
        for _ in range(runs):
            start = time.perf_counter()
            call()
            times.append(time.perf_counter() - start)
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
            runs=runs,
        )


def _specs(arrays: Arrays) -> tuple[TensorSpec, ...]:
    return tuple(TensorSpec(name, name_of(array), array.shape) for name, array in arrays.items())
