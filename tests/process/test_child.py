"""A child answers; and however it ends, that is told, and nothing of it is left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from burnish.core.errors import MissingCapabilityError, UsageError
from burnish.process import child as module
from burnish.process.child import (
    Child,
    ChildEndedError,
    ChildRefusedError,
    ProcessLimits,
    answer_limit_s,
    kill_all,
)
from burnish.process.scratch import sweep
from process.servers import TESTS, Sums, child


def runs(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def assert_ends(*processes: int) -> None:
    deadline = time.monotonic() + 60
    while any(map(runs, processes)) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not any(map(runs, processes))


def test_a_function_of_a_module_answers_with_arrays_bytes_and_paths() -> None:
    request = Sums({"a": np.arange(3.0), "b": np.zeros((0, 2))}, b"\0\1", Path("/x"))
    with child() as one:
        found = one.ask("doubled", request, Sums)
        assert one.ask("nothing", None, type(None)) is None
    assert found.arrays["a"].tolist() == [0, 2, 4]
    assert found.arrays["b"].shape == (0, 2)
    assert (found.code, found.place) == (b"\0\1\0\1", Path("/x"))


def test_an_object_of_a_class_keeps_its_state() -> None:
    with child("process.servers:Counter") as one:
        assert [one.ask("add", number, int) for number in (1, 2, 3)] == [1, 3, 6]


def test_requests_can_be_sent_ahead() -> None:
    with child() as one:
        one.send("sleep", 0.0)
        one.send("nothing")
        assert [one.receive(type(None)) for _ in range(2)] == [None, None]


def test_more_than_a_socket_holds_goes_both_ways() -> None:
    large = np.arange(4_000_000, dtype=np.float32)
    with child() as one:
        found = one.ask("doubled", Sums({"x": large}), Sums).arrays["x"]
    np.testing.assert_array_equal(found, large + large)


@pytest.mark.parametrize(
    ("how", "kind", "text"),
    [
        ("usage", UsageError, "no such engine"),
        ("own", UsageError, "no such thing"),
        ("bug", ChildRefusedError, "KeyError: 'missing'"),
        ("full", MissingCapabilityError, "/tmp/x: the disk is full (No space left on device)"),
    ],
)
def test_an_error_is_raised_here_and_the_child_goes_on(
    how: str, kind: type[Exception], text: str
) -> None:
    with child() as one:
        with pytest.raises(kind) as raised:
            one.ask("refuse", how, type(None))
        assert str(raised.value) == text
        if isinstance(raised.value, UsageError):
            assert raised.value.hint == "name another"
        assert one.ask("cores", None, int) >= 1


@pytest.mark.parametrize(
    ("how", "text", "name"),
    [
        ("exit", "ended with exit code 3 during 'falling': about to fall", ""),
        ("11", "ended by SIGSEGV during 'falling': about to fall", "SIGSEGV"),
        ("6", "ended by SIGABRT during 'falling': about to fall", "SIGABRT"),
        ("9", "ended by SIGKILL during 'falling': about to fall", "SIGKILL"),
    ],
)
def test_an_end_is_told_with_its_signal_stage_and_last_words(
    how: str, text: str, name: str
) -> None:
    with child() as one:
        with pytest.raises(ChildEndedError) as ended:
            one.ask("end", how, type(None))
        assert not one.runs
        assert not one.scratch.exists()
        with pytest.raises(ChildEndedError, match=r"^was ended during 'nothing'$"):
            one.ask("nothing", None, type(None))
    assert str(ended.value) == text
    assert (ended.value.signal, ended.value.hung, ended.value.stage) == (name, False, "falling")


def test_a_module_that_cannot_be_imported_is_told() -> None:
    with (
        Child("burnish.process.nowhere") as one,
        pytest.raises(ChildEndedError, match=r"(?s)ended with exit code 1 .*No module named"),
    ):
        one.ask("anything", None, type(None))


def test_an_interpreter_that_cannot_be_started_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/no/such/python")
    text = r"cannot be started \(No such file or directory\) during 'start'"
    with pytest.raises(ChildEndedError, match=text):
        child()


@pytest.mark.parametrize(("method", "request_"), [("sleep", 600.0), ("spin", None)])
def test_a_child_that_hangs_is_ended(method: str, request_: float | None) -> None:
    with child() as one:
        process = one._process.pid
        with pytest.raises(ChildEndedError) as ended:
            one.ask(method, request_, type(None), 1.5)
        assert not one.runs
    assert str(ended.value) == f"gave no answer within 1.50 s during '{method}'"
    assert ended.value.hung
    assert not runs(process)


def test_a_child_that_does_not_read_cannot_hang_us() -> None:
    with child(answer_s=2.0) as one:
        one.send("sleep", 600.0)
        with pytest.raises(ChildEndedError, match=r"gave no answer within 2\.00 s"):
            one.send("size", Sums({"x": np.zeros(4_000_000)}))


def test_chatter_on_both_streams_is_no_answer_and_stops_nothing() -> None:
    with child() as one:
        assert one.ask("chatter", 2000, int) == 2000
        assert len(one._talk) <= 4096


def test_closed_streams_stop_nothing() -> None:
    with child() as one:
        before = time.process_time()
        assert one.ask("close_streams", None, str) == "still here"
        assert time.process_time() - before < 0.5


def test_what_is_no_message_ends_the_child() -> None:
    with child() as one:
        with pytest.raises(ValueError, match="a message cannot begin with"):
            one.ask("garble", None, type(None))
        assert not one.runs


def test_what_a_child_started_ends_with_it() -> None:
    with child() as one:
        other = one.ask("start_another", None, int)
        assert runs(other)
    assert_ends(other)


@pytest.mark.parametrize("how", ["marked", "nameless"])
def test_a_daemon_that_left_its_group_ends_with_it(how: str) -> None:
    """By its mark; and one that was given an environment of its own by where it came from."""
    with child() as one:
        daemon = one.ask("start_daemon", how, int)
        assert runs(daemon)
        assert os.getpgid(daemon) != os.getpgid(one._process.pid)
    assert_ends(daemon)


def test_a_daemon_ends_though_its_child_crashed_before() -> None:
    with child() as one, pytest.raises(ChildEndedError, match="ended by SIGSEGV") as crash:
        one.ask("start_daemon", "fall", int)
    assert_ends(int(crash.value.said.split()[1]))


def test_what_others_started_and_what_is_above_lives_on() -> None:
    with child() as other, child() as one:
        daemon = other.ask("start_daemon", "marked", int)
        one.end()
        assert runs(daemon)
        assert other.runs
    assert_ends(daemon)


def test_a_daemon_of_a_command_that_was_killed_is_ended_by_the_next(tmp_path: Path) -> None:
    script = (
        "import os; from process.servers import child; one = child()\n"
        "print(one._process.pid, one.ask('start_daemon', 'marked', int), flush=True)\n"
        "os.kill(os.getpid(), 9)"
    )
    environment = {**os.environ, "PYTHONPATH": str(TESTS), "TMPDIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False, env=environment
    )
    first, daemon = map(int, done.stdout.split())
    assert_ends(first)
    assert runs(daemon)
    sweep(tmp_path)
    assert_ends(daemon)
    assert not list(tmp_path.iterdir())


def test_an_end_is_seen_though_another_holds_the_connection() -> None:
    with (
        child() as one,
        pytest.raises(ChildEndedError, match=r"ended with exit code 5 during 'fork_and_fall'"),
    ):
        one.ask("fork_and_fall", None, int)


def test_an_interrupted_request_ends_the_child(monkeypatch: pytest.MonkeyPatch) -> None:
    with child() as one:
        one.ask("nothing", None, type(None))
        signal.signal(signal.SIGALRM, _interrupt)
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        with pytest.raises(KeyboardInterrupt):
            one.ask("sleep", 600.0, type(None))
        assert not one.runs


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


def test_memory_is_limited_where_that_was_asked_for() -> None:
    with child(address_space_bytes=1 << 30) as one:
        assert one.ask("eat", 1 << 20, int) == 1 << 20
        with pytest.raises(ChildRefusedError, match="MemoryError"):
            one.ask("eat", 1 << 31, int)


def test_cores_are_limited_where_that_was_asked_for() -> None:
    (first, *_) = os.sched_getaffinity(0)
    with child(cpus=(first,)) as one:
        assert one.ask("cores", None, int) == 1


def test_the_system_ends_a_child_rather_than_its_parent_and_a_crash_leaves_no_file() -> None:
    with child() as one:
        assert one.ask("settings", None, str) == "500 0"


def test_the_folder_of_a_child_is_its_parents_and_goes_with_it() -> None:
    with child() as one:
        own, libraries = one.ask("folders", None, str).split()
        assert Path(own) == one.scratch
        assert libraries == str(one.scratch.parent)
        with pytest.raises(ChildEndedError):
            one.ask("litter", None, str)
        assert not one.scratch.exists()


def test_all_can_be_killed_at_once_and_a_fork_has_none() -> None:
    with child() as one:
        one.ask("nothing", None, type(None))
        fork = os.fork()
        if fork == 0:
            os._exit(len(module._RUNNING))
        assert os.waitstatus_to_exitcode(os.waitpid(fork, 0)[1]) == 0
        kill_all()
        assert_ends(one._process.pid)


def test_a_limit_follows_a_budget() -> None:
    assert answer_limit_s(None) == ProcessLimits().answer_s
    assert answer_limit_s(None, 600.0) == 600.0
    assert answer_limit_s(5.0) == 60.0
    assert answer_limit_s(100.0) == 300.0


PARENT = """
import os, sys
from process.servers import child
one = child()
print(one._process.pid, one.ask("start_another", None, int), one.scratch, flush=True)
one.send(sys.argv[1], None if sys.argv[1] == "spin" else 600.0)
os.kill(os.getpid(), 9)
"""


@pytest.mark.parametrize("doing", ["sleep", "spin"])
def test_a_child_and_all_it_started_end_with_a_parent_that_is_killed(doing: str) -> None:
    environment = {**os.environ, "PYTHONPATH": str(TESTS)}
    done = subprocess.run(
        [sys.executable, "-c", PARENT, doing],
        capture_output=True, text=True, check=False, env=environment,
    )  # fmt: skip
    assert done.returncode == -9, done.stderr
    first, second, _ = done.stdout.split()
    assert_ends(int(first), int(second))


def test_a_parent_that_forgets_its_child_leaves_nothing() -> None:
    script = (
        "from process.servers import child; one = child(); print(one._process.pid, one.scratch)"
    )
    environment = {**os.environ, "PYTHONPATH": str(TESTS)}
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, env=environment
    )
    process, folder = done.stdout.split()
    assert_ends(int(process))
    assert not Path(folder).exists()
