from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from burnish.bench.quiet import OPENING_S
from burnish.study.clock import Clock, Overall, TimeShare, minutes

ORT, COMPILED = ("onnxruntime-cpu", "f32"), ("torch-compile", "f32")


def test_time_is_shared_out_by_what_cells_take_and_what_is_left_goes_to_the_rest() -> None:
    now = [0.0]
    clock = Clock(100.0, 30.0, 10, clock=lambda: now[0])
    assert clock.share_s([ORT] * 2, [ORT] * 8) == 20
    assert clock.left_s == 100
    now[0] = 10.0
    assert clock.left_s == 90
    clock.done = 2
    assert clock.left_s == 40
    clock.learn(ORT, 2.0)
    clock.learn(COMPILED, 8.0)
    assert clock.share_s([ORT], [COMPILED]) == 18


def test_what_a_kind_takes_is_learnt_and_holds_for_other_types_of_its_engine() -> None:
    clock = Clock(100.0, 30.0, 10, clock=lambda: 0.0)
    assert clock.least_s(COMPILED) == OPENING_S
    clock.learn(COMPILED, 8.0)
    clock.learn(COMPILED, 5.0)
    assert clock.least_s(COMPILED) == 8
    assert clock.least_s(("torch-compile", "i8")) == 8
    clock.learn(("torch-compile", "i8"), 1.0)
    assert clock.least_s(("torch-compile", "i8")) == 1


def test_cells_that_are_finished_need_the_processes_of_a_verdict() -> None:
    clock = Clock(20.0, 30.0, 2, finishing=True, clock=lambda: 0.0)
    clock.learn(ORT, 2.0)
    clock.learn(COMPILED, 7.0)
    assert clock.least_s(ORT) == 6
    assert clock.fitting([{"a": ORT, "b": COMPILED}], {"a"}) == {"a"}


def test_further_processes_of_what_is_compiled_take_what_they_take() -> None:
    clock = Clock(20.0, 30.0, 2, finishing=True, clock=lambda: 0.0)
    clock.learn(COMPILED, 12.0, 3.0)
    assert clock.least_s(COMPILED) == 18
    assert clock.fitting([{"b": COMPILED}], set()) == {"b"}


def test_the_longest_cells_are_left_out_first_and_baselines_last() -> None:
    now = [0.0]
    clock = Clock(20.0, 30.0, 6, clock=lambda: now[0])
    groups = [{f"ort {n}": ORT, f"compiled {n}": COMPILED} for n in range(3)]
    baselines = {f"ort {n}" for n in range(3)}
    assert clock.fitting(groups, baselines) == {name for group in groups for name in group}
    now[0] = 10.0
    clock.learn(ORT, 2.0)
    clock.learn(COMPILED, 7.0)
    assert clock.fitting(groups[1:], baselines) == {"ort 1", "ort 2", "compiled 1"} or (
        clock.fitting(groups[1:], baselines) == {"ort 1", "ort 2", "compiled 2"}
    )
    now[0] = 19.0
    assert clock.fitting(groups[1:], baselines) in ({"ort 1"}, {"ort 2"})
    now[0] = 22.0
    assert clock.fitting(groups[1:], baselines) == set()


@given(
    least=st.lists(st.floats(0.1, 6.0), min_size=2, max_size=6),
    groups=st.integers(2, 12),
    budget=st.floats(60.0, 120.0),
)
def test_a_budget_is_kept_within_a_fifth_if_the_first_group_needs_no_more_than_it(
    least: list[float], groups: int, budget: float
) -> None:
    """A group takes its share, or one process of each cell, whichever is longer."""
    now = [0.0]
    clock = Clock(budget, 30.0, groups * len(least), clock=lambda: now[0])
    kinds = [(f"engine {number}", "f32") for number in range(len(least))]
    waiting = [{f"{number} {kind[0]}": kind for kind in kinds} for number in range(groups)]
    for number in range(groups):
        fits = clock.fitting(waiting[number:], {f"{n} engine 0" for n in range(groups)})
        chosen = [kind for name, kind in waiting[number].items() if name in fits]
        later = [kind for group in waiting[number + 1 :] for name, kind in group.items()
                 if name in fits]  # fmt: skip
        if chosen:
            needs = sum(least[kinds.index(kind)] for kind in chosen)
            now[0] += max(clock.share_s(chosen, later), needs)
            for kind in chosen:
                clock.learn(kind, least[kinds.index(kind)])
    assert now[0] <= 1.2 * budget


def test_without_a_budget_every_cell_has_its_usual_time() -> None:
    clock = Clock(None, 30.0, 4, clock=lambda: 0.0)
    assert (clock.share_s([ORT] * 2), clock.left_s) == (60, 120)
    clock.learn(ORT, 1e6)
    assert clock.fitting([{"a": ORT}], set()) == {"a"}


def test_progress_tells_the_cell_and_the_time_that_is_left() -> None:
    said: list[tuple[str, int, int, str]] = []

    class Told:
        def step(self, stage: str, done: int, total: int, note: str = "") -> None:
            said.append((stage, done, total, note))

    clock = Clock(None, 30.0, 4, clock=lambda: 0.0)
    Overall(Told(), clock, 2).step("bench", 1, 2, "round 1")
    Overall(Told(), clock, 2).step("machine", 1, 1, "busy")
    assert said == [
        ("bench", 100, 400, "cell 2 of 4, about 2 min left; round 1"),
        ("machine", 1, 1, "busy"),
    ]


def test_times_are_told_as_people_guess_them() -> None:
    assert (minutes(35.2), minutes(240.0)) == ("35 s", "4 min")


def test_a_group_knows_of_what_it_has_a_share_where_others_have_one() -> None:
    clock = Clock(None, usual_s=30.0, cells=8)
    assert clock.whole_s == 240.0
    assert Clock(100.0, usual_s=30.0, cells=8).whole_s == 100.0
    assert TimeShare(60.0, clock.whole_s).of_s == 240.0
    assert TimeShare(225.0, clock.whole_s).of_s is None, "it has all of it"
    assert TimeShare(60.0).of_s is None, "nobody knows"
