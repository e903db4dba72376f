"""What holds an inference back, as pages show it: a sentence, three numbers, what to do."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from burnish.analyze.diagnosis import Diagnosis
from burnish.core import units


@dataclass(frozen=True, slots=True)
class Number:
    """One number: what it is, how much, and what belongs to it."""

    what: str
    value: str
    remark: str = ""


@dataclass(frozen=True, slots=True)
class Deed:
    """Something to do, what it would give, and the command that does it or finds out."""

    what: str
    gain: str
    command: str


@dataclass(frozen=True, slots=True)
class Diagnosed:
    """A diagnosis in words."""

    sentence: str
    numbers: tuple[Number, ...]
    deeds: tuple[Deed, ...]


def diagnosed(found: Diagnosis) -> Diagnosed:
    """Return a diagnosis as it stands at the top of a page."""
    sentence = f"{found.sentence[:1].upper()}{found.sentence[1:]}."
    return Diagnosed(sentence, tuple(_numbers(found)), tuple(_deeds(found)))


def _numbers(found: Diagnosis) -> Iterator[Number]:
    launches = found.launches
    is_told = launches is None or launches.median_call_s is not None
    many = "launches" if is_told else "kernels and copies"
    called = f"{launches.number:,} {many}" if launches is not None else ""
    yield Number("an inference", units.seconds(found.wall_s), called)
    if not found.is_unseen:
        yield Number("at work", units.share(found.share(found.busy_s)), units.seconds(found.busy_s))
    if found.idle is not None:
        reasons = {
            "host busy": found.idle.host_s,
            "launch latency": found.idle.launch_s,
            "synchronisation": found.idle.sync_s,
        }
        said = ", ".join(
            f"{why} {units.share(found.share(seconds_s))}"
            for why, seconds_s in reasons.items()
            if seconds_s
        )
        said = said if is_told else "no launch was recorded"
        yield Number("the device is idle", units.share(found.share(found.idle.total_s)), said)
    elif found.kernels and not found.is_unseen:
        first = found.kernels[0]
        remark = f"{units.seconds(first.seconds_s)}, {first.count:,}×"
        yield Number(first.name, units.share(found.share(first.seconds_s)), remark)


def _deeds(found: Diagnosis) -> Iterator[Deed]:
    for one in found.advice:
        most = "at most " if one.confidence == "bound" else ""
        gain = f"{most}{units.gain(one.gain)}" if one.gain is not None else "measure it"
        yield Deed(one.what, gain, one.command)
