"""One kernel, two groups or ONNX Runtime: whatever was measured to be the fastest."""

from __future__ import annotations

import pytest

from burnish.codegen.tune.decide import decide
from burnish.codegen.tune.search import KnownGroup
from burnish.codegen.tune.trial import Trial, Tuned
from burnish.tile.group import Group
from burnish.tile.schedule import Schedule
from tile_samples import Sketch

_SKETCH = Sketch(x=(4, 4))
_NAMES = [_SKETCH.relu("x")]
for _ in range(3):
    _NAMES.append(_SKETCH.relu(_NAMES[-1]))
OPS = tuple(_SKETCH.builder.ops)
WHOLE = Group(OPS, (OPS[-1].output,))


def halves(group: Group) -> tuple[Group, ...]:
    if len(group.ops) == 1:
        return ()
    middle = len(group.ops) // 2
    return tuple(Group(ops, (ops[-1].output,)) for ops in (group.ops[:middle], group.ops[middle:]))


def found(own: float | str | None = None, ort: float | str | None = None) -> KnownGroup:
    def trial(schedule: Schedule | None, given: float | str) -> Trial:
        if isinstance(given, str):
            return Trial(schedule, failure=given)
        return Trial(schedule, (given,) * 3)

    tuned = Tuned((trial(Schedule((4, 4)), own),), 1) if own is not None else Tuned()
    return KnownGroup(tuned, trial(None, ort) if ort is not None else None)


def test_a_merge_is_kept_where_its_parts_are_hardly_faster() -> None:
    seconds = {4: found(2.0), 2: found(1.0), 1: found(0.1)}
    assert decide(WHOLE, lambda group: seconds[len(group.ops)], halves).way == "kernel"
    seconds[4] = found(2.1)
    assert decide(WHOLE, lambda group: seconds[len(group.ops)], halves).way == "kernel"
    seconds[4] = found(2.3)
    decision = decide(WHOLE, lambda group: seconds[len(group.ops)], halves)
    assert decision.way == "two groups"
    assert decision.seconds == pytest.approx(0.4)


@pytest.mark.parametrize(
    ("own", "ort", "way"),
    [
        (1.0, 1.2, "kernel"),
        (1.0, 1.02, "kernel"),
        (1.0, 0.95, "kernel"),
        (1.0, 0.5, "onnxruntime"),
        ("crashed", 0.5, "onnxruntime"),
        (1.0, "wrong: y", "kernel"),
        (1.0, None, "kernel"),
        ("crashed", None, "onnxruntime"),
        (None, None, "not measured"),
    ],
)
def test_a_kernel_is_kept_unless_the_library_is_faster_for_sure(
    own: float | str | None, ort: float | str | None, way: str
) -> None:
    decision = decide(WHOLE, lambda _group: found(own, ort), lambda _group: ())
    assert decision.way == way


def test_the_reason_says_what_was_measured() -> None:
    slower = decide(WHOLE, lambda _group: found(0.002, 0.001), lambda _group: ())
    assert slower.reason == "ONNX Runtime takes 1.00 ms, the fastest kernel 2.00 ms"
    broken = decide(WHOLE, lambda _group: found("crashed", 0.001), lambda _group: ())
    assert broken.reason == "ONNX Runtime takes 1.00 ms, no kernel for it works: crashed"
    nothing = decide(WHOLE, lambda _group: found(None, 0.001), lambda _group: ())
    assert nothing.reason == "ONNX Runtime takes 1.00 ms, no kernel was tried"
    left = decide(WHOLE, lambda _group: found("crashed"), lambda _group: ())
    assert left.reason == "no kernel for it works: crashed"


def test_parts_may_go_different_ways() -> None:
    first, second = halves(WHOLE)
    times = {WHOLE: found(9.0), first: found(2.0, 1.0), second: found(1.0, 2.0)}
    decision = decide(WHOLE, lambda group: times.get(group, found(5.0)), halves)
    assert (decision.way, decision.seconds) == ("two groups", 2.0)


def test_what_does_not_work_as_one_kernel_may_as_two() -> None:
    times = {4: found("crashed"), 2: found(1.0), 1: found(2.0)}
    assert decide(WHOLE, lambda group: times[len(group.ops)], halves).way == "two groups"


def test_parts_that_were_not_measured_change_nothing() -> None:
    times = {4: found(9.0), 2: found(), 1: found()}
    assert decide(WHOLE, lambda group: times[len(group.ops)], halves).way == "kernel"


def test_what_comes_close_is_named() -> None:
    times = {4: found(2.0), 2: found(1.1), 1: found(0.1)}
    decision = decide(WHOLE, lambda group: times[len(group.ops)], halves)
    assert decision.rivals == halves(WHOLE)
    times[2] = found(1.5)
    assert decide(WHOLE, lambda group: times[len(group.ops)], halves).rivals == ()
    times = {4: found(2.0), 2: found(0.9), 1: found(5.0)}
    assert decide(WHOLE, lambda group: times[len(group.ops)], halves).rivals == (WHOLE,)
    near = decide(WHOLE, lambda _group: found(1.2, 1.0), lambda _group: ())
    assert (near.way, near.rivals) == ("onnxruntime", (WHOLE,))
    far = decide(WHOLE, lambda _group: found(1.5, 1.0), lambda _group: ())
    assert far.rivals == ()
