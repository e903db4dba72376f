from __future__ import annotations

from collections.abc import Mapping

import pytest

from burnish.report import theme

THEMES = pytest.mark.parametrize("colours", [theme.LIGHT, theme.DARK], ids=["light", "dark"])


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours as WCAG 2 defines it, from 1 to 21."""
    lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


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
