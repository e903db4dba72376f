"""Signals end a command like an error; a second one ends it even where a library is busy."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

BUSY = """
import hashlib
from burnish.cli import signals
from burnish.process.child import Child
signals.heed()
child = Child("burnish.version")
print(child._process.pid, flush=True)
hashlib.pbkdf2_hmac("sha256", b"", b"", 2**31 - 1)
"""
WAITING = """
import time
from burnish.cli import signals
signals.heed()
try:
    print("ready", flush=True)
    time.sleep(60)
except signals.Interrupted as error:
    print(error, error.exit_code, flush=True)
signals.heed_no_more()
time.sleep(60)
"""


def started(script: str, folder: Path) -> tuple[subprocess.Popen[str], str]:
    process = subprocess.Popen(
        [sys.executable, "-c", script],
        env={**os.environ, "TMPDIR": str(folder)}, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    return process, process.stdout.readline().strip()


def is_running(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_the_first_signal_is_raised_and_after_the_work_they_end_the_process(
    tmp_path: Path, number: signal.Signals
) -> None:
    process, _ = started(WAITING, tmp_path)
    process.send_signal(number)
    assert process.stdout is not None
    assert process.stdout.readline() == f"{number.name} {128 + number}\n"
    time.sleep(0.3)
    process.send_signal(number)
    assert process.wait(timeout=600) in (-number, 128 + number)
    process.stdout.close()


def test_a_second_signal_ends_a_process_that_is_busy_in_a_library(tmp_path: Path) -> None:
    process, child = started(BUSY, tmp_path)
    time.sleep(0.3)
    process.send_signal(signal.SIGTERM)
    time.sleep(0.5)
    assert process.poll() is None
    process.send_signal(signal.SIGHUP)
    assert process.wait(timeout=600) == 129
    assert process.stdout is not None
    process.stdout.close()
    deadline = time.monotonic() + 60
    while is_running(int(child)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not is_running(int(child))


def test_what_was_ignored_stays_ignored(tmp_path: Path) -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        process, _ = started(WAITING, tmp_path)
    finally:
        signal.signal(signal.SIGHUP, before)
    process.send_signal(signal.SIGHUP)
    time.sleep(0.3)
    assert process.poll() is None
    process.kill()
    process.communicate()
