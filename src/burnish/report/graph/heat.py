"""Colours of a graph: how much of the time a box takes, and the critical path."""

from __future__ import annotations

from collections.abc import Mapping

from burnish.report import theme

BOUNDS = (0.02, 0.08, 0.2, 0.4, 0.7)
"""Where a colour ends and the next begins, as parts of the most expensive box's time."""
STEPS = len(BOUNDS) + 1

LIGHT: Mapping[str, str] = {
    "path": "#1f5fbf",
    "edge": "#b9b4ab",
    "heat-0": "#fbf8f4", "heat-1": "#fbeadb", "heat-2": "#f6d0ae", "heat-3": "#eeb07b",
    "heat-4": "#d97f3a", "heat-5": "#a84a10",
    "on-0": "#1d1f22", "on-1": "#1d1f22", "on-2": "#1d1f22", "on-3": "#1d1f22",
    "on-4": "#1d1f22", "on-5": "#ffffff",
}  # fmt: skip
DARK: Mapping[str, str] = {
    "path": "#7db4ff",
    "edge": "#565c63",
    "heat-0": "#202327", "heat-1": "#3d2c20", "heat-2": "#5c3b22", "heat-3": "#855027",
    "heat-4": "#cf7f40", "heat-5": "#ffb27a",
    "on-0": "#e9e8e5", "on-1": "#e9e8e5", "on-2": "#e9e8e5", "on-3": "#ffffff",
    "on-4": "#16181b", "on-5": "#16181b",
}  # fmt: skip


def step(seconds_s: float, most_s: float) -> int:
    """Return which colour a box has whose siblings take `most_s` at most."""
    part = seconds_s / most_s if most_s > 0 else 0.0
    return sum(part > bound for bound in BOUNDS)


def css() -> str:
    """Return the colours as CSS variables, after those of the theme."""
    dark = theme.variables(DARK)
    return (
        f":root{{{theme.variables(LIGHT)}}}\n"
        f"@media (prefers-color-scheme:dark){{:root{{{dark}}}}}\n"
    )
