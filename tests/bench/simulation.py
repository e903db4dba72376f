"""A machine with its own time and its own noise, driven through the real sampling code."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from burnish.bench.compare import compare
from burnish.bench.gate import FINER, TRIES, GateOutcome, settled
from burnish.bench.measure import Comparison, Measurement, Placed
from burnish.bench.rounds import Rounds
from burnish.bench.subject import BenchOptions, WarmedUp
from burnish.core.arrays import Arrays
from burnish.timing import stopwatch

PLACED = Placed(device="cpu", precision="f32", nodes_by_provider={}, threads=1, notes=())


@dataclass
class Machine:
    """Time passes only while something runs."""

    noise: Noise
    dice: random.Random
    now_ns: int = 0
    wander: float = 0.0

    def clock_ns(self) -> int:
        return self.now_ns

    def clock_s(self) -> float:
        return self.now_ns / 1e9

    def spend(self, seconds: float) -> None:
        self.now_ns += max(1, int(seconds * 1e9))


@dataclass(frozen=True)
class Noise:
    """What makes a process, and a call, faster or slower; factors of the true time."""

    process: Callable[[random.Random], float]
    call: Callable[[Machine], float]


class SimulatedWorker:
    """A worker whose calls take `call_s` times the noise."""

    def __init__(self, machine: Machine, call_s: float) -> None:
        self._machine = machine
        self._call_s = call_s * machine.noise.process(machine.dice)

    def _call(self) -> None:
        self._machine.spend(self._call_s * self._machine.noise.call(self._machine))

    def ready(self) -> None:
        self._machine.spend(0.1)

    def open(self) -> WarmedUp:
        clock = self._machine.clock_ns
        self._machine.spend(0.1)
        first = stopwatch.timed(self._call, clock)
        warmup = stopwatch.warm_up(self._call, stopwatch.WarmupLimit(seconds=0.5), clock)
        return WarmedUp(
            load_s=0.1,
            first_call_s=first,
            warmup_calls=warmup.calls,
            warmup_s=warmup.seconds,
            converged=warmup.converged,
            call_s=warmup.call_s,
            placement=PLACED,
        )

    def block(self, calls: int, settle_s: float) -> tuple[float, ...]:
        clock = self._machine.clock_ns
        return stopwatch.sampled(self._call, calls=calls, settle_s=settle_s, clock=clock)

    def peak_memory_bytes(self) -> int | None:
        return 1

    def outputs(self, known: Sequence[str], calls: int) -> Mapping[str, Arrays]:
        return {} if "" in known else {"": {}}

    def end(self) -> None:
        pass


def measurements(
    call_s: Mapping[str, float], noise: Noise, *, seed: int, options: BenchOptions
) -> tuple[Measurement, ...]:
    """Measure subjects of known speed on a noisy machine."""
    machine = Machine(noise, random.Random(f"noise {seed}"))
    rounds = Rounds(
        list(call_s),
        lambda label: SimulatedWorker(machine, call_s[label]),
        options,
        clock=machine.clock_s,
    )
    rounds.run()
    return tuple(
        Measurement(
            subject=label, model_key="", engine="simulated", options={}, bindings={},
            launches=tuple(tally.launches), blocks=tuple(tally.blocks),
            placement=tally.placement, failure=tally.failure,
        )
        for label, tally in rounds.tallies.items()
    )  # fmt: skip


def compared(
    noise: Noise, *, seed: int, speed_up: float = 1.0, rounds: int = 20, blocks: int = 6
) -> Comparison:
    """Compare a subject with one that is `speed_up` times as fast."""
    options = BenchOptions(rounds=rounds, blocks=blocks, seed=seed)
    pair = {"baseline": 0.02, "candidate": 0.02 / speed_up}
    baseline, candidate = measurements(pair, noise, seed=seed, options=options)
    return compare(baseline, [candidate])[0]


def gated(noise: Noise, *, seed: int, slowdown: float, max_slowdown: float = 0.05) -> bool:
    """Say whether a gate fails a build that is slower by so much."""
    pair = {"baseline": 0.02, "candidate": 0.02 * (1 + slowdown)}

    def measure(number: int) -> tuple[Measurement, Measurement]:
        own = seed * TRIES + number
        options = BenchOptions(blocks=12, seed=own, visible=max_slowdown * FINER)
        baseline, candidate = measurements(pair, noise, seed=own, options=options)
        return baseline, candidate

    found = settled(measure, lambda one, other: compare(one, [other])[0], max_slowdown)
    return found.outcome is GateOutcome.SLOWER


def _luck(dice: random.Random) -> float:
    return math.exp(dice.gauss(0, 0.01))


def _two_kinds_of_luck(dice: random.Random) -> float:
    return dice.choice((1.0, 1.05)) * math.exp(dice.gauss(0, 0.002))


def _steady(machine: Machine) -> float:
    return math.exp(machine.dice.gauss(0, 0.01))


def _drifting(machine: Machine) -> float:
    now = machine.clock_s()
    return (1 + 0.02 * now + 0.1 * math.sin(now)) * _steady(machine)


def _heavy_tailed(machine: Machine) -> float:
    return 0.97 + 0.03 * machine.dice.paretovariate(1.2)


def _wandering(machine: Machine) -> float:
    machine.wander = 0.97 * machine.wander + machine.dice.gauss(0, 0.02)
    return math.exp(machine.wander)


def _stalling(machine: Machine) -> float:
    return _steady(machine) * (20 if machine.dice.random() < 0.03 else 1)


NOISES = {
    "process luck of 1 %": Noise(_luck, _steady),
    "two kinds of processes": Noise(_two_kinds_of_luck, _steady),
    "drift": Noise(_luck, _drifting),
    "heavy tails": Noise(_luck, _heavy_tailed),
    "autocorrelated": Noise(_luck, _wandering),
    "stalls": Noise(_luck, _stalling),
}


def mixed(dice: random.Random) -> Noise:
    """Return a machine with some of everything: luck, a drift, stalls, heavy tails, moods."""
    luck, rare = dice.uniform(0, 0.03), dice.choice((0.0, 0.1))
    tilt, swing, period_s = dice.uniform(-0.02, 0.02), dice.uniform(0, 0.2), dice.uniform(0.3, 20)
    tail, stall, mood = dice.uniform(0, 0.05), dice.uniform(0, 0.05), dice.uniform(0, 0.02)

    def process(own: random.Random) -> float:
        return math.exp(own.gauss(0, luck)) * (1.1 if own.random() < rare else 1.0)

    def call(machine: Machine) -> float:
        now = machine.clock_s()
        machine.wander = 0.97 * machine.wander + machine.dice.gauss(0, mood)
        drift = math.exp(tilt * now) * (1 + swing * math.sin(now / period_s))
        slow = 20 if machine.dice.random() < stall else 1
        return slow * drift * math.exp(machine.wander) * (
            1 - tail + tail * machine.dice.paretovariate(1.2)
        )  # fmt: skip

    return Noise(process, call)
