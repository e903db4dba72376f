from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

import pytest

from burnish.report import theme
from burnish.report.graph import heat
from contrast import contrast

THEMES = pytest.mark.parametrize(
    ("heats", "colours"),
    [(heat.LIGHT, theme.LIGHT), (heat.DARK, theme.DARK)],
    ids=["light", "dark"],
)


@THEMES
def test_text_can_be_read_on_every_colour(
    heats: Mapping[str, str], colours: Mapping[str, str]
) -> None:
    for step in range(heat.STEPS):
        assert contrast(heats[f"heat-{step}"], heats[f"on-{step}"]) >= 4.5, step


@THEMES
def test_more_time_stands_out_more(heats: Mapping[str, str], colours: Mapping[str, str]) -> None:
    steps = [contrast(heats[f"heat-{n}"], colours["paper"]) for n in range(heat.STEPS)]
    assert all(less < more for less, more in pairwise(steps))


@THEMES
def test_the_critical_path_stands_out(heats: Mapping[str, str], colours: Mapping[str, str]) -> None:
    assert contrast(heats["path"], colours["paper"]) >= 4.5
    assert contrast(heats["path"], heats["edge"]) >= 1.8


def test_the_largest_box_has_the_last_colour_and_nothing_the_first() -> None:
    assert heat.step(5.0, 5.0) == heat.STEPS - 1
    assert heat.step(0.0, 5.0) == heat.step(0.0, 0.0) == 0
    assert [heat.step(part, 1.0) for part in (0.02, 0.03, 0.1, 0.3, 0.5, 0.9)] == [0, 1, 2, 3, 4, 5]
