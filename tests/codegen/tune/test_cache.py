"""Results come back as they were, for several processes, and whatever befalls the file."""

from __future__ import annotations

import os
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from burnish.codegen.tune.cache import TuningCache, default_path
from burnish.codegen.tune.trial import Tuned
from codegen.tune.keys import CONDITIONS, key, result


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return default_path(tmp_path)


def test_a_result_comes_back_as_it_was(path: Path) -> None:
    TuningCache(path).put(key(), result())
    assert TuningCache(path).get(key()) == result()


def test_finding_nothing_is_a_result_too(path: Path) -> None:
    nothing = Tuned(searched=20, reason="its output has no element")
    TuningCache(path).put(key(), nothing)
    assert TuningCache(path).get(key()) == nothing
    assert TuningCache(path).get(key("another group")) is None


def test_what_is_not_there_is_looked_for_once(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[object] = []
    usual = sqlite3.connect

    def connect(*given: object, **more: object) -> sqlite3.Connection:
        opened.append(given)
        return usual(*given, **more)  # type: ignore[call-overload, no-any-return]

    cache = TuningCache(path)
    monkeypatch.setattr(sqlite3, "connect", connect)
    assert [cache.get(key()) for _ in range(3)] == [None] * 3
    assert len(opened) == 1
    cache.put(key(), result())
    assert cache.get(key()) == result()


@pytest.mark.parametrize(
    "other",
    [
        replace(key(), signature="another group"),
        replace(key(), layouts={"0": (1, 0)}),
        *(
            replace(key(), conditions=replace(CONDITIONS, **change))
            for change in (
                {"device": "another CPU"}, {"features": ("avx2",)}, {"target": "avx512"},
                {"threads": 1}, {"burnish": "1.1"}, {"generator": "abd"},
                {"compiler": "llvmlite 2"},
            )
        ),
    ],
)  # fmt: skip
def test_whatever_could_change_a_result_is_part_of_its_key(path: Path, other: object) -> None:
    cache = TuningCache(path)
    cache.put(key(), result())
    assert TuningCache(path).get(other) is None  # type: ignore[arg-type]


def test_a_later_result_replaces_an_earlier_one(path: Path) -> None:
    cache = TuningCache(path)
    cache.put(key(), result(0.5))
    cache.put(key(), result(0.25))
    assert TuningCache(path).get(key()) == result(0.25)
    assert cache.get(key()) == result(0.25)


def test_a_damaged_file_is_set_aside(path: Path) -> None:
    path.write_bytes(b"this is no database" * 1000)
    cache = TuningCache(path)
    assert cache.get(key()) is None
    (note,) = cache.notes
    assert note == (
        f"{path}: was damaged (file is not a database); it is now {path.name}.damaged-1, "
        "and a new one begins"
    )
    cache.put(key(), result())
    assert TuningCache(path).get(key()) == result()
    assert path.with_name(f"{path.name}.damaged-1").read_bytes().startswith(b"this is no")


def test_a_result_that_nobody_can_read_is_tuned_again(path: Path) -> None:
    TuningCache(path).put(key(), result())
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE results SET result = '{\"trials\": 3}'")
    connection.close()
    cache = TuningCache(path)
    assert cache.get(key()) is None
    assert cache.notes == [f"{path}: the result of a group is not readable"]


def test_a_folder_that_cannot_be_written_is_a_note(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    path = default_path(tmp_path / "file")
    cache = TuningCache(path)
    cache.put(key(), result())
    assert cache.get(key()) == result()
    assert [note.startswith(f"{path}: tuning results are not kept (") for note in cache.notes] == [
        True
    ]


def test_without_a_file_results_live_as_long_as_the_object() -> None:
    cache = TuningCache(None)
    cache.put(key(), result())
    assert cache.get(key()) == result()
    assert TuningCache(None).get(key()) is None
    assert not cache.notes


def test_several_processes_may_write_at_once(path: Path) -> None:
    children = []
    for number in range(4):
        child = os.fork()
        if child == 0:
            cache = TuningCache(path)
            for position in range(20):
                cache.put(key(f"{number}/{position}"), result())
            os._exit(len(cache.notes))
        children.append(child)
    codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    assert codes == [0] * 4
    cache = TuningCache(path)
    names = [f"{number}/{position}" for number in range(4) for position in range(20)]
    assert all(cache.get(key(name)) == result() for name in names)
