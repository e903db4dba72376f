"""What a model takes of a card, as far as its engine and the driver tell."""

from __future__ import annotations

import fcntl
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from burnish.bench.on_card import alone_on, card_bytes, card_seconds


class Clocked:
    """A session whose runs take what it is told on the card."""

    def __init__(self, *times_s: float) -> None:
        self.times_s = times_s

    def card_times_s(self, feeds: object, *, warmup: int, runs: int) -> tuple[float, ...]:
        assert warmup > 0
        assert runs > 0
        return self.times_s


def held(*lines: str) -> int | None:
    def answer(arguments: Sequence[str]) -> str:
        assert "--query-compute-apps=pid,used_memory" in arguments
        return "\n".join(lines)

    return card_bytes(answer)


def test_the_median_of_runs_between_events_is_told() -> None:
    session: Any = Clocked(3.0, 1.0, 2.0)
    assert card_seconds(session, {}) == 2.0


def test_an_engine_without_events_or_card_tells_nothing() -> None:
    on_a_cpu: Any = Clocked()
    without: Any = object()
    assert card_seconds(on_a_cpu, {}) is None
    assert card_seconds(without, {}) is None


def test_memory_is_that_of_this_process_on_all_cards() -> None:
    own = os.getpid()
    assert held(f"{own}, 100", "1, 7000", f"{own}, 20") == 120 << 20


def test_memory_that_the_driver_does_not_tell_is_none() -> None:
    assert held(f"{os.getpid()}, [N/A]") is None
    assert held() is None
    assert card_bytes(lambda _: None) is None


def test_one_process_at_a_time_is_timed_on_a_card(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    at_once = fcntl.LOCK_EX | fcntl.LOCK_NB
    with (tmp_path / f"burnish-{os.getuid()}-cuda-0.lock").open("a") as other:
        with alone_on("cuda:0"), pytest.raises(BlockingIOError):
            fcntl.flock(other, at_once)
        fcntl.flock(other, at_once)


def test_processors_are_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with alone_on("cpu"):
        assert not list(tmp_path.iterdir())
