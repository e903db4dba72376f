"""Devices are data: every file of the catalog is whole, and a wrong one says what is wrong."""

from __future__ import annotations

from dataclasses import replace

import pytest

from burnish.core.errors import ModelError, UsageError
from burnish.hw.spec import for_cores, load, names, parse
from burnish.hw.unit import CORE

TEXT = """
name = "tiny"
kind = "cpu"
compute_units = 2
launch_overhead_s = 1e-6
recognised_by = ["abacus"]
source = "made up"

[peak_flops_per_s]
f32 = 10.0

[[memory]]
name = "beads"
capacity_bytes = 10
bandwidth_bytes_per_s = 4.0
per_unit = true

[[memory]]
name = "dram"
capacity_bytes = 100
bandwidth_bytes_per_s = 1.0
per_unit = false
"""


@pytest.mark.parametrize("name", names())
def test_every_device_of_the_catalog_is_whole(name: str) -> None:
    spec = load(name)
    assert spec.name == name
    assert spec.memory[-1].name == "dram"
    rates = [level.bandwidth_bytes_per_s for level in spec.memory]
    assert rates == sorted(rates, reverse=True)
    assert spec.peak_flops_per_s["f32"] > spec.peak_flops_per_s["f64"]
    assert len(spec.source) > 40


def test_the_catalog_has_the_devices_that_burnish_is_used_on() -> None:
    assert {"nvidia-h200", "nvidia-h100", "nvidia-a100", "nvidia-v100"} <= set(names())
    assert {"x86-avx2", "x86-avx512"} <= set(names())


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ('source = "made up"', "", "tiny.toml: 'source' is missing"),
        ('kind = "cpu"', 'kind = "cpu"\ncolour = "red"', "tiny.toml: 'colour' is not known"),
        ("capacity_bytes = 10\n", "", "tiny.toml: memory level 0: 'capacity_bytes' is missing"),
        ('kind = "cpu"', 'kind = "fpga"', "tiny.toml: 'kind' is 'fpga'"),
        ("f32 = 10.0", "fp32 = 10.0", "tiny.toml: 'fp32' is no element type"),
        ("f32 = 10.0", "f32 = 0", "tiny.toml: peak_flops_per_s.f32 is 0, not a positive number"),
        ("compute_units = 2", 'compute_units = "2"', "tiny.toml: compute_units is '2', not"),
        ("compute_units = 2", "compute_units =", "tiny.toml: is not TOML ("),
    ],
)
def test_a_wrong_file_says_what_is_wrong(old: str, new: str, problem: str) -> None:
    assert old in TEXT
    with pytest.raises(ModelError) as caught:
        parse(TEXT.replace(old, new, 1), where="tiny.toml")
    assert caught.value.problem.startswith(problem)
    assert caught.value.hint


def test_a_device_without_memory_is_refused() -> None:
    text = TEXT[: TEXT.index("[[memory]]")].replace("[peak", "memory = []\n[peak")
    with pytest.raises(ModelError, match="'memory' lists no level"):
        parse(text, where="tiny.toml")


def test_an_unknown_device_suggests_the_nearest() -> None:
    with pytest.raises(UsageError) as caught:
        load("nvidia-h20")
    assert caught.value.problem == "unknown device 'nvidia-h20'"
    assert caught.value.hint.startswith("did you mean 'nvidia-h200'?")


def test_more_cores_compute_more_and_share_what_is_shared() -> None:
    spec = for_cores(parse(TEXT, where="tiny.toml"), 6)
    assert spec.compute_units == 6
    assert spec.peak_flops_per_s == {"f32": 30.0}
    assert [level.bandwidth_bytes_per_s for level in spec.memory] == [12.0, 1.0]


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("compute_units = 2", "compute_units = nan", "compute_units is nan, not a positive number"),
        ("compute_units = 2", "compute_units = inf", "compute_units is inf, not a positive number"),
        ('kind = "cpu"', 'kind = "cpu"\nextra = ' + "[" * 100_000, "is not TOML (it is nested too"),
        ('name = "tiny"', "name = 3", "'name' is 3, not text"),
    ],
)
def test_odd_values_say_what_is_odd(old: str, new: str, problem: str) -> None:
    assert old in TEXT
    with pytest.raises(ModelError) as caught:
        parse(TEXT.replace(old, new, 1), where="tiny.toml")
    assert caught.value.problem.startswith(f"tiny.toml: {problem}")


def test_levels_and_words_of_any_type_are_refused() -> None:
    head = TEXT[: TEXT.index("[[memory]]")]
    for text, problem in (
        (head.replace("[peak", "memory = [1]\n[peak"), "memory level 0: is not a table"),
        (TEXT.replace("recognised_by = [", "recognised_by = [1, "), "is not a list of words"),
    ):
        with pytest.raises(ModelError, match=problem):
            parse(text, where="tiny.toml")


def test_what_a_description_does_not_tell_of_its_units_is_as_others_have_it() -> None:
    assert parse(TEXT, where="a.toml").unit is None
    told = parse(f"{TEXT}[unit]\ncache_ways = 8\n", where="a.toml").unit
    assert told == replace(CORE, cache_ways=8)


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("cache_way = 8", "a.toml: 'unit.cache_way' is not known"),
        ("cache_ways = 0", "a.toml: unit.cache_ways is 0, not a positive number"),
        ("cache_ways = true", "a.toml: unit.cache_ways is True, not a positive number"),
        ('cache_ways = "8"', "a.toml: unit.cache_ways is '8', not a positive number"),
    ],
)
def test_a_unit_that_cannot_be_is_refused(line: str, problem: str) -> None:
    with pytest.raises(ModelError) as found:
        parse(f"{TEXT}[unit]\n{line}\n", where="a.toml")
    assert found.value.problem == problem


def test_units_are_a_table() -> None:
    with pytest.raises(ModelError, match="'unit' is not a table"):
        parse(f"unit = 3\n{TEXT}", where="a.toml")
