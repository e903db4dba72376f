from __future__ import annotations

from dataclasses import replace

import pytest

from burnish.bench.compare import compare
from burnish.bench.measure import ParityMark
from burnish.core import units
from burnish.parity.report import VerifyReport
from burnish.report.record import RunReport
from burnish.report.table import Tone
from burnish.report.verdict import (
    findings,
    headline,
    interval,
    like_for_like,
    same_results,
    speed,
)
from burnish.rewrite.result import RewriteReport
from sample_run import OPTIMIZED, ORIGINAL, bench, measurement, parity, sample_run


def answers(report: RunReport) -> list[tuple[str, str]]:
    return [(finding.tone.value, finding.answer) for finding in findings(report)]


def test_faster_with_the_same_results_is_said_in_one_sentence() -> None:
    said = headline(sample_run(ratio=1.43))
    assert said.tone is Tone.GOOD
    assert said.answer == "1.43× faster on onnxruntime-cpu, same results"
    assert "5 rounds of fresh processes" in said.facts


def test_slower_is_said_plainly() -> None:
    said = headline(sample_run(ratio=0.8))
    assert said.tone is Tone.BAD
    assert said.answer.startswith("slower on onnxruntime-cpu: 0.80× the original's speed")


def test_no_difference_says_what_would_have_been_seen() -> None:
    said = speed(sample_run(ratio=1.0))
    assert (said.tone, said.answer) == (
        Tone.UNSURE, "no difference in speed shown on onnxruntime-cpu",
    )  # fmt: skip
    assert said.facts.endswith("would have been seen")


def test_no_speed_is_praised_when_the_results_differ() -> None:
    report = sample_run(same=False)
    assert headline(report).answer == "do not use it: the results differ"
    assert headline(report).tone is Tone.BAD
    assert [tone for tone, _ in answers(report)] == ["bad", "plain", "plain"]
    assert findings(report)[0].facts == "logits[0, 17, 402] is 0.94, not 1.25"


def test_how_far_results_are_apart_is_what_the_table_of_tensors_says() -> None:
    first, *others = parity().samples
    diff = first.diffs[0]
    meant = replace(diff, severity=0.9, max_abs=1e-9)  # nearer to what is allowed in real numbers
    found = replace(parity(), samples=(replace(first, meant=(meant,)), *others))
    said = same_results(replace(sample_run(), parity=found)).facts
    assert said == same_results(sample_run()).facts
    worst = parity().worst_run
    assert worst is not None
    assert f"worst tensor {worst.name}: {units.share(worst.severity)} of" in said
    assert f"largest difference {units.error(worst.max_abs)}" in said


@pytest.mark.parametrize(
    ("changed", "facts"),
    [
        (replace(parity(), samples=()), "nothing was compared"),
        (replace(parity(), problems=("input mask is missing",)), "input mask is missing"),
    ],
)
def test_what_could_not_be_compared_is_not_the_same(changed: VerifyReport, facts: str) -> None:
    said = headline(replace(sample_run(), parity=changed))
    assert (said.tone, said.facts) == (Tone.BAD, facts)


def test_not_enough_data_gives_the_reason() -> None:
    base = measurement(ORIGINAL, "onnxruntime-cpu", 1e-3, key="a")
    failed = measurement(OPTIMIZED, "onnxruntime-cpu", 1e-3, key="b", failure="out of memory")
    found = replace(
        bench(), baseline=ORIGINAL, measurements=(base, failed), comparisons=compare(base, [failed])
    )
    said = speed(replace(sample_run(), bench=found))
    assert (said.tone, said.answer) == (
        Tone.UNSURE,
        "not enough data to compare speeds on onnxruntime-cpu",
    )
    assert said.facts == f"{OPTIMIZED} failed: out of memory"


def test_a_single_subject_is_not_compared() -> None:
    alone = replace(bench(), comparisons=())
    assert speed(replace(sample_run(), bench=alone)).answer == "speed not compared"


def test_another_engine_alone_is_no_other_model() -> None:
    base = measurement(f"{ORIGINAL} onnxruntime-cpu", "onnxruntime-cpu", 1e-3, key="a")
    engine = measurement(f"{ORIGINAL} openvino", "openvino", 5e-4, key="a")
    found = replace(
        bench(), baseline=base.subject, measurements=(base, engine),
        comparisons=compare(base, [engine]),
    )  # fmt: skip
    said = speed(replace(sample_run(), bench=found))
    assert (said.answer, said.facts) == ("speed not compared", "only one model was measured")


def test_a_model_that_was_not_rewritten_is_said_to_be_the_same() -> None:
    base = measurement(ORIGINAL, "onnxruntime-cpu", 1e-3, key="a")
    same = measurement(OPTIMIZED, "onnxruntime-cpu", 1e-3, key="a")
    found = replace(
        bench(), baseline=ORIGINAL, measurements=(base, same), comparisons=compare(base, [same])
    )
    said = speed(replace(sample_run(), bench=found))
    assert said.facts == "nothing was rewritten: both files hold the same model"


def test_the_same_engine_is_compared_before_others() -> None:
    report = sample_run()
    turned = replace(report.bench, comparisons=report.bench.comparisons[::-1])
    found = like_for_like(replace(report, bench=turned))
    assert found is not None
    assert found.candidate == f"{OPTIMIZED} onnxruntime-cpu"


def test_the_fastest_is_named_only_with_the_same_results() -> None:
    report = sample_run()
    assert ("good", "1.62× on openvino") in answers(report)
    wrong = {**report.bench.parity, f"{OPTIMIZED} openvino": ParityMark(False, 0.5)}
    doubted = replace(report, bench=replace(report.bench, parity=wrong))
    assert len(answers(doubted)) == 3


def test_nothing_rewritten_is_said() -> None:
    nothing = RewriteReport((), (), (), 5, 5, {"Add": 5}, {"Add": 5})
    last = findings(replace(sample_run(), rewrite=nothing))[-1]
    assert (last.tone, last.facts) == (
        Tone.UNSURE, "nothing was found to rewrite; 0 near misses",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [
        (1.1, 1.3, "1.10× to 1.30×"),
        (0.001, 6010.0, "no interval"),
        (None, None, "no interval"),
        (1.9, 612.0, "1.90× or more"),
        (0.0001, 0.9, "0.90× or less"),
    ],
)
def test_an_interval_that_says_nothing_is_none(
    low: float | None, high: float | None, said: str
) -> None:
    found = like_for_like(sample_run(ratio=1.43))
    assert found is not None
    assert interval(replace(found, low=low, high=high)) == said
