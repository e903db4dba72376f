"""SVG as text: shapes, labels and axes; every name and number is escaped on its way in."""

from __future__ import annotations

import math
import re
from xml.sax.saxutils import escape, quoteattr

from burnish.core.plain_text import TURNING

_IN_XML = r"\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff"
_NOT_SHOWN = re.compile(f"[^{_IN_XML}]|[{TURNING}]")
_SPECIAL = re.compile(f"[&<>]|{_NOT_SHOWN.pattern}")


def element(tag: str, *children: str, **attributes: float | str) -> str:
    """Return an element; an attribute `stroke_width` is written `stroke-width`, `class_` `class`.

    Children are SVG already: put names and other text through `text` or `title`.
    """
    written = "".join(
        f" {name.rstrip('_').replace('_', '-')}={_quoted(value)}"
        for name, value in attributes.items()
    )
    inside = "".join(children)
    return f"<{tag}{written}>{inside}</{tag}>" if inside else f"<{tag}{written}/>"


def text(content: str, *, x: float, y: float, class_: str, anchor: str = "start") -> str:
    """Return a line of text whose baseline is at `y`."""
    return element("text", clean(content), x=x, y=y, class_=class_, text_anchor=anchor)


def title(content: str) -> str:
    """Return what a pointer that rests on the parent element reads."""
    return element("title", clean(content))


def document(*children: str, width: float, height: float, label: str) -> str:
    """Return a whole drawing; `label` says what it shows to those who cannot see it."""
    return element(
        "svg",
        *children,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {_written(width)} {_written(height)}",
        width=width,
        height=height,
        role="img",
        aria_label=label,
    )


def clean(content: str) -> str:
    """Return text fit for XML: markup escaped, control and turning characters shown as �."""
    if not _SPECIAL.search(content):  # nearly always, and drawings have a million texts
        return content
    return escape(_NOT_SHOWN.sub("\ufffd", content))


def shortened(content: str, limit: int) -> str:
    """Return at most `limit` characters; names are cut in the middle, where they differ least."""
    if len(content) <= limit:
        return content
    head = (limit - 1) // 2
    return f"{content[:head]}…{content[len(content) - (limit - 1 - head) :]}"


def tail(content: str, limit: int) -> str:
    """Return at most `limit` characters from the end of a path, where paths differ most."""
    return content if len(content) <= limit else f"…{content[len(content) - limit + 1 :]}"


def ticks(limit: float, *, most: int = 6) -> tuple[float, ...]:
    """Return round numbers from 0 that reach `limit` in at most `most` steps."""
    if not (limit > 0 and math.isfinite(limit)):
        return (0.0, 1.0)
    rough = limit / most
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough * (1 - 1e-9))
    return tuple(step * number for number in range(math.ceil(limit / step - 1e-9) + 1))


def _quoted(value: float | str) -> str:
    return quoteattr(_written(value)) if isinstance(value, str) else f'"{_written(value)}"'


def _written(value: float | str) -> str:
    """Return numbers with a tenth of a pixel at most, so that drawings can be compared."""
    if isinstance(value, str):
        return _NOT_SHOWN.sub("\ufffd", value)
    return f"{value:.1f}".removesuffix(".0")
