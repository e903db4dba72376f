"""A command that is ended leaves nothing behind: no process, no file; and says how it ended."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

MARK = "BURNISH_TEST_MARK"
FACTORY = """
import time, torch
def make():
    time.sleep(60)
    return torch.nn.Linear(4, 3), (torch.ones(2, 4),), {}
"""


@dataclass(slots=True)
class Started:
    """A command, in folders of its own."""

    process: subprocess.Popen[str]
    mark: str
    scratch: Path
    folder: Path

    def descendants(self) -> list[int]:
        """Return all processes that it started, directly or not, and that still run."""
        return [one for one in marked(self.mark) if one != self.process.pid]

    def wait_for_descendant(self) -> None:
        deadline = time.monotonic() + 300
        while not self.descendants():
            assert self.process.poll() is None, self.process.communicate()[1]
            assert time.monotonic() < deadline
            time.sleep(0.05)
        time.sleep(0.5)

    def assert_gone(self, within_s: float = 20.0) -> None:
        deadline = time.monotonic() + within_s
        while self.descendants() and time.monotonic() < deadline:
            time.sleep(0.05)
        assert self.descendants() == []


def marked(mark: str) -> list[int]:
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            environment = (place / "environ").read_bytes()
            state = (place / "stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            continue
        if f"{MARK}={mark}".encode() in environment and state != "Z":
            found.append(int(place.name))
    return found


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Started]]:
    """Return a function that starts `burnish` in an empty folder."""
    everything: list[Started] = []

    def call(*arguments: object, **more: str) -> Started:
        scratch, folder = tmp_path / "scratch", tmp_path / "work"
        for place in (scratch, folder):
            place.mkdir(exist_ok=True)
        mark = uuid.uuid4().hex
        environment = {
            **os.environ, MARK: mark, "TMPDIR": str(scratch),
            "BURNISH_CACHE": str(tmp_path / "cache"), **more,
        }  # fmt: skip
        process = subprocess.Popen(
            [sys.executable, "-m", "burnish", *map(str, arguments)],
            cwd=folder, env=environment, text=True, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        everything.append(Started(process, mark, scratch, folder))
        return everything[-1]

    yield call
    for one in everything:
        one.process.kill()
        one.process.communicate()
        for process in marked(one.mark):
            os.kill(process, signal.SIGKILL)


def bench(start: Callable[..., Started], example: Path) -> Started:
    return start("bench", example, "--engine", "onnxruntime-cpu", "--rounds", "50",
                 "--budget", "600")  # fmt: skip


def tuning(start: Callable[..., Started], example: Path) -> Started:
    return start("compile", example, "--shape", "batch=1,sequence=128", "-o", "out",
                 "--budget", "120s")  # fmt: skip


def export(start: Callable[..., Started], example: Path) -> Started:
    folder = start("zoo").folder
    (folder / "slow.py").write_text(FACTORY)
    return start("export", "--module", "slow.py:make", "--store", "store")


def verify(start: Callable[..., Started], example: Path) -> Started:
    return start("verify", example, "--samples", "100000")


COMMANDS = [
    pytest.param(bench, id="bench"),
    pytest.param(tuning, id="compile", marks=pytest.mark.slow),
    pytest.param(verify, id="verify"),
    pytest.param(export, id="export", marks=[pytest.mark.torch, pytest.mark.slow]),
]
Command = Callable[[Callable[..., Started], Path], Started]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_a_command_with_a_message_and_all_it_started(
    start: Callable[..., Started], example: Path, number: signal.Signals
) -> None:
    started = bench(start, example)
    started.wait_for_descendant()
    started.process.send_signal(number)
    output, errors = started.process.communicate(timeout=600)
    assert started.process.returncode == 128 + number
    assert errors.endswith(f"interrupted by {number.name}; run the same command again to go on\n")
    assert "Traceback" not in errors
    assert output == ""
    started.assert_gone()
    assert list(started.scratch.iterdir()) == []


@pytest.mark.parametrize("command", COMMANDS)
def test_sigterm_ends_every_command_so(
    start: Callable[..., Started], example: Path, command: Command
) -> None:
    before = sorted(path.name for path in example.iterdir())
    started = command(start, example)
    started.wait_for_descendant()
    started.process.terminate()
    _, errors = started.process.communicate(timeout=600)
    assert started.process.returncode == 143, errors
    assert "interrupted by SIGTERM" in errors
    started.assert_gone()
    assert list(started.scratch.iterdir()) == []
    assert [path.name for path in started.folder.iterdir() if path.name != "slow.py"] == []
    assert sorted(path.name for path in example.iterdir()) == before


@pytest.mark.parametrize("command", COMMANDS)
def test_a_killed_command_takes_its_children_with_it_and_the_next_sweeps(
    start: Callable[..., Started], example: Path, command: Command
) -> None:
    started = command(start, example)
    started.wait_for_descendant()
    started.process.kill()
    started.process.communicate(timeout=600)
    started.assert_gone()
    assert list(started.scratch.iterdir()) != []
    after = start("verify", example, "--samples", "1")
    assert after.process.wait(timeout=600) == 0
    assert list(started.scratch.iterdir()) == []
