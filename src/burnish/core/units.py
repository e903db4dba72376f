"""The only place that turns seconds, bytes, ratios and shares into text."""

from __future__ import annotations

import math

_TIME = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))
_BYTES = ((2**40, "TiB"), (2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB"), (1, "B"))


def seconds(value: float) -> str:
    """Return a duration with three significant digits: `1.43 ms`."""
    if not math.isfinite(value):
        return "–"
    # rounded first, so that 999.9 µs is 1.00 ms and not 1000 µs
    rounded = abs(float(f"{value:.3g}"))
    factor, unit = next((pair for pair in _TIME if rounded >= pair[0]), _TIME[-1])
    return f"{significant(value / factor)} {unit}"


def recorded(value: float, count: float) -> str:
    """Return how long something took that happened so often; many clocks tell no shorter time."""
    # sums of floats are off by less, and no clock is as fine
    if abs(value) > 1e-11:
        return seconds(value)
    return "< 1 µs" if count else "none"


def size(value: float) -> str:
    """Return a number of bytes in binary units: `4.20 MiB`."""
    factor, unit = next((pair for pair in _BYTES if abs(value) >= pair[0]), _BYTES[-1])
    return f"{value:.0f} B" if unit == "B" else f"{significant(value / factor)} {unit}"


def ratio(value: float) -> str:
    """Return a speed-up: `1.43×`; of one that two places would call nothing, a digit: `0.002×`."""
    if 0 < value < 0.01:
        return f"{value:.1g}×"
    return f"{value:,.0f}×" if value >= 100 else f"{value:.2f}×"


def gain(value: float) -> str:
    """Return a speed-up with the digits that small gains need: `1.005×`."""
    if math.isinf(value):
        return "∞"
    return f"{value:.3f}×" if value < 2 else ratio(value)


def share(value: float) -> str:
    """Return a fraction as a percentage: `12.3 %`."""
    return f"{100 * value:.1f} %"


def error(value: float) -> str:
    """Return a difference between tensors: `1.2e-07`."""
    return f"{value:.2g}"


def count(number: int, noun: str) -> str:
    """Return `1 node`, `2 nodes`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def significant(value: float) -> str:
    """Return three significant digits without an exponent: `0.123`, `12.3`, `1234`."""
    if value == 0:
        return "0"
    digits = max(0, 2 - math.floor(math.log10(abs(float(f"{value:.3g}")))))
    return f"{value:.{digits}f}"
