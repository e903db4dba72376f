"""Spans while they are being read: columns, of which a timeline is made when all are there.

A trace has millions of events. Each becomes a span once, at the end, when what is around it, what
launched it and which inference it is of are known.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from burnish.trace import nesting
from burnish.trace.events import Fact, Span
from burnish.trace.inferences import inferences
from burnish.trace.nesting import Numbers

_NONE: Mapping[str, Fact] = {}
_PIECE = 1 << 16
"""How many spans are made at once."""
UNMARKED = "all that was recorded"
"""The one inference of a recording that marks none."""


@dataclass(frozen=True, slots=True)
class Timeline:
    """What was read, in order of time."""

    spans: tuple[Span, ...]
    runs: int
    notes: tuple[str, ...]


class SpanRow(NamedTuple):
    """A span as it was recorded, without what leads from it to others."""

    name: str
    category: str
    start_ns: int
    length_ns: int
    track: str
    device: int | None = None
    stream: int | None = None
    key: Hashable | None = None
    """What a call and the work that it launched have in common."""
    node: str | None = None
    op_type: str | None = None
    attributes: Mapping[str, Fact] = _NONE


class SpanTable:
    """Rows, kept as columns: equal texts are kept once."""

    def __init__(self) -> None:
        self._starts, self._lengths = list[int](), list[int]()
        self._names, self._categories, self._tracks = list[str](), list[str](), list[str]()
        self._devices, self._streams = list[int | None](), list[int | None]()
        self._keys = list[Hashable | None]()
        self._nodes, self._op_types = list[str | None](), list[str | None]()
        self._attributes = list[Mapping[str, Fact]]()
        self._texts: dict[str, str] = {}

    def add(self, row: SpanRow) -> None:
        """Take one more row."""
        self._starts.append(row.start_ns)
        self._lengths.append(row.length_ns)
        self._names.append(self._texts.setdefault(row.name, row.name))
        self._categories.append(row.category)
        self._tracks.append(self._texts.setdefault(row.track, row.track))
        self._devices.append(row.device)
        self._streams.append(row.stream)
        self._keys.append(row.key)
        self._nodes.append(self._once(row.node))
        self._op_types.append(self._once(row.op_type))
        self._attributes.append(row.attributes)

    def _once(self, text: str | None) -> str | None:
        return None if text is None else self._texts.setdefault(text, text)

    def timeline(self) -> Timeline:
        """Return the spans with parents, causes and inferences, the first at 0; the table empties.

        A call that launched nothing (a query, an attribute) is of the category `other`. Work of a
        device has the operator and node that were going on where it was launched.
        """
        starts, lengths = np.array(self._starts, np.int64), np.array(self._lengths, np.int64)
        order = nesting.in_order(starts, lengths, self._categories)
        self._sort(order.tolist())
        starts, lengths = starts[order], lengths[order]
        ends = starts + lengths
        around = nesting.parents(starts.tolist(), ends.tolist(), self._tracks)
        causes = self._causes()
        self._settle(causes)
        self._name_device_work(around, causes)
        links = np.array([-1 if cause is None else cause for cause in causes], np.int64)
        found = inferences(starts, ends, self._categories, links)
        for place in found.dropped:
            self._categories[place] = "other"
        earliest = int(starts[0]) if len(starts) else 0
        spans = self._spans(starts - earliest, found.ends - starts, found.run, around, causes)
        if found.whole is not None:
            begin, end = found.whole
            length_s = (end - begin) * 1e-9
            spans.append(Span(UNMARKED, "run", (begin - earliest) * 1e-9, length_s, "inference", 0))
        runs = 1 + max(found.run.tolist(), default=-1)
        return Timeline(tuple(spans), runs, found.notes)

    def _sort(self, order: Sequence[int]) -> None:
        columns: tuple[list[Any], ...] = (
            self._names, self._categories, self._tracks, self._devices, self._streams, self._keys,
            self._nodes, self._op_types, self._attributes,
        )  # fmt: skip
        for column in columns:
            column[:] = [column[at] for at in order]
        self._starts, self._lengths = [], []

    def _causes(self) -> list[int | None]:
        """Return the call that launched each span of a device; None: there is none."""
        calls = {
            key: at
            for at, (key, device) in enumerate(zip(self._keys, self._devices, strict=True))
            if key is not None and device is None
        }
        causes = [
            calls.get(key) if device is not None and key is not None else None
            for key, device in zip(self._keys, self._devices, strict=True)
        ]
        self._keys = []
        return causes

    def _settle(self, causes: Sequence[int | None]) -> None:
        categories = self._categories
        launching = {
            cause
            for cause, category in zip(causes, categories, strict=True)
            if cause is not None and category != "sync"
        }
        self._categories = [
            "other" if category == "launch" and at not in launching else category
            for at, category in enumerate(categories)
        ]

    def _name_device_work(self, around: Sequence[int | None], causes: Sequence[int | None]) -> None:
        """Give work of a device the innermost operator around the call that launched it."""
        operator: list[int | None] = []
        for at, outer in enumerate(around):
            own = at if self._op_types[at] is not None and self._devices[at] is None else None
            operator.append(operator[outer] if own is None and outer is not None else own)
        for at, cause in enumerate(causes):
            if cause is None or (owner := operator[cause]) is None:
                continue
            self._op_types[at] = self._op_types[at] or self._op_types[owner]
            self._nodes[at] = self._nodes[at] or self._nodes[owner]

    def _spans(
        self,
        starts: Numbers,
        lengths: Numbers,
        runs: Numbers,
        around: list[int | None],
        causes: list[int | None],
    ) -> list[Span]:
        """Return all spans; columns are given up piece by piece, because both at once are large."""
        columns: tuple[list[Any], ...] = (
            self._names, self._categories, self._tracks, self._nodes, self._op_types, around,
            causes, self._devices, self._streams, self._attributes,
        )  # fmt: skip
        for column in columns:
            column.reverse()  # of a list, only the end can be given up without moving the rest
        spans = list[Span]()
        for at in range(0, len(starts), _PIECE):
            piece = slice(at, at + _PIECE)
            cells = [column[: -_PIECE - 1 : -1] for column in columns]
            for column in columns:
                del column[-_PIECE:]
            rows = zip(
                (starts[piece] * 1e-9).tolist(), (lengths[piece] * 1e-9).tolist(),
                runs[piece].tolist(), *cells, strict=True,
            )  # fmt: skip
            spans += [
                Span(name, category, start_s, length_s, track, run, node, op_type, None, (), "none",
                     parent, cause, device, stream, attributes)
                for start_s, length_s, run, name, category, track, node, op_type, parent, cause,
                device, stream, attributes in rows
            ]  # fmt: skip
        return spans
