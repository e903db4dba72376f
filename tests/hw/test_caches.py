from __future__ import annotations

from pathlib import Path

from burnish.hw.caches import Cache, as_told, caches
from burnish.hw.spec import load


def write(root: Path, index: int, **facts: str) -> None:
    folder = root / f"sys/devices/system/cpu/cpu0/cache/index{index}"
    folder.mkdir(parents=True)
    for name, text in facts.items():
        (folder / name).write_text(f"{text}\n")


def test_caches_for_data_are_told_the_smallest_first(tmp_path: Path) -> None:
    write(tmp_path, 0, level="3", type="Unified", size="32M", shared_cpu_list="0-7,16")
    write(tmp_path, 1, level="1", type="Instruction", size="32K", shared_cpu_list="0")
    write(tmp_path, 2, level="1", type="Data", size="48K", shared_cpu_list="0-1")
    assert caches(tmp_path) == (Cache(1, 48 * 2**10, 2), Cache(3, 32 * 2**20, 9))


def test_a_system_that_tells_nothing_has_none(tmp_path: Path) -> None:
    assert caches(tmp_path) == ()
    write(tmp_path, 0, level="one", type="Data", size="1K", shared_cpu_list="0")
    assert caches(tmp_path) == ()


def test_sets_are_told_where_the_system_knows_them(tmp_path: Path) -> None:
    shape = {"ways_of_associativity": "8", "number_of_sets": "64", "coherency_line_size": "0"}
    write(tmp_path, 0, level="1", type="Data", size="32K", shared_cpu_list="0", **shape)
    assert caches(tmp_path) == (Cache(1, 32 * 2**10, 1, ways=8, sets=64, line_bytes=None),)


def test_a_description_takes_over_what_the_system_tells() -> None:
    described = load("x86-avx512")
    found = (Cache(1, 1 << 15, 1, ways=8, sets=64, line_bytes=64), Cache(2, 1 << 20, 1))
    told = as_told(described, found)
    assert [level.capacity_bytes for level in told.memory[:2]] == [1 << 15, 1 << 20]
    assert told.memory[2:] == described.memory[2:]
    assert told.unit is not None
    assert (told.unit.cache_ways, told.unit.cache_sets_bytes) == (8, 4096)
    assert told.unit.first_cache_bytes == 1 << 15


def test_a_system_that_tells_nothing_leaves_a_description_as_it_is() -> None:
    assert as_told(load("x86-avx512"), ()) == load("x86-avx512")
