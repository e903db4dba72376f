"""Values that a model does not give out are counted as refused, and break nothing."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from burnish.core.arrays import Array
from burnish.core.progress import SILENT
from burnish.parity.scan import Runs, scan
from burnish.parity.tolerances import Tolerances


class _Forgetful(Runs):
    """Subjects that give out all but one of their values."""

    def __init__(self) -> None:
        pass

    def values(self, _side: int, names: Sequence[str]) -> dict[str, Array]:
        return {name: np.ones(2, np.float32) for name in names if name != "lost"}


def test_what_is_not_given_out_is_refused_and_the_rest_compared() -> None:
    found = scan(_Forgetful(), {"a": "a", "lost": "lost", "b": "b"}, Tolerances(), SILENT)
    assert set(found.diffs) == {"a", "b"}
    assert found.refused == ("lost",)
