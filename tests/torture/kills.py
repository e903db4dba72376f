"""Kill writing commands at random moments, fill their disks; what was good stays, all else goes."""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from torture import small_disks
from torture.finding import Finding
from torture.hands import Hands, Outcome
from torture.running import installed
from torture.victims import Ended, Victim
from torture.writing import MODEL, WRITING, Writing, contents, unreadable, wrong_candidate

BURNISH = (sys.executable, "-m", "burnish")
FOREIGN = ("torchinductor_",)
"""What PyTorch leaves in TMPDIR by itself, as each name begins."""
_FAULTS = ("full work", "full tmp", "full cache", "file size", "read-only work", "read-only cache")
_STARTING_S = 0.5
"""What Python itself needs before a command can listen to signals."""
COMMAND_S = 3600.0
_REFUSALS = (2, 3, 4)
"""Exit codes with which a command may say that it cannot write."""


Trial = tuple[str, list[Finding]]
"""What was done to which command, and what came of it."""


@dataclass(frozen=True)
class Place:
    """The three folders that a command writes into."""

    root: Path

    @property
    def work(self) -> Path:
        """Return the folder it is run in."""
        return self.root / "work"

    @property
    def tmp(self) -> Path:
        """Return its TMPDIR."""
        return self.root / "tmp"

    @property
    def cache(self) -> Path:
        """Return its cache."""
        return self.root / "cache"

    def environment(self) -> dict[str, str]:
        """Return what makes a command use these folders."""
        return {"TMPDIR": str(self.tmp), "BURNISH_CACHE": str(self.cache), "NO_COLOR": "1"}


@dataclass
class Range:
    """A shooting range: what each command is given, and what it gave when nobody shot."""

    folder: Path
    given: dict[str, Path] = field(default_factory=dict)
    ready: dict[str, Measured] = field(default_factory=dict)
    noticed: list[Trial] = field(default_factory=list)
    """What commands leave in TMPDIR though nobody shot."""

    def measured(self, writing: Writing) -> Measured:
        """Return how a command fares undisturbed; found out once."""
        if writing.name not in self.ready:
            self.ready[writing.name] = _undisturbed(self, writing)
        return self.ready[writing.name]


@dataclass(frozen=True)
class Measured:
    """A command's earlier and new results, and what the new one costs."""

    earlier: Path
    """A place in which the earlier result stands."""
    old: dict[str, str]
    new: dict[str, str]
    names: frozenset[str]
    """Everything that may stand in the folder."""
    cpu_s: float


def run(count: int, seed: int, hands: Hands, *, only: Sequence[str] = ()) -> list[Finding]:
    """Kill `count` commands and spoil a fifth as many disks; return all that was lost or left.

    All that is done to one command is one piece of work, with folders of its own.
    """
    found: list[Finding] = []

    def told(outcome: Outcome[list[Trial]]) -> None:
        where = outcome.arguments[0]
        for trial in outcome.result or [(where, outcome.trouble(where))]:
            found.extend(_told(trial))

    chosen = [each.name for each in WRITING if not only or each.name in only]
    for each in _unusable(chosen):
        print(f"kills: without {each.name}, because {each.needs} is not installed", flush=True)
        chosen.remove(each.name)
    chance = random.Random(seed)
    faults: dict[str, list[str]] = {name: [] for name in chosen}
    for trial in range(max(count // 5, 1)):
        faults[chance.choice(chosen)].append(_FAULTS[trial % len(_FAULTS)])
    kills = Counter(chosen[trial % len(chosen)] for trial in range(count))
    pieces = [(name, kills[name], faults[name], seed) for name in reversed(chosen)]
    hands.spread(attacked, pieces, limit_s=COMMAND_S, told=told)
    return found


def attacked(name: str, kills: int, faults: Sequence[str], seed: int) -> list[Trial]:
    """Return what came of killing one command so often, and of taking away its room."""
    (writing,) = (each for each in WRITING if each.name == name)
    chance = random.Random(f"{seed}/{name}")
    with tempfile.TemporaryDirectory(prefix="torture-kills-") as folder:
        shooting = Range(Path(folder))
        _prepare(shooting, [writing])
        trials = [_killed(shooting, writing, chance) for _ in range(kills)]
        trials += [_starved(shooting, writing, fault, chance) for fault in faults]
    return [*shooting.noticed, *trials]


def _unusable(names: Sequence[str]) -> list[Writing]:
    return [each for each in WRITING
            if each.name in names and each.needs and not installed(each.needs)]  # fmt: skip


def _told(trial: Trial) -> list[Finding]:
    title, found = trial
    wrong = "; ".join(f"{each.kind}: {each.what}" for each in found)
    print(f"{title:<64} {wrong[:200] or 'well'}", flush=True)
    return found


def _prepare(shooting: Range, chosen: Sequence[Writing]) -> None:
    """Put down what the commands read: a model and a wrong one; where asked for, a compiled one."""
    given = shooting.folder / "given"
    given.mkdir()
    model = Path(shutil.copy(MODEL, given))
    wrong_candidate(given / "wrong.onnx")
    shooting.given.update(model=model, wrong=given / "wrong.onnx", compiled=given / "compiled",
                          inputs=given / "a.npz", other_inputs=given / "b.npz")  # fmt: skip
    if not any("{compiled}" in writing.words for writing in chosen):
        return
    sizes = ("--shape", "batch=1,sequence=8")
    for words in (
        ["compile", str(model), "--no-tune", *sizes, "-o", "compiled"],
        ["inputs", str(model), *sizes, "-o", "a.npz"],
        ["inputs", str(model), *sizes, "--seed", "1", "-o", "b.npz"],
    ):
        victim = Victim([*BURNISH, *words], given, shooting.folder / "log.txt", {})
        _must(victim.finish(), words)


def _must(ended: Ended, words: Sequence[str]) -> Ended:
    if ended.code != 0:
        raise RuntimeError(f"burnish {' '.join(words)}: {ended.code}\n{ended.said}")
    return ended


def _undisturbed(shooting: Range, writing: Writing) -> Measured:
    earlier = _place(shooting.folder / f"{writing.name}-earlier")
    _must(_started(shooting, writing, earlier, new=False).finish(), writing.words)
    old = contents(earlier.work)
    left = [path for path in _entries(earlier.tmp) if not path.startswith(FOREIGN)]
    title = f"{writing.name} undisturbed"
    wrong = [Finding("litter", title, f"in TMPDIR: {path}") for path in left]
    shooting.noticed.append((title, wrong))
    shutil.rmtree(earlier.tmp)
    earlier.tmp.mkdir()
    later = Place(shooting.folder / f"{writing.name}-later")
    shutil.copytree(earlier.root, later.root)
    ended = _must(_started(shooting, writing, later, new=True).finish(), writing.words)
    names = frozenset((*_entries(earlier.work), *_entries(later.work)))
    return Measured(earlier.root, old, contents(later.work), names, ended.cpu_s)


def _place(root: Path) -> Place:
    place = Place(root)
    for folder in (place.work, place.tmp, place.cache):
        folder.mkdir(parents=True)
    return place


def _started(
    shooting: Range, writing: Writing, place: Place, *, new: bool, limit: int | None = None
) -> Victim:
    return Victim(
        [*BURNISH, *writing.line(shooting.given, new=new)], place.work, shooting.folder / "log.txt",
        place.environment(), file_limit_bytes=limit,
    )  # fmt: skip


def _killed(shooting: Range, writing: Writing, chance: random.Random) -> Trial:
    """Kill one command, look at what is left, and run it again."""
    measured = shooting.measured(writing)
    how = signal.SIGTERM if chance.random() < 1 / 3 else signal.SIGKILL
    with tempfile.TemporaryDirectory(dir=shooting.folder) as name:
        place = Place(Path(name) / "place")
        shutil.copytree(measured.earlier, place.root)
        when, now = _moment(place, measured.cpu_s, chance)
        victim = _started(shooting, writing, place, new=True)
        ended = victim.strike(now, how)
        title = f"{writing.name} {how.name} {when}{'' if ended.struck else ' (too late)'}"
        wrong = [*_after_the_kill(victim, ended, how), *lost(place, writing, measured)]
        if how is signal.SIGTERM:
            wrong += litter(place, writing, measured)
        wrong += _again(shooting, writing, place, measured)
    return title, [Finding(kind, title, what) for kind, what in wrong]


def _moment(
    place: Place, cpu_s: float, chance: random.Random
) -> tuple[str, Callable[[float], bool]]:
    """Return when to strike: at a share of the work, or when files appear or vanish."""
    if chance.random() < 0.6:
        at = chance.uniform(0.0, 1.02) * cpu_s
        return f"after {at:.2f} s of work", lambda spent_s: spent_s >= at
    wanted = chance.randint(1, 4)
    seen: list[tuple[str, ...]] = []

    def changed(_spent_s: float) -> bool:
        # os.walk: a folder that vanishes under its eyes is no error to it
        walked = os.walk(place.root)
        names = (f"{at}/{name}" for at, folders, files in walked for name in folders + files)
        listing = tuple(sorted(names))
        if not seen or listing != seen[-1]:
            seen.append(listing)
        return len(seen) > wanted

    return f"at change {wanted} of its folders", changed


def _after_the_kill(victim: Victim, ended: Ended, how: signal.Signals) -> Iterator[tuple[str, str]]:
    if ended.code is None:
        yield "hang", "it did not end"
    if ended.traceback:
        yield "traceback", ended.traceback
    # once it has said what to do next its work is done, and a signal just ends the process
    at_work = ended.struck and ended.cpu_s > _STARTING_S and "\nnext: " not in ended.said
    if how is signal.SIGTERM and at_work and ended.code is not None and ended.code < 0:
        yield "unhandled", f"ended by signal {-ended.code} without a word"
    for words in victim.orphans():
        yield "orphan", words


def lost(place: Place, writing: Writing, measured: Measured) -> Iterator[tuple[str, str]]:
    """Yield what was lost: files that vanished, are not whole, or do not belong together."""
    now = contents(place.work)
    if not writing.settled:
        yield from (("lost", "nothing is left"),) if not now else _broken(place, now)
        return
    old, new = measured.old, measured.new
    gone = [name for name in old if name not in now and not (writing.whole and name not in new)]
    yield from (("lost", f"{name} is gone") for name in gone)
    states = {name: _state(now[name], old.get(name), new.get(name)) for name in now}
    yield from _broken(place, [name for name, state in states.items() if state == "other"])
    results = {state for name, state in states.items() if name in old or name in new}
    if writing.whole and "old" in results and results & {"new", "other"}:
        yield "lost", "some files are of the earlier result, others of the new one"


def _broken(place: Place, names: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield the files that are not whole; scratch is litter, and no result."""
    for name in names:
        if any(part.startswith(".") for part in Path(name).parts):
            continue
        problem = unreadable(place.work / name)
        if problem:
            yield "lost", f"{name} is neither the earlier nor the new one: {problem}"


def _state(now: str, old: str | None, new: str | None) -> str:
    if now == old:
        return "both" if old == new else "old"
    return "new" if now == new else "other"


def litter(place: Place, writing: Writing, measured: Measured) -> Iterator[tuple[str, str]]:
    """Yield what a command left behind that is no result."""
    for path in _entries(place.work):
        hidden = any(part.startswith(".") for part in Path(path).parts)
        if hidden or (writing.whole and writing.settled and path not in measured.names):
            yield "litter", f"in the folder: {path}"
    for path in _entries(place.tmp):
        if not path.startswith(FOREIGN):
            yield "litter", f"in TMPDIR: {path}"
    for path in _entries(place.cache):
        if any(
            part.startswith(".") or part.endswith((".tmp", ".part")) for part in Path(path).parts
        ):
            yield "litter", f"in the cache: {path}"


def _entries(folder: Path) -> list[str]:
    """Return files, and folders without any."""
    return [
        str(path.relative_to(folder))
        for path in sorted(folder.rglob("*"))
        if not path.is_dir() or not any(path.iterdir())
    ]


def _again(
    shooting: Range, writing: Writing, place: Place, measured: Measured
) -> Iterator[tuple[str, str]]:
    """Run the command once more: it completes, and leaves nothing but its result."""
    victim = _started(shooting, writing, place, new=True)
    ended = victim.finish()
    yield from (("orphan", f"of the rerun: {words}") for words in victim.orphans())
    if ended.code != 0:
        last = ended.traceback or (ended.said.strip().splitlines() or [""])[-1]
        yield (
            ("traceback" if ended.traceback else "stuck"),
            f"the rerun ends with {ended.code}: {last}",
        )
        return
    now = contents(place.work)
    missing = [name for name in measured.new if name not in now and writing.settled]
    yield from (("lost", f"the rerun did not write {name}") for name in missing)
    yield from _broken(place, now)
    yield from litter(place, writing, measured)


def _starved(shooting: Range, writing: Writing, fault: str, chance: random.Random) -> Trial:
    """Take away a command's room, and look at what it does."""
    measured = shooting.measured(writing)
    title = f"{writing.name} with {fault}"
    with tempfile.TemporaryDirectory(dir=shooting.folder) as name, ExitStack() as stack:
        place = Place(Path(name) / "place")
        shutil.copytree(measured.earlier, place.root)
        limit = chance.choice([0, 4096, 1 << 16, 1 << 20]) if fault == "file size" else None
        if limit is None and not small_disks.taken_away(stack, place.root, fault, chance):
            return f"{title} (not possible here)", []
        victim = _started(shooting, writing, place, new=True, limit=limit)
        ended = victim.finish()
        wrong = list(_after_the_kill(victim, ended, signal.SIGKILL))
        if ended.code not in (0, 1, *_REFUSALS) and not ended.traceback:
            wrong.append(("unhandled", f"exit code {ended.code}: {ended.said[-120:]!r}"))
        wrong += lost(place, writing, measured)
        wrong += litter(place, writing, measured)
    return title, [Finding(kind, title, what) for kind, what in wrong]


def command_line() -> int:
    """Do what the command line asks; return 1 if there are findings."""
    parser = argparse.ArgumentParser(prog="python -m tests.torture.kills", description=__doc__)
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", nargs="*", default=(), help="names of commands")
    asked = parser.parse_args()
    with Hands(asked.jobs) as hands:
        return min(1, len(run(asked.count, asked.seed, hands, only=asked.only)))


if __name__ == "__main__":
    from torture import kills  # by this name hands find what they are to do

    sys.exit(kills.command_line())
