from __future__ import annotations

from bench.test_machine import AFTER, QUIET
from burnish.bench import machine
from burnish.bench.compare import compare
from burnish.bench.measure import (
    SCHEMA,
    BenchReport,
    Measurement,
    ParityMark,
    Placed,
    ProcessStart,
    TimedBlock,
)  # fmt: skip
from burnish.core import records


def measurement(subject: str, factor: float) -> Measurement:
    rounds = range(3)
    return Measurement(
        subject=subject,
        model_key="k",
        engine="onnxruntime-cpu",
        options={"threads": 2, "graph_level": "all", "allow_fallback": False, "precision": None},
        bindings={"batch": 1},
        launches=tuple(
            ProcessStart(
                number, 0.5 + number, 0.1 * (3 - number), 10, 0.3, number != 1, 100 * number
            )
            for number in rounds
        ),
        blocks=tuple(TimedBlock(number, 0, 0, (factor, factor * 1.01)) for number in rounds),
        placement=Placed("cpu", "f32", {"CPUExecutionProvider": 3}, 2, ("a note",)),
        file=f"{subject}.onnx",
    )


def report() -> BenchReport:
    base, fast = measurement("base", 1.0), measurement("fast", 0.5)
    return BenchReport(
        baseline="base",
        measurements=(base, fast),
        comparisons=compare(base, [fast]),
        machine=machine.state(before=QUIET, after=AFTER, elapsed_s=9.0, threads=2),
        seed=0,
        inputs_key="i",
        parity={"base": ParityMark(True, 0.0), "fast": ParityMark(False, 0.5, "y is off")},
    )


def test_a_report_survives_json() -> None:
    made = report()
    document = records.document(made, schema=SCHEMA)
    assert records.decode(BenchReport, document) == made
    assert document["kind"] == "bench-report"
    assert document["comparisons"][0]["verdict"] == "faster"


def test_a_report_has_a_json_schema() -> None:
    schema = records.json_schema(BenchReport, schema=SCHEMA)
    assert schema["title"] == "bench-report"


def test_figures_of_a_measurement_are_medians_over_its_processes() -> None:
    found = measurement("a", 1.0)
    assert (found.load_s, found.first_call_s, found.warmup_s) == (1.5, 0.2, 0.3)
    assert found.peak_memory_bytes == 200
    assert not found.converged
    assert found.rounds == (0, 1, 2)
    assert found.samples_s == (1.0, 1.01) * 3


def test_a_measurement_without_processes_has_no_figures() -> None:
    empty = Measurement("a", "", "e", {}, {}, (), (), None, failure="no such operator")
    assert empty.load_s is empty.first_call_s is empty.peak_memory_bytes is None
    assert not empty.converged


def test_rows_are_found_by_subject() -> None:
    found = report()
    assert found.measurement("fast").subject == "fast"
    assert found.comparison("base") is None
    comparison = found.comparison("fast")
    assert comparison is not None
    assert comparison.candidate == "fast"
    assert found.wrong == ("fast",)
