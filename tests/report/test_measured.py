from __future__ import annotations

from dataclasses import replace

import pytest

from burnish.bench import stats
from burnish.bench.measure import ParityMark
from burnish.report import measured
from burnish.report.table import Table, Tone
from sample_run import BEFORE, OPTIMIZED, ORIGINAL, bench, profile, sample_run


def column(table: Table, title: str) -> list[str]:
    at = [one.title for one in table.columns].index(title)
    return [row[at].text for row in table.rows]


def test_every_subject_has_a_row_also_one_that_failed() -> None:
    table = measured.latency_table(bench())
    assert column(table, "subject") == [ORIGINAL, OPTIMIZED, OPTIMIZED, OPTIMIZED]
    assert column(table, "speed-up")[0] == "baseline"
    assert column(table, "verdict") == ["–", "faster", "faster", "failed"]
    assert column(table, "median")[3] == "–"
    assert table.rows[3][4].detail == "the model has no PyTorch source; see burnish export"


def test_of_one_model_rows_are_called_by_their_engines() -> None:
    found = bench()
    alone = replace(found, measurements=found.measurements[1:], comparisons=())
    table = measured.latency_table(alone)
    assert column(table, "subject") == ["onnxruntime-cpu", "openvino", "torch-compile"]
    assert f" All of {OPTIMIZED} on " in table.remark
    one = replace(alone, measurements=found.measurements[1:2])
    assert column(measured.latency_table(one), "subject") == [OPTIMIZED], "there is one engine"


def test_parity_stands_in_the_row_of_the_time() -> None:
    doubted = replace(bench(), parity={f"{OPTIMIZED} openvino": ParityMark(False, 0.5)})
    table = measured.latency_table(doubted)
    assert column(table, "results") == ["not checked", "not checked", "WRONG", "not checked"]
    assert table.rows[2][5].tone is Tone.BAD
    assert [one.series for one in measured.latencies(doubted)] == [
        "baseline", "accent", "bad", "accent",
    ]  # fmt: skip


def test_the_baselines_model_looks_the_same_on_every_engine() -> None:
    found = bench()
    key = found.measurements[0].model_key
    moved = tuple(replace(one, model_key=key) for one in found.measurements)
    series = {one.series for one in measured.latencies(replace(found, measurements=moved))}
    assert series == {"baseline"}


def test_an_interval_that_says_nothing_is_not_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    wide = stats.Interval(1e-3, 1e-5, 1e-1)
    monkeypatch.setattr(stats, "shown_time", lambda *_: wide)
    assert {(one.low_s, one.high_s) for one in measured.latencies(bench())} == {(None, None)}


def test_what_a_reader_of_the_times_must_know_is_told() -> None:
    found = bench()
    first = found.measurements[0]
    assert first.placement is not None
    doubted = replace(
        first,
        placement=replace(first.placement, notes=("3 nodes fell back to the CPU",)),
        launches=tuple(replace(launch, converged=False) for launch in first.launches),
    )
    report = replace(
        found, measurements=(doubted, *found.measurements[1:]), notes=("budget ended",)
    )
    assert measured.notes(report) == (
        "budget ended",
        f"{first.subject}: 3 nodes fell back to the CPU",
        f"{first.subject}: calls were not steady when the warm-up ended",
    )


def test_a_row_of_a_matrix_says_its_size_and_type_once() -> None:
    found = bench()
    first = found.measurements[0]
    assert first.placement is not None
    named = f"{ORIGINAL}@onnxruntime-cpu"
    sized = replace(
        first,
        subject=f"{named} batch=8,sequence=16 fp32 threads=2",
        bindings={"batch": 8, "sequence": 16},
        options={"threads": 2},
        placement=replace(first.placement, precision="f32"),
    )
    other = replace(sized, subject=f"{named} batch=8,sequence=16 int8 threads=2")
    rows = measured.latency_table(replace(found, measurements=(sized, other))).rows
    assert [row[0].text for row in rows] == [ORIGINAL, f"{ORIGINAL} int8"]


def test_a_row_in_int8_is_not_called_fp32_because_its_engine_has_no_mode_for_it() -> None:
    found = bench()
    first = found.measurements[0]
    assert first.placement is not None
    plain = replace(first, placement=replace(first.placement, precision="f32"), precision="f32")
    fewer = replace(plain, subject=f"{plain.subject} int8", precision="i8")
    both = measured.latency_table(replace(found, measurements=(plain, fewer)))
    assert "fp32" not in both.remark
    assert [row[0].detail.rpartition(" · ")[2] for row in both.rows] == ["fp32", "int8"]
    alone = measured.latency_table(replace(found, measurements=(plain,)))
    assert "All on cpu, fp32" in alone.remark


def test_what_many_rows_share_is_told_once_about_their_engine() -> None:
    found = bench()
    first, failed = found.measurements[0], found.measurements[3]
    assert first.placement is not None
    noted = replace(first, placement=replace(first.placement, notes=("i64 in i32",)))
    ran = [replace(noted, subject=f"m@{noted.engine} batch={n}") for n in range(4)]
    unable = [replace(failed, subject=f"m@{failed.engine} batch={n}") for n in range(4)]
    report = replace(found, measurements=(*ran, *unable), comparisons=())
    assert failed.failure is not None
    assert measured.notes(report) == (
        f"{first.engine}: i64 in i32",
        f"{failed.engine}: {failed.failure}",
    )
    rows = measured.latency_table(report).rows
    assert [row[4].detail for row in rows[4:]] == ["see the note"] * 4
    some = replace(report, measurements=(*ran, replace(ran[0], subject="m", placement=None)))
    assert measured.notes(some)[0] == f"{ran[0].subject} and 3 other subjects: i64 in i32"


def test_a_subject_is_shown_without_its_engine_which_stands_beside_it() -> None:
    names = [(one.label, one.engine) for one in measured.latencies(bench())]
    assert names[1] == (OPTIMIZED, "onnxruntime-cpu")


def test_a_long_list_of_operators_is_cut_without_losing_time() -> None:
    report = sample_run()
    groups = measured.operator_groups(report)
    assert groups[0].label == "MatMul"
    assert [group.label for group in groups if group.quiet] == [
        "6 other operators",
        "between nodes",
    ]
    for at, one in enumerate((report.profile[0], report.profile[-1])):
        shown = sum(group.seconds_s[at] for group in groups)
        assert shown == pytest.approx(one.by_operator.wall_s)


def test_operators_are_set_side_by_side_with_their_ceiling() -> None:
    table = measured.operator_table(sample_run())
    rows = {row[0].text: [cell.text for cell in row[1:]] for row in table.rows}
    assert rows["Erf"][2:] == ["–", "–", "−96.0 µs", "–", "–"]
    assert rows["Gelu"][:4] == ["–", "–", "2", "62.0 µs"]
    assert rows["Gelu"][4] == "+62.0 µs"
    assert column(table, "operator")[-2:] == ["unattributed", "between nodes"]


def test_one_profile_alone_is_shown_too() -> None:
    alone = replace(sample_run(), profile=(profile(ORIGINAL, BEFORE),))
    assert all(len(group.seconds_s) == 1 for group in measured.operator_groups(alone))
    assert measured.operator_table(alone).rows
    assert len(measured.node_table(alone).rows) == measured.SHOWN_NODES


def test_an_interval_of_one_process_is_said_to_be_that() -> None:
    report = bench()
    said = "Of one process alone, the interval is of its blocks"
    assert said not in measured.latency_table(report).remark
    short = tuple(
        replace(one, blocks=tuple(block for block in one.blocks if block.round == 0))
        for one in report.measurements
    )
    assert said in measured.latency_table(replace(report, measurements=short)).remark
