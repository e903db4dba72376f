from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from burnish.trace.inferences import Inferences, inferences

Spec = tuple[str, int, int, int]
"""A category, a start, a length, and the place of what launched it (-1: nothing)."""


def found(*spans: Spec) -> Inferences:
    starts = np.array([start for _, start, _, _ in spans], np.int64)
    lengths = np.array([length for _, _, length, _ in spans], np.int64)
    causes = np.array([cause for *_, cause in spans], np.int64)
    return inferences(starts, starts + lengths, [kind for kind, *_ in spans], causes)


def runs(of: Inferences) -> Sequence[int]:
    return of.run.tolist()


def test_work_of_the_host_alone_is_one_inference_too() -> None:
    one = found(("node", 10, 5, -1), ("node", 30, 5, -1))
    assert (runs(one), one.whole) == ([0, 0], (10, 35))


def test_nothing_at_all_is_no_inference() -> None:
    assert found().whole is None


def test_device_work_goes_to_the_inference_that_launched_it() -> None:
    late = ("kernel", 120, 10, 1)
    of = found(("run", 0, 50, -1), ("launch", 10, 2, -1), ("run", 100, 50, -1),
               ("launch", 110, 2, -1), late, ("kernel", 130, 10, 3))  # fmt: skip
    assert runs(of) == [0, 0, 1, 1, 0, 1]
    assert of.ends[0] == 130


def test_what_the_host_does_between_inferences_is_of_none() -> None:
    assert runs(found(("run", 0, 10, -1), ("node", 2, 3, -1), ("node", 20, 5, -1))) == [0, 0, -1]


def test_a_step_in_which_the_profiler_was_stopped_is_no_inference() -> None:
    full = [("node", at, 5, -1) for at in range(0, 300, 10)]
    of = found(*full, ("node", 310, 1, -1), ("run", 0, 300, -1), ("run", 305, 10, -1))
    assert runs(of)[-3:] == [-1, 0, -1]
    assert of.dropped == (32,)
    assert of.notes == (
        "1 of 2 steps in the trace hold hardly any work and are no inferences: left out",
    )
