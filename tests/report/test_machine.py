from __future__ import annotations

from dataclasses import replace

from burnish.bench.measure import GpuState
from burnish.report import machine
from sample_run import sample_run


def test_what_the_system_does_not_tell_is_left_out() -> None:
    report = sample_run()
    silent = replace(
        report.bench.machine, governor=None, turbo=None, memory_bytes=None, environment={},
        quota_cores=None,
    )  # fmt: skip
    names = dict(machine.facts(replace(report, bench=replace(report.bench, machine=silent))))
    assert not {"clock", "memory", "variables", "GPU"} & names.keys()
    assert names["processor"] == "Intel(R) Xeon(R) Platinum 8481C @ 2.70GHz, 2 usable cores"


def test_what_a_sceptic_asks_is_there() -> None:
    report = sample_run()
    gpu = GpuState("NVIDIA H200", "550.1", 1.9e9, 1.9e9, 40.0, "")
    told = report.bench.machine
    told = replace(told, before=replace(told.before, gpus=(gpu,)))
    facts = dict(machine.facts(replace(report, bench=replace(report.bench, machine=told))))
    assert facts["processor"].endswith("2 usable cores, with a quota of 2")
    assert facts["clock"] == "governor performance, turbo on"
    assert facts["GPU"] == "NVIDIA H200, driver 550.1"
    assert facts["libraries"] == "onnx 1.22.0, onnxruntime 1.31.1, openvino 2026.1.0"
    assert facts["original"] == "bert-mini/torchscript, sha256 9f2c9f2c9f2c9f2c"


def test_steps_say_what_was_taken_over() -> None:
    rows = [[cell.text for cell in row] for row in machine.step_table(sample_run()).rows]
    assert rows == [
        ["optimize", "420 ms", "taken over from an earlier run"],
        ["bench", "61.0 s", ""],
    ]
