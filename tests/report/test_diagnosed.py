from __future__ import annotations

from dataclasses import replace

from burnish.analyze.advise import Advice
from burnish.analyze.diagnosis import Diagnosis, Idle, KernelTime, Launches
from burnish.report.diagnosed import Number, diagnosed
from burnish.study.shown.diagnosis import first_lines

US = 1e-6


def found(*, idle: Idle | None = None, launches: Launches | None = None) -> Diagnosis:
    advice = Advice("launch it at once", 3.1, "bound", "evidence", "burnish whatif X --cuda-graph")
    kernels = (KernelTime("MatMul", "product", 12, 40 * US),)
    return Diagnosis(
        "launching", "it waits", 100 * US, 60 * US, 0.0, idle, launches, kernels, {}, (advice,)
    )


def test_on_a_host_the_third_number_is_the_operator_that_takes_most() -> None:
    shown = diagnosed(found())
    assert shown.sentence == "It waits."
    assert shown.numbers == (
        Number("an inference", "100 µs"),
        Number("at work", "60.0 %", "60.0 µs"),
        Number("MatMul", "40.0 %", "40.0 µs, 12×"),
    )


def test_what_is_not_seen_beside_recording_it_has_no_share() -> None:
    unseen = replace(found(), busy_s=0.0)
    assert diagnosed(unseen).numbers == (Number("an inference", "100 µs"),)
    assert [*first_lines(unseen)] == ["It waits.", "100 µs an inference"]


def test_on_a_device_it_is_the_idle_time_with_its_reasons() -> None:
    idle = Idle(host_s=30 * US, launch_s=10 * US, sync_s=0.0)
    shown = diagnosed(found(idle=idle))
    assert shown.numbers[-1] == Number(
        "the device is idle", "40.0 %", "host busy 30.0 %, launch latency 10.0 %"
    )


def test_what_to_do_has_its_gain_and_its_command() -> None:
    (deed,) = diagnosed(found()).deeds
    assert (deed.gain, deed.command) == ("at most 3.10×", "burnish whatif X --cuda-graph")
