"""What has been gathered of one subject so far."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from burnish.bench.measure import ParityMark, Placed, ProcessStart, Status, TimedBlock


@dataclass(slots=True)
class SubjectTally:
    """What has been gathered of one subject so far."""

    launches: list[ProcessStart] = field(default_factory=list)
    blocks: list[TimedBlock] = field(default_factory=list)
    placement: Placed | None = None
    parity: ParityMark | None = None
    failure: str | None = None
    status: Status = "ok"
    calls: int = 1
    call_s: float = 0.0
    rest_s: float = 0.0
    """How long its threads go on behind a block."""
    round_s: float = 0.0
    """What it took of the last round: to start, to open, and all its blocks."""
    judged: dict[str, None] = field(default_factory=dict)
    """The keys of results that the judge has seen: every process's are looked at."""

    @property
    def is_wrong(self) -> bool:
        """Return whether any of its results was found wrong."""
        return self.parity is not None and not self.parity.passed

    def keep(self, mark: ParityMark) -> None:
        """Take a further mark into account: the worst of all processes is what is told."""
        first = self.parity
        if first is None:
            self.parity = mark
        elif not mark.passed:
            note = f"not in every call or process: {mark.note}"
            self.parity = replace(mark, note=note)
        elif first.passed:
            other, worst = sorted((mark, first), key=lambda one: one.max_rel or 0.0)
            self.parity = replace(worst, note=worst.note or other.note)

    @property
    def next_round_s(self) -> float:
        """Return what its next round takes, if what the first process compiled is kept."""
        if len(self.launches) != 1:
            return self.round_s
        return self.round_s - max(0.0, self.launches[0].first_call_s - self.call_s)
