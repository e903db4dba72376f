"""A study whose groups are measured side by side, on one processor of the host each.

    python benchmarks/side_by_side.py STUDY.toml -o FOLDER --ledger FILE --seconds 500
        [--cpus 0-7] [--first GROUP,GROUP] [--wide restormer=4] [--carried FOLDER] [--small]

For cards: most of a study's time is spent on the host, where engines are opened and compiled, and
what is timed on a card is timed by one process at a time whoever runs beside it
(`burnish.bench.on_card`). Never for engines that compute on the CPU, which would be timed while
others work beside them.

Every group is a `burnish study` of its own, with a budget that ends with the time there is, and all
of them write into one ledger, each round as it is finished: started again with it, this goes on
with what is missing, behind the rounds of a group that was ended. Processors without a group export
models, several together if there are more of them; what was exported elsewhere and carried here
(`referred.py`) is only restored. Caches of compilers belong to a group and begin empty, so that
first calls are those of something new.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from burnish.bench.cells import LedgerRow
from burnish.bench.ledger import Ledger
from burnish.store import layout
from burnish.study.study_file import StudyFile, StudyModel, read

VARIANT = "dynamo"
LEAST_EXPORT_S, LEAST_GROUP_S = 150.0, 150.0
"""What is not begun any more when less time is left."""
LAST_S = 90.0
"""Behind a budget: what a group may take that was opening an engine when the budget ended; one that
is ended keeps only the rounds before."""
FEWEST_PROCESSES = 3


@dataclass
class Group:
    """One model at one size: measured on one processor, or those that it is given."""

    model: StudyModel
    sizes: dict[str, int]
    known: int = 0
    """How many of its cells the ledger has."""
    met: int = 0
    """How many it has in one process at least."""

    @property
    def name(self) -> str:
        """Return what its folder is called."""
        sizes = "-".join(f"{name}{size}" for name, size in self.sizes.items())
        return f"{self.model.name}-{sizes}"


@dataclass
class Running:
    """A process on its processors."""

    what: StudyModel | Group
    cpus: list[int]
    process: subprocess.Popen[bytes]
    begun: float = field(default_factory=time.monotonic)


class SideBySide:
    """Exports models and measures groups until the time ends or all is done."""

    def __init__(self, asked: argparse.Namespace, study: StudyFile) -> None:
        self.asked = asked
        self.study = study
        self.ends = time.monotonic() + asked.seconds
        self.free = cpus_of(asked.cpus)
        self.processors = len(self.free)
        self.running: list[Running] = []
        self.exported: set[str] = set()
        self.failed: set[str] = set()
        self.carried = held(asked.carried)
        self.groups = sorted(
            (one for one in self._all() if one.known < len(study.engines)),
            # a cell that nobody has comes before another process of one
            key=lambda one: (
                one.name not in asked.first,
                one.met,
                one.name in asked.later,
                one.known,
            ),
        )
        for folder in ("models", "groups", "told"):
            (asked.output / folder).mkdir(parents=True, exist_ok=True)
        for model in study.models:
            if self._place(model).is_file():
                self.exported.add(model.name)

    def _all(self) -> list[Group]:
        return groups_of(self.study, self.asked.ledger, small=self.asked.small)

    @property
    def left_s(self) -> float:
        """Return the time until everything is ended."""
        return self.ends - time.monotonic()

    def run(self) -> None:
        """Keep the processors busy; whoever is still there at the end is ended."""
        cells = len(self.study.engines) * len(self.groups)
        self._say(f"{len(self.groups)} groups of {cells} cells, {len(self.free)} processors")
        while self.running or self._begin():
            self._begin()
            time.sleep(0.2)
            self._reap()
            if self.left_s <= 0:
                break
        for one in self.running:
            self._say(f"{_named(one.what)} was ended")
            os.killpg(one.process.pid, signal.SIGKILL)
            one.process.wait()
        if self.groups:
            waiting = ", ".join(one.name for one in self.groups)
            self._say(f"not begun, for want of time or of an export: {waiting}")

    def _begin(self) -> bool:
        """Begin what can be begun; groups go before exports, which only feed them."""
        begun = len(self.running)
        while self.free and (group := self._ready()) is not None:
            wide = min(self.processors, self.asked.wide.get(group.name, 1))
            if wide > len(self.free):
                return len(self.running) > begun  # nobody takes what it waits for
            self.groups.remove(group)
            self._start(group, [self.free.pop(0) for _ in range(wide)])
        waiting = self._to_export() if self.left_s > LEAST_EXPORT_S else []
        waiting = waiting[: len(self.free)]
        known = {**self.asked.wide, **{one.name: 1 for one in waiting if self._is_carried(one)}}
        for number, model in enumerate(waiting):
            later = waiting[number:]
            spare = len(self.free) - sum(known.get(one.name, 0) for one in later)
            equal = spare // max(1, sum(one.name not in known for one in later))
            wide = min(len(self.free), max(1, known.get(model.name, equal)))
            if wide:
                self._start(model, [self.free.pop(0) for _ in range(wide)])
        return len(self.running) > begun

    def _ready(self) -> Group | None:
        if self.left_s < LEAST_GROUP_S:
            return None
        return next((one for one in self._turn() if one.model.name in self.exported), None)

    def _turn(self) -> list[Group]:
        """Return the groups whose turn it is: those that go first, until all of them have begun.

        What cannot be exported holds nobody up.
        """
        sound = [one for one in self.groups if one.model.name not in self.failed]
        return [one for one in sound if one.name in self.asked.first] or self.groups

    def _to_export(self) -> list[StudyModel]:
        """Return the models that groups wait for."""
        busy = {one.what.name for one in self.running if isinstance(one.what, StudyModel)}
        models = {one.model.name: one.model for one in self._turn()}
        return [
            model
            for name, model in models.items()
            if name not in busy | self.exported | self.failed
        ]

    def _start(self, what: StudyModel | Group, cpus: list[int]) -> None:
        told = (self.asked.output / "told" / f"{_named(what)}.txt").open("ab")
        if isinstance(what, Group):
            command, environment = self._measuring(what)
        else:
            command, environment = self._exporting(what), {"OMP_NUM_THREADS": str(len(cpus))}
        process = subprocess.Popen(
            [sys.executable, *command],
            stdin=subprocess.DEVNULL, stdout=told, stderr=told, start_new_session=True,
            env={**os.environ, **environment},
            preexec_fn=lambda: os.sched_setaffinity(0, cpus),
        )  # fmt: skip
        self._say(f"{_named(what)} on {cpus}")
        self.running.append(Running(what, cpus, process))

    def _is_carried(self, model: StudyModel) -> bool:
        return stored_name(model, small=self.asked.small) in self.carried

    def _exporting(self, model: StudyModel) -> list[str]:
        own, store = stored_name(model, small=self.asked.small), self.asked.output / "models"
        if own in self.carried:
            script = str(Path(__file__).with_name("referred.py"))
            return [script, "make", str(self.asked.carried / f"{own}.tar.xz"), str(store)]
        options = ["--past"] if model.past else []
        options += ["-p", model.precision] if model.precision else []
        options += ["--small"] if self.asked.small else []
        name = ["--name", own, "--variant", VARIANT, "--store", str(store)]
        return ["-m", "burnish", "export", str(model.zoo), *name, *options]

    def _measuring(self, group: Group) -> tuple[list[str], dict[str, str]]:
        """Return the command of a group's own study, and where its compilers keep things."""
        folder = self.asked.output / "groups" / group.name
        folder.mkdir(parents=True, exist_ok=True)
        models = folder / "models"
        if not models.is_symlink():
            models.symlink_to((self.asked.output / "models").resolve())
        file = folder / "study.toml"
        file.write_text(study_text(self.study, group, small=self.asked.small))
        # what is made again elsewhere must not be found by others: first calls are told
        caches = {
            "TORCHINDUCTOR_CACHE_DIR": "inductor", "TRITON_CACHE_DIR": "triton",
            "BURNISH_CACHE": "burnish",
        }  # fmt: skip
        budget = self._share_s(group)
        small = ["--small"] if self.asked.small else []
        place = ["-o", str(folder), "--ledger", str(self.asked.ledger)]
        command = ["study", str(file), *place, "--budget", f"{budget:.0f}s", *small]
        return ["-m", "burnish", *command], {
            name: str(folder / place) for name, place in caches.items()
        }

    def _share_s(self, group: Group) -> float:
        """Return how long a group may take, so that those that wait have their turn, too."""
        longest_s = max(1.0, self.left_s - LAST_S)
        running = [one.what for one in self.running if isinstance(one.what, Group)]
        whole = {one.name for one in (group, *self.groups, *running)} & set(self.asked.whole)
        if group.name in whole:
            return longest_s
        waiting = 1 + sum(one.name not in whole for one in self.groups)
        share_s = longest_s / math.ceil(waiting / max(1, self.processors - len(whole)))
        return min(longest_s, max(share_s, self.asked.least))

    def _reap(self) -> None:
        for one in [each for each in self.running if each.process.poll() is not None]:
            self.running.remove(one)
            self.free += one.cpus
            code = one.process.returncode
            took = time.monotonic() - one.begun
            self._say(f"{_named(one.what)} ended with {code} after {took:.0f} s")
            if isinstance(one.what, StudyModel):
                self._exported(one.what, good=not code)

    def _exported(self, model: StudyModel, *, good: bool) -> None:
        """Note what became of an export; what could not be restored is exported next."""
        if good or not self._is_carried(model):
            (self.exported if good else self.failed).add(model.name)
            return
        self.carried.discard(stored_name(model, small=self.asked.small))
        self._say(f"{model.name} is exported anew: what was carried cannot be restored")

    def _place(self, model: StudyModel) -> Path:
        return layout.place(
            self.asked.output / "models", stored_name(model, small=self.asked.small), VARIANT
        )

    def _say(self, text: str) -> None:
        print(f"{self.asked.seconds - self.left_s:6.1f} s  {text}", flush=True)


def stored_name(model: StudyModel, *, small: bool) -> str:
    """Return under which name a study exports a model."""
    return f"{model.name}{'-past' if model.past else ''}{'-small' if small else ''}"


def held(folder: Path | None) -> set[str]:
    """Return the names of the exports that a folder has archives of."""
    end = ".tar.xz"
    return {path.name.removesuffix(end) for path in folder.glob(f"*{end}")} if folder else set()


def groups_of(study: StudyFile, ledger: Path, *, small: bool = False) -> list[Group]:
    """Return every model at every size of its own, or of the study's batch sizes."""
    rows = Ledger(ledger).rows()
    found = []
    for model in study.models:
        name = stored_name(model, small=small)
        own = [row for row in rows if row.model.partition("/")[0] == name]
        for sizes in model.sizes or [{"batch": batch} for batch in study.batch]:
            known, met = measured(own, sizes), measured(own, sizes, processes=1)
            found.append(Group(replace(model, sizes=(sizes,)), dict(sizes), known, met))
    return found


def measured(
    rows: Sequence[LedgerRow], sizes: Mapping[str, int], processes: int = FEWEST_PROCESSES
) -> int:
    """Return how many engines are known at some sizes, in enough processes.

    Sizes that nobody named are bound in a row, too.
    """
    alike = (row for row in rows if sizes.items() <= row.bindings.items())
    return len({
        row.engine
        for row in alike
        if row.status != "ok" or row.figures.processes >= processes
    })  # fmt: skip


def study_text(study: StudyFile, group: Group, *, small: bool) -> str:
    """Return a study of one group as TOML; strings of JSON are strings of TOML."""
    model = group.model
    facts = [f"zoo = {json.dumps(model.zoo)}", f"name = {json.dumps(model.name)}"]
    facts += [f"precision = {json.dumps(model.precision)}"] if model.precision else []
    facts += ["past = true"] if model.past else []
    sizes = ", ".join(f"{name} = {size}" for name, size in group.sizes.items())
    lines = [
        f"title = {json.dumps(f'{study.title}: {group.name}')}",
        f"engines = {json.dumps(list(study.engines))}",
        f"rounds = {study.rounds}",
        *([] if study.blocks is None else [f"blocks = {study.blocks}"]),
        f"models = [{{ {', '.join(facts)}, shapes = [{{ {sizes} }}] }}]",
        *(["[small]"] if small else []),
    ]
    return "\n".join(lines) + "\n"


def cpus_of(text: str) -> list[int]:
    """Return processors that are named as `taskset -c` names them: `0-7,12`."""
    if not text:
        return sorted(os.sched_getaffinity(0))
    found: list[int] = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        found += range(int(first), int(last or first) + 1)
    return found


def wide_of(text: str) -> dict[str, int]:
    """Return how many processors models are exported on: `restormer=4`."""
    pairs = (part.partition("=") for part in text.split(","))
    return {name: int(number) for name, _, number in pairs}


def _named(what: StudyModel | Group) -> str:
    return what.name if isinstance(what, Group) else f"export-{what.name}"


def options() -> argparse.ArgumentParser:
    """Return what the command line may have."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("study", type=Path)
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--ledger", type=Path, required=True)
    parser.add_argument("--seconds", type=float, required=True)
    parser.add_argument(
        "--least", type=float, default=240.0, help="seconds that a group has at least, if there are"
    )
    parser.add_argument(
        "--whole", type=lambda text: text.split(","), default=[],
        help="groups that have all the time there is: bsrn-batch64",
    )  # fmt: skip
    parser.add_argument(
        "--first", type=lambda text: text.split(","), default=[],
        help="groups that are begun before all others: the processors are theirs until then",
    )  # fmt: skip
    parser.add_argument(
        "--later", type=lambda text: text.split(","), default=[],
        help="groups that are begun when no other waits",
    )  # fmt: skip
    parser.add_argument("--carried", type=Path, help="a folder of exports to restore")
    parser.add_argument("--cpus", default="", help="as taskset names them; default: all")
    parser.add_argument("--small", action="store_true", help="what the file says under [small]")
    parser.add_argument(
        "--wide",
        type=wide_of,
        default={},
        help="processors for exports of models, and for groups, that compute much: a=4,a-batch1=2",
    )
    return parser


def main(arguments: Sequence[str] | None = None) -> None:
    """Run what the command line asks for."""
    asked = options().parse_args(arguments)
    SideBySide(asked, read(asked.study, small=asked.small)).run()


if __name__ == "__main__":
    main()
