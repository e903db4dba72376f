"""The ledger as measuring uses it: it helps where it can, and never stands in the way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from burnish.bench.cells import CellTask, Finished
from burnish.bench.evidence import FEWEST_ROUNDS
from burnish.bench.ledger import Ledger
from burnish.core import settings
from burnish.core.errors import ModelError
from burnish.study.requests.vocabulary import Place


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


def _is_finished(cell: Finished) -> bool:
    enough = min(cell.task.rounds, FEWEST_ROUNDS)
    return cell.status != "ok" or cell.figures.processes >= enough
