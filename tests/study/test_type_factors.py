from __future__ import annotations

import dataclasses

import pytest

from burnish.analyze.amdahl import denominators
from burnish.analyze.event_graph import EventGraph
from burnish.analyze.scenario import Scenario, option
from burnish.analyze.selector import Scene
from burnish.analyze.transform import Setting
from burnish.study import type_factors
from burnish.study.timeline import Recorded
from event_graphs import event, node, record

GRAPH = dataclasses.replace(
    record(node("mm", "MatMul", "x w", "h"), node("free", "MatMul", "h x", "y"), shape=(2, 8, 8)),
    constants=frozenset({"w"}),
)


def found(kind: str) -> Recorded:
    events = EventGraph((event("mm", 8, kind=kind), event("free", 8, 0, kind=kind)))
    setting = Setting(Scene(events, GRAPH))
    return Recorded("m", "s", setting, denominators(events, unprofiled_s=None), None, ())


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, tuple[int, int, int], int]]:
    calls: list[tuple[str, tuple[int, int, int], int]] = []

    def factor(dtype: str, shape: tuple[int, int, int], *, threads: int) -> float:
        calls.append((dtype, shape, threads))
        return 3.0

    monkeypatch.setattr(type_factors, "product_factor", factor)
    return calls


def test_only_products_with_constant_weights_are_measured_each_shape_once(
    asked: list[tuple[str, tuple[int, int, int], int]],
) -> None:
    changed = type_factors.with_type_factors(
        found("node"), [Scenario("s", (option("precision", "mm,free=i8"),))], threads=3
    )
    assert changed.setting.type_factors == {("mm", "i8"): 3.0}
    assert asked == [("i8", (16, 8, 8), 3)]


def test_work_of_a_device_is_not_measured_on_the_host(
    asked: list[tuple[str, tuple[int, int, int], int]],
) -> None:
    before = found("kernel")
    scenario = Scenario("s", (option("precision", "mm=i8"),))
    assert type_factors.with_type_factors(before, [scenario], threads=1) is before
    assert asked == []
