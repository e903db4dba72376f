"""What people are shown of what holds an inference back, and of the ranks of a run."""

from __future__ import annotations

from collections.abc import Iterator

from burnish.analyze import kernel_names
from burnish.analyze.diagnosis import Diagnosis, Idle, Launches
from burnish.analyze.ranks import Ranks
from burnish.analyze.traffic import KernelTraffic, MemoryTraffic
from burnish.core import units
from burnish.report.table import Shown, table

_KERNELS = 10


def first_lines(found: Diagnosis) -> Iterator[str]:
    """Yield the sentence, then where the time is that nothing worked in."""
    yield f"{found.sentence[:1].upper()}{found.sentence[1:]}."
    yield ", ".join(_parts(found))


def _parts(found: Diagnosis) -> Iterator[str]:
    yield f"{units.seconds(found.wall_s)} an inference"
    if not found.is_unseen:
        yield f"at work {_share(found, found.busy_s - found.copy_s)}"
    if found.copy_s:
        yield f"waiting for data {_share(found, found.copy_s)}"
    if found.idle is not None and found.idle.total_s:
        yield f"idle: {', '.join(_reasons(found, found.idle))}"
    if found.launches is not None:
        yield _launched(found.launches)


def _reasons(found: Diagnosis, idle: Idle) -> Iterator[str]:
    """Yield why a device did nothing, without reasons that nothing was due to."""
    if found.launches is not None and found.launches.median_call_s is None:
        yield f"{_share(found, idle.total_s)}, and no launch was recorded that would tell why"
        return
    reasons = {
        "host busy": idle.host_s,
        "launch latency": idle.launch_s,
        "synchronisation": idle.sync_s,
    }
    for why, seconds_s in reasons.items():
        if seconds_s:
            yield f"{why} {_share(found, seconds_s)}"


def _launched(how: Launches) -> str:
    if how.median_call_s is None:
        return f"{how.number:,} kernels and copies"
    told = [f"{how.number:,} launches"]
    if how.median_delay_s is not None:
        when = f"after {units.seconds(how.median_delay_s)}"
        told.append(f"begun {when if how.median_delay_s else 'before the call returned'}")
    if how.median_queue_s is not None:
        told.append(f"queued {units.seconds(how.median_queue_s)} where the stream was busy")
    return ", ".join(told)


def _share(found: Diagnosis, seconds_s: float) -> str:
    return f"{units.seconds(seconds_s)} ({units.share(found.share(seconds_s))})"


def rank_lines(found: Ranks) -> Shown:
    """Yield what each rank spends on computing, on communicating and on waiting for others."""
    columns = (
        "rank", "wall", "computing", "communicating", "not hidden", "waiting for others",
        "collectives",
    )  # fmt: skip
    rows = [
        (
            rank.label,
            units.seconds(rank.wall_s),
            units.seconds(rank.compute_s),
            units.recorded(rank.communication_s, rank.collectives),
            units.recorded(rank.exposed_s, 0),
            units.recorded(rank.waiting_s, 0),
            f"{rank.collectives:.0f}",
        )
        for rank in found.ranks
    ]
    yield table("Ranks", columns, rows, numeric=columns[1:])
    most_s = max(rank.waiting_s for rank in found.ranks)
    slowest = found.slowest.label
    yield (
        f"The others wait for {slowest}, up to {units.seconds(most_s)} an inference."
        if most_s
        else "No rank was seen to wait for another."
    )
    yield from (f"Note: {note}." for note in found.notes)


def traffic_lines(found: MemoryTraffic) -> Shown:
    """Yield what an inference moves, who counted it, and what it must move at least."""
    least = _least(found)
    if found.read_bytes is None:
        yield f"Memory traffic of an inference: predicted only ({found.reason}); {least}."
        return
    written = f", {units.size(found.written_bytes)} written" if found.written_bytes else ""
    who = {"ncu": "ncu's counters", "perf": "misses of the last cache, counted by the CPU"}
    yield (
        f"Memory traffic of an inference: {units.size(found.read_bytes)} read{written}"
        f" ({who.get(found.source, found.source)}); {least}."
    )
    yield from _at_the_cache(found)
    if found.kernels:
        columns = ("kernel", "count", "read", "written", "of the cache", "bytes a second")
        rows = [
            (kernel_names.short(one.name), f"{one.count:.0f}", units.size(one.read_bytes),
             units.size(one.written_bytes), _of_the_cache(one), _rate(one))
            for one in found.kernels[:_KERNELS]
        ]  # fmt: skip
        yield table("What kernels move", columns, rows, numeric=columns[1:])


def _least(found: MemoryTraffic) -> str:
    if found.predicted_bytes is None:
        return "what it must move at least is not known"
    unknown = f", {units.count(found.unknown_nodes, 'node')} not known" * bool(found.unknown_nodes)
    # what a plan is predicted to move is told beside what was counted at the same place
    planned = None if found.cache_read_bytes is not None else found.planned_bytes
    plan = f", {units.size(planned)} predicted for its plan" if planned is not None else ""
    return f"{units.size(found.predicted_bytes)} if every node reads and writes once{unknown}{plan}"


def _at_the_cache(found: MemoryTraffic) -> Iterator[str]:
    """Yield what goes between multiprocessors and the cache that they share, if it was counted."""
    if found.cache_read_bytes is None or found.cache_written_bytes is None:
        return
    both = found.cache_read_bytes + found.cache_written_bytes
    planned = found.planned_bytes
    beside = (
        f"; {units.size(planned)} predicted for its plan, {planned / both:.2f} of what was counted"
        if planned is not None and both
        else ""
    )
    yield (
        "Between multiprocessors and the second cache:"
        f" {units.size(found.cache_read_bytes)} read, {units.size(found.cache_written_bytes)}"
        f" written{beside}."
    )


def _of_the_cache(one: KernelTraffic) -> str:
    if one.cache_read_bytes is None or one.cache_written_bytes is None:
        return "–"
    return units.size(one.cache_read_bytes + one.cache_written_bytes)


def _rate(one: KernelTraffic) -> str:
    moved = one.read_bytes + one.written_bytes
    return f"{units.size(moved / one.seconds_s)}/s" if one.seconds_s else "–"


def what_next(found: Diagnosis, *, kernels: bool) -> Shown:
    """Yield the longest kernels if wanted, and what to do, with commands that can be copied."""
    if kernels and found.launches is not None:
        rows = [
            (one.name, one.family, f"{one.count:,}", units.recorded(one.seconds_s, one.count),
             units.share(found.share(one.seconds_s)))
            for one in found.kernels
        ]  # fmt: skip
        columns = ("kernel", "kind", "count", "time", "share")
        yield table("The longest kernels", columns, rows, numeric=columns[2:])
    for number, one in enumerate(found.advice, 1):
        most = "at most " if one.confidence == "bound" else ""
        predicted = f"{most}{units.gain(one.gain)}" if one.gain is not None else "measure it"
        yield f"{number}. {one.what} ({predicted}): {one.command}"
