"""Ask `burnish verify` about one model with every error that can be planted in it.

python -m tests.torture.spoiled MODEL.onnx [OTHER.onnx] [--tolerance bf16] [--only NAME …]

With OTHER, errors are planted in that one, and it is compared with MODEL: a copy in fewer bits, for
instance. A line each; exit code 1 if an error passed, or the model without one did not.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import onnx

from burnish.core.errors import BurnishError
from burnish.parity.request import VerifyRequest, answer
from burnish.parity.tolerances import Tolerances
from burnish.parity.verdict import verdict
from burnish.store.layout import stored
from torture import spoils_edges
from torture.spoils import NothingToSpoilError, spoilt

NAMES = tuple(spoils_edges.SPOILS)


@dataclass(frozen=True, slots=True)
class Asked:
    """What was said of a model with one error."""

    error: str
    """Empty: none."""
    passed: bool
    said: str

    @property
    def is_right(self) -> bool:
        """Return whether it was judged as it is."""
        return self.passed == (not self.error)


def asked_about(
    reference: Path,
    model: onnx.ModelProto,
    *,
    names: Sequence[str] = NAMES,
    tolerance: str | None = None,
    budget_s: float = 30.0,
) -> Iterator[Asked]:
    """Yield what is said of a model as it is, then with each error that it can have."""
    with tempfile.TemporaryDirectory(prefix="spoiled-") as folder:
        for name in ("", *names):
            path = Path(folder) / "candidate.onnx"
            try:
                onnx.save(spoilt(model, name) if name else model, path)
            except NothingToSpoilError:
                continue
            request = VerifyRequest(
                stored(reference), stored(path), tolerances=Tolerances(tolerance),
                samples=1, budget_s=budget_s,
            )  # fmt: skip
            try:
                found = answer(request)
                yield Asked(name, found.passed, verdict(found))
            except BurnishError as error:
                yield Asked(name, False, str(error))


def command_line() -> int:
    """Print a line for each error."""
    parser = argparse.ArgumentParser(prog="python -m tests.torture.spoiled", description=__doc__)
    parser.add_argument("model", type=Path)
    parser.add_argument("other", type=Path, nargs="?")
    parser.add_argument("--tolerance")
    parser.add_argument("--budget", type=float, default=30.0)
    parser.add_argument("--only", nargs="*", default=NAMES)
    given = parser.parse_args()
    model, wrong = onnx.load(given.other or given.model), 0
    for each in asked_about(
        given.model, model, names=given.only, tolerance=given.tolerance, budget_s=given.budget
    ):
        wrong += not each.is_right
        word = "passed" if each.passed else "found"
        print(
            f"{each.error or 'no error':<38} {word:<8} {'' if each.is_right else '!'} {each.said}"
        )
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(command_line())
