from __future__ import annotations

import multiprocessing
import os
import sqlite3
import subprocess
import sys
import zlib
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.simulation import NOISES, measurements
from bench.test_machine import AFTER, QUIET
from burnish.bench import ledger, machine
from burnish.bench.begun import apart
from burnish.bench.cells import CellTask, Finished
from burnish.bench.figures import figures_of
from burnish.bench.ledger import MIGRATIONS, Ledger
from burnish.bench.measure import ParityMark
from burnish.bench.subject import BenchOptions
from burnish.core import records
from burnish.core.errors import ModelError

TASK = CellTask(
    model_key="k" * 64, precision="f32", engine="onnxruntime-cpu", options={"threads": 2},
    bindings={"batch": 8}, inputs_key="i" * 64, verified=True, rounds=3,
    blocks=2, machine="m", environment="e",
)  # fmt: skip
MACHINE = machine.state(before=QUIET, after=AFTER, elapsed_s=1.0, threads=1)


def cell(**changes: object) -> Finished:
    noise = NOISES["process luck of 1 %"]
    (measured,) = measurements({"m@a": 0.01}, noise, seed=1, options=BenchOptions(blocks=2))
    measured = replace(measured, items_per_call=8, model_bytes=100)
    made = Finished(
        task=TASK, session="s", measured_at="2026-11-15T12:00:00+00:00", status="ok", reason="",
        model="bert/dynamo", figures=figures_of(measured),
        measurement=measured, machine=MACHINE, parity=ParityMark(True, 1e-7), notes=("n",),
    )  # fmt: skip
    return replace(made, **changes)  # type: ignore[arg-type]


def append_many(path: Path, engine: str) -> None:
    for _ in range(10):
        Ledger(path).append([cell(task=replace(TASK, engine=engine))])


def test_what_was_appended_is_read_back_with_every_sample(tmp_path: Path) -> None:
    book = Ledger(tmp_path / "new" / "m.sqlite")
    whole = cell()
    book.append([whole])
    (row,) = book.rows()
    assert (row.task, row.engine, row.threads) == (TASK.key, "onnxruntime-cpu", 2)
    assert (row.figures, row.parity, row.notes) == (whole.figures, whole.parity, ("n",))
    assert row.bindings == {"batch": 8}
    assert row.figures.items_per_s == pytest.approx(8 / (row.figures.median_s or 0))
    assert book.finished(row.id) == whole


def test_rows_are_found_by_model_engine_machine_and_date(tmp_path: Path) -> None:
    book = Ledger(tmp_path / "m.sqlite")
    book.append([
        cell(),
        cell(model="bert-mini/dynamo", task=replace(TASK, model_key="other")),
        cell(task=replace(TASK, engine="openvino", machine="elsewhere")),
        cell(measured_at="2026-12-01T00:00:00+00:00"),
    ])  # fmt: skip
    assert [row.id for row in book.rows(model="bert")] == [1, 3, 4]
    assert [row.id for row in book.rows(model="bert-mini/dynamo")] == [2]
    assert [row.id for row in book.rows(model="other")] == [2]
    assert [row.id for row in book.rows(engine="openvino")] == [3]
    assert [row.id for row in book.rows(machine="m", since="2026-11-20")] == [4]


def test_the_newest_of_a_task_counts(tmp_path: Path) -> None:
    book = Ledger(tmp_path / "m.sqlite")
    book.append([cell(), cell(session="later")])
    assert {key: row.session for key, row in book.newest([TASK.key, "none"]).items()} == {
        TASK.key: "later"
    }
    assert book.newest(["none"] * 1200) == {}


@settings(max_examples=30)
@given(
    st.sampled_from(
        ["model_key", "precision", "engine", "inputs_key", "machine", "environment", "rounds",
         "blocks", "method", "options", "bindings", "copy", "verified"]
    )
)  # fmt: skip
def test_a_task_is_another_if_anything_its_figures_depend_on_is(field: str) -> None:
    value = getattr(TASK, field)
    changed = {dict: {"threads": 1}, str: f"{value}x", bool: not value, int: 7}
    other = changed[type(value)]
    assert replace(TASK, **{field: other}).key != TASK.key
    assert replace(TASK, **{field: value}).key == TASK.key


def test_a_ledger_only_grows(tmp_path: Path) -> None:
    book = Ledger(tmp_path / "m.sqlite")
    book.append([cell()])
    with sqlite3.connect(book.path) as connection:
        for words in ("UPDATE cells SET status = 'ok'", "DELETE FROM cells"):
            with pytest.raises(sqlite3.IntegrityError, match="a ledger only grows"):
                connection.execute(words)
        shown = connection.execute("SELECT model, median_s FROM latencies").fetchall()
    connection.close()
    assert shown == [("bert/dynamo", book.rows()[0].figures.median_s)]


def test_without_a_file_there_is_nothing_and_none_is_made(tmp_path: Path) -> None:
    book = Ledger(tmp_path / "m.sqlite")
    assert book.rows() == ()
    assert book.newest(["a"]) == {}
    assert not book.path.exists()


def test_an_old_file_is_brought_up_to_date_with_all_it_holds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    book = Ledger(tmp_path / "m.sqlite")
    book.append([cell()])
    later = (*MIGRATIONS, ("ALTER TABLE cells ADD COLUMN host TEXT NOT NULL DEFAULT ''",))
    monkeypatch.setattr(ledger, "MIGRATIONS", later)
    assert len(book.rows()) == 1
    with sqlite3.connect(book.path) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (len(later),)
        assert connection.execute("SELECT host FROM cells").fetchall() == [("",)]
    connection.close()


def test_a_migration_that_fails_leaves_the_file_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    book = Ledger(tmp_path / "m.sqlite")
    book.append([cell()])
    with monkeypatch.context() as patched:
        broken = ("CREATE TABLE half (a)", "CREATE NONSENSE")
        patched.setattr(ledger, "MIGRATIONS", (*MIGRATIONS, broken))
        with pytest.raises(ModelError, match="cannot be used as a ledger"):
            book.rows()
    assert len(book.rows()) == 1
    with sqlite3.connect(book.path) as connection:
        tables = connection.execute("SELECT name FROM sqlite_master WHERE name = 'half'").fetchall()
    connection.close()
    assert tables == []


def test_a_file_of_a_later_burnish_is_left_alone(tmp_path: Path) -> None:
    book = Ledger(tmp_path / "m.sqlite")
    book.append([cell()])
    with sqlite3.connect(book.path) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    for act in (book.rows, lambda: book.append([cell()])):
        with pytest.raises(ModelError, match="has version 99 of the ledger, this burnish") as error:
            act()
        assert "--ledger" in error.value.hint
    assert [path.name for path in tmp_path.iterdir()] == ["m.sqlite"]


def test_reading_leaves_nothing_beside_the_file(tmp_path: Path) -> None:
    book = Ledger(tmp_path / "m.sqlite")
    book.append([cell()])
    before = book.path.read_bytes()
    assert book.finished(book.rows()[0].id) == cell()
    assert [path.name for path in tmp_path.iterdir()] == ["m.sqlite"]
    assert book.path.read_bytes() == before


@pytest.mark.parametrize("version", [0, 1])
def test_a_database_of_something_else_is_refused_and_kept(tmp_path: Path, version: int) -> None:
    book = Ledger(tmp_path / "m.sqlite")
    with sqlite3.connect(book.path) as connection:
        connection.execute("CREATE TABLE bookmarks (url)")
        connection.execute(f"PRAGMA user_version = {version}")
    connection.close()
    before = book.path.read_bytes()
    for act in (book.rows, lambda: book.append([cell()])):
        with pytest.raises(ModelError, match="is a database of something else, with a table 'book"):
            act()
    assert book.path.read_bytes() == before


def test_a_file_that_is_no_ledger_is_refused_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "m.sqlite"
    path.write_text("not a database, however long it may be")
    with pytest.raises(ModelError, match="cannot be used as a ledger") as error:
        Ledger(path).append([cell()])
    assert error.value.hint == "choose another file with --ledger or BURNISH_LEDGER"
    assert path.read_text().startswith("not a database")


def spoilt(path: Path, row: int, column: str, value: object) -> None:
    """Change a row behind the ledger's back."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DROP TRIGGER IF EXISTS cells_are_not_changed")
        connection.execute(f"UPDATE cells SET {column} = ? WHERE id = ?", (value, row))
        connection.commit()


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("figures", "{"), ("figures", "[1]"), ("figures", '{"median_s": "x"}'), ("parity", "3"),
        ("notes", "3"), ("notes", "[1, null]"), ("bindings", "[1]"), ("bindings", '{"batch": "x"}'),
        ("threads", "many"), ("status", "splendid"), ("figures", b"\xff"),
    ],
)  # fmt: skip
def test_rows_that_cannot_be_read_are_left_out_and_remembered(
    column: str, value: object, tmp_path: Path
) -> None:
    path = tmp_path / "m.sqlite"
    Ledger(path).append([cell(), cell(), cell()])
    spoilt(path, 2, column, value)
    book = Ledger(path)
    assert [row.id for row in book.rows()] == [1, 3]
    assert book.newest([TASK.key])[TASK.key].id == 3
    assert book.damaged == {2}


def changed(**changes: object) -> bytes:
    made = cell()
    measured = replace(made.measurement, **changes)  # type: ignore[arg-type]
    return zlib.compress(
        records.text_of(records.encode(replace(made, measurement=measured))).encode()
    )


@pytest.mark.parametrize(
    ("record", "problem"),
    [
        ("hello", "measurement 1 is damaged"), (5, "measurement 1 is damaged"),
        (b"", "incomplete or truncated stream"), (zlib.compress(b"[]"), "measurement 1 is damaged"),
        (zlib.compress(b"\xff"), "measurement 1 is damaged"),
        (zlib.compress(b"{"), "measurement 1 is damaged"),
        (changed(items_per_call=-5), "calls of -5 inputs"),
        (changed(blocks=()), "has no calls"),
        (
            zlib.compress(records.text_of(records.encode(
                cell(task=replace(TASK, engine="openvino")))).encode()),
            "samples are those of another task",
        ),
    ],
)  # fmt: skip
def test_a_record_that_cannot_be_read_is_said_to_be_damaged(
    record: object, problem: str, tmp_path: Path
) -> None:
    path = tmp_path / "m.sqlite"
    Ledger(path).append([cell()])
    spoilt(path, 1, "record", record)
    book = Ledger(path)
    with pytest.raises(ModelError, match=problem) as refused:
        book.finished(1)
    assert "--again" in refused.value.hint
    assert book.damaged == {1}


def test_a_pipe_is_no_ledger(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    for asked in (Ledger(path).rows, lambda: Ledger(path).append([cell()])):
        with pytest.raises(ModelError, match="it is no file"):
            asked()


def test_a_measurement_that_is_not_there(tmp_path: Path) -> None:
    book = Ledger(tmp_path / "m.sqlite")
    book.append([cell()])
    with pytest.raises(ModelError, match="has no measurement 7") as error:
        book.finished(7)
    assert error.value.hint == "list them: burnish history MODEL"


def test_commands_that_write_at_once_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "m.sqlite"
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=append_many, args=(path, f"e{n}")) for n in range(3)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert (
        sorted(row.engine for row in Ledger(path).rows()) == ["e0"] * 10 + ["e1"] * 10 + ["e2"] * 10
    )


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can read as somebody else")
def test_who_may_only_read_reads(tmp_path: Path) -> None:
    book = Ledger(tmp_path / "m.sqlite")
    book.append([cell()])
    for folder in (tmp_path, *tmp_path.parents[:-2]):
        folder.chmod(0o755)
    code = f"""
import os
from pathlib import Path
from burnish.bench.ledger import Ledger
os.setgid(65534); os.setuid(65534)
print(len(Ledger(Path({str(book.path)!r})).rows()))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout == "1\n", done.stderr


def _part(engine: str, number: int, **changes: object) -> Finished:
    """Return what round `number` gave of a cell."""
    whole = cell(task=replace(TASK, engine=engine), **changes)
    return replace(whole, measurement=apart(whole.measurement, number))


def test_rounds_of_a_group_are_joined_to_its_cells_until_all_of_them_are_finished(
    tmp_path: Path,
) -> None:
    book = Ledger(tmp_path / "m.sqlite")
    for number in range(3):
        book.append_round(number, [_part(one, number) for one in "ab"], code="c")
    (group,) = book.begun()
    assert (group.session, group.rounds, len(group.cells)) == ("s", 3, 2)
    whole = cell().measurement
    found = group.cells[replace(TASK, engine="a").key]
    assert found.measurement.blocks == tuple(b for b in whole.blocks if b.round < 3)
    assert book.rows() == (), "what is not finished is no measurement"
    book.append([cell(task=replace(TASK, engine="a"))])
    assert len(book.begun()) == 1
    book.append([cell(task=replace(TASK, engine="b"))])
    assert book.begun() == ()


def test_cells_that_were_finished_before_a_group_was_begun_do_not_end_it(tmp_path: Path) -> None:
    book = Ledger(tmp_path / "m.sqlite")
    later = "2026-11-16T12:00:00+00:00"
    book.append([cell(task=replace(TASK, engine=one)) for one in "ab"])
    book.append_round(0, [_part(one, 0, measured_at=later) for one in "ab"], code="c")
    book.append([cell(task=replace(TASK, engine="other"))])
    assert len(book.begun()) == 1


def test_only_groups_with_a_cell_and_of_one_code_are_told(tmp_path: Path) -> None:
    book = Ledger(tmp_path / "m.sqlite")
    book.append_round(0, [_part("a", 0, session="first")], code="old")
    book.append_round(0, [_part("a", 0, session="second")], code="new")
    book.append_round(0, [_part("b", 0, session="third")], code="new")
    key = replace(TASK, engine="a").key
    assert [one.session for one in book.begun(task=key)] == ["first", "second"]
    assert [one.session for one in book.begun(task=key, code="new")] == ["second"]
    assert [one.session for one in book.begun()] == ["first", "second", "third"]


def test_a_round_is_kept_once_and_wholly(tmp_path: Path) -> None:
    book = Ledger(tmp_path / "m.sqlite")
    book.append_round(0, [_part("a", 0)], code="c")
    with pytest.raises(ModelError, match="cannot be used as a ledger"):
        book.append_round(0, [_part("b", 0), _part("a", 0)], code="c")
    (group,) = book.begun()
    assert len(group.cells) == 1


@pytest.mark.parametrize("record", [b"", zlib.compress(b"{}")])
def test_a_group_of_which_a_round_is_damaged_is_left_out_and_remembered(
    tmp_path: Path, record: bytes
) -> None:
    book = Ledger(tmp_path / "m.sqlite")
    for session in ("good", "bad"):
        book.append_round(0, [_part("a", 0, session=session)], code="c")
    with sqlite3.connect(book.path) as connection:
        connection.execute("UPDATE rounds SET record = ? WHERE session = 'bad'", (record,))
    connection.close()
    assert [one.session for one in book.begun()] == ["good"]
    assert book.damaged_groups == {"bad"}


def test_a_file_of_before_there_were_rounds_has_none_and_gets_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    book = Ledger(tmp_path / "m.sqlite")
    assert book.begun() == (), "there is no file"
    with monkeypatch.context() as patched:
        patched.setattr(ledger, "MIGRATIONS", MIGRATIONS[:1])
        patched.setattr(ledger, "_FORGET_FINISHED", "SELECT 1")
        book.append([cell()])
        assert book.begun() == ()
    assert book.begun() == ()
    book.append_round(0, [_part("a", 0)], code="c")
    assert len(book.begun()) == 1
    assert len(book.rows()) == 1
