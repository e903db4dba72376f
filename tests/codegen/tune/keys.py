"""A key and a result that the tests of tuning share."""

from __future__ import annotations

from burnish.codegen.tune.cache import Key, TuningConditions
from burnish.codegen.tune.trial import Trial, Tuned
from burnish.tile.schedule import Schedule

CONDITIONS = TuningConditions("a CPU", ("avx2", "fma"), "cpu: avx2", 2, "1.0", "abc", "llvmlite 1")


def key(signature: str = "a group") -> Key:
    return Key(signature, CONDITIONS)


def result(seconds: float = 0.5) -> Tuned:
    trials = (
        Trial(Schedule((4, 8)), (seconds, seconds, seconds), predicted_s=0.1),
        Trial(Schedule((2, 8), carried=0, settings={"rows": 4}), failure="crashed (by SIGSEGV)"),
    )
    return Tuned(trials, searched=20)
