"""Compare the inner values of two runs, a bounded amount of memory at a time."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from burnish.closeness.tolerance import is_float
from burnish.core.array_types import name_of
from burnish.core.arrays import Array, Arrays
from burnish.core.errors import ModelError
from burnish.core.progress import Progress
from burnish.engines.isolated import EngineCrashedError
from burnish.parity.compare import compare_tensor
from burnish.parity.exposed import Exposed
from burnish.parity.report import TensorDiff
from burnish.parity.tolerances import Tolerances
from burnish.parity.verify import JudgedSubject
from burnish.process.scratch import scratch

_BUDGET_BYTES = 256 * 2**20
"""About how much of the inner values of one run is in memory at a time."""

_FIRST_PIECE = 16
"""Values in the first piece, when nothing is known of their sizes yet."""


@dataclass(frozen=True, slots=True)
class Scan:
    """What a comparison of inner values found."""

    diffs: Mapping[str, TensorDiff]
    """By the candidate's name."""
    refused: tuple[str, ...]
    """Values that an engine cannot give out, for instance sequences of tensors."""


class Runs:
    """Two subjects that can be asked for any of their values on the same inputs."""

    def __init__(
        self, reference: JudgedSubject, candidate: JudgedSubject, feeds: Arrays, folder: Path
    ) -> None:
        self._subjects = (reference, candidate)
        self._feeds = feeds
        homes = [folder / "reference", folder / "candidate"]
        for home in homes:
            home.mkdir()
        pairs = zip(self._subjects, homes, strict=True)
        self._exposed = [Exposed(subject.model, home) for subject, home in pairs]

    def values(self, side: int, names: Sequence[str]) -> dict[str, Array]:
        """Return values of the reference (0) or of the candidate (1)."""
        with self._exposed[side].giving(names) as model:
            subject = dataclasses.replace(self._subjects[side], model=model)
            with subject.open() as session:
                return session.run(self._feeds)


@contextmanager
def runs(reference: JudgedSubject, candidate: JudgedSubject, feeds: Arrays) -> Iterator[Runs]:
    """Yield two subjects to be asked for their values; their files are gone afterwards."""
    with scratch("bisect") as folder:
        yield Runs(reference, candidate, feeds, folder)


def scan(
    both: Runs, counterparts: Mapping[str, str], tolerances: Tolerances, progress: Progress
) -> Scan:
    """Compare all values of `counterparts`: candidate name → reference name."""
    names = list(counterparts)
    diffs: dict[str, TensorDiff] = {}
    refused: list[str] = []
    size, seen_bytes, done = _FIRST_PIECE, 0, 0
    while done < len(names):
        piece = names[done : done + size]
        done += len(piece)
        found, bytes_of_piece, lost = _compared(both, piece, counterparts, tolerances)
        diffs |= found
        refused += lost
        seen_bytes += bytes_of_piece
        fitting = _BUDGET_BYTES * max(1, len(diffs)) // max(1, seen_bytes)
        size = max(1, min(fitting, 4 * size))
        progress.step("bisect", done, len(names), f"{done} of {len(names)} values")
    return Scan(diffs, tuple(refused))


def _compared(
    both: Runs, piece: Sequence[str], counterparts: Mapping[str, str], tolerances: Tolerances
) -> tuple[dict[str, TensorDiff], int, list[str]]:
    """Return the diffs, the bytes of one side, and the values that cannot be given out."""
    try:
        # Two values of the candidate may have one counterpart: it is asked for once.
        wanted = both.values(0, list(dict.fromkeys(counterparts[name] for name in piece)))
        given = both.values(1, piece)
    except ModelError as error:
        # an engine that crashes is not asked again for every half
        if len(piece) == 1 or isinstance(error, EngineCrashedError):
            return {}, 0, list(piece)
        half = len(piece) // 2
        first = _compared(both, piece[:half], counterparts, tolerances)
        second = _compared(both, piece[half:], counterparts, tolerances)
        return first[0] | second[0], first[1] + second[1], first[2] + second[2]
    # a model whose values share names with its inputs gives out fewer than it was asked for
    there = [name for name in piece if name in given and counterparts[name] in wanted]
    diffs = {
        name: _diff(name, wanted[counterparts[name]], given[name], tolerances) for name in there
    }
    lost = [name for name in piece if name not in diffs]
    return diffs, sum(array.nbytes for array in given.values()), lost


def _diff(name: str, reference: Array, candidate: Array, tolerances: Tolerances) -> TensorDiff:
    """Compare inner values, whose types may differ: a model may have been made f16 inside."""
    kinds = name_of(reference), name_of(candidate)
    if kinds[0] != kinds[1] and all(map(is_float, kinds)):
        arithmetic = tolerances.effective(kinds[1])
        tolerances = dataclasses.replace(tolerances, arithmetic=arithmetic)
        reference, candidate = (array.astype(np.float32) for array in (reference, candidate))
    return compare_tensor(name, reference, candidate, tolerances)
