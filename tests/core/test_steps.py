from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from burnish.core.errors import UsageError
from burnish.core.steps import StepLog, StepMark


@dataclass(frozen=True, slots=True)
class Answer:
    value: int


def _counting(value: int) -> tuple[list[int], Callable[[], Answer]]:
    calls: list[int] = []

    def make() -> Answer:
        calls.append(value)
        return Answer(value)

    return calls, make


def test_a_finished_step_is_not_repeated(tmp_path: Path) -> None:
    calls, make = _counting(7)
    times = iter([0.0, 2.5])
    first = StepLog(tmp_path, clock=lambda: next(times))
    assert first.once("a", make, key="k", kind=Answer) == Answer(7)
    second = StepLog(tmp_path)
    assert second.once("a", make, key="k", kind=Answer) == Answer(7)
    assert calls == [7]
    assert first.marks == (StepMark("a", 2.5, resumed=False),)
    assert second.marks == (StepMark("a", 2.5, resumed=True),)


@pytest.mark.parametrize(("key", "holds"), [("other", True), ("k", False)])
def test_a_step_that_no_longer_holds_is_made_again(tmp_path: Path, key: str, holds: bool) -> None:
    calls, make = _counting(7)
    StepLog(tmp_path).once("a", make, key="k", kind=Answer)
    StepLog(tmp_path).once("a", make, key=key, kind=Answer, holds=lambda _answer: holds)
    assert calls == [7, 7]


@pytest.mark.parametrize("text", ["", "{", "[]"])
def test_a_broken_record_is_made_again(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.json").write_text(text)
    calls, make = _counting(7)
    StepLog(tmp_path).once("a", make, key="k", kind=Answer)
    assert calls == [7]


def test_what_is_no_step_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"mine": 1}')
    _, make = _counting(7)
    with pytest.raises(UsageError, match=r"a\.json: is not a step of a run that burnish wrote"):
        StepLog(tmp_path).once("a", make, key="k", kind=Answer)
    assert StepLog(tmp_path).noted("a") is None


def test_a_step_tells_what_it_noted(tmp_path: Path) -> None:
    _, make = _counting(7)
    StepLog(tmp_path).once("a", make, key="k", kind=Answer)
    assert StepLog(tmp_path).noted("a") == {"value": 7}
    assert StepLog(tmp_path).noted("b") is None


def test_a_step_that_fails_leaves_nothing(tmp_path: Path) -> None:
    def fail() -> Answer:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        StepLog(tmp_path).once("a", fail, key="k", kind=Answer)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "content",
    [
        '{"key": "k"}',
        '{"key": "k", "record": {"value": "x"}, "seconds_s": 1}',
        '{"key": "k", "record": [], "seconds_s": 1}',
        '{"key": "k", "record": {"value": 3}, "seconds_s": "long"}',
        "[" * 100_000,
        "\xff",
    ],
)
def test_a_broken_step_is_made_again(tmp_path: Path, content: str) -> None:
    (tmp_path / "a.json").write_text(content, encoding="latin-1")
    calls, make = _counting(7)
    assert StepLog(tmp_path).once("a", make, key="k", kind=Answer) == Answer(7)
    assert calls == [7]
