"""Colours and fonts of pages and charts, once, for light and for dark surroundings."""

from __future__ import annotations

from collections.abc import Mapping

SANS = (
    '-apple-system, BlinkMacSystemFont, "Segoe UI", Roboto, "Helvetica Neue", "Liberation Sans",'
    " Arial, sans-serif"
)
MONO = 'ui-monospace, "SF Mono", Menlo, Consolas, "Liberation Mono", monospace'

LIGHT: Mapping[str, str] = {
    "paper": "#ffffff",
    "raised": "#f6f5f2",
    "line": "#e2dfd9",
    "ink": "#1d1f22",
    "quiet": "#5d6268",
    "baseline": "#8d97a1",
    "accent": "#b2571c",
    "good": "#1b7443",
    "bad": "#b3261e",
    "unsure": "#7c5a00",
    "good-tint": "#e9f5ee",
    "bad-tint": "#fcebe9",
    "unsure-tint": "#faf2dc",
}
DARK: Mapping[str, str] = {
    "paper": "#16181b",
    "raised": "#1f2226",
    "line": "#33373c",
    "ink": "#e9e8e5",
    "quiet": "#a5aab0",
    "baseline": "#7c868f",
    "accent": "#e59a63",
    "good": "#66cb94",
    "bad": "#ff9489",
    "unsure": "#e3bb5f",
    "good-tint": "#1a2b21",
    "bad-tint": "#351f1d",
    "unsure-tint": "#2f2817",
}


def css() -> str:
    """Return the fonts and both sets of colours as CSS variables."""
    fonts = f"--sans:{SANS};--mono:{MONO};"
    return (
        f":root{{color-scheme:light dark;{fonts}{variables(LIGHT)}}}\n"
        f"@media (prefers-color-scheme:dark){{:root{{{variables(DARK)}}}}}\n"
    )


def variables(colours: Mapping[str, str]) -> str:
    """Return colours as CSS variables."""
    return "".join(f"--{name}:{value};" for name, value in colours.items())
