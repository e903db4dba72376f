"""What is chosen is what was measured to be the fastest, as far as there was time to look."""

from __future__ import annotations

from pathlib import Path

import pytest

from burnish.codegen.cpu.backend import CpuBackend
from burnish.codegen.schedule import Choice, Predicted
from burnish.codegen.tune.budget import TuningTime
from burnish.codegen.tune.cache import TuningCache
from burnish.codegen.tune.measured import LOOK, Measured, TuneOptions, promise
from burnish.codegen.tune.trial import Trial, Tuned
from burnish.tile.candidates import Ranking, Space
from burnish.tile.graph import TileGraph
from burnish.tile.group import Group
from burnish.tile.partition import partition
from burnish.tile.schedule import Schedule
from burnish.tile.signature import signature
from burnish.tile.simplify import simplify
from codegen.tune.measurer import BACKEND, MACHINE, FakeMeasurer, tuner
from codegen.tune.networks import graph_of, layers
from tile_samples import chain_of_layers, feed_forward


class Steps:
    """Progress, kept."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, int, int, str]] = []

    def step(self, stage: str, done: int, total: int, note: str = "") -> None:
        self.seen.append((stage, done, total, note))


def fused_graph() -> TileGraph:
    graph = simplify(feed_forward(16, 32, 48))
    assert max(len(group.ops) for group in partition(graph, MACHINE).groups) > 2
    return graph


def by_size(one: float, several: float) -> FakeMeasurer:
    """Return a measurer in which a nest alone and nests together take these times, each."""

    def seconds(group: Group, _schedule: Schedule) -> float:
        return (one if len(group.ops) == 1 else several) * len(group.ops)

    return FakeMeasurer(seconds)


def chosen(scheduler: Measured, graph: TileGraph) -> tuple[Choice, ...]:
    return scheduler.schedule(scheduler.partition(graph), graph)


def measured(measurer: FakeMeasurer, **more: object) -> Measured:
    cache = more.pop("cache", None)
    given = {"options": TuneOptions(top=LOOK), "budget": TuningTime(), **more}
    return Measured(tuner(measurer, cache), **given)  # type: ignore[arg-type]


def covered(choices: tuple[object, ...], graph: TileGraph) -> bool:
    """Say whether every nest is in one choice, after all that it needs."""
    known = {*graph.inputs, *graph.constants}
    for choice in choices:
        group: Group = choice.group  # type: ignore[attr-defined]
        if not set(group.inputs) <= known:
            return False
        known |= set(group.outputs)
    ops = [op.output for choice in choices for op in choice.group.ops]  # type: ignore[attr-defined]
    return sorted(ops) == sorted(op.output for op in graph.ops)


def test_merges_that_pay_are_kept() -> None:
    graph = fused_graph()
    choices = chosen(measured(by_size(2.0, 1.0)), graph)
    assert [choice.group for choice in choices] == list(partition(graph, MACHINE).groups)
    assert covered(choices, graph)
    assert all(
        choice.measured_s == len(choice.group.ops)
        for choice in choices
        if len(choice.group.ops) > 1
    )
    assert all(choice.predicted_s and choice.predicted_bytes for choice in choices)


def test_merges_that_do_not_pay_are_undone() -> None:
    graph = fused_graph()
    choices = chosen(measured(by_size(1.0, 3.0)), graph)
    assert {len(choice.group.ops) for choice in choices} == {1}
    assert covered(choices, graph)
    assert len(choices) == len(graph.ops)


def test_what_crashes_as_one_kernel_is_cut() -> None:
    graph = fused_graph()

    def seconds(group: Group, _schedule: Schedule) -> float | str:
        return "crashed (by SIGSEGV)" if len(group.ops) > 2 else 1.0

    choices = chosen(measured(FakeMeasurer(seconds)), graph)
    assert max(len(choice.group.ops) for choice in choices) <= 2
    assert covered(choices, graph)


def test_what_never_works_is_left_to_the_library() -> None:
    graph = chain_of_layers(64, 16, 1)
    failing = FakeMeasurer(lambda _g, _s: "crashed (by SIGSEGV)")
    choices = chosen(measured(failing), graph)
    assert {choice.schedule for choice in choices} == {None}
    assert {choice.reason for choice in choices} == {"no kernel for it works: crashed (by SIGSEGV)"}


def test_without_fusion_every_nest_is_tuned_alone() -> None:
    graph = fused_graph()
    measurer = by_size(1.0, 0.1)
    choices = chosen(measured(measurer, options=TuneOptions("element-wise", LOOK)), graph)
    assert {len(choice.group.ops) for choice in choices} == {1}
    assert {len(members) for members in measurer.groups} == {1}


def test_repeated_layers_are_tuned_once_and_chosen_alike() -> None:
    model = layers(4)
    graph = graph_of(model)
    measurer = by_size(1.0, 9.0)
    choices = chosen(measured(measurer), graph)
    assert len(choices) == 4
    singles = [members for members in measurer.groups if len(members) == 1]
    assert len(singles) == 1
    assert len({choice.schedule.tile for choice in choices if choice.schedule}) == 1


def test_the_library_takes_what_it_is_faster_at() -> None:
    model = layers(2)
    graph = graph_of(model)
    for library_s, is_ort in ((0.5, True), (0.98, False), (20.0, False)):
        measurer = FakeMeasurer(
            lambda group, _s: 1.0 * len(group.ops), lambda group, s=library_s: s * len(group.ops)
        )
        choices = chosen(measured(measurer, model=model), graph)
        assert {choice.schedule is None for choice in choices} == {is_ort}
        if is_ort:
            assert choices[0].reason.startswith("ONNX Runtime takes ")
            assert choices[0].measured_s


def test_chosen_groups_are_searched_further() -> None:
    graph = chain_of_layers(256, 64, 1)
    progress = Steps()
    measurer = FakeMeasurer(lambda _g, schedule: 1.0 / (1 + schedule.tile[0]))
    options = TuneOptions(top=12)
    choices = chosen(measured(measurer, options=options, progress=progress), graph)
    assert [len(schedules) for _, schedules, _ in measurer.asked[-2:]] != [LOOK, LOOK]
    assert {stage for stage, _, _, _ in progress.seen} == {
        "tune", "tune, 9 schedules", "tune, 12 schedules",
    }  # fmt: skip
    assert all(note.startswith("best so far ") for _, _, _, note in progress.seen)
    best = max(s.tile[0] for _, schedules, _ in measurer.asked for s in schedules)
    assert choices[-1].schedule is not None
    assert choices[-1].schedule.tile[0] <= best


def test_what_was_foreseen_worst_is_searched_first() -> None:
    """Of two groups that take equally long, the one that should have been the shorter."""
    tried = [
        Tuned((Trial(Schedule((1,)), (2e-3,), predicted_s=predicted),))
        for predicted in (1e-3, 2e-3)
    ]
    assert [promise(each) for each in tried] == [4e-3, 2e-3]
    assert promise(Tuned()) == 0.0


def test_when_time_is_up_the_rest_is_as_predicted() -> None:
    graph = fused_graph()
    now = [0.0]

    def seconds(group: Group, _schedule: Schedule) -> float:
        now[0] += 1.0
        return 1.0 * len(group.ops)

    measurer = FakeMeasurer(seconds)
    budget = TuningTime(0.5, clock=lambda: now[0])
    choices = chosen(measured(measurer, budget=budget), graph)
    assert len(measurer.asked) == 1
    assert covered(choices, graph)
    assert all(choice.schedule is not None for choice in choices)
    unmeasured = [choice for choice in choices if choice.measured_s is None]
    assert len(choices) == 1 or unmeasured


def test_what_there_was_no_time_for_is_predicted_once_for_each_kind(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Tiles take long to find: neither layers that are alike nor a second plan find them again."""
    graph = graph_of(layers(4))
    searched: list[str] = []
    usual = CpuBackend.candidates

    def candidates(self: CpuBackend, group: Group, graph: TileGraph, space: Space) -> Ranking:
        searched.append(signature(group, graph))
        return usual(self, group, graph, space)

    monkeypatch.setattr(CpuBackend, "candidates", candidates)
    shared = Predicted(BACKEND, "element-wise")
    options = TuneOptions("element-wise", LOOK)
    no_time = measured(by_size(1.0, 1.0), options=options, budget=TuningTime(0.0), predicted=shared)
    choices = chosen(no_time, graph)
    assert len(choices) > len(set(searched)) > 0
    assert choices == shared.schedule(shared.partition(graph), graph)
    assert len(searched) == len(set(searched))


def test_a_spent_budget_is_told_of() -> None:
    graph = chain_of_layers(256, 64, 1)
    now = [0.0]

    def seconds(_group: Group, _schedule: Schedule) -> float:
        now[0] += 1.0
        return 1.0

    progress = Steps()
    budget = TuningTime(8.0, clock=lambda: now[0])
    options = TuneOptions(top=40)
    chosen(
        measured(FakeMeasurer(seconds), options=options, budget=budget, progress=progress), graph
    )
    assert progress.seen[-1] == ("tune further", 1, 1, "best so far 1.00 s, and the time is up")


def test_the_same_model_gives_the_same_choices_from_the_cache(tmp_path: Path) -> None:
    graph = fused_graph()
    path = tmp_path / "results"
    first = chosen(measured(by_size(1.0, 0.9), cache=TuningCache(path)), graph)
    measurer = by_size(7.0, 99.0)
    assert chosen(measured(measurer, cache=TuningCache(path)), graph) == first
    assert measurer.asked == []


def test_an_empty_output_needs_no_tuning() -> None:
    graph = chain_of_layers(0, 4, 1)
    choices = chosen(measured(by_size(1.0, 1.0)), graph)
    assert all(choice.schedule is not None for choice in choices)
