"""Trying schedules for real: kernels are generated, compiled, proved and timed side by side.

Everything but generating happens in a measuring process, which is started anew after a crash or a
timeout; the kernel at fault becomes a row that says so. All kernels of a group are compiled before
the first is timed, so that nothing else runs then.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

from burnish.codegen.backend import UNNAMED, Backend, EmittedKernel
from burnish.codegen.tune.check import case
from burnish.codegen.tune.messages import (
    BuiltKernel,
    Compile,
    LoadPart,
    PlaceTensors,
    Prove,
    TensorMessage,
    Time,
)
from burnish.codegen.tune.trial import Trial
from burnish.core.closing import Closing
from burnish.core.errors import BurnishError
from burnish.core.hashing import value_key
from burnish.process.child import Child, ChildEndedError, ChildRefusedError
from burnish.tile.graph import TileGraph
from burnish.tile.group import Group
from burnish.tile.schedule import Schedule
from burnish.tile.signature import signature, tensor_order
from burnish.timing.race import RaceRules
from burnish.timing.race import race as rounds_of

Timed = Callable[[str, int, int], float | None]
"""Seconds of one run of a subject, given how often to run it and how often before; None: failed."""


@dataclass(frozen=True, slots=True)
class TrialRules:
    """How long to time."""

    rounds: int = 5
    block_s: float = 0.01
    """Runs are repeated until they take about as long."""
    behind: float = 1.25
    """A subject that takes this many times as long as the fastest one is not timed again."""
    behind_at_first: float = 2.0
    """The same after the first look, which may have been disturbed."""
    looks_again: int = 2
    """Further looks at who would be given up after the first; the least of them counts."""
    long_s: float = 0.05
    """Runs of this length need none before them to settle."""
    most_runs: int = 1000


def race(
    subjects: Sequence[str], timed: Timed, rules: TrialRules, *, always: Sequence[str] = ()
) -> dict[str, tuple[float, ...]]:
    """Return one sample per round of every subject that did not fail.

    `always`: subjects that are timed to the end, however far behind they are.
    """
    first = _looks(subjects, timed, rules)

    def again(subject: str) -> float | None:
        settling = 0 if first[subject] >= rules.long_s else 1
        return timed(subject, _runs(first[subject], rules), settling)

    within = RaceRules(rules.rounds, rules.behind, rules.behind_at_first)
    samples = rounds_of(first, again, within, looks=first, always=always)
    # who fell back before the first round has the first look only
    return {subject: tuple(own) or (first[subject],) for subject, own in samples.items()}


def _looks(subjects: Sequence[str], timed: Timed, rules: TrialRules) -> dict[str, float]:
    """Return a first look at every subject that does not fail.

    One run of some microseconds takes milliseconds if somebody else has the core: who seems to be
    far behind is looked at again before it is given up.
    """
    once = {subject: timed(subject, 1, 1) for subject in subjects}
    first = {subject: look for subject, look in once.items() if look is not None}
    best = min(first.values(), default=0.0)
    behind = [
        subject
        for subject, look in first.items()
        if rules.behind_at_first * best < look < rules.long_s
    ]
    for subject in behind:
        again = [timed(subject, 1, 0) for _ in range(rules.looks_again)]
        known = [look for look in again if look is not None]
        if len(known) < len(again):
            del first[subject]
        else:
            first[subject] = min(first[subject], *known)
    return first


def _runs(seconds: float, rules: TrialRules) -> int:
    if seconds <= 0:
        return rules.most_runs
    return min(max(math.ceil(rules.block_s / seconds), 1), rules.most_runs)


_ORT = "onnxruntime"
_START_LIMIT_S = 120.0
"""Starting an interpreter and importing takes a second, and much longer on a busy machine."""


@dataclass(frozen=True)
class TrialTask:
    """A group to be tried, in its graph."""

    group: Group
    graph: TileGraph
    layouts: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """Tensors whose dimensions lie in another order, outermost first."""

    @cached_property
    def signature(self) -> str:
        """Return what equal groups share."""
        return signature(self.group, self.graph)

    @property
    def places(self) -> dict[str, tuple[int, ...]]:
        """Return the layouts by the position of their tensors in the group."""
        order = enumerate(tensor_order(self.group))
        return {str(n): self.layouts[name] for n, name in order if name in self.layouts}

    @cached_property
    def key(self) -> str:
        """Return what equal groups whose tensors lie alike in memory share."""
        return value_key([self.signature, self.places])[:32]


@dataclass(frozen=True, slots=True)
class OrtCandidate:
    """A part of the model that does a group's work in ONNX Runtime."""

    model: Callable[[], bytes] = field(repr=False)
    """Gives the part as a file's content; weights are only read when it is wanted."""
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    kind: str = ""
    """Equal for parts that take equally long: what is run, without names and values."""
    shapes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """Of tensors that have another shape in the model than in the graph; elements lie alike."""


@dataclass(frozen=True, slots=True)
class TrialTerms:
    """What holds for every trial."""

    backend: Backend
    rules: TrialRules = TrialRules()  # frozen
    limit_s: float = 20.0
    """A kernel that takes this much longer than it may to be proved, or timed, is given up."""
    slowest_per_s: float = 1e8
    """Scalar operations that even a bad kernel on a busy machine does."""


class _FailedError(Exception):
    """A subject cannot be tried any further; the text says why."""


class MeasuringProcess(Closing):
    """Tries schedules; to be closed, as it keeps a process."""

    def __init__(self, terms: TrialTerms) -> None:
        self._terms = terms
        self._backend = terms.backend
        self._worker: Child | None = None
        self._place: PlaceTensors | None = None
        self._has_place = False
        self._limit_s = terms.limit_s
        self._loading: dict[str, Prove | LoadPart] = {}
        self._loaded: set[str] = set()
        self._failures: dict[str, str] = {}

    def try_all(
        self, task: TrialTask, schedules: Sequence[Schedule], ort: OrtCandidate | None = None
    ) -> tuple[Trial, ...]:
        """Return one trial per schedule, in order, and one of ONNX Runtime if it takes part."""
        self._place, self._has_place = None, False
        self._loading, self._loaded, self._failures = {}, set(), {}
        work = sum(op.work for op in task.group.ops)
        self._limit_s = self._terms.limit_s + work / self._terms.slowest_per_s
        self._build(task, schedules)
        if ort is not None:
            self._succeeds(_ORT, partial(self._cut_out, ort))
        if self._loading:
            self._judge(task)
        proved = [key for key in self._loading if self._succeeds(key, partial(self._load, key))]
        samples = race(proved, self._timed, self._terms.rules, always=(_ORT,))
        trials = [self._trial(str(n), each, samples) for n, each in enumerate(schedules)]
        if ort is not None:
            trials.append(self._trial(_ORT, None, samples))
        return tuple(trials)

    def close(self) -> None:
        """End the measuring process."""
        if self._worker is not None:
            self._worker.end()
            self._worker = None

    def _build(self, task: TrialTask, schedules: Sequence[Schedule]) -> None:
        """Generate and compile; one goes on here while the other does in the other process."""
        known: dict[str, Schedule] = {}
        waiting: tuple[str, EmittedKernel] | None = None
        for number, schedule in enumerate(schedules):
            kernel = self._written(str(number), task, schedule)
            if kernel is None:
                continue
            if (twin := known.setdefault(kernel.source, schedule)) is not schedule:
                tile = "×".join(map(str, twin.tile))
                self._failures[str(number)] = f"the same kernel as with tile {tile}"
                continue
            self._collect(waiting)
            request = Compile(kernel.source, self._backend.target)
            sent = self._succeeds(str(number), partial(self._send, request))
            waiting = (str(number), kernel) if sent else None
        self._collect(waiting)

    def _written(self, key: str, task: TrialTask, schedule: Schedule) -> EmittedKernel | None:
        try:
            # trials prove and time one kernel: a group of several is a failure here
            (kernel,) = self._backend.emit(task.group, schedule, task.graph, layouts=task.layouts)
        except Exception as error:
            # whatever the generator cannot write is a row, and the next schedule may do
            self._failures[key] = f"cannot be generated ({type(error).__name__}: {error})"
            return None
        return kernel

    def _collect(self, waiting: tuple[str, EmittedKernel] | None) -> None:
        if waiting is None:
            return
        key, kernel = waiting

        def receive() -> None:
            code = self._process().receive(bytes, self._limit_s + _START_LIMIT_S)
            self._loading[key] = Prove(
                key,
                BuiltKernel(UNNAMED, code, kernel.arguments, kernel.launch, kernel.packed),
            )

        self._succeeds(key, receive)

    def _cut_out(self, part: OrtCandidate) -> None:
        try:
            content = part.model()
        except Exception as error:
            raise _FailedError(f"cannot be cut out ({type(error).__name__}: {error})") from error
        self._loading[_ORT] = LoadPart(_ORT, content, part.inputs, part.outputs, part.shapes)

    def _judge(self, task: TrialTask) -> None:
        """Settle what the group must compute; where nobody can say, nothing is tried."""
        try:
            found = case(task.group, task.graph)
        except Exception as error:
            reason = f"cannot be judged ({type(error).__name__}: {error})"
            self._failures |= dict.fromkeys(self._loading, reason)
            self._loading.clear()
            return
        kinds = {
            name: TensorMessage(kind.dtype, kind.shape, task.layouts.get(name), kind.strides)
            for name, kind in task.graph.tensors.items()
        }
        self._place = PlaceTensors(
            case=found,
            inputs={name: kinds[name] for name in found.inputs},
            outputs={name: kinds[name] for name in task.group.outputs},
            constants=frozenset(task.graph.constants).intersection(found.inputs),
            target=self._backend.target,
            threads=self._backend.machine.units,
        )

    def _send(self, request: Compile) -> None:
        self._process().send("compile", request)

    def _load(self, key: str) -> None:
        worker = self._process()
        if not self._has_place and self._place is not None:
            worker.ask("place", self._place, type(None), _START_LIMIT_S)
            self._has_place = True
        if key not in self._loaded:
            method = "load_part" if key == _ORT else "prove"
            if wrong := worker.ask(method, self._loading[key], str, self._limit_s):
                # a node that is shared out among groups cannot take the place of one of them
                how = "computes something else" if key == _ORT else "wrong"
                raise _FailedError(f"{how}: {wrong}")
            self._loaded.add(key)

    def _timed(self, key: str, runs: int, settling: int) -> float | None:
        found: list[float] = []

        def measure() -> None:
            self._load(key)
            request = Time(key, runs, settling)
            found.append(self._process().ask("time", request, float, self._limit_s))

        return found[0] if self._succeeds(key, measure) else None

    def _succeeds(self, key: str, action: Callable[[], Any]) -> bool:
        """Do something for a subject; what goes wrong is its failure, and nobody else's."""
        try:
            action()
        except ChildEndedError as ended:
            self._worker, self._has_place = None, False
            self._loaded.clear()
            self._failures[key] = str(ended)
        except (ChildRefusedError, BurnishError) as refused:
            self._failures[key] = f"cannot be run ({refused})"
        except _FailedError as failed:
            self._failures[key] = str(failed)
        else:
            return True
        return False

    def _trial(
        self, key: str, schedule: Schedule | None, samples: Mapping[str, tuple[float, ...]]
    ) -> Trial:
        failure = self._failures.get(key, "")
        return Trial(schedule, () if failure else samples[key], failure)

    def _process(self) -> Child:
        if self._worker is None:
            self._worker = Child(self._backend.trials)
        return self._worker
