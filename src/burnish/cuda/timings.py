"""How long candidates took on a card: a file that travels, and a cache that remembers."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from burnish.core import records
from burnish.core.errors import BurnishError
from burnish.core.files import write_text
from burnish.core.hashing import value_key

SCHEMA = 1


@dataclass(frozen=True, slots=True)
class TimingConditions:
    """Where and with what candidates were timed; other ones, other results."""

    device: str
    architecture: str
    driver: str
    triton: str
    generator: str
    """Which version of whoever wrote the kernels."""


@dataclass(frozen=True, slots=True)
class CandidateTiming:
    """How long one candidate took, or why there is no time."""

    label: str
    samples_s: tuple[float, ...] = ()
    """The median run of each round; rounds alternate between the candidates of a group."""
    failure: str = ""

    @property
    def seconds(self) -> float | None:
        """Return the median run; None: it was not timed."""
        return statistics.median(self.samples_s) if self.samples_s else None


@dataclass(frozen=True, slots=True)
class GroupTimings:
    """How long the candidates of one group took."""

    signature: str
    timings: tuple[CandidateTiming, ...]

    @property
    def best(self) -> CandidateTiming | None:
        """Return the fastest; None: none worked."""
        timed = [each for each in self.timings if each.samples_s]
        return min(timed, key=lambda each: statistics.median(each.samples_s), default=None)


@dataclass(frozen=True, slots=True)
class Timings:
    """What one run on a card gave."""

    conditions: TimingConditions
    groups: tuple[GroupTimings, ...]
    date: str
    versions: Mapping[str, str] = field(default_factory=dict)


def write(path: Path, timings: Timings) -> None:
    """Write a file of timings."""
    write_text(path, records.text_of(records.document(timings, schema=SCHEMA)))


def read(path: Path) -> Timings:
    """Return what a file of timings holds."""
    return records.read_document(Timings, path, schema=SCHEMA)


class TimingCache:
    """Timings by signature and conditions: one file each, so that processes do not meet."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def get(self, signature: str, conditions: TimingConditions) -> GroupTimings | None:
        """Return what was timed; None: nothing, or what cannot be read."""
        try:
            path = self._path(signature, conditions)
            found = records.read_document(GroupTimings, path, schema=SCHEMA)
        except BurnishError:
            return None
        return found if found.signature == signature else None

    def add(self, timings: Timings) -> None:
        """Keep what was timed; candidates that were timed before are replaced, others stay."""
        for group in timings.groups:
            known = self.get(group.signature, timings.conditions)
            every = {each.label: each for each in (known.timings if known else ())}
            every.update({each.label: each for each in group.timings})
            merged = GroupTimings(group.signature, tuple(every.values()))
            path = self._path(group.signature, timings.conditions)
            write_text(path, records.text_of(records.document(merged, schema=SCHEMA)))

    def _path(self, signature: str, conditions: TimingConditions) -> Path:
        key = value_key([signature, records.encode(conditions)])
        return self._folder / f"{key[:32]}.json"
