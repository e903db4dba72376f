"""Run the tiny model on one engine: `python -m burnish.engines.probes.engine_probe NAME`."""

from __future__ import annotations

import sys

from burnish.core import units
from burnish.core.errors import BurnishError
from burnish.engines.base import ENGINES, EngineOptions, Placement
from burnish.engines.probes import tiny
from burnish.process.scratch import scratch


def probe(name: str) -> str:
    """Run the tiny model on an engine, compare with NumPy, and return where it ran."""
    with scratch("probe") as folder:
        model = tiny.write(folder)
        with ENGINES[name].open(model, EngineOptions()) as session:
            error = tiny.error_of(session.run({"x": tiny.INPUT})["y"])
            session.prepare({"x": tiny.INPUT})()
            placement = session.placement
    if not error <= tiny.TOLERANCE:
        raise ArithmeticError(f"wrong result: off by {units.error(error)}")
    return _told(placement)


def _told(placement: Placement) -> str:
    threads = units.count(placement.threads, "thread") if placement.threads else ""
    return ", ".join(part for part in (placement.device, placement.precision, threads) if part)


if __name__ == "__main__":
    try:
        sys.stdout.write(probe(sys.argv[1]))
    except BurnishError as error:
        sys.exit(f"{error.problem}; {error.hint}")
