from __future__ import annotations

from pathlib import Path

import pytest

from burnish.timing import waiting
from burnish.timing.stopwatch import sampled
from burnish.timing.turns import Turns, take_turns


class Busy:
    """A machine on which every call waits as long as it runs."""

    def __init__(self) -> None:
        self.now_ns = self.waited_ns = 0

    def call(self) -> None:
        self.now_ns += 2_000_000_000
        self.waited_ns += 1_000_000_000

    def clock(self) -> int:
        return self.now_ns

    def waited(self) -> int:
        return self.waited_ns


def test_what_a_call_waited_for_a_processor_is_not_counted() -> None:
    busy = Busy()
    assert sampled(busy.call, calls=2, clock=busy.clock) == (2.0, 2.0)
    assert sampled(busy.call, calls=2, clock=busy.clock, waited=busy.waited) == (1.0, 1.0)
    turns = Turns(rounds=2, warmup=0)
    assert take_turns([busy.call], turns, busy.clock, busy.waited) == (((1.0,), (1.0,)),)


def test_no_call_takes_less_than_no_time() -> None:
    busy = Busy()
    assert sampled(lambda: None, clock=lambda: 0, waited=busy.waited) == (0.0,)
    steps = iter([0, 5])
    assert sampled(lambda: None, clock=lambda: 0, waited=lambda: next(steps)) == (0.0,)


@pytest.mark.parametrize("text", [None, "", "no numbers", "12"])
def test_where_nobody_counts_nothing_was_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str | None
) -> None:
    if text is not None:
        (tmp_path / "schedstat").write_text(text)
    monkeypatch.setattr(waiting, "_FILE", str(tmp_path / "schedstat"))
    assert waiting.waiting()() == 0


def test_the_second_number_is_how_long_was_waited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "schedstat").write_text("478432 335660 2\n")
    monkeypatch.setattr(waiting, "_FILE", str(tmp_path / "schedstat"))
    assert waiting.waiting()() == 335660
