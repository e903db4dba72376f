"""What a model takes of a card: the time between events, and memory; one process at a time."""

from __future__ import annotations

import fcntl
import os
import statistics
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from burnish.bench.gpu_state import Query, ask_driver
from burnish.core.arrays import Arrays
from burnish.engines.base import CardTimed, Session

WARMUP, RUNS = 3, 20


@contextmanager
def alone_on(device: str) -> Iterator[None]:
    """Wait until no other process of this user's times something on a card; keep them waiting.

    So benchmarks that run side by side share the cores of the host, on which they mostly open and
    compile models, and never the card while one of them is timed.
    """
    if device == "cpu":
        yield
        return
    name = f"burnish-{os.getuid()}-{device.replace(':', '-')}.lock"
    path = Path(tempfile.gettempdir()) / name
    with path.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def card_seconds(session: Session, feeds: Arrays) -> float | None:
    """Return the median of runs on the card's own clock; None: the engine has none."""
    if not isinstance(session, CardTimed):
        return None
    found = session.card_times_s(feeds, warmup=WARMUP, runs=RUNS)
    return statistics.median(found) if found else None


def card_bytes(query: Query = ask_driver) -> int | None:
    """Return what this process holds on cards; None: nothing, or the driver does not tell."""
    text = query(["--query-compute-apps=pid,used_memory", "--format=csv,noheader,nounits"])
    rows = [line.split(",") for line in (text or "").splitlines() if line.count(",") == 1]
    held = [size.strip() for pid, size in rows if pid.strip() == str(os.getpid())]
    known = [int(size) << 20 for size in held if size.isdigit()]
    return sum(known) if known else None
