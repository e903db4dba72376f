"""The jobs of a plan on the processors of a machine that is lent for minutes.

    python benchmarks/h200/round.py PLAN.toml --out FOLDER [--dry] [--processors 16] [--only a,b]

A plan is a table of TOML: `title`, `seconds` (when all is ended), and `[[job]]`s with

    name, command     what bash runs in the repository, with $RESULTS (a folder of the job's own),
                      $CPUS (as taskset names them), $LIMIT (seconds) and $WORK in its environment
    processors        how many it has for itself
    seconds           after which it is ended, with all that it started
    results           files that it must have written into $RESULTS
    card              "shared" (default), "none", or "alone": no other job has the card meanwhile
    after             jobs that must have ended before, however they ended
    least             seconds that must be left for it to be begun (default: 20)
    optional          that there was no room for it is no fault
    again             run it even if a job of this name ended well in an earlier round here
    dry, dry_results  what a dry run does instead, where that has no card: default as above

Jobs begin in the order of the plan as soon as their processors are free; a smaller one may overtake
one that waits. A job that fails within its first ten seconds was called wrongly: in the round's
first minute this ends everything, because to begin anew costs less; later it is only told. What
jobs have written is packed into FOLDER/results.tgz again and again, so that a kill loses nothing.
The exit status is 0 if all jobs ended well and wrote what they should; the lines that say which did
not come last.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tarfile
import time
import tomllib
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LENT = Path(os.environ.get("LENT", "/tmp/lent"))
CARDS = ("shared", "none", "alone")
FIRST_S, EARLY_S = 10.0, 60.0
"""A job that fails so soon was called wrongly; a round so young is not worth going on with."""
GATHERED_S, KILLED_S = 15.0, 5.0
"""How often results are packed; how long a job has to end when it is asked to."""
MOST_BYTES = 15 * 2**20
"""A file of 16 MiB comes back, a larger one does not."""
MARK = "BURNISH_ROUND_JOB"
MACHINE = """
date -u; uptime; git log --oneline | head -n 1; lscpu | grep -E 'Model name|^CPU.s.:|MHz'
nvidia-smi --query-gpu=name,driver_version,clocks.sm,clocks.mem --format=csv,noheader
python3 --version
"""
"""What figures are told with."""
LIBRARIES = ("torch", "triton", "onnx", "onnxruntime", "onnxruntime-gpu", "openvino", "numpy")


class PlanError(Exception):
    """A plan that cannot be run, and why."""


@dataclass(frozen=True)
class Job:
    """One line of a plan."""

    name: str
    command: str
    processors: int
    seconds: float
    results: tuple[str, ...]
    card: str = "shared"
    after: tuple[str, ...] = ()
    least: float = 20.0
    optional: bool = False
    again: bool = False
    dry: str = ""
    dry_results: tuple[str, ...] | None = None

    def tried(self) -> Job:
        """Return the job as a dry run has it."""
        results = self.results if self.dry_results is None else self.dry_results
        return replace(self, command=self.dry or self.command, results=results)


@dataclass(frozen=True)
class Plan:
    """What a round does."""

    title: str
    seconds: float
    jobs: tuple[Job, ...]


@dataclass
class Running:
    """A job that has begun."""

    job: Job
    cpus: list[int]
    process: subprocess.Popen[bytes]
    mark: str
    begun: float = field(default_factory=time.monotonic)
    asked_to_end: float | None = None

    @property
    def took_s(self) -> float:
        """Return how long it has been running."""
        return time.monotonic() - self.begun


def read(path: Path) -> Plan:
    """Return a plan; every name in it is known, and every job fits its machine and its time."""
    told = tomllib.loads(path.read_text())
    unknown = set(told) - {"title", "seconds", "job"}
    if unknown:
        raise PlanError(f"{path}: a plan has no {', '.join(sorted(unknown))}")
    jobs = tuple(_job(path, each) for each in told["job"])
    names = [job.name for job in jobs]
    for job in jobs:
        if names.count(job.name) > 1:
            raise PlanError(f"{path}: two jobs are called {job.name}")
        for other in job.after:
            if other not in names[: names.index(job.name)]:
                raise PlanError(f"{path}: {job.name} waits for {other}, which is not before it")
    return Plan(str(told["title"]), float(told["seconds"]), jobs)


def _job(path: Path, told: Mapping[str, object]) -> Job:
    known = {each.name for each in fields(Job)}
    if set(told) - known:
        raise PlanError(f"{path}: a job has no {', '.join(sorted(set(told) - known))}")
    job = Job(**{
        name: tuple(value) if isinstance(value, list) else value for name, value in told.items()
    })  # type: ignore[arg-type]  # fmt: skip
    if job.card not in CARDS:
        raise PlanError(f"{path}: {job.name}: card is one of {', '.join(CARDS)}")
    if job.processors < 1 or job.seconds <= 0 or not job.results:
        raise PlanError(f"{path}: {job.name} needs processors, seconds and results")
    return job


def chosen(plan: Plan, names: Sequence[str], *, dry: bool) -> Plan:
    """Return a plan with the jobs that are named, or all; a dry run's if it is one."""
    unknown = set(names) - {job.name for job in plan.jobs}
    if unknown:
        raise PlanError(f"the plan has no job {', '.join(sorted(unknown))}")
    jobs = [job.tried() if dry else job for job in plan.jobs if not names or job.name in names]
    there = {job.name for job in jobs}
    return replace(plan, jobs=tuple(
        replace(job, after=tuple(name for name in job.after if name in there)) for job in jobs
    ))  # fmt: skip


class Round:
    """Deals processors to jobs until all have ended or the time is over."""

    def __init__(self, plan: Plan, cpus: Sequence[int], out: Path, kept: Path) -> None:
        self.began = time.monotonic()
        self.ends = self.began + plan.seconds
        self.free = list(cpus)
        self.all = len(cpus)
        self.done = kept.parent / "done"
        self.done.mkdir(parents=True, exist_ok=True)
        self.waiting = [job for job in plan.jobs if job.again or not self._is_done(job)]
        self.running: list[Running] = []
        self.ended = {job.name for job in plan.jobs} - {job.name for job in self.waiting}
        self.wrong: list[str] = []
        self.out = out
        self.kept = kept
        shutil.rmtree(self.kept, ignore_errors=True)
        self.kept.mkdir(parents=True)
        out.mkdir(parents=True, exist_ok=True)
        self.gathered = self.began
        self._say(f"{plan.title}: {len(self.waiting)} jobs, {self.all} processors")
        for name in sorted(self.ended):
            self._say(f"{name} ended well in an earlier round")

    def run(self) -> int:
        """Run all jobs; return the exit status."""
        stopped = False
        with contextlib.ExitStack() as stack:
            stack.callback(self.gather)
            stack.callback(self._end_all)
            while (self.waiting or self.running) and not stopped:
                self._begin()
                time.sleep(0.2)
                stopped = any([self._look(one) for one in list(self.running)])  # noqa: C419
                if time.monotonic() > self.ends:
                    break
                if time.monotonic() - self.gathered > GATHERED_S:
                    self.gather()
        for job in self.waiting:
            self._left(job, "was never begun")
        self._say(f"ended: {len(self.wrong)} of the jobs' ends were not good")
        for line in self.wrong:
            print(f"WRONG  {line}", flush=True)
        self.gather()
        return 1 if self.wrong else 0

    def _is_done(self, job: Job) -> bool:
        return (self.done / job.name).is_file()

    def _begin(self) -> None:
        """Begin every job that can be begun, in the order of the plan."""
        for job in list(self.waiting):
            left = self.ends - time.monotonic()
            if left < job.least:
                self.waiting.remove(job)
                self.ended.add(job.name)
                self._left(job, f"not begun, {left:.0f} s are left of {job.least:.0f}")
            elif self._can_begin(job):
                self.waiting.remove(job)
                self._start(job)

    def _can_begin(self, job: Job) -> bool:
        if min(job.processors, self.all) > len(self.free) or not set(job.after) <= self.ended:
            return False
        cards = [one.job.card for one in self.running if one.job.card != "none"]
        if job.card == "none":
            return True
        return not cards if job.card == "alone" else "alone" not in cards

    def _start(self, job: Job) -> None:
        cpus = [self.free.pop(0) for _ in range(min(job.processors, self.all))]
        limit = min(job.seconds, self.ends - time.monotonic())
        folder = self.kept / job.name
        folder.mkdir(parents=True)
        mark = uuid.uuid4().hex
        own = {
            "RESULTS": str(folder), "CPUS": ",".join(map(str, cpus)), "LIMIT": f"{limit:.0f}",
            "WORK": os.environ.get("WORK", f"{LENT}/work"), MARK: mark,
        }  # fmt: skip
        Path(own["WORK"]).mkdir(parents=True, exist_ok=True)
        with (folder / "output.txt").open("wb") as output:
            process = subprocess.Popen(
                ["bash", "-c", job.command], cwd=ROOT, stdin=subprocess.DEVNULL, stdout=output,
                stderr=output, start_new_session=True, env={**os.environ, **own},
                preexec_fn=lambda: os.sched_setaffinity(0, cpus),
            )  # fmt: skip
        self.running.append(Running(job, cpus, process, mark))
        self._say(f"{job.name} on {own['CPUS']} for at most {limit:.0f} s")

    def _look(self, one: Running) -> bool:
        """End or reap a job; return whether the round is not worth going on with."""
        code = one.process.poll()
        if code is None:
            if one.took_s > min(one.job.seconds, self.ends - one.begun) - KILLED_S:
                self._end(one)
            return False
        self.running.remove(one)
        self.free = sorted([*self.free, *one.cpus])
        self.ended.add(one.job.name)
        _killed(one.mark)
        missing = [name for name in one.job.results if not _there(self.kept / one.job.name, name)]
        failed = bool(code) and one.asked_to_end is None
        ended = f"ended with {code}" if one.asked_to_end is None else "was ended"
        self._say(f"{one.job.name} {ended} after {one.took_s:.0f} s")
        if failed:
            self._fault(f"{one.job.name}: {ended} after {one.took_s:.0f} s: {self._last(one.job)}")
        if missing:
            self._fault(f"{one.job.name}: wrote no {', '.join(missing)}")
        elif not code:
            (self.done / one.job.name).touch()
        self.gather()
        soon = one.took_s < FIRST_S and time.monotonic() - self.began < EARLY_S
        if failed and soon:
            self._say(f"the round is ended: {one.job.name} failed in its first seconds")
        return failed and soon

    def _end(self, one: Running) -> None:
        """Ask a job to end, and end it when it does not."""
        now = time.monotonic()
        if one.asked_to_end is None:
            one.asked_to_end = now
            with contextlib.suppress(ProcessLookupError):
                os.killpg(one.process.pid, signal.SIGTERM)
        elif now - one.asked_to_end > KILLED_S:
            _killed(one.mark)

    def _end_all(self) -> None:
        for one in self.running:
            self._end(one)
        until = time.monotonic() + KILLED_S
        while time.monotonic() < until and any(o.process.poll() is None for o in self.running):
            time.sleep(0.1)
        for one in list(self.running):
            _killed(one.mark)
            one.process.wait()
            self._look(one)

    def gather(self) -> None:
        """Pack what is there; the largest files are left out, and named, where it is too much."""
        self.gathered = time.monotonic()
        files = sorted(path for path in self.kept.rglob("*") if path.is_file())
        left_out: list[str] = []
        target, fresh = self.out / "results.tgz", self.out / "results.tgz.new"
        while True:
            with tarfile.open(fresh, "w:gz", compresslevel=5) as archive:
                for path in files:
                    with contextlib.suppress(OSError):  # a job may take its own files away
                        archive.add(path, str(path.relative_to(self.kept)))
            if fresh.stat().st_size <= MOST_BYTES or not files:
                break
            files.remove(largest := max(files, key=_size))
            left_out.append(f"{largest.relative_to(self.kept)} ({_size(largest)} bytes)")
        fresh.replace(target)
        if left_out:
            self._say(f"too large to come back: {', '.join(left_out)}")

    def _last(self, job: Job) -> str:
        text = (self.kept / job.name / "output.txt").read_text(errors="replace")
        return text.strip()[-600:]

    def _left(self, job: Job, why: str) -> None:
        (self._say if job.optional else self._fault)(f"{job.name}: {why}")

    def _fault(self, text: str) -> None:
        self.wrong.append(text)
        self._say(f"WRONG  {text}")

    def _say(self, text: str) -> None:
        line = f"{time.monotonic() - self.began:6.1f} s  {text}"
        print(line, flush=True)
        with (self.out / "round.txt").open("a") as file:
            file.write(line + "\n")


def _there(folder: Path, name: str) -> bool:
    """Return whether a job wrote a file, or one that a pattern fits, with something in it."""
    return any(_size(path) for path in folder.glob(name))


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _marked(mark: str) -> Iterator[int]:
    """Yield the processes that a job started, whatever group or parent they have by now."""
    wanted = f"{MARK}={mark}".encode()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                if wanted in (entry / "environ").read_bytes().split(b"\0"):
                    yield int(entry.name)


def _killed(mark: str) -> None:
    for _ in range(3):  # one of them may start another meanwhile
        for pid in _marked(mark):
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)


def _ended_by(number: int, _: object) -> None:
    raise SystemExit(128 + number)


def machine() -> str:
    """Return what is to be told with figures: when, on what, and with which libraries."""
    told = subprocess.run(["bash", "-c", MACHINE], cwd=ROOT, capture_output=True, check=False)
    places = [os.environ.get("ORT_SITE", ""), os.environ.get("OPENVINO_SITE", ""), *sys.path]
    found = {
        name: next((one.version for one in metadata.distributions(name=name, path=places)), "none")
        for name in LIBRARIES
    }
    return told.stdout.decode() + "".join(f"{name} {found[name]}\n" for name in found)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the plan that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("plan", type=Path)
    parser.add_argument("--out", type=Path, default=Path(os.environ.get("OUT", "out/round")))
    parser.add_argument("--dry", action="store_true", help="what a plan says for want of a card")
    parser.add_argument("--processors", type=int, help="so many, whether they are there or not")
    parser.add_argument("--seconds", type=float, help="instead of the plan's")
    parser.add_argument("--only", default="", help="jobs, separated by commas")
    parser.add_argument("--kept", type=Path, default=LENT / "round", help="for the jobs")
    asked = parser.parse_args(arguments)
    plan = read(asked.plan)
    plan = chosen(plan, asked.only.split(",") if asked.only else [], dry=asked.dry)
    plan = replace(plan, seconds=asked.seconds or plan.seconds)
    cpus = sorted(os.sched_getaffinity(0))
    if asked.processors:
        cpus = [cpus[number % len(cpus)] for number in range(asked.processors)]
    signal.signal(signal.SIGTERM, _ended_by)
    one = Round(plan, cpus, asked.out, asked.kept)
    (asked.kept / "machine.txt").write_text(machine())
    return one.run()


if __name__ == "__main__":
    sys.exit(main())
