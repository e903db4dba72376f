"""What stays in a memory that is too small, as laws of any steps."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from burnish.core.residency import (
    Residency,
    SteppedWork,
    TooSmallError,
    Touched,
    residency,
)
from residencies import limits, works


def found_or_none(work: SteppedWork, limit: int) -> Residency | None:
    try:
        return residency(work, limit)
    except TooSmallError:
        return None


@given(works(), limits)
def test_only_what_cannot_be_touched_aside_is_too_large(work: SteppedWork, limit: int) -> None:
    fixed = [work.bytes_of([n for n in s.names if n in work.fixed]) for s in work.steps]
    if found_or_none(work, limit) is None:
        assert max(fixed) > limit
    else:
        assert max(fixed) <= limit


@given(works(), limits)
def test_everything_that_a_step_touches_is_in_one_place(work: SteppedWork, limit: int) -> None:
    found = found_or_none(work, limit)
    if found is None:
        return
    for number, step in enumerate(work.steps):
        for name in step.names:
            stays = [s for s in found.stays if s.name == name and number in s.uses]
            places = len(stays) + (name in found.kept) + (name in found.aside.get(number, ()))
            assert places == 1, (number, name)
            assert name not in work.fixed or name not in found.aside.get(number, ())


@given(works(), limits)
def test_nothing_lies_on_anything_else_or_outside(work: SteppedWork, limit: int) -> None:
    found = found_or_none(work, limit)
    if found is None:
        return
    assert found.bytes + work.bytes_of(tuple(found.kept)) <= limit
    for at, one in enumerate(found.stays):
        end = one.offset + work.sizes[one.name]
        assert end <= found.bytes
        assert one.since <= one.first
        for other in found.stays[:at]:
            apart = end <= other.offset or other.offset + work.sizes[other.name] <= one.offset
            assert apart or one.since > other.last or other.since > one.last


@given(works(), limits)
def test_what_is_moved_is_what_comes_and_what_is_put_aside(work: SteppedWork, limit: int) -> None:
    found = found_or_none(work, limit)
    if found is None:
        return
    written = {name: number for number, step in enumerate(work.steps) for name in step.writes}
    aside = [(at, name) for at, names in found.aside.items() for name in names]
    fetched = [stay.name for stay in found.stays if stay.fetched]
    fetched += [name for at, name in aside if written.get(name) != at]
    stored = [*found.stored, *(name for at, name in aside if written.get(name) == at)]
    assert work.bytes_of(fetched) == found.fetched_bytes
    assert work.bytes_of(stored) == found.stored_bytes
    assert len(set(stored)) == len(stored)
    assert set(stored) >= work.wanted | (set(fetched) - work.given)


@given(works())
def test_with_enough_room_only_what_must_be_is_moved(work: SteppedWork) -> None:
    found = residency(work, sum(work.sizes.values()))
    read = {name for step in work.steps for name in step.reads} & work.given
    assert found.kept == work.lasting
    assert found.fetched_bytes == work.bytes_of(tuple(read - work.lasting))
    assert found.stored_bytes == work.bytes_of(tuple(work.wanted))


@given(works(), limits)
def test_no_less_is_moved_than_must_be(work: SteppedWork, limit: int) -> None:
    found = found_or_none(work, limit)
    if found is not None:
        assert found.moved_bytes >= residency(work, sum(work.sizes.values())).moved_bytes


@given(st.integers(2, 5))
def test_what_is_needed_last_is_put_aside(ways: int) -> None:
    chain = [Touched(("x",), ("a",)), Touched(("a",), ("b0",))]
    chain += [Touched((f"b{n}",), (f"b{n + 1}",)) for n in range(ways)]
    chain += [Touched((f"b{ways}", "a"), ("y",))]
    names = {name for step in chain for name in step.names}
    work = SteppedWork(tuple(chain), dict.fromkeys(names, 64), frozenset("x"), frozenset("y"))
    found = residency(work, 3 * 64)
    assert found.moved_bytes == 2 * 64
    tight = residency(work, 2 * 64 + 63)
    assert set(tight.stored) == {"a", "y"} or tight.aside
    assert tight.moved_bytes > found.moved_bytes


def test_a_step_that_is_too_large_touches_the_smallest_thing_that_suffices_aside() -> None:
    sizes = {"x": 640, "w": 64, "y": 256}
    step = Touched(("x", "w"), ("y",))
    work = SteppedWork(
        (step,), sizes, frozenset("xw"), frozenset("y"), frozenset("w"), frozenset("w")
    )
    assert residency(work, 704).aside == {0: frozenset("y")}
    assert residency(work, 320).aside == {0: frozenset("x")}
    assert residency(work, 64).aside == {0: frozenset("xy")}
    with pytest.raises(TooSmallError, match="step 0 needs 64 bytes for itself"):
        residency(work, 63)
