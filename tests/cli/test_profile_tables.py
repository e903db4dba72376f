from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from burnish.analyze.profile import ProfileReport, report
from burnish.report.table import Table
from burnish.study.requests.looking import Rows as Shown
from burnish.study.shown.looking import profile_lines as tables
from sample_run import AFTER, BEFORE, OPTIMIZED, ORIGINAL, profile
from timelines import US


def written(found: ProfileReport, *, by: str, **more: object) -> str:
    lines = []
    for part in tables(found, Shown(by, top=4, **more)):  # type: ignore[arg-type]
        if isinstance(part, Table):
            titles = " | ".join(column.title for column in part.columns)
            lines += [part.title, titles, *map(" | ".join, part.texts), ""]
        else:
            lines.append(part)
    return "\n".join(lines) + "\n"


def test_two_profiles_by_operator(golden: Callable[..., None]) -> None:
    pair = (profile(ORIGINAL, BEFORE), profile(OPTIMIZED, AFTER))
    golden(written(report(pair), by="operator"), suffix="txt")


def test_one_profile_by_node(golden: Callable[..., None]) -> None:
    golden(written(report((profile(ORIGINAL, BEFORE),)), by="node"), suffix="txt")


def test_notes_of_the_trace_and_of_a_busy_machine_are_told() -> None:
    one = profile(ORIGINAL, {"Add": (1, 10.0)})
    slow = replace(one.by_operator, measured_wall_s=900 * US)
    noted = replace(one, by_operator=slow, notes=("the file ends early",))
    told = written(report((noted,)), by="operator")
    assert "Note: runs were interrupted for most of their time; the machine is busy." in told
    assert "Note: the file ends early." in told


def test_sets_of_many_nodes_are_shown_by_their_first() -> None:
    one = profile(ORIGINAL, {"Add": (1, 10.0)})
    row = replace(one.by_origin.rows[0], label="/layer/{Div, Erf, Add, Mul}")
    rows = (row, *one.by_origin.rows[1:])
    many = replace(one, by_origin=replace(one.by_origin, rows=rows))
    assert "/layer/{Div, Erf and 2 more} | Add" in written(report((many,)), by="node")
