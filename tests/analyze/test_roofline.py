from __future__ import annotations

import pytest

from burnish.analyze.roofline import Bound, level_of, precision_factor, roof
from burnish.analyze.work import Work
from devices import GPU, LAPTOP


def test_what_takes_longest_at_peak_rates_is_the_bound() -> None:
    product = roof(Work(2e9, 1e6, "f32"), 1.0, LAPTOP)
    assert (product.bound, product.limit_s) == (Bound.COMPUTE, pytest.approx(0.02))
    copy = roof(Work(1e3, 1e9, "f32"), 1.0, LAPTOP)
    assert (copy.bound, copy.memory_level) == (Bound.MEMORY, "dram")
    assert copy.limit_s == pytest.approx(0.1)
    assert roof(Work(10, 40, "f32"), 1e-6, LAPTOP).bound is Bound.LAUNCH


def test_small_work_comes_from_the_cache_that_holds_it() -> None:
    assert level_of(1e5, LAPTOP).name == "l2"
    assert level_of(1e8, LAPTOP).name == "dram"


def test_what_a_gpu_keeps_per_unit_is_gone_at_the_next_kernel() -> None:
    assert level_of(1000, GPU).name == "l2"


def test_reaching_the_limit_never_makes_slower() -> None:
    found = roof(Work(1e9, 1e6, "f32"), 0.02, LAPTOP)
    assert found.at(1.0) == pytest.approx(0.01)
    assert found.at(0.25) == pytest.approx(0.02)


def test_a_type_without_a_rate_is_bound_by_memory_only() -> None:
    found = roof(Work(1e9, 1e9, "i64"), 1.0, LAPTOP)
    assert (found.compute_s, found.bound) == (0.0, Bound.MEMORY)


def test_the_gain_of_another_type_is_the_ratio_of_the_rates() -> None:
    assert precision_factor(Work(1, 1, "f32"), "i8", LAPTOP) == pytest.approx(4.0)
    assert precision_factor(Work(1, 1, "f32"), "f16", LAPTOP) is None
