"""What may be asked of studies: whole experiments that are written down in a file."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Annotated

from burnish.study.requests import vocabulary as v
from burnish.study.requests.option import Option, Positional, Saying


@dataclass(frozen=True, slots=True)
class StudyCommand:
    """Run the experiment in FILE: models × engines × types × sizes, with plots and a page.

    Started again, it goes on: finished cells come from the ledger, finished models from the
    folder. Engines that are not here have rows that say so.
    """

    file: Annotated[v.Place, Positional("FILE.toml")]
    _: KW_ONLY
    output: Annotated[v.OutputFolder, Saying("A folder for tables, plots and report.html.")]
    small: Annotated[bool, Option("A copy with the same structure and tiny sizes.")] = False
    budget: Annotated[v.Budget, Saying("Default: what the file says, else 30s for each cell.")] = (
        None
    )
    ledger: v.Ledger = None
    again: v.Again = False
