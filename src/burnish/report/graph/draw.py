"""A graph as one SVG that needs nothing else: colours, legend and details for the pointer."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from burnish.core import units
from burnish.report import svg, theme
from burnish.report.graph import heat
from burnish.report.graph.describe import Describer
from burnish.report.graph.groups import Box, View
from burnish.report.graph.layout import BoxPlace, Edge, Layout, Point, layout

_MARGIN, _HEAD, _FACT_LINE = 24.0, 62.0, 15.0
_LINE, _LETTER, _PAD = 15.0, 6.7, 12.0
_NARROWEST, _LONGEST = 76.0, 30
_RULES: Mapping[str, str] = {
    "text": "fill:var(--ink);font-size:12px;font-variant-numeric:tabular-nums",
    ".small": "font-size:10.5px;fill:var(--quiet)",
    ".edge": "fill:none;stroke:var(--edge);stroke-width:1.2",
    ".edge.critical": "stroke:var(--path);stroke-width:2.6",
    ".tip": "fill:var(--edge)",
    ".tip.critical": "fill:var(--path)",
    ".branch": "fill:var(--path);font-size:10.5px;font-weight:600;paint-order:stroke;"
    "stroke:var(--paper);stroke-width:3px",
    ".box rect": "stroke:var(--line);stroke-width:1",
    ".box text": "text-anchor:middle",
    ".box .name": "font-weight:600",
    ".box .small": "opacity:.85",
    ".box.group rect": "stroke:var(--baseline);stroke-width:1.6",
    ".box.input rect": "fill:var(--raised);stroke:var(--baseline)",
    ".box.output rect": "fill:var(--raised);stroke:var(--baseline)",
    ".box.critical rect": "stroke:var(--path);stroke-width:2.6",
}


@dataclass(frozen=True, slots=True)
class Head:
    """What stands above the drawing."""

    title: str
    facts: Sequence[str] = ()


def drawing(view: View, describer: Describer, head: Head, *, left_to_right: bool = False) -> str:
    """Return the drawing of a view; `describer` knows what each box says and how it looks."""
    parts, plan = _drawn(view, describer, left_to_right=left_to_right)
    width = max(plan.width, 560.0) + 2 * _MARGIN
    facts = _wrapped(head.facts, width - 2 * _MARGIN)
    top = _HEAD + _FACT_LINE * len(facts) + _MARGIN
    aside = (width - 2 * _MARGIN - plan.width) / 2
    body = svg.element("g", *parts, transform=f"translate({_MARGIN + aside:.1f} {top:.1f})")
    ground = "svg{background:var(--paper);font-family:var(--sans)}\n"
    return svg.document(
        svg.element("style", f"{theme.css()}{heat.css()}{ground}{css()}"), _tips(),
        *_heading(head.title, facts, describer), body,
        width=width, height=plan.height + top + _MARGIN,
        label=f"Graph of {head.title}: {len(view.boxes)} boxes, {len(view.edges)} lines",
    )  # fmt: skip


def inlined(view: View, describer: Describer, title: str) -> str:
    """Return the drawing for a page that has its rules and colours, without a heading."""
    parts, plan = _drawn(view, describer, left_to_right=False)
    body = svg.element("g", *parts, transform=f"translate({_MARGIN:.1f} {_MARGIN:.1f})")
    return svg.document(
        _tips(), body, width=plan.width + 2 * _MARGIN, height=plan.height + 2 * _MARGIN,
        label=f"Graph of {title}: {len(view.boxes)} boxes, {len(view.edges)} lines",
    )  # fmt: skip


def css(within: str = "") -> str:
    """Return how boxes and lines look; on a page, of the drawings `within` an element only."""
    heats = {
        rule: body
        for n in range(heat.STEPS)
        for rule, body in (
            (f".h{n} rect,{within}rect.h{n}", f"fill:var(--heat-{n})"),
            (f".h{n} text", f"fill:var(--on-{n})"),
        )
    }
    return "".join(f"{within}{rule}{{{body}}}\n" for rule, body in {**_RULES, **heats}.items())


def _drawn(view: View, describer: Describer, *, left_to_right: bool) -> tuple[list[str], Layout]:
    """Return lines, shares of branches and boxes, one on the other, and where they are."""
    critical = describer.critical_edges(view)
    lines = [[svg.shortened(t, _LONGEST) for t in describer.lines(box)] for box in view.boxes]
    sizes = [_size(texts) for texts in lines]
    plan = layout(sizes, view.edges, left_to_right=left_to_right, whole=critical)
    parts = [
        *_lines(view, plan, critical, left_to_right=left_to_right),
        *_branch_shares(view, plan, describer, left_to_right=left_to_right),
        *map(functools.partial(_box, describer), view.boxes, lines, plan.places),
    ]
    return parts, plan


def path(points: Sequence[Point], *, left_to_right: bool) -> str:
    """Return the SVG path of a route: curves between layers, straight lines inside them."""
    (x, y), *rest = points
    parts = [f"M{x:.1f} {y:.1f}"]
    curved = True
    for to_x, to_y in rest:
        if not curved or (x == to_x if not left_to_right else y == to_y):
            parts.append(f"L{to_x:.1f} {to_y:.1f}")
        elif left_to_right:
            middle = (x + to_x) / 2
            parts.append(f"C{middle:.1f} {y:.1f} {middle:.1f} {to_y:.1f} {to_x:.1f} {to_y:.1f}")
        else:
            middle = (y + to_y) / 2
            parts.append(f"C{x:.1f} {middle:.1f} {to_x:.1f} {middle:.1f} {to_x:.1f} {to_y:.1f}")
        x, y, curved = to_x, to_y, not curved
    return "".join(parts)


def _size(lines: Sequence[str]) -> tuple[float, float]:
    longest = max(map(len, lines))
    return max(_NARROWEST, longest * _LETTER + 2 * _PAD), len(lines) * _LINE + 10


def _tips() -> str:
    tips = [
        svg.element(
            "marker", svg.element("path", d="M0 0L7 3.5L0 7z", class_=f"tip {kind}"),
            id=f"tip-{kind}", viewBox="0 0 7 7", refX="6.5", refY="3.5", markerWidth=7,
            markerHeight=7, markerUnits="userSpaceOnUse", orient="auto",
        )
        for kind in ("plain", "critical")
    ]  # fmt: skip
    return svg.element("defs", *tips)


def _lines(
    view: View, plan: Layout, critical: frozenset[Edge], *, left_to_right: bool
) -> list[str]:
    """Return all lines, those of the critical path last, so that they lie on top."""
    drawn: tuple[list[str], list[str]] = ([], [])
    for edge, route in zip(view.edges, plan.routes, strict=True):
        on_path = edge in critical
        kind = "critical" if on_path else "plain"
        drawn[on_path].append(
            f'<path d="{path(route, left_to_right=left_to_right)}" class="edge {kind}"'
            f' marker-end="url(#tip-{kind})"/>'
        )
    return drawn[False] + drawn[True]


def _branch_shares(
    view: View, plan: Layout, describer: Describer, *, left_to_right: bool
) -> list[str]:
    """Return the shares of branches beside the lines that meet, left and right of the middle."""
    shares = describer.branch_shares(view)
    arriving: dict[int, list[tuple[Point, Edge]]] = {}
    for edge, route in zip(view.edges, plan.routes, strict=True):
        arriving.setdefault(edge[1], []).append((route[-1], edge))
    parts = []
    for lines in arriving.values():
        ends = sorted(lines, key=lambda line: line[0][left_to_right])
        # of more than two, only the outermost have room for a number
        for before, ((x, y), edge) in ((True, ends[0]), (False, ends[-1])):
            if len(ends) < 2 or edge not in shares:
                continue
            said = units.share(shares[edge])
            if left_to_right:
                x, y, anchor = x - 9, y - 5 if before else y + 12, "end"
            else:
                x, y, anchor = x - 6 if before else x + 6, y - 7, "end" if before else "start"
            parts.append(svg.text(said, x=x, y=y, class_="branch", anchor=anchor))
    return parts


def _box(describer: Describer, box: Box, lines: Sequence[str], place: BoxPlace) -> str:
    """Return one box; written out, for there can be ten thousand of them."""
    middle = place.x + place.width / 2
    first = place.y + (place.height - len(lines) * _LINE) / 2 + 11
    texts = "".join(
        f'<text x="{middle:.1f}" y="{first + _LINE * number:.1f}"'
        f' class="{"small" if number else "name"}">{svg.clean(line)}</text>'
        for number, line in enumerate(lines)
    )
    round_by = place.height / 2 if box.kind in ("input", "output") else 5
    return (
        f'<g class="box {box.kind} {describer.look(box)}">{svg.title(describer.details(box))}'
        f'<rect x="{place.x:.1f}" y="{place.y:.1f}" width="{place.width:.1f}"'
        f' height="{place.height:.1f}" rx="{round_by:.1f}"/>{texts}</g>'
    )


def _wrapped(facts: Sequence[str], width: float) -> list[str]:
    """Return facts in as few lines as have room for them."""
    lines: list[str] = []
    for fact in facts:
        longer = f"{lines[-1]} · {fact}" if lines else fact
        if lines and len(longer) * 5.4 <= width:
            lines[-1] = longer
        else:
            lines.append(fact)
    return lines


def _heading(title: str, facts: Sequence[str], describer: Describer) -> list[str]:
    parts = [
        svg.element(
            "text", svg.clean(title), x=_MARGIN, y=30, style="font-size:17px;font-weight:650"
        ),
        *(
            svg.text(line, x=_MARGIN, y=49 + _FACT_LINE * number, class_="small")
            for number, line in enumerate(facts)
        ),
    ]
    x, y = _MARGIN, 46 + _FACT_LINE * len(facts)
    for number, label in enumerate(describer.legend()):
        parts.append(
            svg.element(
                "rect", x=x, y=y, width=14, height=14, rx=3, class_=f"h{number}",
                stroke="var(--line)",
            )
        )  # fmt: skip
        parts.append(svg.text(label, x=x + 19, y=y + 11, class_="small"))
        x += 36 + 5.6 * len(label)
    return parts
