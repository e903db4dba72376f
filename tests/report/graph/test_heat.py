from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

import pytest

from burnish.report import theme
from burnish.report.graph import heat

THEMES = pytest.mark.parametrize(
    ("heats", "colours"),
    [(heat.LIGHT, theme.LIGHT), (heat.DARK, theme.DARK)],
    ids=["light", "dark"],
)


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


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
