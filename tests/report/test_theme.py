from __future__ import annotations

from collections.abc import Mapping

import pytest

from burnish.report import theme
from contrast import contrast

THEMES = pytest.mark.parametrize("colours", [theme.LIGHT, theme.DARK], ids=["light", "dark"])


@THEMES
@pytest.mark.parametrize("text", ["ink", "quiet", "good", "bad", "unsure", "accent"])
def test_text_can_be_read_on_every_ground(colours: Mapping[str, str], text: str) -> None:
    grounds = ["paper", "raised", *([f"{text}-tint"] if f"{text}-tint" in colours else [])]
    if text in ("ink", "quiet"):
        grounds += ["good-tint", "bad-tint", "unsure-tint"]
    for ground in grounds:
        assert contrast(colours[text], colours[ground]) >= 4.5, ground


@THEMES
@pytest.mark.parametrize("bar", ["baseline", "accent", "bad"])
def test_bars_stand_out_from_the_paper(colours: Mapping[str, str], bar: str) -> None:
    assert contrast(colours[bar], colours["paper"]) >= 2.9


@THEMES
def test_the_two_models_differ_in_lightness_too(colours: Mapping[str, str]) -> None:
    assert contrast(colours["baseline"], colours["accent"]) >= 1.5


def test_both_themes_name_the_same_colours() -> None:
    assert theme.LIGHT.keys() == theme.DARK.keys()
    assert all(f"--{name}:{value};" in theme.css() for name, value in theme.DARK.items())
