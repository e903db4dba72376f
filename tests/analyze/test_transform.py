from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from burnish.analyze.event_graph import EventGraph
from burnish.analyze.scenario import Action, Scenario, action
from burnish.analyze.selector import Scene, Selector
from burnish.analyze.simulate import simulate
from burnish.analyze.transform import Setting, apply
from burnish.core.errors import UsageError
from devices import GPU, LAPTOP
from event_graphs import US, chain, diamond, event, graphs, node, record

CHAIN = record(
    node("n0", "Relu", "x", "a"), node("n1", "Neg", "a", "b"), node("n2", "Abs", "b", "y")
)


def wall(scenario: Scenario, graph: EventGraph) -> float:
    return simulate(apply(scenario, Setting(Scene(graph))).graph).wall_s


def named(do: str, *names: str, by: float | str | None = None) -> Action:
    return Action(do, tuple(Selector("name", name) for name in names), by)


def together(*actions: Action) -> Scenario:
    return Scenario("s", actions)


@given(graphs())
def test_scaling_by_one_changes_nothing(graph: EventGraph) -> None:
    names = [one.name for one in graph.events]
    setting = Setting(Scene(graph))
    assert apply(together(named("scale", *names, by=1.0)), setting).graph == graph


@given(graphs(), st.data())
def test_disjoint_scenarios_compose(graph: EventGraph, data: st.DataObject) -> None:
    names = [one.name for one in graph.events]
    first = data.draw(st.lists(st.sampled_from(names), unique=True, min_size=1))
    rest = [name for name in names if name not in first]
    if not rest:
        return
    do = data.draw(st.sampled_from(["scale", "remove"]))
    one = named("scale", *first, by=2.0)
    other = named(do, *rest, by=4.0 if do == "scale" else None)
    in_turn = apply(
        together(other), Setting(Scene(apply(together(one), Setting(Scene(graph))).graph))
    )
    assert in_turn.graph == apply(together(one, other), Setting(Scene(graph))).graph


def test_infinite_speed_off_the_path_gives_nothing() -> None:
    graph = diamond(10, 5, 20, 5)
    assert wall(together(named("scale", "left", by=math.inf)), graph) == simulate(graph).wall_s
    assert wall(together(named("scale", "right", by=math.inf)), graph) == pytest.approx(20 * US)


@given(graphs(), st.floats(1.0, 100.0))
def test_nothing_that_gets_faster_makes_the_whole_slower(graph: EventGraph, by: float) -> None:
    assert wall(together(named("scale", "n0", by=by)), graph) <= simulate(graph).wall_s + 1e-12


def test_of_two_changes_to_one_event_the_later_counts() -> None:
    graph = chain(12)
    both = together(named("scale", "n0", by=2.0), named("scale", "n0", by=3.0))
    assert wall(both, graph) == pytest.approx(4 * US)
    assert wall(together(named("set", "n0", by=1e-6)), graph) == pytest.approx(1 * US)


def test_removing_takes_the_gap_and_the_launch_along() -> None:
    assert wall(together(named("remove", "n1")), chain(10, 10, gap=3)) == pytest.approx(13 * US)
    graph = EventGraph(
        (
            event("l0", 10, kind="launch", nodes=()),
            event("k0", 1, 0, kind="kernel", launch=0),
            event("l1", 10, 0, kind="launch", nodes=()),
            event("k1", 1, 1, 2, kind="kernel", launch=2),
        )
    )
    assert wall(together(named("remove", "k0")), graph) == pytest.approx(11 * US)


def test_fusing_takes_the_slowest_or_the_bytes_that_still_move() -> None:
    graph = chain(10, 12, 11, gap=2)
    setting = Setting(Scene(graph, CHAIN))
    changed = apply(together(named("fuse", "n0", "n1", "n2")), setting)
    # 6 tensors are moved apart, 2 as one: a third of 33 µs is less than the slowest member
    assert simulate(changed.graph).wall_s == pytest.approx((12 + 2) * US)
    assert changed.notes == ()
    assert changed.graph.events[2].nodes == ("n0", "n1", "n2")


def test_fusing_without_the_graph_says_what_it_assumes() -> None:
    changed = apply(together(named("fuse", "n0", "n1")), Setting(Scene(chain(3, 4))))
    assert changed.notes == (
        "fuse name:n0, name:n1: bytes are not known, so the slowest member is taken",
    )


def test_raising_to_the_limit_uses_the_devices_rates() -> None:
    setting = Setting(Scene(chain(10, 10, 10), CHAIN), LAPTOP)
    changed = apply(together(named("roofline", "n0", by=0.5)), setting)
    # 64 × 64 f32 in and out at 1e11 bytes a second, at half of that rate
    assert changed.graph.events[0].duration_s == pytest.approx(2 * 2 * 64 * 64 * 4 / 1e11)


def test_another_type_is_faster_by_the_ratio_of_rates_where_they_are_known() -> None:
    setting = Setting(Scene(chain(10, 10, 10), CHAIN), LAPTOP)
    changed = apply(together(named("precision", "n0", by="i8")), setting)
    assert changed.graph.events[0].duration_s == pytest.approx(2.5 * US)
    unknown = apply(together(named("precision", "n0", by="f16")), setting)
    assert unknown.graph == setting.graph
    assert unknown.notes == (
        "precision name:n0 f16: 1 of 1 left as they are: laptop tells no rate of f16 for them",
    )


@pytest.mark.parametrize("device", [LAPTOP, None])
def test_a_larger_batch_takes_as_much_longer_as_its_work_grows(device: object) -> None:
    large = record(*CHAIN.nodes, shape=(4 * 64, 64))
    setting = Setting(Scene(chain(10, 10, 10, gap=1), CHAIN), device, {4: large})  # type: ignore[arg-type]
    changed = apply(together(action("batch", by=4.0)), setting)
    assert simulate(changed.graph).wall_s == pytest.approx((120 + 3) * US)


def test_a_cuda_graph_leaves_one_launch() -> None:
    graph = EventGraph(
        (
            event("l0", 10, gap=5, kind="launch", nodes=()),
            event("k0", 1, 0, gap=2, kind="kernel", launch=0),
            event("l1", 10, 0, gap=5, kind="launch", nodes=()),
            event("k1", 1, 1, 2, kind="kernel", launch=2),
            event("end", 0, 3, gap=9, kind="end", nodes=()),
        )
    )
    # the microsecond between two kernels stays; what the host did before it launched does not
    assert wall(together(action("cuda-graph")), graph) == pytest.approx(13 * US)


@pytest.mark.parametrize(
    ("launch", "number", "between"),
    [
        (5, 20, 3),  # most kernels wait for long: what passes between them is the device's own
        (8, 9, 1),  # their launches had just left: what passes is not known
    ],
)
def test_a_cuda_graph_keeps_the_pause_of_kernels_that_were_waiting(
    launch: float, number: int, between: float
) -> None:
    events = []
    for place in range(0, 2 * number, 2):
        before = (place - 2,) if place else ()
        running = (place - 1,) if place else ()
        events.append(event("l", launch, *before, kind="launch", nodes=()))
        events.append(event("k", 6, *running, place, gap=3, kind="kernel", launch=place))
    expected = launch + 6 * number + between * (number - 1)
    graph = EventGraph(tuple(events))
    assert wall(together(action("cuda-graph")), graph) == pytest.approx(expected * US)


@pytest.mark.parametrize(
    ("asked", "problem", "hint"),
    [
        (action("cuda-graph"), "cuda-graph needs a device that is launched on", "profile on a GPU"),
        (action("overlap"), "overlap needs the model's graph", "give the model too"),
        (action("batch", by=2.0), "batch needs the model's graph", "give the model too"),
        (named("roofline", "n0", by=0.8), "roofline needs the limits of the dev", "measure them"),
        (named("fuse", "n0"), "fuse name:n0 selects one event", "select all that should"),
    ],
)  # fmt: skip
def test_what_cannot_be_simulated_says_what_it_lacks(
    asked: Action, problem: str, hint: str
) -> None:
    with pytest.raises(UsageError) as caught:
        apply(together(asked), Setting(Scene(chain(1, 2))))
    assert caught.value.problem.startswith(problem)
    assert caught.value.hint.startswith(hint)


def test_a_model_without_a_batch_dimension_has_no_other_batch() -> None:
    with pytest.raises(UsageError, match="no batch dimension that could be 8"):
        apply(together(action("batch", by=8.0)), Setting(Scene(chain(1, 2, 3), CHAIN), GPU))


def test_what_an_engine_puts_around_a_product_does_not_compute_it() -> None:
    graph = record(node("mm", "MatMul", "x w", "y"), shape=(256, 256))
    setting = Setting(Scene(chain(1), graph), LAPTOP)
    product = event("mm", 50, op_type="Gemm", nodes=("mm",))
    reshape = event("gemm_input_reshape", 3, op_type="Reshape", nodes=("mm",))
    reorder = event("reorder", 3, op_type="ReorderInput", nodes=("mm",))
    assert getattr(setting.work(product), "flops", 0) > 1e6
    assert getattr(setting.work(reshape), "flops", 1) == 0
    assert setting.work(reorder) is None
