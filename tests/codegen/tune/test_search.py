"""Candidates are tried once, the best is known afterwards, and more can be tried later."""

from __future__ import annotations

from pathlib import Path

import pytest

from burnish.codegen.tune.cache import TuningCache
from burnish.codegen.tune.measure import OrtCandidate, TrialTask
from burnish.codegen.tune.search import Tuner
from burnish.tile.group import Group
from burnish.tile.schedule import Schedule
from codegen.tune.measurer import FakeMeasurer, tuner
from tile_samples import Sketch, chain_of_layers, whole

PART = OrtCandidate(lambda: b"", ("x",), ("y",), "MatMul")


def smaller_is_faster(_group: Group, schedule: Schedule) -> float:
    return 1.0 * schedule.tile[0]


@pytest.fixture
def task() -> TrialTask:
    graph = chain_of_layers(256, 32, 1)
    return TrialTask(whole(graph), graph)


def test_the_fastest_of_the_most_promising_schedules_is_found(task: TrialTask) -> None:
    measurer = FakeMeasurer(smaller_is_faster)
    found = tuner(measurer).tune(task, 5)
    assert len(found.tuned.trials) == 5
    fastest = min(found.tuned.trials, key=lambda trial: trial.schedule.tile[0])  # type: ignore[union-attr]
    assert found.tuned.best == fastest
    assert all(trial.predicted_s for trial in found.tuned.trials)
    assert found.tuned.searched == 5


def test_what_was_tried_is_not_tried_again(task: TrialTask, tmp_path: Path) -> None:
    path = tmp_path / "results"
    first, second = FakeMeasurer(smaller_is_faster), FakeMeasurer(smaller_is_faster)
    before = tuner(first, TuningCache(path)).tune(task, 5)
    assert tuner(second, TuningCache(path)).tune(task, 5) == before
    assert tuner(second, TuningCache(path)).tune(task, 3) == before
    assert second.asked == []


def test_more_schedules_are_compared_with_the_best_so_far(task: TrialTask) -> None:
    measurer = FakeMeasurer(smaller_is_faster)
    same = tuner(measurer)
    before = same.tune(task, 2).tuned
    after = same.tune(task, 6).tuned
    (_, first, _), (_, second, _) = measurer.asked
    assert len(first) == 2
    assert len(second) == 5
    assert second[-1] == before.schedule
    assert not {schedule.tile for schedule in first} & {each.tile for each in second[:-1]}
    assert len(after.trials) == 6
    assert after.searched == 6


def test_what_is_like_a_bad_surprise_is_tried_last(task: TrialTask) -> None:
    """Long tiles take far longer than predicted: once that is known, short ones are tried."""
    long = 64
    measurer = FakeMeasurer(lambda _group, s: 1.0 if s.tile[0] >= long else 0.01)
    same = tuner(measurer)
    same.tune(task, 6)
    same.tune(task, 12)
    first, second = (asked for _, asked, _ in measurer.asked)
    assert {schedule.tile[0] >= long for schedule in first} == {False, True}
    assert {schedule.tile[0] >= long for schedule in second} == {False}


def test_repeated_layers_are_tuned_once() -> None:
    graph = chain_of_layers(256, 32, 2)
    measurer = FakeMeasurer(smaller_is_faster)
    same = tuner(measurer)
    for ops in (graph.ops[:2], graph.ops[2:]):
        same.tune(TrialTask(Group(ops, (ops[-1].output,)), graph), 3)
    assert len(measurer.asked) == 1


def test_the_library_is_tried_once_beside_the_best(task: TrialTask) -> None:
    measurer = FakeMeasurer(smaller_is_faster, lambda _group: 0.5)
    same = tuner(measurer)
    alone = same.tune(task, 3)
    assert alone.ort is None
    both = same.tune(task, 3, PART)
    assert both.ort is not None
    assert both.ort.seconds == 0.5
    assert both.tuned.schedule == alone.tuned.schedule
    (_, _, first), (_, second, with_library) = measurer.asked
    assert (first, with_library) == (False, True)
    assert second == (alone.tuned.schedule,)
    assert same.tune(task, 3, PART) == both
    assert same.known(task, PART) == both
    assert len(measurer.asked) == 2


def test_layouts_are_part_of_what_is_known(task: TrialTask) -> None:
    measurer = FakeMeasurer(smaller_is_faster)
    same = tuner(measurer)
    same.tune(task, 2)
    turned = TrialTask(task.group, task.graph, {"x": (1, 0)})
    assert same.known(turned).tuned.trials == ()
    same.tune(turned, 2)
    assert len(measurer.asked) == 2


def test_a_failure_is_kept_as_well(task: TrialTask) -> None:
    measurer = FakeMeasurer(lambda _group, _schedule: "crashed (by SIGSEGV)")
    same: Tuner = tuner(measurer)
    found = same.tune(task, 3).tuned
    assert found.best is None
    assert {trial.failure for trial in found.trials} == {"crashed (by SIGSEGV)"}
    assert same.tune(task, 3).tuned == found
    assert len(measurer.asked) == 1


def test_an_output_without_elements_needs_no_trial() -> None:
    graph = chain_of_layers(0, 4, 1)
    measurer = FakeMeasurer(smaller_is_faster)
    found = tuner(measurer).tune(TrialTask(whole(graph), graph), 3).tuned
    assert found.reason == "its output has no element"
    assert measurer.asked == []


def test_what_has_no_good_tile_is_tried_with_the_smallest() -> None:
    sketch = Sketch(x=(4, 600_000))
    graph = sketch.graph(sketch.softmax("x"))
    measurer = FakeMeasurer(smaller_is_faster)
    found = tuner(measurer).tune(TrialTask(whole(graph), graph), 3).tuned
    assert [trial.schedule for trial in found.trials] == [Schedule((1, 1))]
    assert found.reason.startswith("its least scratch is ")
