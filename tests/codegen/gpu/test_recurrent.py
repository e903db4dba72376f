"""LSTM, GRU and RNN as kernels of a card: right in the interpreter, and alike at every step."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from burnish.codegen.gpu.choose import GpuPredicted
from burnish.codegen.gpu.kernel import GpuTarget
from burnish.codegen.gpu.layout import orders_of
from burnish.codegen.gpu.sequence import Sequenced, sequenced, simplified
from burnish.hw.spec import load
from burnish.tile.reference import evaluate
from codegen.gpu.interpreting import compiled, run_groups
from codegen.recurrent_models import Case
from operators.test_written_out import halved

H200 = load("nvidia-h200")

CASES = (
    Case("LSTM", 4, 1, 20, 130, direction="bidirectional"),
    Case("LSTM", 3, 5, 16, 32, direction="bidirectional", states=True),
    Case("LSTM", 5, 2, 3, 4, peepholes=True, states=True, attributes={"clip": 0.4, "layout": 1}),
    Case("GRU", 4, 1, 20, 130, attributes={"linear_before_reset": 1}),
    Case("GRU", 3, 3, 16, 32, direction="reverse", states=True),
    Case("RNN", 20, 2, 3, 4, attributes={"layout": 1}),
)


def planned(case: Case, *, half: bool = True, early: bool = False) -> Sequenced:
    """Return the launches of a case, on a card."""
    graph = simplified(halved(case.model()) if half else case.model())
    target = GpuTarget(orders=orders_of(graph), early=early)
    return sequenced(graph, GpuPredicted(H200, target), target)


@pytest.mark.torch
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.operator}{case.steps}")
@pytest.mark.parametrize("half", [False, True])
def test_kernels_compute_what_their_nests_do(case: Case, half: bool) -> None:
    plan = planned(case, half=half)
    kind = np.float16 if half else np.float32
    feeds = {name: array.astype(kind) for name, array in case.feeds(1).items()}
    groups = [
        (choice.group, choice.schedule.settings) for choice in plan.choices if choice.schedule
    ]
    found = run_groups(plan.graph, groups, feeds, plan.orders)
    for name, array in evaluate(plan.graph, feeds).items():
        np.testing.assert_allclose(
            found[name].astype(np.float64), array.astype(np.float64), atol=4e-3 if half else 2e-5
        )


@pytest.mark.parametrize("batch", [1, 8])
def test_a_step_is_one_kernel_and_all_steps_have_the_same(batch: int) -> None:
    plan = planned(Case("LSTM", 40, batch, 64, 256, direction="bidirectional", outputs=(True,)))
    names = Counter(each.name for launches in plan.launches for each in launches)
    (_, most), *_ = names.most_common()
    assert most >= 38  # what is read of the first step's cell, and of the last one's, differs
    assert len(names) < 10
    assert names.total() < 40 + 12


def test_what_a_step_asks_for_it_asks_for_ahead_of_the_first_sum() -> None:
    plan = planned(Case("LSTM", 6, 1, 64, 512, outputs=(True,)))
    names = Counter(each.name for launches in plan.launches for each in launches)
    name, _ = names.most_common()[0]
    (step, *_) = (each for launches in plan.launches for each in launches if each.name == name)
    assert step.warps == 1
    found = compiled(step, 90)
    assert not found.stack_bytes
    assert found.shared_bytes == 0  # warps that add up together would need some


def test_many_steps_have_no_more_kernels_than_few() -> None:
    few, many = (planned(Case("GRU", steps, 1, 8, 128, outputs=(True,))) for steps in (40, 160))
    kernels = [{e.name for launches in plan.launches for e in launches} for plan in (few, many)]
    assert len(kernels[1]) <= len(kernels[0]) + 8
