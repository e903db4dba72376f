from __future__ import annotations

import math
from dataclasses import replace

from burnish.report import rewritten
from burnish.report.table import Table, Tone
from sample_run import diff, parity, rewrite


def texts(table: Table) -> list[list[str]]:
    return [[cell.text for cell in row] for row in table.rows]


def test_fusions_are_counted_by_rule() -> None:
    assert texts(rewritten.fusion_table(rewrite())) == [
        ["gelu", "2", "Gelu", "6", "/bert/layer.0/intermediate/Erf/gelu"],
        ["layer-norm", "5", "LayerNormalization", "45", "/bert/layer.0/LayerNorm/layer_norm"],
    ]


def test_every_near_miss_comes_with_what_would_let_it_through() -> None:
    twice = replace(rewrite(), misses=rewrite().misses * 2)
    (row,) = texts(rewritten.miss_table(twice))
    assert row[:2] == ["layer-norm", "2"]
    assert row[3] == "normalise over the last axes in the model's source"


def test_steps_that_changed_nothing_are_left_out() -> None:
    steps = [row[0] for row in texts(rewritten.clean_up_table(rewrite()))]
    assert steps == ["constant folding", "duplicate initializers", "casts"]


def test_the_largest_change_of_node_counts_comes_first() -> None:
    table = rewritten.node_count_table(rewrite())
    assert texts(table)[0] == ["Add", "31", "11", "−20"]
    assert ["Gelu", "0", "2", "+2"] in texts(table)
    assert table.remark == "5 operators with the same count left out."


def test_a_tensor_is_shown_where_it_is_worst() -> None:
    worse = replace(diff("logits", passed=False), severity=math.inf)
    first, second = parity().samples
    table = rewritten.parity_table(
        replace(parity(), samples=(first, replace(second, diffs=(worse,))))
    )
    assert [row[0] for row in texts(table)] == ["logits", "pooled"]
    assert table.rows[0][1].tone is Tone.BAD
    assert table.rows[0][1].detail == "logits[0, 17, 402] is 0.94, not 1.25"
    assert table.rows[0][4].text == "∞"


def test_an_error_far_beyond_what_is_allowed_is_a_factor() -> None:
    table = rewritten.parity_table(parity(passed=False))
    assert [row[4] for row in texts(table)] == ["2,800×", "0.4 %"]


def test_what_could_not_be_run_has_a_row() -> None:
    first, second = parity().samples
    broken = replace(second, diffs=(), problem="shape not accepted")
    table = rewritten.parity_table(
        replace(parity(), samples=(first, broken), problems=("mask is missing",))
    )
    assert [(row[0].text, row[1].detail) for row in table.rows[:2]] == [
        ("all", "mask is missing"),
        ("1 (batch=2, sequence=7)", "shape not accepted"),
    ]
