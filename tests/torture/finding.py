"""What an attack brings to light, and how far it has come."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that must not be."""

    kind: str
    """`traceback`, `hang`, `crash`, `lost`, `orphan`, `litter`, `wrongly different` …"""
    where: str
    what: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.where}: {self.what}"


@dataclass
class Progress:
    """How much of an attack is over; about twenty lines in all, and one for each finding."""

    attack: str
    whole: int
    done: int = 0
    findings: int = 0

    def tell(self, more: int, found: Sequence[Finding]) -> None:
        """Count so much more as done; print what was found, and where a twentieth is full."""
        for each in found:
            print(each, flush=True)
        twentieth = self._twentieths()
        self.done += more
        self.findings += len(found)
        if self._twentieths() > twentieth:
            told = f"{self.done:,} of {self.whole:,}, {self.findings:,} found"
            print(f"{self.attack}: {told}", flush=True)

    def _twentieths(self) -> int:
        return 20 * self.done // max(self.whole, 1)
