"""What was found on this machine."""

from __future__ import annotations

import enum
from dataclasses import dataclass

SCHEMA = 1


class Status(enum.Enum):
    """How a thing fares here."""

    WORKS = "works"
    MISSING = "missing"
    BROKEN = "broken"


class FindingKind(enum.Enum):
    """What kind of thing it is."""

    ENGINE = "engine"
    DEVICE = "device"
    COMPILER = "compiler"
    EXPORTER = "exporter"
    PRIVACY = "privacy"


@dataclass(frozen=True, slots=True)
class ProbeFinding:
    """One thing that was tried, and the command that would mend it."""

    group: FindingKind
    name: str
    status: Status
    version: str = ""
    detail: str = ""
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class DoctorReport:
    """Everything that was tried."""

    findings: tuple[ProbeFinding, ...]

    def of(self, group: FindingKind) -> tuple[ProbeFinding, ...]:
        """Return the findings of one kind."""
        return tuple(finding for finding in self.findings if finding.group is group)

    @property
    def broken_engines(self) -> tuple[ProbeFinding, ...]:
        """Return the engines that do not work here."""
        return tuple(f for f in self.of(FindingKind.ENGINE) if f.status is not Status.WORKS)
