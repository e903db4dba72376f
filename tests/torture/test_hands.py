"""Hands do their pieces apart from each other: one that falls takes no other with it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from torture.finding import Finding, Progress
from torture.hands import Hands, Outcome


def squared(number: int) -> int:
    if number < 0:
        raise ValueError(f"{number} is below zero")
    if number == 0:
        os.kill(os.getpid(), signal.SIGSEGV)
    if number > 100:
        time.sleep(60)
    print("what a piece prints disturbs nobody")
    return number * number


def cores() -> tuple[int, ...]:
    time.sleep(0.3)  # so that the other hand takes one, too
    return tuple(sorted(os.sched_getaffinity(0)))


def test_each_piece_has_its_own_end_and_the_order_stays() -> None:
    heard: list[Outcome[int]] = []
    with Hands(2) as hands:
        pieces = [(3,), (-1,), (0,), (101,), (5,)]
        outcomes = hands.spread(squared, pieces, limit_s=8.0, told=heard.append)
    assert [each.ending for each in outcomes] == ["done", "raised", "crash", "hang", "done"]
    assert [each.result for each in outcomes] == [9, None, None, None, 25]
    assert [each.what for each in outcomes][1:4] == [
        "ValueError: -1 is below zero", "the process ended: -11", "no end after 8 s",
    ]  # fmt: skip
    assert sorted(each.arguments for each in heard) == sorted(pieces)


def test_a_hand_falls_with_the_process_that_it_works_for() -> None:
    code = (
        "import tests.torture, os\n"
        "from torture.hands import Hands\n"
        "from torture.test_hands import squared\n"
        "import threading, time\n"
        "hands = Hands(1)\n"
        "asking = lambda: hands.spread(squared, [(101,)], limit_s=60)\n"
        "threading.Thread(target=asking, daemon=True).start()\n"
        "while not (every := hands._every) or every[0]._process is None: time.sleep(0.05)\n"
        "print(every[0]._process.pid, flush=True)\n"
        "os._exit(0)\n"
    )
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True,
                          check=True, timeout=600)  # fmt: skip
    hand = Path("/proc") / done.stdout.strip()
    deadline = time.monotonic() + 120
    while hand.exists() and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not hand.exists()


def test_what_has_no_result_is_a_finding() -> None:
    fallen: Outcome[int] = Outcome((0,), "crash", None, "the process ended: -11", 1.0)
    assert fallen.trouble("here") == [Finding("crash", "here", "the process ended: -11")]
    assert Outcome((3,), "done", 9, "", 1.0).trouble("here") == []


def test_hands_share_the_cores_and_leave_ours_alone() -> None:
    ours = os.sched_getaffinity(0)
    with Hands(2) as hands:
        outcomes = hands.spread(cores, [()] * 6, limit_s=60.0)
    shares = {each.result for each in outcomes}
    assert os.sched_getaffinity(0) == ours
    if len(ours) >= 2:
        assert sorted(len(share or ()) for share in shares) == [len(ours) // 2] * 2
        assert len({core for share in shares for core in share or ()}) == len(ours) // 2 * 2


def test_what_there_was_no_time_for_is_counted() -> None:
    with Hands(2, limit_s=0.0) as hands:
        assert hands.spread(squared, [(3,), (4,)], limit_s=8.0) == []
    assert hands.left == 2


def test_what_is_left_is_counted_for_each_attack_apart() -> None:
    with Hands(2, limit_s=0.0) as hands:
        mine, yours = hands.apart(), hands.apart()
        mine.spread(squared, [(3,), (4,)], limit_s=8.0)
    assert (mine.left, yours.left) == (2, 0)


def test_progress_is_told_in_twentieths(capsys: pytest.CaptureFixture[str]) -> None:
    progress = Progress("kills", 100)
    for _ in range(100):
        progress.tell(1, [])
    progress.tell(0, [Finding("lost", "graph", "g.svg is gone")])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "kills: 5 of 100, 0 found"
    assert lines[19:] == ["kills: 100 of 100, 0 found", "lost: graph: g.svg is gone"]
