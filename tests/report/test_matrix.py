from __future__ import annotations

import csv
import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest

from bench.simulation import NOISES, measurements
from bench.test_machine import AFTER, QUIET
from burnish.bench import machine
from burnish.bench.compare import compare
from burnish.bench.measure import BenchReport, Measurement, ParityMark
from burnish.bench.subject import BenchOptions
from burnish.report import matrix, studied, study_page
from burnish.report.charts import curves, speed_ups
from burnish.report.overall import overall
from burnish.report.study_page import StudyReport
from burnish.report.table import Table
from burnish.study.requests.judging import Format
from burnish.study.shown.judging import bench_lines, study_lines

CALL_S = {"a": 0.01, "b": 0.005}


def cell(engine: str, batch: int, sequence: int) -> Measurement:
    noise = NOISES["process luck of 1 %"]
    call_s = CALL_S[engine] * batch * sequence / 16
    (made,) = measurements({engine: call_s}, noise, seed=1, options=BenchOptions(blocks=4))
    return replace(
        made, subject=f"m@{engine} {batch}×{sequence}", engine=engine, model="m", precision="f16",
        bindings={"batch": batch, "sequence": sequence}, options={"threads": 2},
        items_per_call=batch, model_bytes=2048,
    )  # fmt: skip


@pytest.fixture(scope="module")
def report() -> BenchReport:
    groups = [[cell(e, b, s) for e in CALL_S] for b in (1, 8) for s in (16, 32)]
    broken = replace(groups[0][1], blocks=(), status="crashed", failure="ended by SIGSEGV, so")
    groups[0][1] = broken
    rows = tuple(one for group in groups for one in group)
    return BenchReport(
        baseline=rows[0].subject,
        measurements=rows,
        comparisons=tuple(c for group in groups for c in compare(group[0], group[1:])),
        machine=machine.state(before=QUIET, after=AFTER, elapsed_s=10, threads=1),
        seed=1,
        inputs_key="",
        parity={rows[2].subject: ParityMark(True, 1e-7)},
    )


def test_every_cell_is_a_row_with_its_figures_or_its_reason(report: BenchReport) -> None:
    rows = list(csv.DictReader(matrix.csv_lines(report)))
    assert len(rows) == 8
    assert rows[0]["precision"] == "fp16"
    assert rows[0]["sizes"] == "batch=1,sequence=16"
    assert float(rows[0]["low_s"]) <= float(rows[0]["median_s"]) <= float(rows[0]["high_s"])
    assert float(rows[4]["items_per_s"]) == pytest.approx(8 / float(rows[4]["median_s"]))
    assert [rows[1][name] for name in ("status", "median_s", "verdict")] == ["crashed", "", ""]
    assert rows[1]["reason"] == "ended by SIGSEGV, so"
    assert (rows[2]["results"], rows[3]["results"]) == ("same", "not checked")
    assert rows[3]["verdict"] == "faster"
    assert rows[0]["p99_s"] == "" or int(rows[0]["samples"]) >= 299


def test_lengths_go_across_and_batches_down(report: BenchReport) -> None:
    (pivot,) = matrix.pivots(report)
    assert [column.title for column in pivot.columns] == [
        "batch", "engine", "sequence=16", "sequence=32",
    ]  # fmt: skip
    assert [row[:2] for row in pivot.texts] == [("1", "a"), ("1", "b"), ("8", "a"), ("8", "b")]
    assert pivot.title == "median by size: m, fp16, 2 threads"
    assert pivot.texts[1][2] == "crashed"
    assert pivot.rows[0][2].detail.count("–") == 1


def test_one_thread_is_one(report: BenchReport) -> None:
    alone = [replace(one, options={"threads": 1}) for one in report.measurements]
    (pivot,) = matrix.pivots(replace(report, measurements=tuple(alone)))
    assert pivot.title.endswith("1 thread")


def test_what_a_card_took_has_columns_where_something_ran_on_one(report: BenchReport) -> None:
    first = report.measurements[0]
    start = replace(first.launches[0], card_s=0.002, card_memory_bytes=3 << 30)
    ran = replace(first, launches=(start, *first.launches[1:]))
    told = matrix.costs(replace(report, measurements=(ran, *report.measurements[1:])))
    assert [column.title for column in told.columns][-2:] == ["on the card", "card memory"]
    assert told.texts[0][-2:] == ("2.00 ms", "3.00 GiB")
    assert matrix.costs(report).columns[-1].title == "on disk"
    rows = list(csv.DictReader(matrix.csv_lines(replace(report, measurements=(ran,)))))
    assert (rows[0]["card_s"], rows[0]["card_memory_bytes"]) == ("0.002", str(3 << 30))


def test_where_no_size_differs_there_is_no_pivot(report: BenchReport) -> None:
    assert matrix.pivots(replace(report, measurements=report.measurements[:2])) == ()


def test_an_interval_that_says_nothing_is_not_shown() -> None:
    assert matrix.span(1e-3, 2e-3) == "1.00 ms – 2.00 ms"
    assert matrix.span(1e-9, 2e3) == "no interval"


def test_types_stand_side_by_side_without_a_verdict(report: BenchReport) -> None:
    first, *_ = report.measurements
    other = replace(first, subject="m@a int8", precision="i8")
    assert matrix.types(report) == ()
    (found,) = matrix.types(replace(report, measurements=(first, other)))
    assert [column.title for column in found.columns][4:] == ["fp16", "int8"]
    assert found.texts[0][:4] == ("m", "a", "batch=1,sequence=16", "2")
    assert found.texts[0][4] == found.texts[0][5]
    assert "no verdict" in found.remark


def test_rows_are_written_as_tables_csv_and_markdown(report: BenchReport) -> None:
    assert len(list(bench_lines(report, Format("csv")))) == 9
    marked = "\n".join(str(part) for part in bench_lines(report, Format("md")))
    assert "| batch | engine | sequence=16 | sequence=32 |" in marked
    assert len([part for part in bench_lines(report) if not isinstance(part, str)]) == 3


def test_plots_show_each_subject_with_its_intervals(report: BenchReport) -> None:
    plots = studied.plots(report, ("batch", "sequence", "past"))
    assert [plot.name for plot in plots] == [
        "latency-batch", "throughput-batch", "latency-sequence", "throughput-sequence", "speed-up",
    ]  # fmt: skip
    said = [ET.fromstring(study_page.drawing(plot)).get("aria-label") or "" for plot in plots]
    assert all("b fp16" in one for one in said[:-1])
    assert "m, batch=8,sequence=16, fp16, against a: b 2.00×, 2.00× to 2.00×" in said[-1]
    assert plots[-1].svg.count("against a</text>") == 3, "each group has its name once"
    assert plots[0].svg.count("<circle") == 7
    assert "8 and" not in plots[0].svg


def test_how_fast_something_wrong_is_has_no_bar(report: BenchReport) -> None:
    subject = report.comparisons[-1].candidate
    judged = replace(report, parity={subject: ParityMark(False, 0.5)})
    before, after = (studied.plots(each, ("batch",))[-1] for each in (report, judged))
    assert after.name == "speed-up"
    bars = [plot.svg.count("×, ") for plot in (before, after)]
    assert bars[0] > bars[1] > 0


def test_an_engine_has_one_colour_in_all_drawings_and_what_is_wrong_is_not_drawn(
    report: BenchReport,
) -> None:
    wrong = tuple(
        replace(one, model="n", subject=f"n {one.subject}",
                status="wrong" if one.engine == "a" else one.status)
        for one in report.measurements
    )  # fmt: skip
    both = replace(report, measurements=(*report.measurements, *wrong), comparisons=())
    first, _, second, _ = studied.plots(both, ("batch",))
    assert {"curve c0", "curve c1"} <= set(re.findall(r"curve c\d", first.svg))
    assert set(re.findall(r"curve c\d", second.svg)) == {"curve c1"}
    assert "n a" not in second.svg
    assert first.svg.count("stroke-dasharray") == 3, "two names, and a line of two points"


def test_values_that_would_lie_flat_stand_on_powers_of_ten() -> None:
    def drawn(*values: float) -> str:
        points = [curves.CurvePoint(size, value, value * 0.9, value * 1.1)
                  for size, value in enumerate(values)]  # fmt: skip
        return curves.chart([curves.Curve("a", tuple(points), 0)], title="t", axis="batch",
                            written=lambda value: f"{value:g} s")  # fmt: skip

    assert ">0</text>" in drawn(1.0, 19.0)
    powers = drawn(1.0, 30.0)
    assert ">0</text>" not in powers
    assert ">10 s</text>" in powers
    heights = [float(one) for one in re.findall(r'cy="([\d.]+)"', powers)]
    assert heights[0] > heights[1]


def test_an_interval_far_beyond_its_bar_ends_at_the_edge_and_says_where_it_would() -> None:
    wide = speed_ups.SpeedUp("a", 17.2, 1.03, 286.0, "good")
    drawn = speed_ups.chart([wide, speed_ups.SpeedUp("b", 2.0, 1.9, 2.1, "good")], title="t")
    assert "17.20×, interval up to 286×</text>" in drawn
    assert "2.00×</text>" in drawn
    ends = [float(line.get("x2") or 0) for line in ET.fromstring(drawn).iter() if line.get("x2")]
    assert max(ends) <= speed_ups.WIDTH


def test_several_models_have_drawings_of_their_own_and_one_table_together(
    report: BenchReport,
) -> None:
    other = tuple(
        replace(one, subject=f"n {one.subject}", model="n/x y" if one.engine == "a" else "n/z")
        for one in report.measurements
    )
    more = tuple(
        replace(one, baseline=f"n {one.baseline}", candidate=f"n {one.candidate}")
        for one in report.comparisons
    )
    both = replace(
        report,
        measurements=(*report.measurements, *other),
        comparisons=(*report.comparisons, *more),
    )
    names = [plot.name for plot in studied.plots(both, ("batch",))]
    assert names == [
        *("latency-batch-m", "throughput-batch-m", "latency-batch-n", "throughput-batch-n"),
        "speed-up",
    ]
    found = overall(both)
    assert [row[:3] for row in found.texts] == [("a", "fp16", "8"), ("b", "fp16", "6")]
    assert found.texts[0][3:6] == ("1.00×", "1.00×", "1.00×")
    assert 1.9 < float(found.texts[1][3].rstrip("×")) < 2.1
    assert [row[6:] for row in found.texts] == [("2 of 8", "–"), ("6 of 6", "2 crashed")]
    assert overall(report).rows == ()
    for bench, shown in ((both, True), (report, False)):
        study = StudyReport("t", "", bench, (), {}, (), {}, {}, "burnish study x", "0")
        titles = [part.title for part in study_lines(study) if isinstance(part, Table)]
        assert ("all models together" in titles) == shown


def test_texts_of_a_decoder_have_lines_of_their_own_and_are_no_runs(report: BenchReport) -> None:
    first = report.measurements[0]
    rows = tuple(
        replace(
            first,
            subject=f"m@a past={past} generate={tokens}",
            items_per_call=2 * max(1, tokens),
            bindings={
                "batch": 2,
                "sequence": 1,
                "past_sequence": past,
                "total_sequence": past + 1,
                "generate": tokens,
            },
        )
        for past in (0, 8, 64)
        for tokens in (0, 32)
    )
    decoder = replace(report, measurements=rows, comparisons=())
    latency, _ = studied.plots(decoder, ("past",))
    assert latency.name == "latency-past"
    assert latency.svg.count("<polyline") == 2, "one line for steps, one for texts"
    assert latency.svg.count("<circle") == 6
    detail = list(csv.DictReader(studied.detail_csv(decoder, {}).splitlines()))
    assert [row["batch_size"] for row in detail] == ["2", "2", "2"]
    told = list(csv.DictReader(matrix.csv_lines(decoder)))
    (pivot,) = matrix.pivots(decoder)
    assert [column.title for column in pivot.columns] == [
        "generate", "engine", "past_sequence=0", "past_sequence=8", "past_sequence=64",
    ]  # fmt: skip
    rates = [float(row["items_per_s"]) for row in told[:2]]
    assert rates[1] == pytest.approx(32 * rates[0])
    assert [row["batch"] for row in told[:2]] == ["2", "2"]


def test_the_detail_and_result_files_have_the_columns_of_the_original(report: BenchReport) -> None:
    detail = list(csv.DictReader(studied.detail_csv(report, {"m": "by_burnish"}).splitlines()))
    assert tuple(detail[0]) == studied.DETAIL
    assert len(detail) == 7
    assert (detail[0]["optimizer"], detail[0]["batch_size"]) == ("by_burnish", "1")
    result = list(csv.DictReader(studied.result_csv(report, {}).splitlines()))
    assert [row["engine"] for row in result] == ["a", "b"]
    assert result[1]["b1_s16"] == ""
    assert float(result[0]["b8_s32"]) > float(result[0]["b1_s16"]) > 0


def test_fusions_are_counted_by_model() -> None:
    text = studied.fusion_csv({"m": {"gelu": 2}, "n": {"norm": 1}}, {"torch": "2.9"}, "today")
    first, second = csv.DictReader(text.splitlines())
    assert (first["model_filename"], first["gelu"], first["norm"]) == ("m", "2", "0")
    assert (second["gelu"], second["torch"], second["transformers"]) == ("0", "2.9", "")


def test_a_study_is_a_page_and_markdown_with_what_it_lacks(report: BenchReport) -> None:
    study = StudyReport(
        title="A <study>", about="One.\n\nTwo.", bench=report, draw=("batch",), fusions={},
        plans=(), missing={"QPS": "not & here"}, files={}, command="burnish study x",
        burnish_version="0",
    )  # fmt: skip
    plots = studied.plots(report, study.draw)
    page = study_page.page(study, plots)
    assert "<h1>A &lt;study&gt;</h1>" in page
    assert page.count("<svg") == 3
    assert "not &amp; here" in page
    assert "<script" not in page
    text = study_page.text(study, plots)
    assert "![latency-batch](latency-batch.svg)" in text
    assert "- QPS: not & here" in text
