"""The ledger as measuring uses it: it helps where it can, and never stands in the way."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from burnish.bench.begun import BegunGroup, EarlierRounds, apart
from burnish.bench.cells import CellTask, Finished
from burnish.bench.evidence import FEWEST_ROUNDS
from burnish.bench.fingerprint import code_key
from burnish.bench.ledger import Ledger
from burnish.bench.measure import BenchReport
from burnish.core import settings
from burnish.core.errors import ModelError
from burnish.study.requests.vocabulary import Place


@dataclass(frozen=True, slots=True)
class RoundsKept:
    """A journal of one group in the ledger."""

    known: KnownCells
    session: str
    found: EarlierRounds
    cells: Callable[[BenchReport], Sequence[Finished]]

    def earlier(self) -> EarlierRounds:
        """Return the rounds of the group that are there."""
        return self.found

    def keep(self, number: int, report: BenchReport) -> None:
        """Keep a further one."""
        parts = self.cells(report)
        self.known.add_round(number, [replace(one, session=self.session) for one in parts])


class KnownCells:
    """What is known of cells; what goes wrong with the file is said once, in `notes`."""

    def __init__(self, path: Place | None, *, again: bool = False) -> None:
        self.path = settings.read().ledger if path is None else Path(path)
        self.notes: tuple[str, ...] = ()
        self._ledger = Ledger(self.path)
        self._again = again
        self._now: dict[str, Finished] = {}
        """What was measured since this was made: there whatever becomes of the file."""

    def finished(self, tasks: Mapping[str, CellTask]) -> dict[str, Finished]:
        """Return the known cells that have the processes of a verdict, or cannot have any.

        An earlier budget may have ended before: such cells are measured anew when there are no
        others left. What was measured just now is not.
        """
        return {
            name: cell
            for name, cell in self.known(tasks).items()
            if cell.task.key in self._now or _is_finished(cell)
        }

    def known(self, tasks: Mapping[str, CellTask]) -> dict[str, Finished]:
        """Return the cells that were measured, by the name of their task."""
        new = {name: self._now[t.key] for name, t in tasks.items() if t.key in self._now}
        if self._again:
            return new
        asked = {name: task.key for name, task in tasks.items() if name not in new}
        try:
            rows = self._ledger.newest([*asked.values()])
        except ModelError as error:
            self._say(error)
            return new
        old = {name: self._read(rows[key].id) for name, key in asked.items() if key in rows}
        return new | {name: cell for name, cell in old.items() if cell is not None}

    def _read(self, row: int) -> Finished | None:
        """Return a cell of the file; None: it is damaged, and is not known."""
        try:
            return self._ledger.finished(row)
        except ModelError as error:
            self.notes = tuple(dict.fromkeys((*self.notes, f"{error.problem}; it does not count")))
            return None

    def anchor(self, session: str, key: str) -> Finished | None:
        """Return the cell of this task that was measured in a session."""
        try:
            rows = self._ledger.rows(session=session)
        except ModelError as error:
            self._say(error)
            return None
        found = next((row.id for row in rows if row.task == key), None)
        return None if found is None else self._read(found)

    def journal(
        self,
        tasks: Mapping[str, CellTask],
        baseline: str,
        cells: Callable[[BenchReport], Sequence[Finished]],
    ) -> RoundsKept:
        """Return where a group's rounds are kept: behind those of one in which all took part."""
        session, found = self.earlier(tasks, baseline)
        if found.cells.keys() < tasks.keys():
            return RoundsKept(self, _new_session(), EarlierRounds(), cells)
        if found.members > len(tasks):
            session = self._copied(found)
        return RoundsKept(self, session, found, cells)

    def _copied(self, found: EarlierRounds) -> str:
        """Return the session of a copy: what goes on without some leaves the others theirs."""
        session = _new_session()
        for number in range(found.rounds):
            parts = [
                replace(one, session=session, measurement=part)
                for one in found.cells.values()
                if (part := apart(one.measurement, number)).launches or part.failure is not None
            ]
            self.add_round(number, parts)
        return session

    def earlier(self, tasks: Mapping[str, CellTask], baseline: str) -> tuple[str, EarlierRounds]:
        """Return finished rounds of a group that was ended, and its session: empty, there is none.

        Of several, those in which most of these took part. They took turns with this baseline,
        under this very code; the tasks have machine, versions and inputs in their keys.
        """
        found = "", EarlierRounds()
        for group in () if self._again else self._begun(tasks[baseline].key):
            cells = {
                name: _called(name, group.cells[task.key])
                for name, task in tasks.items()
                if task.key in group.cells
            }
            one = group.session, EarlierRounds(group.rounds, cells, len(group.cells))
            found = max(found, one, key=lambda each: (len(each[1].cells), each[1].rounds))
        return found

    def _begun(self, task: str) -> tuple[BegunGroup, ...]:
        try:
            groups = self._ledger.begun(task=task, code=code_key())
        except ModelError as error:
            self._say(error)
            return ()
        for session in sorted(self._ledger.damaged_groups):
            damage = f"{self.path}: rounds of the group {session} are damaged; they do not count"
            self.notes = tuple(dict.fromkeys((*self.notes, damage)))
        return groups

    def add_round(self, number: int, parts: Sequence[Finished]) -> None:
        """Keep one round of a group that is not finished."""
        try:
            self._ledger.append_round(number, parts, code=code_key())
        except ModelError as error:
            self._say(error)

    def add(self, cells: Sequence[Finished]) -> None:
        """Keep finished cells; what there was no time for is not finished."""
        cells = [cell for cell in cells if cell.status != "no time"]
        self._now |= {cell.task.key: cell for cell in cells}
        try:
            self._ledger.append(cells)
        except ModelError as error:
            self._say(error)

    def _say(self, error: ModelError) -> None:
        self.notes = (f"nothing was kept, and nothing is known: {error.problem} ({error.hint})",)


def _new_session() -> str:
    """Return a name for rounds that no others have."""
    return uuid.uuid4().hex[:16]


def _called(name: str, cell: Finished) -> Finished:
    return replace(cell, measurement=replace(cell.measurement, subject=name))


def _is_finished(cell: Finished) -> bool:
    enough = min(cell.task.rounds, FEWEST_ROUNDS)
    return cell.status != "ok" or cell.figures.processes >= enough
