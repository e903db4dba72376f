from __future__ import annotations

from pathlib import Path

from burnish.hw.caches import Cache, caches


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
