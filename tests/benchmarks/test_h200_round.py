"""Rounds on a lent machine: who has which processors, who is ended when, and what comes back."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tarfile
import time
from pathlib import Path

import pytest
from h200 import round as script
from h200.round import Job, Plan, PlanError, Round, chosen, main, read
from hypothesis import given
from hypothesis import strategies as st

WRITES = "echo figures > $RESULTS/told.txt"


def job(name: str, command: str = WRITES, *, seconds: float = 60.0, **more: object) -> Job:
    given = {"processors": 1, "results": ("told.txt",), "least": 0.0, **more}
    return Job(name, command, seconds=seconds, **given)  # type: ignore[arg-type]


def ran(folder: Path, *jobs: Job, cpus: int = 2, seconds: float = 60.0) -> tuple[int, Round]:
    plan = Plan("a plan", seconds, jobs)
    there = sorted(os.sched_getaffinity(0))
    one = Round(plan, [there[n % len(there)] for n in range(cpus)], folder / "out", folder / "jobs")
    return one.run(), one


def come_back(folder: Path) -> dict[str, str]:
    with tarfile.open(folder / "out" / "results.tgz") as archive:
        return {one.name: archive.extractfile(one).read().decode() for one in archive}  # type: ignore[union-attr]


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(script, "KILLED_S", 0.5)
    monkeypatch.setenv("WORK", str(tmp_path / "work"))


def test_what_jobs_write_comes_back(tmp_path: Path) -> None:
    told = "echo $CPUS $LIMIT $WORK > $RESULTS/told.txt; echo said"
    code, _ = ran(tmp_path, job("a", told, processors=2), job("b"))
    found = come_back(tmp_path)
    assert code == 0
    assert found["b/told.txt"] == "figures\n"
    assert found["a/output.txt"] == "said\n"
    assert found["a/told.txt"].split()[1:] == ["60", str(tmp_path / "work")]
    assert "a ended with 0" in (tmp_path / "out" / "round.txt").read_text()


def test_a_job_that_wrote_no_figures_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, one = ran(tmp_path, job("a", "true"), job("b", ": > $RESULTS/told.txt"))
    assert code == 1
    assert one.wrong == ["a: wrote no told.txt", "b: wrote no told.txt"]
    assert capsys.readouterr().out.splitlines()[-1] == "WRONG  b: wrote no told.txt"


def test_a_job_that_was_called_wrongly_ends_the_round(tmp_path: Path) -> None:
    code, one = ran(
        tmp_path,
        job("long", f"{WRITES}; exec sleep 300"),
        job("wrong", "echo no such option >&2; exit 2"),
        job("later", processors=2),
    )
    assert code == 1
    assert one.wrong[0].startswith("wrong: ended with 2 after")
    assert one.wrong[0].endswith("no such option")
    assert one.wrong[-1] == "later: was never begun"
    assert come_back(tmp_path)["long/told.txt"] == "figures\n"


def test_later_a_wrong_call_costs_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(script, "EARLY_S", 0.0)
    code, one = ran(tmp_path, job("wrong", f"{WRITES}; exit 2"), job("other", f"sleep 1; {WRITES}"))
    assert code == 1
    assert [line.partition(":")[0] for line in one.wrong] == ["wrong"]
    assert come_back(tmp_path)["other/told.txt"] == "figures\n"


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.parametrize("command", [
    "setsid sleep 300 & echo $! > $RESULTS/told.txt; wait",
    "trap '' TERM; echo $$ > $RESULTS/told.txt; while true; do sleep 0.1; done",
])  # fmt: skip
def test_a_job_is_ended_in_time_with_all_that_it_started(tmp_path: Path, command: str) -> None:
    code, _ = ran(tmp_path, job("a", command, seconds=2.0), job("b", processors=2))
    assert not is_alive(int(come_back(tmp_path)["a/told.txt"]))
    assert code == 0, "figures were written, and the next job had its turn"


def test_all_is_ended_with_the_round(tmp_path: Path) -> None:
    long = job("a", f"{WRITES}; sleep 300", seconds=400)
    code, one = ran(tmp_path, long, job("b", after=("a",), least=1.9), seconds=2)
    assert code == 1
    assert len(one.wrong) == 1
    assert one.wrong[0].startswith("b: ")
    assert come_back(tmp_path)["a/told.txt"] == "figures\n"


def test_what_would_not_end_in_time_is_not_begun(tmp_path: Path) -> None:
    code, one = ran(tmp_path, job("a", least=400.0), job("b"))
    assert code == 1
    assert len(one.wrong) == 1
    assert one.wrong[0].startswith("a: not begun, ")


def test_that_an_optional_job_had_no_room_is_no_fault(tmp_path: Path) -> None:
    code, one = ran(tmp_path, job("a"), job("b", least=400.0, optional=True))
    assert (code, one.wrong) == (0, [])
    assert "b: not begun" in (tmp_path / "out" / "round.txt").read_text()


def test_what_ended_well_is_not_done_twice(tmp_path: Path) -> None:
    ran(tmp_path, job("a"), job("b", f"{WRITES}; exit 1"), job("c", again=True))
    _, one = ran(tmp_path, job("a", "exit 7"), job("b"), job("c", again=True))
    assert one.wrong == []
    assert {name.partition("/")[0] for name in come_back(tmp_path)} == {"b", "c"}


def test_what_was_only_tried_is_not_done(tmp_path: Path) -> None:
    plan = Plan("a plan", 60.0, (job("a", dry="echo tried > $RESULTS/told.txt"),))
    for dry, told in ((True, "tried\n"), (False, "figures\n")):
        cpus = sorted(os.sched_getaffinity(0))
        one = Round(chosen(plan, [], dry=dry), cpus, tmp_path / "out", tmp_path / "jobs")
        assert one.run() == 0
        assert come_back(tmp_path)["a/told.txt"] == told


def test_files_that_are_too_large_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(script, "MOST_BYTES", 4000)
    large = "head -c 100000 /dev/urandom > $RESULTS/large.bin"
    ran(tmp_path, job("a", f"{large}; {WRITES}"))
    assert set(come_back(tmp_path)) == {"a/output.txt", "a/told.txt"}
    assert "too large to come back: a/large.bin (100000 bytes)" in capsys.readouterr().out


def test_a_round_that_is_ended_has_packed_what_there_is(tmp_path: Path) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text(
        'title = "t"\nseconds = 100\n[[job]]\nname = "a"\nprocessors = 1\nseconds = 90\n'
        'results = ["told.txt"]\ncommand = "echo figures > $RESULTS/told.txt; sleep 300"\n'
    )
    words = [sys.executable, script.__file__, str(plan), "--out", str(tmp_path / "out")]
    with subprocess.Popen([*words, "--kept", str(tmp_path / "jobs")]) as process:
        told = tmp_path / "jobs" / "a" / "told.txt"
        while not (told.is_file() and told.stat().st_size):  # a shell makes it, then writes
            time.sleep(0.05)
        process.send_signal(signal.SIGTERM)
    assert process.returncode == 143
    assert come_back(tmp_path)["a/told.txt"] == "figures\n"


class Dealt(Round):
    """Notes what would be started, and on what."""

    def _start(self, job: Job) -> None:
        cpus = [self.free.pop(0) for _ in range(min(job.processors, self.all))]
        self.running.append(script.Running(job, cpus, None, ""))  # type: ignore[arg-type]

    def end(self, number: int) -> None:
        one = self.running.pop(number % len(self.running))
        self.free += one.cpus
        self.ended.add(one.job.name)


@given(
    st.lists(st.tuples(st.integers(1, 20), st.sampled_from(script.CARDS), st.integers(0, 3)),
             min_size=1, max_size=8),
    st.lists(st.integers(0, 9), min_size=30, max_size=30),
)  # fmt: skip
def test_no_processor_has_two_jobs_and_an_alone_job_has_the_card(
    tmp_path_factory: pytest.TempPathFactory,
    asked: list[tuple[int, str, int]],
    ends: list[int],
) -> None:
    jobs = [
        job(str(n), processors=p, card=card, after=(str(n - back),) if 0 < back <= n else ())
        for n, (p, card, back) in enumerate(asked)
    ]
    folder = tmp_path_factory.mktemp("dealt")
    one = Dealt(Plan("t", 100, tuple(jobs)), range(16), folder, folder / "jobs")
    for number in ends:
        one._begin()
        dealt = [cpu for each in one.running for cpu in each.cpus] + one.free
        assert sorted(dealt) == list(range(16))
        cards = [each.job.card for each in one.running if each.job.card != "none"]
        assert "alone" not in cards or len(cards) == 1
        assert all(set(each.job.after) <= one.ended for each in one.running)
        if one.running:
            one.end(number)
    assert not one.waiting, "everybody had a turn"


PLAN = """
title = "t"
seconds = 10
[[job]]
name = "a"
processors = 1
seconds = 5
results = ["x"]
command = "true"
"""


@pytest.mark.parametrize(("more", "why"), [
    ("colour = 1", "a job has no colour"),
    ('card = "mine"', "card is one of shared, none, alone"),
    ('after = ["b"]', "a waits for b, which is not before it"),
    ('[[job]]\nname = "a"\nprocessors = 1\nseconds = 1\nresults = ["x"]\ncommand = ""',
     "two jobs are called a"),
    ('[[job]]\nname = "b"\nprocessors = 1\nseconds = 1\nresults = []\ncommand = ""',
     "b needs processors, seconds and results"),
])  # fmt: skip
def test_a_plan_that_cannot_be_run_says_why(tmp_path: Path, more: str, why: str) -> None:
    (tmp_path / "plan.toml").write_text(PLAN + more)
    with pytest.raises(PlanError, match=why):
        read(tmp_path / "plan.toml")


def test_a_dry_run_does_what_the_plan_says_for_it(tmp_path: Path) -> None:
    jobs = (job("a", dry="dry"), job("b", dry="dry", dry_results=("y",)), job("c", after=("a",)))
    plan = chosen(Plan("t", 1, jobs), ["b", "c"], dry=True)
    assert [(one.command, one.results, one.after) for one in plan.jobs] == [
        ("dry", ("y",), ()),
        (WRITES, ("told.txt",), ()),
    ]
    with pytest.raises(PlanError, match="no job d"):
        chosen(plan, ["d"], dry=False)


def test_the_command_line_runs_a_plan(tmp_path: Path) -> None:
    (tmp_path / "plan.toml").write_text(PLAN.replace('"true"', '"echo 1 > $RESULTS/x"'))
    words = [str(tmp_path / "plan.toml"), "--out", str(tmp_path / "out"), "--processors", "16"]
    assert main([*words, "--kept", str(tmp_path / "jobs"), "--seconds", "60"]) == 0
    assert "16 processors" in (tmp_path / "out" / "round.txt").read_text()
    assert "\nnumpy " in come_back(tmp_path)["machine.txt"]
