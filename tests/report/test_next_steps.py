from __future__ import annotations

import dataclasses
from dataclasses import replace

from burnish.parity.report import Bisection, Culprit
from burnish.report.next_steps import next_steps
from burnish.report.record import RunReport
from sample_run import OPTIMIZED, ORIGINAL, diff, sample_run


def commands(report: RunReport) -> list[str]:
    return [step.command for step in next_steps(report)]


def test_a_good_run_points_to_its_hot_spot_and_to_itself() -> None:
    report = sample_run()
    assert commands(report) == [
        f"burnish profile {OPTIMIZED} --engine onnxruntime-cpu --by node",
        report.command,
        report.bench.rerun,
    ]


def test_wrong_results_come_with_the_command_that_finds_the_node() -> None:
    first = next_steps(sample_run(same=False))[0]
    assert first.command == f"burnish verify {ORIGINAL} {OPTIMIZED} --bisect"


def test_a_rule_that_broke_the_model_is_left_out_by_a_command() -> None:
    culprit = Culprit("n/gelu", "Gelu", "t", diff("t", passed=False), (), (), (), (), "gelu")
    wrong = sample_run(same=False)
    found = replace(wrong, parity=replace(wrong.parity, bisection=Bisection("0", culprit, 9, 0)))
    assert next_steps(found)[0].why == "Leave out gelu, the rule that made n/gelu"
    assert commands(found)[0] == f"{found.command} --disable gelu"


def test_an_unclear_verdict_comes_with_a_longer_measurement() -> None:
    report = sample_run(ratio=1.0)
    assert commands(report)[0] == f"{report.bench.rerun} --rounds 15 --budget 300"
    short = dataclasses.replace(report.bench, rerun="burnish bench a.onnx --rounds 3 --seed 1")
    assert commands(dataclasses.replace(report, bench=short))[0] == (
        "burnish bench a.onnx --seed 1 --rounds 15 --budget 300"
    )
    unsaid = replace(report, bench=replace(report.bench, rerun=""))
    assert commands(unsaid)[0] == f"burnish bench {ORIGINAL} {OPTIMIZED} --rounds 15 --budget 300"


def test_names_with_spaces_can_be_pasted() -> None:
    spaced = replace(sample_run(), profile=(), original="my model.onnx")
    assert commands(spaced)[0] == f"burnish profile 'my model.onnx' {OPTIMIZED}"
